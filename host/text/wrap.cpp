// SPDX-License-Identifier: MIT
#include "host/text/wrap.hpp"

#include "host/text/list.hpp"

#include <algorithm>

namespace host::text {

namespace {

// Returns the column in which the lines after this one continue.
std::size_t hang_of(std::string_view line) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t gap = line.find("  ", begin);
    const std::size_t description = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    if (description != std::string_view::npos && description <= kColumns / 2) {
        return description;
    }
    constexpr std::size_t kDescriptions = 30; // what CLI11 writes below the name of an option is a description already
    return begin == kDescriptions ? begin : begin + 2;
}

// Returns how many characters of the line stay in it; those after `begin` may move.
std::size_t kept_of(std::string_view line, std::size_t begin, std::size_t columns) {
    const auto last = [&](char character, std::size_t until) {
        const std::size_t at = line.rfind(character, until);
        return at != std::string_view::npos && at > begin ? at : 0;
    };
    const std::size_t blank = last(' ', columns);
    const std::size_t comma = last(',', columns - 1);
    if (blank < columns / 2 && comma > blank) { // a list of words without blanks
        return comma + 1;
    }
    return blank != 0 ? blank : std::min(line.find(' ', begin), line.size());
}

std::string broken(std::string_view line) {
    const bool command = line.starts_with("  remora ");
    const std::size_t hang = command ? 6 : hang_of(line);
    const std::string_view end = command ? " \\\n" : "\n";
    std::string text;
    std::string rest(line);
    std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
    while (rest.size() > kColumns) {
        const std::size_t kept = kept_of(rest, begin, kColumns - (command ? 2 : 0));
        if (kept == rest.size()) {
            break;
        }
        text += rest.substr(0, kept).append(end);
        rest = std::string(hang, ' ') + rest.substr(std::min(rest.find_first_not_of(' ', kept), rest.size()));
        begin = hang;
    }
    return text + rest;
}

} // namespace

std::string shortened(std::string text, std::size_t width) {
    if (text.size() > width) {
        text.resize(width - 1);
        text += '~';
    }
    return text;
}

std::string wrapped(std::string_view text) {
    return joined(split(text, "\n"), "\n",
                  [](std::string_view line) { return line.size() > kColumns ? broken(line) : std::string(line); });
}

} // namespace host::text
