// SPDX-License-Identifier: MIT
// Includes {fmt}, with its formatter compiled once (in escape.cpp). <fmt/format.h> defines the formatter as a template:
// a source that formats into a buffer would compile all of it again, which is half of the compiler's time for it.
#pragma once

#include <fmt/format.h>

// The specialization for char, which every function of {fmt} that writes char ends in.
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view, fmt::format_args,
                                                   fmt::detail::locale_ref);
