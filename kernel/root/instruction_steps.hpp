// SPDX-License-Identifier: MIT
// Connects the processor's single steps with the tracer's table of the tasks that want them.
#pragma once

namespace kernel::root {

// Once, before the first task. irq-off.
void instruction_steps_configure();

} // namespace kernel::root
