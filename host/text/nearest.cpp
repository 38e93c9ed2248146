// SPDX-License-Identifier: MIT
#include "host/text/nearest.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace host::text {

namespace {

// This is longer than any name of a trace. Longer texts are not compared, so they cost no time.
constexpr std::size_t kLettersMax = 64;
constexpr std::size_t kLettersPerError = 3;

std::size_t typing_errors(std::string_view typed, std::string_view meant) {
    // The rows hold the distances between prefixes of both words; `last` and `before_last` are the rows for `typed`
    // without its last one and two letters.
    std::vector<std::size_t> before_last;
    std::vector<std::size_t> last;
    std::vector<std::size_t> row(meant.size() + 1);
    for (std::size_t j = 0; j <= meant.size(); ++j) {
        row[j] = j;
    }
    for (std::size_t i = 1; i <= typed.size(); ++i) {
        before_last = std::move(last);
        last = row;
        row[0] = i;
        for (std::size_t j = 1; j <= meant.size(); ++j) {
            const std::size_t other = typed[i - 1] == meant[j - 1] ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + other});
            if (i > 1 && j > 1 && typed[i - 1] == meant[j - 2] && typed[i - 2] == meant[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row.back();
}

} // namespace

std::string_view nearest(std::string_view word, std::span<const std::string> words) {
    std::string_view found;
    std::size_t least = (std::min(word.size(), kLettersMax) + 1) / kLettersPerError + 1;
    for (const std::string& candidate : words) {
        if (word.size() > kLettersMax || candidate.size() > kLettersMax) {
            continue;
        }
        const std::size_t errors = typing_errors(word, candidate);
        if (errors < least) {
            least = errors;
            found = candidate;
        }
    }
    return found;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
    const std::string_view meant = nearest(word, words);
    return meant.empty() ? std::string() : fmt::format("; did you mean {}?", escaped(meant));
}

} // namespace host::text
