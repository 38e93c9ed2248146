// SPDX-License-Identifier: MIT
// Shows the effect of an overload on EDF, and how a server confines it. Three tasks declare 90 % of the processor and
// use 120 %, each a third more than declared; then the greedy one is served by a constant bandwidth server instead.
// Times are in milliseconds.
//
//   task     T    declared  used      phase 2
//   fast    10       3        4       HARD, declares 4
//   medium  20       6        8       HARD, declares 8
//   greedy  40      12       16       SOFT: 6 every 40, regardless of its use
//
// Phase 1: deadlines of all three are missed, one after the other (the domino effect): EDF does not know which task is
// responsible. Phase 2: the server postpones the greedy task's deadline each time its budget is used up; fast and
// medium miss no deadline, and greedy gets its reservation and the remaining time.
// Sources: Buttazzo, "Hard Real-Time Computing Systems", on overloads; Abeni, Buttazzo, "Integrating multimedia
// applications in hard real-time systems" (1998).
#include "apps/phase.hpp"
#include "apps/work.hpp"
#include "kernel/run/app.hpp"
#include "tracer/ftrace.hpp"

#include <array>

namespace apps {

namespace {

using lib::milliseconds;

constinit lib::Nanoseconds s_length = milliseconds(160);

constinit Verdict s_overload{"overload"};
constinit Phase s_phase{s_overload};

template <std::uint64_t Ms>
void busy(void*) {
    for (;;) {
        compute(milliseconds(Ms));
        kernel::task_endcycle();
    }
}

kernel::HardModel hard(std::uint64_t wcet_us, std::uint64_t period_ms) {
    return {.wcet = lib::microseconds(wcet_us), .period = milliseconds(period_ms)};
}

struct Misses {
    std::uint64_t fast = 0;
    std::uint64_t medium = 0;
    std::uint64_t greedy = 0;
};

Misses run_phase([[maybe_unused]] std::uint16_t number, const std::array<kernel::TaskModel, 3>& models) {
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, number, 0);
    const lib::Ticks begin = kernel::after(milliseconds(1));
    s_phase.open(begin + kernel::to_ticks(s_length));
    s_phase.start("fast", &busy<4>, models[0], begin);
    s_phase.start("medium", &busy<8>, models[1], begin);
    s_phase.start("greedy", &busy<16>, models[2], begin);
    const auto counts = s_phase.wait();
    return {
        .fast = counts[0].deadline_misses, .medium = counts[1].deadline_misses, .greedy = counts[2].deadline_misses};
}

int start(const kernel::AppArguments& arguments) {
    if (arguments.duration.value != 0) {
        s_length = {arguments.duration.value / 2};
    }
    s_phase.prepare();
    const Misses edf = run_phase(1, {hard(3'000, 10), hard(6'000, 20), hard(12'000, 40)});
    kernel::console().mark("EDF at 120 %: fast missed ", edf.fast, ", medium ", edf.medium, ", greedy ", edf.greedy);
    // The tasks of phase 1 ended late: their last reservations must end before others are admitted.
    kernel::task_delay(milliseconds(50));
    const Misses cbs =
        run_phase(2, {hard(4'200, 10), hard(8'400, 20),
                      kernel::SoftModel{.budget = milliseconds(5), .period = milliseconds(40), .periodic = true}});
    kernel::console().mark("with a server: fast missed ", cbs.fast, ", medium ", cbs.medium);
    s_overload.check("misses under EDF", edf.fast + edf.medium + edf.greedy, 3, ~std::uint64_t{0}, arguments.icount);
    s_overload.check("misses of fast with a server", cbs.fast, 0, 0, arguments.icount);
    s_overload.check("misses of medium with a server", cbs.medium, 0, 0, arguments.icount);
    return s_overload.result();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kOverload{
    "overload", "EDF at 120 %, and a constant bandwidth server that confines the greedy task", &start, false};

} // namespace apps
