// SPDX-License-Identifier: MIT
// Prints at the end of a run how long interrupts were off, place by place: `make bench-kernel` reads these lines.
#pragma once

namespace kernel::root {

// It prints nothing in a kernel that does not measure sections. Context: irq-off, after the run.
void report_sections();

} // namespace kernel::root
