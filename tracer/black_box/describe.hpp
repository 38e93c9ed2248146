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

// Its memory is what the last boot left. Must be called before the tracer is used, and then makes it that of this boot:
// nothing describes it until publish(). Context: boot, irq-off.
void clear();

// After configure(). Context: boot, irq-off.
void publish();

// Nothing is recorded any more: a reader that follows stops. Context: task or irq-off.
void mark_ended();

} // namespace tracer::black_box
