// SPDX-License-Identifier: MIT
// Fills the descriptor of the black box from the tracer that it describes. Once per boot: nothing of it is on the
// record path.
#pragma once

#include "tracer/black_box/descriptor.hpp"
#include "tracer/instance.hpp"

namespace tracer::black_box {

// Precondition: the exporter is configured. The magic is written last, so that a reader finds a whole descriptor or
// none. Addresses are those of the objects: memory is mapped one to one. Context: boot, irq-off.
void describe(const Instance& tracer, Descriptor& out);

// --- the kernel's one black box (kernel_instance.cpp) ----------------------------------------------------------------

// Constructs the tracer's instance; its tables and chunks stay as the last boot left them. Must be called before
// anything else of the tracer is used. Context: boot, irq-off.
void start();

// Makes the memory that of this boot: no chunk, no name, nothing describes it until publish(). Context: boot, irq-off.
void clear();

// After configure(). Context: boot, irq-off.
void publish();

// States that nothing is recorded any more, so that a reader that follows stops. Context: task or irq-off.
void mark_ended();

// And there is nothing in memory that is not elsewhere: the next boot finds no trace. Context: irq-off.
void mark_carried();

} // namespace tracer::black_box
