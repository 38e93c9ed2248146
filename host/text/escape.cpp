// SPDX-License-Identifier: MIT
#include "host/text/escape.hpp"

#include "host/text/digits.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace host::text {

namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

// The source is the Unicode Character Database, version 15, general categories Cc, Cf, Zl and Zp, and the characters of
// Cn that XML 1.0 forbids. Left out are the Arabic and Kaithi number signs, hieroglyph joiners and musical controls,
// because they are visible or change no other text.
constexpr auto kControls = std::to_array<Range>({
    {0x0000, 0x001F},
    {0x007F, 0x009F},   // DEL, C1
    {0x00AD, 0x00AD},   // soft hyphen
    {0x061C, 0x061C},   // Arabic letter mark
    {0x180E, 0x180E},   // Mongolian vowel separator
    {0x200B, 0x200F},   // no width, marks of direction
    {0x2028, 0x202E},   // separators of lines and paragraphs, embedded and overridden direction
    {0x2060, 0x206F},   // invisible operators, isolated direction
    {0xFEFF, 0xFEFF},   // byte order mark
    {0xFFF9, 0xFFFB},   // interlinear annotation
    {0xFFFE, 0xFFFF},   // not characters; readers of XML 1.0 reject them
    {0xE0000, 0xE007F}, // tags
});

// Returns whether a terminal shows the character without acting on it.
bool is_printable(std::string_view character) {
    const std::uint32_t number = code_point(character);
    return std::ranges::none_of(kControls,
                                [&](const Range& range) { return number >= range.first && number <= range.last; });
}

std::string with_escapes(std::string_view rest, std::string_view backslash, bool keeps_lines = false) {
    std::string out;
    out.reserve(rest.size());
    while (!rest.empty()) {
        const Utf8Front front = utf8_front(rest);
        const bool printable =
            (front.valid && is_printable(rest.substr(0, front.bytes))) || (keeps_lines && rest.front() == '\n');
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
    std::string out = with_escapes(cut(text_untrusted, kEscapedInputMax), "\\\\");
    if (text_untrusted.size() > kEscapedInputMax) {
        out.append("...");
    }
    return out;
}

std::string csv_field(std::string_view text_untrusted) {
    std::string text = with_escapes(text_untrusted, "\\", true);
    const char first = text.empty() ? 'a' : text.front();
    const bool is_signed = first == '+' || first == '-';
    if (first == '=' || first == '@' || (is_signed && !number_of<double>(std::string_view(text).substr(1)))) {
        text.insert(0, 1, '\'');
    }
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char character : text) {
        quoted.append(character == '"' ? 2 : 1, character);
    }
    return quoted + '"';
}

// --- xml -------------------------------------------------------------------------------------------------------------

std::string xml_escaped(std::string_view text_untrusted) {
    std::string out;
    while (true) {
        const std::string_view line = text_untrusted.substr(0, text_untrusted.find('\n'));
        for (const char character : made_printable(line)) {
            switch (character) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>': // the text ]]> is forbidden
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += character;
            }
        }
        if (line.size() == text_untrusted.size()) {
            return out;
        }
        out += '\n';
        text_untrusted.remove_prefix(line.size() + 1);
    }
}

// --- JSON ------------------------------------------------------------------------------------------------------------

char* put_json_character(char* at, std::string_view& text) {
    const Utf8Front front = utf8_front(text);
    const std::string_view character = text.substr(0, front.bytes);
    text.remove_prefix(front.bytes);
    if (!front.valid) {
        return put(at, "\xEF\xBF\xBD");
    }
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
    constexpr std::string_view kLetters = "\"\\bfnrt";
    if (const std::size_t index = kEscaped.find(character.front()); index != std::string_view::npos) {
        *at++ = '\\';
        *at++ = kLetters[index];
        return at;
    }
    if (const auto code = static_cast<unsigned char>(character.front()); code < 0x20) {
        return put_hexadecimal(put(at, "\\u"), code, 4);
    }
    return put(at, character);
}

std::string json_encoded(std::string_view text) {
    std::string encoded(json_room(text.size()), '\0');
    encoded.resize(static_cast<std::size_t>(put_json(encoded.data(), text) - encoded.data()));
    return encoded;
}

} // namespace host::text

// {fmt}'s formatter is compiled here, once for all sources (host/text/format.hpp).
template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args,
                                            fmt::detail::locale_ref);
