// SPDX-License-Identifier: MIT
// The switch of contexts in hosted tests, which the sanitizer is informed of (fake_machine.cpp).
#pragma once

#include "arch/stack_pointer.hpp"

namespace arch {

void switch_context(StackPointer* save, StackPointer load);

} // namespace arch
