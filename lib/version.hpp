// SPDX-License-Identifier: MIT
// Defines the name and the version, which the kernel writes into its traces and the host tools print.
#pragma once

#include <string_view>

namespace lib {

inline constexpr std::string_view kVersion = "Remora 0.1";

} // namespace lib
