// SPDX-License-Identifier: MIT
// Reads dotted decimal addresses from the command line. Strict, because a misread address would send the trace to a
// wrong host.
#include "drivers/net/address.hpp"

namespace drivers::net {

namespace {

constexpr bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

// Removes one number 0..255 from the front of the text.
lib::Result<std::uint32_t> take_number(std::string_view& text) {
    std::uint32_t number = 0;
    std::size_t digits = 0;
    while (digits < text.size() && digits < 4 && is_digit(text[digits])) {
        number = number * 10 + static_cast<std::uint32_t>(text[digits] - '0');
        ++digits;
    }
    const bool leading_zero = digits > 1 && text[0] == '0';
    if (digits == 0 || leading_zero || number > 255) {
        return lib::Error::invalid_argument;
    }
    text.remove_prefix(digits);
    return number;
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
