// SPDX-License-Identifier: MIT
// What this is and which version, as the kernel writes it into its traces and the host tools print it. The only place.
#pragma once

#include <string_view>

namespace lib {

inline constexpr std::string_view kVersion = "Remora 0.1";

} // namespace lib
