// SPDX-License-Identifier: MIT
// Station 2 shows tasks that do not keep what they declared, and one that the processor stops.
//
//   patient    uses more than declared and is late    both are counted
//   cut        uses more than declared                its job is aborted
//   warned     uses more than declared                its handler is called
//   ended      is late                                it is killed
//   early      sporadic, activated twice at once      the second activation is a violation
//   skipping   busy when it is activated again        the activation is dropped
//   saving     busy when it is activated again        the activation waits
//   faulty     executes an instruction that is none   it is killed
#include "apps/tour.hpp"

namespace apps::tour {

namespace {

using kernel::Reaction;

// The model declares 0.5 ms, due after 2 ms.
constexpr kernel::HardModel kModest{
    .wcet = microseconds(500), .period = milliseconds(20), .relative_deadline = milliseconds(2)};

// Executes one job that takes this long.
template <std::uint64_t Microseconds>
void once(void*) {
    compute(microseconds(Microseconds));
    kernel::task_sleep();
}

// The first job never ends by itself; after its abort the next one starts at the entry.
void cut(void*) {
    static constinit int entries = 0;
    if (++entries == 1) {
        compute(milliseconds(1'000));
    }
    kernel::task_sleep();
}

void warned(void*) {
    static constinit volatile bool called = false;
    kernel::exception_handler_set([](kernel::TaskException, void*) { called = true; }, nullptr);
    while (!called) {
        compute(microseconds(50));
    }
    kernel::task_sleep();
}

void faulty(void*) {
    asm volatile("ud2");
}

void violate(std::string_view name, kernel::TaskBody body, const kernel::Reactions& reactions) {
    const kernel::Pid pid = start({.name = name, .body = body, .model = kModest, .reactions = reactions});
    kernel::task_delay(milliseconds(25)); // two releases
    if (reactions.deadline_miss != Reaction::kill) {
        kill(pid);
    }
}

void wait_a_moment(void*) {
    for (;;) {
        kernel::task_delay(milliseconds(1));
        kernel::task_endcycle();
    }
}

// Activates a task twice in a row; it is gone when the work is done.
void activate_twice(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model) {
    const kernel::Pid pid = start({.name = name, .body = body, .model = model});
    verdict.expect(kernel::task_activate(pid), name);
    kernel::task_delay(milliseconds(12));
    kill(pid);
}

} // namespace

void visit_overruns() {
    violate("patient", &once<3'000>, {});
    violate("cut", &cut, {.wcet = Reaction::abort});
    violate("warned", &warned, {.wcet = Reaction::handler});
    violate("ended", &once<1'000'000>, {.deadline_miss = Reaction::kill});
    activate_twice(
        "early", &periodic<100>,
        kernel::HardModel{.wcet = microseconds(300), .period = milliseconds(10), .arrival = kernel::Arrival::sporadic});
    kernel::SoftModel soft{.budget = milliseconds(1), .period = milliseconds(10), .overlap = kernel::Overlap::skip};
    activate_twice("skipping", &wait_a_moment, soft);
    soft.overlap = kernel::Overlap::save;
    activate_twice("saving", &wait_a_moment, soft);
    start({.name = "faulty", .body = &faulty, .model = kModest, .reactions = {.fault = Reaction::kill}});
}

} // namespace apps::tour
