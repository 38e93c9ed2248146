// SPDX-License-Identifier: MIT
// Texts with separators: takes them apart, and puts them together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace host::text {

// Takes the text before the first separator, or all of it; the separator is removed, too.
[[nodiscard]] inline std::string_view take_until(std::string_view& text, std::string_view separator) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + separator.size()));
    return part;
}

// Returns what is between the separators; one text if there is no separator.
[[nodiscard]] inline std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(std::min(end, text.size()))) {
        end = text.find(separator);
        parts.push_back(text.substr(0, end));
        end = end == std::string_view::npos ? end : end + separator.size();
    }
    return parts;
}

// Takes the lines that are whole, without their line feeds.
[[nodiscard]] inline std::vector<std::string> take_lines(std::string& text) {
    std::vector<std::string> lines;
    std::size_t begin = 0;
    for (std::size_t feed = 0; (feed = text.find('\n', begin)) != std::string::npos; begin = feed + 1) {
        lines.push_back(text.substr(begin, feed - begin));
    }
    text.erase(0, begin);
    return lines;
}

// Returns the elements, or what the projection makes of them, with the separator between them.
template <typename Range, typename Projection = std::identity>
[[nodiscard]] std::string joined(const Range& range, std::string_view separator, Projection projection = {}) {
    std::string text;
    bool first = true;
    for (const auto& element : range) {
        text += first ? std::string_view() : separator;
        text += std::invoke(projection, element);
        first = false;
    }
    return text;
}

} // namespace host::text
