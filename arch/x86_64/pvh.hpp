// SPDX-License-Identifier: MIT
// What the PVH entry made of the hypervisor's start information.
#pragma once

#include "arch/boot_info.hpp"

namespace arch::x86_64 {

// Without its magic if the machine came up another way.
[[nodiscard]] const BootInfo& pvh_start_information();

} // namespace arch::x86_64
