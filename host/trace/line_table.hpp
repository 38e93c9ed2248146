// SPDX-License-Identifier: MIT
// Finds the line of the source that an instruction comes from, in the sections .debug_line and .debug_line_str of an
// ELF image. Only DWARF 5 is read, in its 32-bit form, which the compilers of this kernel write. Nothing in an image is
// trusted: what does not hold ends the search in its unit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace host::trace {

// Returns "kernel/sync/mutex.cpp:120", relative to the folder in which the compiler ran; empty if no line is known. The
// name is not escaped.
[[nodiscard]] std::string line_of(std::string_view debug_line_untrusted, std::string_view line_texts_untrusted,
                                  std::uint64_t address);

} // namespace host::trace
