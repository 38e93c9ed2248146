// SPDX-License-Identifier: MIT
// Checks the headers in the NE2000's receive ring. A wrong header would lead to a wrong page permanently, so each field
// is compared with the others before the first data byte is read.
#include "drivers/ne2000/buffers.hpp"

#include "drivers/ne2000/registers.hpp"

namespace drivers::ne2000 {

lib::Result<std::size_t> ReceiveRing::validate(const RingHeader& untrusted, std::uint8_t page,
                                               std::uint8_t current) const {
    ASSERT(start_page < stop_page && contains(page) && contains(current) && page != current);
    const bool received_intact = (untrusted.status & (kRsrPRX | kRsrErrors)) == kRsrPRX;
    if (!received_intact || untrusted.length < kRingLengthMin || untrusted.length > kRingLengthMax ||
        !contains(untrusted.next_page)) {
        return lib::Error::corrupt;
    }
    // Chips differ by one page if the CRC just crosses a page end or the frame fills its last page exactly; apart from
    // that, length and next page are redundant.
    const std::size_t pages_min = (untrusted.length + kPageBytes - 1) / kPageBytes;
    const std::size_t pages_max = (untrusted.length + kRingHeaderBytes) / kPageBytes + 1;
    const std::size_t pages_used = distance(page, untrusted.next_page);
    if (pages_used < pages_min || pages_used > pages_max || pages_used > distance(page, current)) {
        return lib::Error::corrupt;
    }
    return untrusted.length - kCrcBytes;
}

} // namespace drivers::ne2000
