// SPDX-License-Identifier: MIT
// The programs of this project that are installed beside each other: one continues as another one for the commands that
// only that one has.
#pragma once

#include <string>
#include <string_view>

namespace host::cli {

// The path of the program `name` in the directory of this one; it need not exist.
[[nodiscard]] std::string program_beside(std::string_view name);

// Replaces this process by the program, with the same arguments. Returns only if that fails: an errno.
[[nodiscard]] int continue_as(const std::string& path);

} // namespace host::cli
