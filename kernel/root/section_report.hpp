// SPDX-License-Identifier: MIT
// Says at the end of a run how long interrupts were off, place by place: the lines that `make bench-kernel` reads.
#pragma once

namespace kernel::root {

// Nothing in a kernel that does not measure sections. irq-off, after the run.
void report_sections();

} // namespace kernel::root
