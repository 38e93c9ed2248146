// SPDX-License-Identifier: MIT
// Finds the word that was meant by a misspelt one, for the remedy in an error message.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace host::text {

// Returns the word with the fewest typing errors, or the first of several. An error is a letter more, less or
// different, or two swapped letters (Damerau, CACM 7(3), 1964, without changes inside a swap). Returns an empty text if
// every word has more errors than a third of the letters (rounded).
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string> words);

// Returns "; did you mean WORD?", escaped, or an empty text if no word is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> words);

} // namespace host::text
