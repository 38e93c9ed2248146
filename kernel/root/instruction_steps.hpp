// SPDX-License-Identifier: MIT
// Connects the processor's single steps with the tracer's table of the tasks that want them.
#pragma once

namespace kernel::root {

// Must be called once, before the first task. Context: irq-off.
void instruction_steps_configure();

} // namespace kernel::root
