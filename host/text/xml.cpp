// SPDX-License-Identifier: MIT
#include "host/text/xml.hpp"

#include "host/text/escape.hpp"

namespace host::text {

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
            case '>': // ]]> is forbidden in text
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

} // namespace host::text
