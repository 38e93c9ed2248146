// SPDX-License-Identifier: MIT
// Of everything that commands print with --json: docs/json.md says what it promises.
#pragma once

#include <cstdint>

namespace host::cli {

inline constexpr std::uint32_t kJsonVersion = 1;

} // namespace host::cli
