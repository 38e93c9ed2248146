// SPDX-License-Identifier: MIT
// Tests timer events on the real one-shot timer.
#include "tests/kernel/case.hpp"

#include "kernel/time/timer.hpp"

namespace {

namespace timer_cases {

using namespace guest;

void add(void* letter) {
    order.add(*static_cast<const char*>(letter));
}

void* letter(const char& which) {
    return const_cast<char*>(&which);
}

constexpr char kLetters[] = "abcd";

int timer_order(const kernel::AppArguments&) {
    const lib::Ticks begin = kernel::after(lib::milliseconds(2));
    const lib::Ticks later = begin + kernel::to_ticks(lib::milliseconds(1));
    must(kernel::kern_event_post(later, &add, letter(kLetters[2])));
    must(kernel::kern_event_post(begin, &add, letter(kLetters[0])));
    must(kernel::kern_event_post(later, &add, letter(kLetters[3])));
    must(kernel::kern_event_post(begin, &add, letter(kLetters[1])));
    kernel::task_delay(lib::milliseconds(5));
    check_order("abcd");
    return failures;
}

struct Beats {
    lib::Ticks first;
    std::uint64_t count = 0;
    bool early = false;
};

// Whatever the latency of each, the k-th never comes before first + k * period, and skipped ones are counted.
int timer_periodic(const kernel::AppArguments& arguments) {
    static constinit Beats beats;
    static constexpr lib::Nanoseconds kPeriod = lib::microseconds(500);
    beats.first = kernel::after(lib::milliseconds(1));
    const auto id = must(kernel::kern_event_post_periodic(
        beats.first, kPeriod,
        [](void*) {
            // Skips only make it later, so this bound holds with or without them.
            const lib::Ticks due = beats.first + kernel::to_ticks({kPeriod.value * beats.count});
            beats.early = beats.early || kernel::now() < due;
            ++beats.count;
        },
        nullptr));
    kernel::task_delay(lib::milliseconds(21));
    const lib::Ticks end = kernel::now();
    must(kernel::kern_event_delete(id));
    const std::uint64_t seen = beats.count + kernel::timer_overruns();
    const std::uint64_t due = kernel::to_nanoseconds(end - beats.first).value / kPeriod.value + 1;
    check(!beats.early, "no expiration before its time");
    check(seen + 1 >= due && seen <= due + 1, "expirations and overruns make up the grid");
    check(!arguments.icount || kernel::timer_overruns() == 0, "nothing is skipped on an exact clock");
    const std::uint64_t after_delete = beats.count;
    kernel::task_delay(lib::milliseconds(2));
    check(beats.count == after_delete, "a deleted event is silent");
    return failures;
}

int timer_delete(const kernel::AppArguments&) {
    const auto never = must(kernel::kern_event_post(kernel::after(lib::milliseconds(5)), &add, letter(kLetters[0])));
    const auto fires = must(kernel::kern_event_post(kernel::after(lib::milliseconds(1)), &add, letter(kLetters[1])));
    must(kernel::kern_event_delete(never));
    check_error(kernel::kern_event_delete(never), lib::Error::not_found, "deleted twice");
    kernel::task_delay(lib::milliseconds(10));
    check_error(kernel::kern_event_delete(fires), lib::Error::not_found, "fired already");
    check_order("b");
    return failures;
}

int timer_past(const kernel::AppArguments&) {
    {
        const arch::IrqGuard guard;
        must(kernel::kern_event_post({kernel::now().value - 1'000}, &add, letter(kLetters[0])));
        order.add('i'); // still off
    }
    spin_until([] { return order.letters().size() == 2; });
    order.add('m');
    check_order("iam");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_timer_order", "earliest first, equal times in order of posting", &guest::checked<&timer_order>, false},
    {"t_timer_periodic", "a periodic event keeps its grid", &guest::checked<&timer_periodic>, false},
    {"t_timer_delete", "a deleted event does not fire", &guest::checked<&timer_delete>, false},
    {"t_timer_past", "a time that has passed fires at once", &guest::checked<&timer_past>, false},
};

} // namespace timer_cases

} // namespace
