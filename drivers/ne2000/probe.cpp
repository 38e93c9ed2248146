// SPDX-License-Identifier: MIT
// Checks the address PROM of an NE2000.
#include "drivers/ne2000/probe.hpp"

namespace drivers::ne2000 {

lib::Result<net::MacAddress> decode_prom(const PromImage& image_untrusted) {
    constexpr std::byte kSignature{0x57};
    net::MacAddress mac;
    for (std::size_t i = 0; i < mac.bytes.size(); ++i) {
        if (image_untrusted[2 * i] != image_untrusted[2 * i + 1]) {
            return lib::Error::corrupt;
        }
        mac.bytes[i] = image_untrusted[2 * i];
    }
    for (std::size_t i = 28; i < image_untrusted.size(); ++i) {
        if (image_untrusted[i] != kSignature) {
            return lib::Error::corrupt;
        }
    }
    if (mac.is_group() || mac.is_zero()) {
        return lib::Error::corrupt;
    }
    return mac;
}

} // namespace drivers::ne2000
