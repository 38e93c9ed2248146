// SPDX-License-Identifier: MIT
// Tests the compensated clock on the machine. In a kernel that was built without it nothing of it can be had, and the
// cases make sure of that.
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/root/tracing.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/mixing.hpp"
#include "tests/kernel/row_cases.hpp"

#include <algorithm>

namespace {

namespace clock_cases {

using namespace guest;
using kernel::compensation::Outcome;
using kernel::compensation::Parameters;

constexpr lib::Nanoseconds kPeriod = lib::microseconds(20);

constinit std::uint64_t g_expirations = 0;

bool compensates(const Parameters& parameters) {
    const auto started = kernel::clock_compensation_start(parameters);
    if (!kernel::kCompensationBuilt) {
        check_error(started, lib::Error::unsupported, "a kernel without compensation says so");
        return false;
    }
    must(started);
    return true;
}

// AE EC: a periodic timer runs beside a task in steps. On the compensated clock each period has its expiration, and
// each expiration its interrupt; the amount removed is in the trace, rising; stamps never fall; the clock never does.
int timer(const kernel::AppArguments&) {
    if (!compensates({})) {
        return failures;
    }
    const int chunk = rows::begin(250, FTRACE_CHUNK_FLAG_CYC);
    check(FTrace_itrace_range(&g_expirations, &g_expirations + 1) == 0, "no instruction is recorded");
    const std::uint64_t interrupts = kernel::interrupt_counters(arch::timer_vector()).taken;
    const lib::Ticks first = kernel::after(kPeriod);
    const kernel::TimerId timer = must(kernel::kern_event_post_periodic(
        first, kPeriod, [](void*) { ++g_expirations; }, nullptr));
    check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0, "steps begin");
    lib::Ticks last = kernel::now();
    bool falls = false;
    for (int i = 0; i < 400; ++i) {
        static_cast<void>(mixed(100));
        const lib::Ticks time = kernel::now();
        falls = falls || time < last;
        last = time;
    }
    check(FTrace_itrace_end() == 0, "steps end");
    const lib::Ticks end = kernel::now();
    const std::uint64_t expirations = g_expirations + kernel::timer_overruns();
    const std::uint64_t taken = kernel::interrupt_counters(arch::timer_vector()).taken - interrupts;
    must(kernel::kern_event_delete(timer));
    kernel::clock_compensation_stop();
    kernel::root::tracing_end();
    rows::recording.read(chunk);
    rows::expect(FTrace_EVT_compensation_count, static_cast<std::uint32_t>(Outcome::compensated),
                 static_cast<std::uint32_t>(kernel::clock_compensation().count(Outcome::compensated)));
    const std::uint64_t periods = (end - first).value / kernel::to_ticks(kPeriod).value + 1;
    kernel::console().line("periods ", periods, " expirations ", expirations, " interrupts ", taken);
    check(periods > 4 && expirations <= periods && expirations + 1 >= periods, "one expiration in each period");
    check(taken <= expirations + 1 && taken + kernel::timer_overruns() + 1 >= expirations, "one interrupt for each");
    check(!falls, "the kernel's clock never falls");
    check(kernel::clock_compensation().count(Outcome::compensated) > 10'000, "the clock was set back");

    std::uint64_t removed = 0;
    std::uint64_t recorded = 0;
    std::uint64_t stamp = 0;
    for (const tracer::Record& record : rows::recording.records()) {
        check(record.stamp().value >= stamp, "stamps never fall");
        stamp = record.stamp().value;
        if (record.event_code() == FTrace_EVT_clock_compensated) {
            const std::uint64_t now = std::uint64_t{record.par1} << 32 | record.par2;
            check(now >= removed, "what was removed only grows");
            removed = now;
            ++recorded;
        }
    }
    check(recorded > 50, "what was removed is in the trace");
    check(removed == kernel::clock_compensation().removed().value, "to the tick");
    return failures;
}

// What a task did freely before its steps begin is genuine, however short it was: the first step takes none of it away.
int begin_again(const kernel::AppArguments&) {
    if (!compensates({})) {
        return failures;
    }
    constexpr std::uint64_t kRounds = 500;
    constexpr std::uint64_t kLeast = 4 * kRounds; // ticks, one an instruction; far below max_delta
    const int chunk = rows::begin(250, FTRACE_CHUNK_FLAG_CYC);
    check(FTrace_itrace_range(&g_expirations, &g_expirations + 1) == 0, "no instruction is recorded");
    for (int i = 0; i < 20; ++i) {
        check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0 && FTrace_itrace_end() == 0, "steps, for a moment");
        const lib::Ticks before = kernel::now();
        static_cast<void>(mixed(kRounds));
        check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0 && FTrace_itrace_end() == 0, "and again");
        const lib::Ticks passed = kernel::now() - before;
        if (passed.value < kLeast) {
            kernel::console().line("round ", i, ": ", passed.value, " ticks");
            check(false, "its time is still there");
            break;
        }
    }
    kernel::clock_compensation_stop();
    rows::end(chunk);
    return failures;
}

// The clock stays late when no task is in steps any more, and the records of its settings are overwritten, or were
// left while tracing was off: the end of each interrupt records it again, and so does the beginning of tracing.
int recorded_again(const kernel::AppArguments&) {
    if (!compensates({})) {
        return failures;
    }
    const int chunk = rows::begin(250, FTRACE_CHUNK_FLAG_CYC);
    check(FTrace_itrace_range(&g_expirations, &g_expirations + 1) == 0, "no instruction is recorded");
    check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0, "steps begin");
    static_cast<void>(mixed(200));
    FTrace_disable();
    static_cast<void>(mixed(200));
    check(FTrace_itrace_end() == 0, "steps end");
    check(FTrace_enable() == 0, "tracing continues");
    const std::uint64_t removed = kernel::clock_compensation().removed().value;
    for (int i = 0; i < 400; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, static_cast<DWORD>(i)); // all that was there is overwritten
    }
    const kernel::TimerId timer = must(kernel::kern_event_post_periodic(
        kernel::after(kPeriod), kPeriod, [](void*) { ++g_expirations; }, nullptr));
    kernel::task_delay({5 * kPeriod.value});
    check(g_expirations > 2, "there were interrupts");
    must(kernel::kern_event_delete(timer));
    rows::end(chunk);
    std::uint64_t recorded = 0;
    for (const tracer::Record& record : rows::recording.records()) {
        if (record.event_code() == FTrace_EVT_clock_compensated) {
            check((std::uint64_t{record.par1} << 32 | record.par2) == removed, "what was removed in all");
            ++recorded;
        }
    }
    check(recorded >= 2, "each interrupt records it");
    return failures;
}

// The timer is as near as it can be all the time: nothing is compensated, nothing is lost.
int near_zero(const kernel::AppArguments&) {
    if (!compensates({.near_zero = kernel::to_ticks(lib::milliseconds(1))})) {
        return failures;
    }
    const kernel::TimerId timer = must(kernel::kern_event_post_periodic(
        kernel::after(kPeriod), kPeriod, [](void*) { ++g_expirations; }, nullptr));
    check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0, "steps begin");
    static_cast<void>(mixed(2'000));
    check(FTrace_itrace_end() == 0, "steps end");
    must(kernel::kern_event_delete(timer));
    kernel::clock_compensation_stop();
    const kernel::compensation::Compensator& clock = kernel::clock_compensation();
    check(clock.count(Outcome::near_zero) > 1'000, "the guard held");
    check(clock.removed().value == 0, "and nothing was removed");
    check(g_expirations > 10, "the timer continued");
    return failures;
}

// Is the machine's counter, moved so that it wraps soon, and a timer that is due after that.
class WrappingMachine {
  public:
    lib::Ticks clock() {
        m_read = arch::timestamp().value + m_offset;
        return {m_read};
    }

    // Returns the decrementer at the last reading of the clock.
    [[nodiscard]] lib::Ticks decrementer() const { return {m_due - m_read}; }

    void set(lib::Ticks clock, lib::Ticks decrementer) {
        sum_kept = sum_kept && clock.value + decrementer.value == m_due; // all of it wraps
        only_back = only_back && clock.value < m_read;
        m_offset -= m_read - clock.value;
        ++writes;
    }

    std::uint64_t writes = 0;
    bool sum_kept = true;
    bool only_back = true;

  private:
    static constexpr std::uint64_t kAhead = 80'000;

    std::uint64_t m_offset = ~std::uint64_t{0} - kAhead - arch::timestamp().value;
    std::uint64_t m_due = 1'000'000; // as the clock will be then
    std::uint64_t m_read = 0;
};

// Tests the counter's end, which 64 bits never reach by themselves: near it nothing is set, after it a new interval
// begins, once, and then the clock is set back as before.
int rollover(const kernel::AppArguments&) {
    constexpr std::uint64_t kSteps = 50;
    const kernel::IrqGuard guard; // so that no step is an untraced one
    const Parameters parameters;
    WrappingMachine machine;
    kernel::compensation::Compensator clock;
    clock.start(parameters, machine.clock());
    const auto step = [&](std::uint64_t times) {
        for (std::uint64_t i = 0; i < times; ++i) {
            clock.step(machine, [] { static_cast<void>(mixed(20)); });
        }
    };
    const auto freely_until = [&](auto reached) { spin_until([&] { return reached(machine.clock()); }); };
    step(kSteps);
    check(clock.count(Outcome::compensated) == kSteps && machine.writes == kSteps, "far from the end: set back");

    freely_until([&](lib::Ticks time) { return time > parameters.near_overflow; });
    clock.restart(machine.clock());
    const lib::Ticks removed = clock.removed();
    step(kSteps);
    check(clock.count(Outcome::near_overflow) == kSteps, "near the end: the guard holds");
    check(machine.writes == kSteps && clock.removed() == removed, "and nothing is touched");
    check(clock.count(Outcome::rollover) == 0, "not over it yet");

    freely_until([&](lib::Ticks time) { return time < parameters.near_overflow; });
    step(1 + kSteps);
    check(clock.count(Outcome::rollover) == 1, "after the end: a new interval, once");
    check(clock.count(Outcome::compensated) == 2 * kSteps && machine.writes == 2 * kSteps, "and then set back again");
    check(machine.clock() < lib::Ticks{parameters.max_delta}, "from where it was after the end");
    check(machine.sum_kept, "clock + decrementer is the same after each");
    check(machine.only_back, "the clock is only ever set back");
    return failures;
}

// In steps the clock advances by what the instructions between two readings are worth, one tick each: it neither rests
// still nor jumps, as it would if counter and sum were of different steps.
int read_in_steps(const kernel::AppArguments&) {
    constexpr int kReadings = 10'000;
    constexpr std::uint64_t kFew = 100; // instructions between two readings
    if (!compensates({})) {
        return failures;
    }
    check(FTrace_itrace_range(&g_expirations, &g_expirations + 1) == 0, "no instruction is recorded");
    check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0, "steps begin");
    lib::Ticks last = kernel::now();
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    bool falls = false;
    for (int i = 0; i < kReadings; ++i) {
        const lib::Ticks time = kernel::now();
        falls = falls || time < last;
        least = std::min(least, (time - last).value);
        most = std::max(most, (time - last).value);
        last = time;
    }
    check(FTrace_itrace_end() == 0, "steps end");
    kernel::clock_compensation_stop();
    kernel::console().line("between readings ", least, " to ", most, " ticks");
    check(!falls, "the clock never falls");
    check(least > 0, "nor does it rest");
    check(most <= kFew, "nor does it jump");
    return failures;
}

// Runs work with a record for each few instructions beside a periodic timer, and finds how long it takes on the clock,
// and how many of the timer's interrupts are served.
struct Dense {
    lib::Ticks took;
    std::uint64_t interrupts = 0;
    std::uint64_t expirations = 0;
};

Dense dense_work() {
    constexpr int kRounds = 20'000;
    g_expirations = 0;
    const std::uint64_t before = kernel::interrupt_counters(arch::timer_vector()).taken;
    const kernel::TimerId timer = must(kernel::kern_event_post_periodic(
        kernel::after(kPeriod), kPeriod, [](void*) { ++g_expirations; }, nullptr));
    const lib::Ticks begin = kernel::now();
    for (int i = 0; i < kRounds; ++i) {
        static_cast<void>(mixed(5));
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, static_cast<DWORD>(i));
    }
    const lib::Ticks took = kernel::now() - begin;
    must(kernel::kern_event_delete(timer));
    return {.took = took,
            .interrupts = kernel::interrupt_counters(arch::timer_vector()).taken - before,
            .expirations = g_expirations + kernel::timer_overruns()};
}

// Records that are nearly half of what is executed cost no time on the clock: the work takes as long as without
// tracing, and the timer's interrupts are as many.
int records(const kernel::AppArguments&) {
    const tracer::TraceCost& cost = tracer::instance().exporter.setup().cost;
    const int chunk = rows::begin(250, FTRACE_CHUNK_FLAG_CYC);
    FTrace_disable();
    const Dense untraced = dense_work();
    check(FTrace_enable() == 0, "recording continues");
    const Dense recorded = dense_work();
    if (!compensates({.record_x256 = cost.enabled_ticks_x256 - cost.disabled_ticks_x256})) {
        return failures;
    }
    const Dense compensated = dense_work();
    kernel::clock_compensation_stop();
    kernel::console().line("ticks ", untraced.took.value, " untraced, ", recorded.took.value, " recorded, ",
                           compensated.took.value, " compensated; interrupts ", untraced.interrupts, " ",
                           recorded.interrupts, " ", compensated.interrupts);
    rows::end(chunk);
    const auto within = [](std::uint64_t value, std::uint64_t wanted, std::uint64_t percent) {
        return value * 100 >= wanted * (100 - percent) && value * 100 <= wanted * (100 + percent);
    };
    check(recorded.took.value * 10 > untraced.took.value * 13, "recording alone costs a third");
    check(within(compensated.took.value, untraced.took.value, 2), "on the compensated clock next to nothing");
    check(within(compensated.interrupts, untraced.interrupts, 4), "and the timer keeps its pace");
    check(compensated.interrupts == compensated.expirations, "an interrupt that comes too early is not served");
    return failures;
}

int arguments(const kernel::AppArguments&) {
    if (!compensates({})) {
        return failures;
    }
    kernel::clock_compensation_stop();
    const auto refused = [](const Parameters& parameters, std::string_view what) {
        check_error(kernel::clock_compensation_start(parameters), lib::Error::invalid_argument, what);
    };
    refused({.step = {}}, "a step of nothing");
    refused({.max_delta = {}}, "no stretch can be traced");
    refused({.trigger = ~std::uint32_t{0}}, "a trigger that cannot be reached");
    refused({.max_delta = {100}, .near_overflow = {~std::uint64_t{0} - 100}}, "an end that is too near");
    must(kernel::clock_compensation_start({.max_delta = {100}, .near_overflow = {~std::uint64_t{0} - 101}}));
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_clock_timer", "a periodic timer beside a task in steps, on a compensated clock", &checked<&timer>, true},
    {"t_clock_begin_again", "steps that begin after a short free run", &checked<&begin_again>, true},
    {"t_clock_recorded_again", "what was removed, when no task is in steps any more", &checked<&recorded_again>, true},
    {"t_clock_near_zero", "a timer that is always about to fire", &checked<&near_zero>, true},
    {"t_clock_rollover", "a clock that wraps", &checked<&rollover>, false},
    {"t_clock_read_in_steps", "the clock as a task in steps sees it", &checked<&read_in_steps>, true},
    {"t_clock_records", "dense records, on a clock that they do not move", &checked<&records>, true},
    {"t_clock_arguments", "what a clock cannot be compensated by", &checked<&arguments>, true},
};

} // namespace clock_cases

} // namespace
