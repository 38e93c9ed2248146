// SPDX-License-Identifier: MIT
#include "kernel/interrupt/storm.hpp"

#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "kernel/trace/interrupt.hpp"

#include <algorithm>
#include <array>

namespace kernel {

namespace {

struct Line {
    lib::Ticks window;        // when the window began
    lib::Ticks tried;         // when the line was last unmasked
    lib::Nanoseconds backoff; // of the latest storm; 0: no storm counts any more
    std::uint64_t storms = 0;
    std::uint32_t count = 0; // in this window
    bool masked = false;
    bool untimed = false; // the line is masked, and no timer was free
};

constinit std::array<Line, 256> g_lines{};
constinit std::uint64_t g_storms = 0;

void hold(arch::Vector vector, bool held) {
    if (const auto line = arch::vector_line(vector); line.ok()) {
        arch::line_hold(line.value(), held);
    }
}

arch::Vector vector_of(const Line& line) {
    return static_cast<arch::Vector>(&line - g_lines.data());
}

void try_again(void* argument) {
    Line& line = *static_cast<Line*>(argument);
    line.masked = false;
    line.count = 0;
    line.tried = now();
    line.window = line.tried;
    trace_points::interrupt_unmasked(vector_of(line));
    hold(vector_of(line), false);
}

void post_timer(Line& line) {
    line.untimed = !kern_event_post(after(line.backoff), &try_again, &line).ok();
    detail::untimed_lines += line.untimed ? 1U : 0U;
}

// Posts the timers of lines for which none was free: other interrupts still come, and try again on their behalf.
[[gnu::cold, gnu::noinline]] void post_missing_timers() {
    detail::untimed_lines = 0;
    for (Line& line : g_lines) {
        if (line.untimed) {
            post_timer(line);
        }
    }
}

[[gnu::cold, gnu::noinline]] void mask(Line& line) {
    const bool forgotten = line.backoff.value == 0 || now() - line.tried > to_ticks(kBackoffMax);
    line.backoff = forgotten ? kBackoffMin : std::min(lib::Nanoseconds{line.backoff.value * 2}, kBackoffMax);
    line.masked = true;
    ++line.storms;
    ++g_storms;
    hold(vector_of(line), true);
    trace_points::interrupt_masked(vector_of(line), line.count);
    post_timer(line);
}

} // namespace

void detail::count_line(arch::Vector vector, IrqOff) {
    if (untimed_lines != 0) [[unlikely]] {
        post_missing_timers();
    }
    if (!arch::vector_line(vector).ok()) {
        return;
    }
    Line& line = g_lines[vector];
    const lib::Ticks time = now();
    if (time - line.window >= to_ticks(kStormWindow)) {
        line.window = time;
        line.count = 0;
    }
    if (++line.count > kStormLimit && !line.masked) {
        mask(line);
    }
}

std::uint64_t storms_of(arch::Vector vector) {
    return g_lines[vector].storms;
}

std::uint64_t storms() {
    return g_storms;
}

} // namespace kernel
