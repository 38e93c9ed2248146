// SPDX-License-Identifier: MIT
// Breaks the lines of help texts and figures that are wider than a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace host::text {

// This is the width of every help text and table of the command line.
inline constexpr std::size_t kColumns = 80;

// Returns the text with its wide lines broken at blanks, else after commas. They continue below the column of the
// description, which two blanks separate from the words before it, or else two columns to the right; a command that
// an example shows continues after a backslash.
[[nodiscard]] std::string wrapped(std::string_view text);

// Returns the text, cut to that many bytes if it is longer: it then ends in ~.
[[nodiscard]] std::string shortened(std::string text, std::size_t width);

} // namespace host::text
