// SPDX-License-Identifier: MIT
// Tests times beyond all times, and activations that come too early: the kernel neither wraps nor breaks its guarantee.
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"

namespace {

namespace limit_cases {

using namespace guest;

constexpr lib::Nanoseconds kForever{~std::uint64_t{0}};

int huge_times(const kernel::AppArguments&) {
    static constinit int fired = 0;
    const kernel::Pid rare = create("rare", kernel::HardModel{lib::milliseconds(1), kForever, {}, {}}, [](void*) {
        for (;;) {
            kernel::task_endcycle();
        }
    });
    const kernel::Pid late =
        create("late", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(10), {}, kForever},
               [](void*) { order.add('l'); });
    must(kernel::task_activate(rare));
    must(kernel::task_activate(late));
    must(kernel::kern_event_post_periodic(
        kernel::after(lib::milliseconds(1)), kForever, [](void*) { ++fired; }, nullptr));
    kernel::task_delay(lib::milliseconds(5));
    check(fired == 1, "a period without end fires once");
    check(must(kernel::task_info(rare)).jobs.released == 1, "and releases once");
    check(must(kernel::task_info(late)).jobs.released == 0, "an offset without end never comes");
    check_order("");
    return failures;
}

// A task that sleeps and is activated again at once may not take more than it was admitted for.
int early_activation(const kernel::AppArguments&) {
    static constinit kernel::Pid eager{};
    static constinit lib::Ticks first{};
    static constinit lib::Ticks second{};
    eager = create("eager", kernel::HardModel{lib::milliseconds(5), lib::milliseconds(10), {}, {}}, [](void*) {
        (first.value == 0 ? first : second) = kernel::now();
        kernel::task_sleep();
        second = kernel::now();
    });
    must(kernel::task_activate(eager));
    must(kernel::task_activate(eager));
    kernel::task_delay(lib::milliseconds(2));
    check(second.value == 0, "not within the period of the first job");
    kernel::task_delay(lib::milliseconds(12));
    check(second.value != 0 && second - first >= kernel::to_ticks(lib::microseconds(9'900)), "but after it");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_limit_huge_times", "times that would wrap", &guest::checked<&huge_times>, false},
    {"t_limit_early_activation", "an admitted task keeps its period", &guest::checked<&early_activation>, false},
};

} // namespace limit_cases

} // namespace
