// SPDX-License-Identifier: MIT
// Gives access to the hypervisor's start information, the result of the PVH entry.
#pragma once

#include "arch/boot_info.hpp"

namespace arch::x86_64 {

// Returns the start information, without its magic if the machine was started in another way.
[[nodiscard]] const BootInfo& pvh_start_information();

} // namespace arch::x86_64
