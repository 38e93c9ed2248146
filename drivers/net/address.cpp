// SPDX-License-Identifier: MIT
// Reads dotted decimal addresses from the command line. It is strict, because a misread address would send the trace to
// a wrong host.
#include "drivers/net/address.hpp"

#include "lib/text.hpp"

namespace drivers::net {

namespace {

// Removes one number 0..255 from the front of the text.
lib::Result<std::uint32_t> take_number(std::string_view& text) {
    const std::string_view before = text;
    const auto number = lib::take_number(text);
    const bool leading_zero = before.size() - text.size() > 1 && before[0] == '0';
    if (!number || leading_zero || *number > 255) {
        return lib::Error::invalid_argument;
    }
    return static_cast<std::uint32_t>(*number);
}

} // namespace

lib::Result<Ipv4Address> parse_ipv4_address(std::string_view text) {
    Ipv4Address address;
    for (int position = 0; position < 4; ++position) {
        if (position > 0) {
            if (text.empty() || text[0] != '.') {
                return lib::Error::invalid_argument;
            }
            text.remove_prefix(1);
        }
        const auto number = take_number(text);
        if (!number) {
            return number.error();
        }
        address.value = address.value << 8 | number.value();
    }
    if (!text.empty()) {
        return lib::Error::invalid_argument;
    }
    return address;
}

} // namespace drivers::net
