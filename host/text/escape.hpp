// SPDX-License-Identifier: MIT
// Text that came from outside, made harmless for a terminal: control characters (C0, DEL, C1), characters that only
// format others (direction, no width, U+202E for instance), backslash and every byte that is not part of valid UTF-8
// become \xNN for each byte (a backslash \\); longer than kEscapedInputMax bytes is cut and marked with "...".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace host::text {

inline constexpr std::size_t kEscapedInputMax = 256;

[[nodiscard]] std::string escaped(std::string_view text_untrusted);

// Likewise, but backslashes stay and nothing is cut: for what holds escaped text among other.
[[nodiscard]] std::string made_printable(std::string_view text_untrusted);

} // namespace host::text
