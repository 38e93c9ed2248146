// SPDX-License-Identifier: MIT
#include "host/text/escape.hpp"

#include "host/text/digits.hpp"
#include "host/text/utf8.hpp"

#include <cstdint>

namespace host::text {

namespace {

// A terminal shows it and obeys nothing: no control character of ASCII, no DEL, no C1 control (U+0080 to U+009F).
bool is_printable(std::string_view character) {
    const auto first = static_cast<std::uint8_t>(character.front());
    const bool c1_control = first == 0xC2 && static_cast<std::uint8_t>(character[1]) < 0xA0;
    return first >= 0x20 && first != 0x7F && !c1_control;
}

std::string with_escapes(std::string_view rest, std::string_view backslash) {
    std::string out;
    out.reserve(rest.size());
    while (!rest.empty()) {
        const Utf8Front front = utf8_front(rest);
        const bool printable = front.valid && is_printable(rest.substr(0, front.bytes));
        if (rest.front() == '\\') {
            out.append(backslash);
        } else if (printable) {
            out.append(rest.substr(0, front.bytes));
        } else {
            char digits[2];
            static_cast<void>(put_hexadecimal(digits, static_cast<std::uint8_t>(rest.front()), 2));
            out.append("\\x").append(digits, 2);
        }
        rest.remove_prefix(printable ? front.bytes : 1);
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

} // namespace host::text
