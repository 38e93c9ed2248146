// SPDX-License-Identifier: MIT
// Which word was meant by a misspelt one, for the remedy of an error.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace host::text {

// The word with the fewest typing errors (a letter more, less or another, or two swapped: Damerau, CACM 7(3), 1964,
// without changes inside a swap), the first of several; empty if each is more than a third of the letters (rounded)
// away.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> words);

// "; did you mean WORD?", escaped, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> words);

} // namespace host::text
