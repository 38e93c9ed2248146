// SPDX-License-Identifier: MIT
// The name and version, as the kernel writes them into its traces and the host tools print them. Defined only here.
#pragma once

#include <string_view>

namespace lib {

inline constexpr std::string_view kVersion = "Remora 0.1";

} // namespace lib
