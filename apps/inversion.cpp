// SPDX-License-Identifier: MIT
// Shows the fault of the Mars Pathfinder in 1997, in miniature: the same three tasks and the same mutex, first without
// inheritance, then with it. Priorities are fixed; times are milliseconds after the beginning of a phase. Source:
// Jones, "What really happened on Mars?" (1997), after Wilner's talk.
//
//   task        T   D   first  runs   role
//   bus_dist   25  10     4     2     distributes the bus data; needs `bus` for half a millisecond: the most urgent
//   comm      100  50     5    15     long and uses no mutex: the middle task
//   weather   100 100     0     8     writes to the bus: holds `bus` from 1 to 6 of its time: the least urgent
//
// Without inheritance comm preempts weather while weather holds the mutex that bus_dist waits for: bus_dist misses its
// deadline at 14. On Mars that miss made the watchdog reset the spacecraft. With inheritance weather runs on behalf of
// bus_dist until it unlocks, and comm waits.
#include "apps/phase.hpp"
#include "apps/work.hpp"
#include "kernel/run/app.hpp"
#include "kernel/sync/mutex.hpp"
#include "tracer/ftrace.hpp"

namespace apps {

namespace {

using lib::microseconds;
using lib::milliseconds;

constexpr lib::Nanoseconds kPhase = milliseconds(50);

constinit Verdict s_inversion{"inversion"};
constinit Phase s_phase{s_inversion};
constinit kernel::Mutex s_bus_plain;
constinit kernel::Mutex s_bus_inherited;
constinit kernel::Mutex* s_bus = nullptr;

void bus_dist(void*) {
    for (;;) {
        compute(milliseconds(1));
        s_inversion.expect(kernel::mutex_lock(*s_bus), "lock bus");
        compute(microseconds(500));
        s_inversion.expect(kernel::mutex_unlock(*s_bus), "unlock bus");
        compute(microseconds(500));
        kernel::task_endcycle();
    }
}

void comm(void*) {
    for (;;) {
        compute(milliseconds(15));
        kernel::task_endcycle();
    }
}

void weather(void*) {
    for (;;) {
        compute(milliseconds(1));
        s_inversion.expect(kernel::mutex_lock(*s_bus), "lock bus");
        compute(milliseconds(5));
        s_inversion.expect(kernel::mutex_unlock(*s_bus), "unlock bus");
        compute(milliseconds(2));
        kernel::task_endcycle();
    }
}

kernel::HardModel fixed(std::uint64_t wcet_ms, std::uint64_t period_ms, std::uint64_t deadline_ms,
                        std::uint64_t offset_ms) {
    return {.wcet = milliseconds(wcet_ms),
            .period = milliseconds(period_ms),
            .relative_deadline = milliseconds(deadline_ms),
            .offset = milliseconds(offset_ms),
            .priority = kernel::HardPriority::fixed};
}

// Runs one frame of the three tasks, and returns the number of deadlines that bus_dist missed.
std::uint64_t run_phase(kernel::Mutex& bus, [[maybe_unused]] std::uint16_t number) {
    s_bus = &bus;
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, number, 0);
    const lib::Ticks begin = kernel::after(milliseconds(1));
    s_phase.open(begin + kernel::to_ticks(kPhase));
    s_phase.start("bus_dist", &bus_dist, fixed(3, 25, 10, 4), begin);
    s_phase.start("comm", &comm, fixed(16, 100, 50, 5), begin);
    s_phase.start("weather", &weather, fixed(9, 100, 100, 0), begin);
    return s_phase.wait()[0].deadline_misses;
}

int start(const kernel::AppArguments& arguments) {
    s_phase.prepare();
    s_inversion.expect(kernel::mutex_init(s_bus_plain, {.protocol = kernel::MutexProtocol::none, .name = "bus"}),
                       "mutex_init");
    s_inversion.expect(
        kernel::mutex_init(s_bus_inherited, {.protocol = kernel::MutexProtocol::inheritance, .name = "bus+"}),
        "mutex_init");
    const std::uint64_t without = run_phase(s_bus_plain, 1);
    const std::uint64_t with = run_phase(s_bus_inherited, 2);
    kernel::console().mark("bus_dist missed ", without, " deadlines without inheritance, ", with, " with it");
    s_inversion.check("misses without inheritance", without, 1, 1, arguments.icount);
    s_inversion.check("misses with inheritance", with, 0, 0, arguments.icount);
    return s_inversion.result();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kInversion{
    "inversion", "the Mars Pathfinder case: priority inversion without and with inheritance", &start, false};

} // namespace apps
