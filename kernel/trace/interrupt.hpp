// SPDX-License-Identifier: MIT
// This part of the bridge records interrupts and sections with interrupts off, in as much detail as was asked for
// (interrupt_detail.hpp). bridge.hpp has the rules.
#pragma once

#include "arch/arch.hpp"
#include "kernel/trace/bridge.hpp"
#include "kernel/trace/interrupt_detail.hpp"

#include <array>

namespace kernel::trace_points {

[[gnu::always_inline]] inline void interrupt_named(arch::Vector vector, std::string_view name) {
    detail::add_name(tracer::NameKind::interrupt, vector, name);
}

namespace detail {

struct InterruptTrace {
    InterruptDetail detail = InterruptDetail::span;
    std::uint32_t every = kInterruptCountEvery;
    std::uint32_t counted = 0; // an NMI may count while others flush: changed by single instructions only
};

inline constinit std::array<InterruptTrace, 256> interrupts{};
inline constinit bool sections_recorded = false;

// Records the count, but only while the family is recorded, because the number would be lost otherwise.
[[gnu::always_inline]] inline void record_count(arch::Vector vector) {
    if (tracer::detail::family_enabled(tracer::mask_bit(tracer::event_code("interrupt_count")))) {
        const std::uint32_t counted = __atomic_exchange_n(&interrupts[vector].counted, 0, __ATOMIC_RELAXED);
        if (counted != 0) {
            tracer::log<"interrupt_count">(vector, counted);
        }
    }
}

// Serves the light modes, apart from the usual path of the funnel.
[[gnu::cold, gnu::noinline]] inline void interrupt_taken(arch::Vector vector) {
    InterruptTrace& trace = interrupts[vector];
    if (trace.detail == InterruptDetail::hit) {
        tracer::log<"interrupt_hit">(vector);
    } else if (__atomic_add_fetch(&trace.counted, 1, __ATOMIC_RELAXED) >= trace.every) {
        record_count(vector);
    }
}

} // namespace detail

[[gnu::always_inline]] inline void interrupt_started(arch::Vector vector) {
    if constexpr (detail::kOn) {
        if (detail::interrupts[vector].detail == InterruptDetail::span) [[likely]] {
            tracer::log<"interrupt_start">(vector);
        } else {
            detail::interrupt_taken(vector);
        }
    }
}

[[gnu::always_inline]] inline void interrupt_ended(arch::Vector vector) {
    if constexpr (detail::kOn) {
        if (detail::interrupts[vector].detail == InterruptDetail::span) [[likely]] {
            tracer::log<"interrupt_end">(vector);
        }
    }
}

// Must be called with interrupts off: an interrupt that saw one mode at its start must see the same at its end.
[[gnu::always_inline]] inline void interrupt_detail_set(arch::Vector vector, InterruptDetail wanted,
                                                        std::uint32_t every) {
    if constexpr (detail::kOn) {
        detail::record_count(vector);
        detail::interrupts[vector].every = every;
        detail::interrupts[vector].detail = wanted;
    }
}

// The storm governor has masked the line after `count` interrupts in the window.
[[gnu::always_inline]] inline void interrupt_masked(arch::Vector vector, std::uint32_t count) {
    tracer::log<"interrupt_masked">(vector, count);
}

[[gnu::always_inline]] inline void interrupt_unmasked(arch::Vector vector) {
    tracer::log<"interrupt_unmasked">(vector);
}

[[gnu::always_inline]] inline void interrupt_counts_flushed() {
    if constexpr (detail::kOn) {
        for (std::size_t vector = 0; vector < detail::interrupts.size(); ++vector) {
            if (detail::interrupts[vector].counted != 0) {
                detail::record_count(static_cast<arch::Vector>(vector));
            }
        }
    }
}

[[gnu::always_inline]] inline void interrupt_sections_set(bool on) {
    if constexpr (detail::kOn) {
        detail::sections_recorded = on;
    }
}

// Are the first and the last call in a section with interrupts off. `former` is what arch::irq_save() returned: only
// the outermost section counts.
[[gnu::always_inline]] inline void interrupts_off(std::uint64_t former) {
    if constexpr (detail::kOn) {
        if (detail::sections_recorded && arch::irq_was_enabled(former)) [[unlikely]] {
            tracer::log<"CLI">();
        }
    }
}

[[gnu::always_inline]] inline void interrupts_on(std::uint64_t former) {
    if constexpr (detail::kOn) {
        if (detail::sections_recorded && arch::irq_was_enabled(former)) [[unlikely]] {
            tracer::log<"STI">();
        }
    }
}

// A fresh task enables interrupts by itself, because it was loaded inside another context's section.
[[gnu::always_inline]] inline void interrupts_enabled() {
    if constexpr (detail::kOn) {
        if (detail::sections_recorded) [[unlikely]] {
            tracer::log<"STI">();
        }
    }
}

} // namespace kernel::trace_points
