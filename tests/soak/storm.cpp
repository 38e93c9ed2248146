// SPDX-License-Identifier: MIT
#include "tests/soak/storm.hpp"

#include "lib/assert.hpp"
#include "tracer/record/record_path.hpp"

#include <csignal>
#include <ctime>
#include <ucontext.h>

#include <algorithm>

namespace soak {

namespace {

StormOptions g_options;
StormCounts g_counts;
std::array<timer_t, kLevels> g_timers{};
int g_depth = 0; // active handlers

int signal_of(std::size_t level) {
    return SIGRTMIN + static_cast<int>(level);
}

// The stub's rule.
void rewind(std::size_t level, greg_t& rip) {
    const auto address = reinterpret_cast<const char*>(rip);
    if (address < &tracer_region_begin || address >= &tracer_region_end || address == &tracer_region_exit) {
        return;
    }
    ++g_counts.rewinds[level];
    g_counts.nested_rewinds += g_depth != 0 ? 1U : 0U;
    ++g_counts.by_offset[static_cast<std::size_t>(address - &tracer_region_begin)];
    constexpr std::ptrdiff_t kLastInstruction = 4; // add [r8], 16
    const bool left_out = g_options.fault == Fault::no_rewind ||
                          (g_options.fault == Fault::short_region && address + kLastInstruction >= &tracer_region_end);
    if (!left_out) {
        rip = reinterpret_cast<greg_t>(&tracer_region_restart);
    }
}

void on_signal(int number, siginfo_t*, void* context) {
    const auto level = static_cast<std::size_t>(number - SIGRTMIN);
    ++g_counts.signals[level];
    g_counts.nested += g_depth != 0 ? 1U : 0U;
    rewind(level, static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
    ++g_depth;
    g_options.handler(level);
    --g_depth;
}

// The signals of this level and of those below it.
sigset_t up_to(std::size_t level) {
    sigset_t set;
    sigemptyset(&set);
    for (std::size_t i = 0; i <= level; ++i) {
        sigaddset(&set, signal_of(i));
    }
    return set;
}

void change_mask(int how) {
    const sigset_t set = up_to(kLevels - 1);
    const int done = sigprocmask(how, &set, nullptr);
    ASSERT(done == 0);
}

void start_timer(std::size_t level) {
    struct sigaction action = {};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_mask = up_to(level);
    int done = sigaction(signal_of(level), &action, nullptr);
    ASSERT(done == 0);
    struct sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = signal_of(level);
    done = timer_create(CLOCK_MONOTONIC, &event, &g_timers[level]);
    ASSERT(done == 0);
    const timespec period = {.tv_sec = 0, .tv_nsec = g_options.period_us[level] * 1000L};
    const itimerspec setting = {.it_interval = period, .it_value = period};
    done = timer_settime(g_timers[level], 0, &setting, nullptr);
    ASSERT(done == 0);
}

} // namespace

std::size_t StormCounts::instructions() const {
    return static_cast<std::size_t>(std::ranges::count_if(by_offset, [](std::uint64_t count) { return count != 0; }));
}

void start_storm(const StormOptions& options) {
    hold_storm();
    g_options = options;
    g_counts = {};
    for (std::size_t level = 0; level < kLevels; ++level) {
        start_timer(level);
    }
}

void stop_storm() {
    for (timer_t timer : g_timers) {
        timer_delete(timer);
    }
    release_storm();
}

void hold_storm() {
    change_mask(SIG_BLOCK);
}

void release_storm() {
    change_mask(SIG_UNBLOCK);
}

const StormCounts& storm_counts() {
    return g_counts;
}

} // namespace soak
