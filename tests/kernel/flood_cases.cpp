// SPDX-License-Identifier: MIT
// Ten thousand timer events, as many at one tick as there are, are served in bounded batches, in order, each once, and
// no task whose time was promised is late. A periodic event that the machine is too late for keeps its grid.
#include "arch/arch.hpp"
#include "kernel/config.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"

namespace {

namespace flood_cases {

using namespace guest;

struct Flood {
    std::uint64_t fired = 0;
    std::uint64_t disorder = 0;
    std::uint64_t interrupt = 0;
    std::uint64_t in_this_interrupt = 0;
    std::uint64_t most_in_one = 0;
};

constinit Flood g_flood;

void expire(void* argument) {
    const std::uint64_t interrupt = kernel::interrupt_counters(arch::timer_vector()).taken;
    g_flood.in_this_interrupt = interrupt == g_flood.interrupt ? g_flood.in_this_interrupt + 1 : 1;
    g_flood.interrupt = interrupt;
    g_flood.most_in_one =
        g_flood.in_this_interrupt > g_flood.most_in_one ? g_flood.in_this_interrupt : g_flood.most_in_one;
    g_flood.disorder += reinterpret_cast<std::uintptr_t>(argument) == g_flood.fired % kernel::kTimerEventsMax ? 0U : 1U;
    ++g_flood.fired;
}

void expire_by(std::uintptr_t number, lib::Ticks at) {
    must(kernel::kern_event_post(at, &expire, reinterpret_cast<void*>(number)));
}

int flood(const kernel::AppArguments& arguments) {
    constexpr std::uint64_t kRounds = 10'000 / kernel::kTimerEventsMax + 1;
    const kernel::Pid hard =
        start("hard", kernel::HardModel{lib::microseconds(50), lib::milliseconds(1), {}, {}}, [](void*) {
            for (;;) {
                kernel::task_endcycle();
            }
        });
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
        const lib::Ticks at = kernel::after(lib::milliseconds(2));
        for (std::uintptr_t i = 0; i < kernel::kTimerEventsMax; ++i) {
            expire_by(i, at);
        }
        const auto one_more = kernel::kern_event_post(at, &expire, nullptr);
        check(!one_more.ok() && one_more.error() == lib::Error::no_space, "there is one place less than that");
        kernel::task_delay(lib::milliseconds(4));
        spin_until([round] { return g_flood.fired >= round * kernel::kTimerEventsMax; });
    }
    check(g_flood.fired == kRounds * kernel::kTimerEventsMax && g_flood.fired >= 10'000, "each fires once");
    check(g_flood.disorder == 0, "in the order of posting");
    check(g_flood.most_in_one > 1 && g_flood.most_in_one <= kernel::kTimerBatchMax, "no interrupt serves more");
    check(!arguments.icount || g_flood.most_in_one == kernel::kTimerBatchMax, "nor less, if there is more");
    check(!arguments.icount || must(kernel::task_info(hard)).jobs.deadline_misses == 0, "no task is late");
    return failures;
}

constinit lib::Ticks g_first{};
constinit std::uint64_t g_beats = 0;
constinit std::uint64_t g_early = 0;

// Fifty expirations and more fall into a section with interrupts off: they are skipped, and the next are on time.
int too_late(const kernel::AppArguments& arguments) {
    constexpr lib::Nanoseconds kPeriod = kernel::kTimerPeriodMin;
    for (const std::uint64_t period : {std::uint64_t{0}, std::uint64_t{1}, kPeriod.value - 1}) {
        const auto posted = kernel::kern_event_post_periodic(kernel::now(), {period}, &expire, nullptr);
        check(!posted.ok() && posted.error() == lib::Error::invalid_argument, "a period that leaves no time");
    }
    g_first = kernel::after(lib::milliseconds(1));
    const std::uint64_t overruns = kernel::timer_overruns();
    const auto id = must(kernel::kern_event_post_periodic(
        g_first, kPeriod,
        [](void*) {
            const std::uint64_t number = g_beats + kernel::timer_overruns();
            g_early += kernel::now() < g_first + kernel::to_ticks({kPeriod.value * number}) ? 1U : 0U;
            ++g_beats;
        },
        nullptr));
    spin_until([] { return g_beats > 20; });
    {
        const arch::IrqGuard guard;
        const lib::Ticks end = kernel::after(lib::microseconds(505));
        spin_until([end] { return kernel::now() >= end; });
    }
    const std::uint64_t beats = g_beats;
    spin_until([beats] { return g_beats > beats + 20; });
    must(kernel::kern_event_delete(id));
    const lib::Ticks end = kernel::now();
    const std::uint64_t skipped = kernel::timer_overruns() - overruns;
    check(skipped >= 48, "what was missed is counted");
    check(!arguments.icount || skipped <= 51, "and no more");
    check(g_early == 0, "none comes before its time");
    const std::uint64_t due = kernel::to_nanoseconds(end - g_first).value / kPeriod.value + 1;
    check(g_beats + skipped <= due && g_beats + skipped + 1 >= due, "the grid is kept");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_timer_flood", "ten thousand timer events, 256 at a tick", &checked<&flood>, false},
    {"t_timer_too_late", "a periodic event whose time has passed fifty times", &checked<&too_late>, false},
};

} // namespace flood_cases

} // namespace
