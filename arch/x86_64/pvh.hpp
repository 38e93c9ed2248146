// SPDX-License-Identifier: MIT
// The result of the PVH entry: the hypervisor's start information.
#pragma once

#include "arch/boot_info.hpp"

namespace arch::x86_64 {

// Returns the start information, without its magic if the machine was started in another way.
[[nodiscard]] const BootInfo& pvh_start_information();

} // namespace arch::x86_64
