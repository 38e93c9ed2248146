// SPDX-License-Identifier: MIT
// Switches contexts in hosted tests, and informs the sanitizer of it (fake_machine.cpp).
#pragma once

#include "arch/stack_pointer.hpp"

namespace arch {

void switch_context(StackPointer* save, StackPointer load);

} // namespace arch
