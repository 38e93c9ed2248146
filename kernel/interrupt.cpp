// SPDX-License-Identifier: MIT
#include "kernel/interrupt.hpp"

#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/trace_points.hpp"

#include <array>

namespace kernel {

namespace {

constexpr arch::Vector kNmi = 2;

struct Attachment {
    InterruptHandler handler = nullptr;
    void* argument = nullptr;
};

constinit std::array<Attachment, 256> g_attachments{};
constinit InterruptCounters g_counters{};

// The processor delivers nothing else while it serves an NMI on its own stack: no acknowledgement, no switch.
void serve_nmi() {
    ++g_counters.nmi;
}

void serve(arch::Vector vector) {
    const Attachment& attachment = g_attachments[vector];
    if (attachment.handler != nullptr) {
        attachment.handler(attachment.argument);
    } else {
        ++g_counters.unassigned;
    }
}

} // namespace

lib::Result<void> interrupt_attach(arch::Vector vector, std::string_view name, InterruptHandler handler,
                                   void* argument) {
    const IrqGuard guard;
    if (g_attachments[vector].handler != nullptr) {
        return lib::Error::exists;
    }
    g_attachments[vector] = {handler, argument};
    trace_points::interrupt_named(vector, name);
    return {};
}

lib::Result<void> interrupt_detach(arch::Vector vector) {
    const IrqGuard guard;
    if (g_attachments[vector].handler == nullptr) {
        return lib::Error::not_found;
    }
    g_attachments[vector] = {};
    return {};
}

void record_interrupt(arch::Vector vector, InterruptDetail detail, std::uint32_t every) {
    ASSERT(every != 0);
    const IrqGuard guard;
    trace_points::interrupt_detail_set(vector, detail, every);
}

void flush_interrupt_counts() {
    const IrqGuard guard;
    trace_points::interrupt_counts_flushed();
}

void record_interrupt_sections(bool on) {
    trace_points::interrupt_sections_set(on);
}

void interrupt_entry(arch::Vector vector) {
    trace_points::interrupt_started(vector);
    ++g_counters.taken;
    if (vector == kNmi) {
        serve_nmi();
        trace_points::interrupt_ended(vector);
        return;
    }
    const bool spurious = arch::is_spurious(vector);
    interrupt_entered_irq_off();
    if (spurious) {
        ++g_counters.spurious; // the device of that line asked for nothing: its handler does not run
    } else {
        serve(vector);
    }
    trace_points::interrupt_ended(vector);
    arch::end_of_interrupt(vector);
    preempt_if_needed_irq_off();
}

const InterruptCounters& interrupt_counters() {
    return g_counters;
}

} // namespace kernel
