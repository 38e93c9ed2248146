// SPDX-License-Identifier: MIT
// Escaping of untrusted text; the UTF-8 rules are those of RFC 3629 (no overlong forms, no surrogates).
#include "host/trace/escape.hpp"

#include <algorithm>
#include <cstdint>

namespace host::trace {

namespace {

// Bytes of the valid, printable UTF-8 character at the front of text, a backslash included; 0 if there is none.
std::size_t printable_bytes(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(0);
    if (first < 0x80) {
        return first >= 0x20 && first != 0x7F ? 1 : 0;
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const std::uint8_t second = byte(1);
    const bool c1_control = first == 0xC2 && second < 0xA0;
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool surrogate = first == 0xED && second >= 0xA0;
    const bool too_large = first == 0xF4 && second >= 0x90;
    return c1_control || overlong || surrogate || too_large ? 0 : length;
}

std::string with_escapes(std::string_view rest, std::string_view backslash) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    out.reserve(rest.size());
    while (!rest.empty()) {
        const std::size_t length = printable_bytes(rest);
        if (rest.front() == '\\') {
            out.append(backslash);
        } else if (length != 0) {
            out.append(rest.substr(0, length));
        } else {
            const auto value = static_cast<std::uint8_t>(rest.front());
            out.append("\\x");
            out.push_back(kDigits[value >> 4]);
            out.push_back(kDigits[value & 0xF]);
        }
        rest.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

} // namespace

std::string made_printable(std::string_view text_untrusted) {
    return with_escapes(text_untrusted, "\\");
}

std::string escaped(std::string_view text_untrusted) {
    const bool cut = text_untrusted.size() > kEscapedInputMax;
    std::string out = with_escapes(text_untrusted.substr(0, kEscapedInputMax), "\\\\");
    if (cut) {
        out.append("...");
    }
    return out;
}

} // namespace host::trace
