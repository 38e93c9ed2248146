// SPDX-License-Identifier: MIT
// While a program is traced densely, clock compensation sets the clock that it sees back with every (trigger + 1)th
// traced step, so that it runs as if the tracing took no time. The time that is taken from the clock is given to the
// decrementer, so the next timer interrupt keeps its distance in compensated time: clock + decrementer never changes
// here.
//
//   clock as compensated     prev        target    now
//   ---------------------------+------------+--------+------->      target = prev + step
//                              |<-- step -->|<------>| removed
//
// Where records are dense but no program runs in steps, the cost of a record is known instead (Parameters::record): it
// is taken from the clock for all records since the last look, and the timer is set again once for many of them.
//
// Five guards keep the compensation from doing harm; each counts how often it held. Source: the clock compensation
// disclosure of 1997 (IPCOM000118655D). Its public text ends at the target; what follows, the guards' reasons and their
// bounds are derived. Context: irq-off. There is one object for each processor.
#pragma once

#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace kernel::compensation {

using Outcome = lib::StepOutcome;

struct Parameters {
    std::uint32_t trigger = 0;    // steps that pass between two settings of the clock
    lib::Ticks step{1};           // the cost of (trigger + 1) steps on the compensated clock
    lib::Ticks max_delta{20'000}; // above (trigger + 1) times the dearest step, below the shortest untraced stretch
    lib::Ticks near_zero{2'000};  // above the time from reading the decrementer to writing it
    lib::Ticks near_overflow{~std::uint64_t{0} - 40'000}; // below the clock's end by more than max_delta
    std::uint64_t record_x256 = 0; // the cost of a record in 1/256 ticks; 0: steps are compensated, not records
};

template <typename M>
concept Machine = requires(M& machine, lib::Ticks ticks) {
    { machine.clock() } -> std::same_as<lib::Ticks>;       // compensated so far
    { machine.decrementer() } -> std::same_as<lib::Ticks>; // until the timer's interrupt; greatest value: none
    machine.set(ticks, ticks);                             // clock, decrementer: the decrementer first
};

class Compensator {
  public:
    constexpr Compensator() = default;

    // Compensates from the next step on, with a new interval. Counts and what was removed are kept.
    void start(const Parameters& parameters, lib::Ticks clock) {
        m_parameters = parameters;
        m_on = true;
        restart(clock);
    }

    void stop() { m_on = false; }

    [[nodiscard]] bool on() const { return m_on; }

    // Begins a new interval after code that is not traced, whose time was genuine.
    void restart(lib::Ticks clock) {
        m_previous = clock;
        m_count = 0;
    }

    // Handles a traced step: takes the trace by calling take(), then sets the clock back unless a guard holds.
    template <Machine M, std::invocable Take>
    Outcome step(M& machine, Take take) {
        const Outcome before = judge(read(machine));
        take();
        const Outcome outcome = before == Outcome::compensated ? compensate(machine) : before;
        if (outcome == Outcome::below_trigger) {
            ++m_count;
        } else if (outcome != Outcome::compensated) {
            restart(machine.clock());
        }
        ++m_counts[static_cast<std::size_t>(outcome)];
        return outcome;
    }

    // Takes a cost off the clock that is known to be tracing; the timer is not set again.
    void take_off(lib::Ticks cost) { m_removed = m_removed + cost; }

    [[nodiscard]] const Parameters& parameters() const { return m_parameters; }

    // Returns where the clock will be when the step in progress is over, if no guard holds.
    [[nodiscard]] lib::Ticks end_of_step() const {
        const std::uint64_t steps = std::uint64_t{m_parameters.trigger} + 1;
        return m_previous + lib::Ticks{lib::multiply_divide(m_parameters.step.value, m_count + 1, steps)};
    }

    // Returns the number of steps with this outcome since boot.
    [[nodiscard]] std::uint64_t count(Outcome outcome) const { return m_counts[static_cast<std::size_t>(outcome)]; }

    // Returns the time that was taken from the clock since boot.
    [[nodiscard]] lib::Ticks removed() const { return m_removed; }

  private:
    struct Reading {
        lib::Ticks clock;
        lib::Ticks decrementer;
    };

    template <Machine M>
    [[nodiscard]] static Reading read(M& machine) {
        const lib::Ticks clock = machine.clock();
        return {clock, machine.decrementer()};
    }

    [[nodiscard]] Outcome judge(const Reading& reading) const {
        if (m_previous > reading.clock) {
            return Outcome::rollover;
        }
        if (reading.clock - m_previous > m_parameters.max_delta) {
            return Outcome::untraced;
        }
        if (reading.decrementer < m_parameters.near_zero) {
            return Outcome::near_zero;
        }
        if (reading.clock > m_parameters.near_overflow) {
            return Outcome::near_overflow;
        }
        return m_count < m_parameters.trigger ? Outcome::below_trigger : Outcome::compensated;
    }

    // Reads and judges clock and decrementer again, because the trace has taken time as well: it may have taken so long
    // that the timer's interrupt is pending by now.
    template <Machine M>
    Outcome compensate(M& machine) {
        const Reading now = read(machine);
        if (const Outcome judged = judge(now); judged != Outcome::compensated) {
            return judged;
        }
        const lib::Ticks target = m_previous + m_parameters.step;
        if (target >= now.clock) {
            return Outcome::not_ahead;
        }
        const lib::Ticks surplus = now.clock - target;
        constexpr lib::Ticks kNone{~std::uint64_t{0}};
        m_removed = m_removed + surplus; // first: a machine may set its clock by it
        machine.set(target, now.decrementer == kNone ? kNone : now.decrementer + surplus);
        restart(target);
        return Outcome::compensated;
    }

    Parameters m_parameters;
    bool m_on = false;
    lib::Ticks m_previous;     // the clock after the last setting
    std::uint32_t m_count = 0; // steps since then
    lib::Ticks m_removed;
    std::array<std::uint64_t, lib::kWords<Outcome>.size()> m_counts{};
};

// A processor's clock is its counter less what compensation has removed from it (the Compensator decides when and how
// much). The counter is never changed, and the timer is armed for an absolute time of the clock, so giving ticks back
// to it is arming it again for the same time: however often that happens, nothing is rounded away.
//
// There is one object for each processor, which shares nothing with others: each has its own counter, its own timer,
// and its own sum of what was removed. Context: irq-off, and not in steps, because counter and sum belong together.

// The hardware of a processor is a counter, and a timer that counts down with it.
template <typename H>
concept Hardware = requires(H& hardware) {
    { hardware.counter() } -> std::same_as<lib::Ticks>;
    { hardware.left() } -> std::same_as<lib::Ticks>; // until the timer's interrupt; greatest value: none
    hardware.arm_again();                            // for the same time of the clock
};

class ProcessorClock {
  public:
    constexpr ProcessorClock() = default;

    // Starts compensation. `records` is how many the processor has written by now.
    void start(const Parameters& parameters, lib::Ticks counter, std::uint64_t records = 0) {
        m_records = records;
        m_rest_x256 = 0;
        m_compensator.start(parameters, counter - removed());
    }

    void stop() { m_compensator.stop(); }

    [[nodiscard]] bool on() const { return m_compensator.on(); }

    // Returns whether records are compensated instead of steps.
    [[nodiscard]] bool counts_records() const { return on() && m_compensator.parameters().record_x256 != 0; }

    // Takes the cost of new records from the clock; `records` is how many the processor has written by now. The timer
    // stays armed, too early by that cost; early() sets it again.
    void settle(std::uint64_t records) {
        const std::uint64_t cost_x256 = (records - m_records) * m_compensator.parameters().record_x256 + m_rest_x256;
        m_records = records;
        m_rest_x256 = cost_x256 % 256;
        m_compensator.take_off({cost_x256 / 256});
    }

    // Serves a timer interrupt that came before its time, which many records have moved: the timer is set again, and
    // the interrupt's own time is taken from the clock. It is assumed to take as long as the last one. done() returns
    // the time when the program continues.
    template <Hardware H, std::invocable Done>
    void early(H& hardware, lib::Ticks entered, Done done) {
        m_compensator.take_off(m_early);
        hardware.arm_again();
        m_early = done() - entered;
    }

    [[nodiscard]] const Compensator& compensator() const { return m_compensator; }

    // Returns what was removed from the counter since boot.
    [[nodiscard]] lib::Ticks removed() const { return m_compensator.removed(); }

    // Returns what the counter shows at this time of the clock.
    [[nodiscard]] lib::Ticks counter_at(lib::Ticks time) const { return time + removed(); }

    // Returns the time. It never falls: where a setting is before a time that was already read, the clock stops until
    // that is reached. With `in_steps` it is the time of the program's step, not that of the return from the last one.
    [[nodiscard]] lib::Ticks read(lib::Ticks counter, bool in_steps) {
        lib::Ticks time = counter - removed();
        if (in_steps && on()) {
            time = std::min(time, m_compensator.end_of_step());
        }
        m_last_read = std::max(time, m_last_read);
        return m_last_read;
    }

    // Handles a traced step, which take() records.
    template <Hardware H, std::invocable Take>
    Outcome step(H& hardware, Take take) {
        Compensated<H> machine(*this, hardware);
        return m_compensator.step(machine, take);
    }

    // Begins anew after code that is not traced, whose time was genuine.
    void untraced(lib::Ticks counter) { m_compensator.restart(counter - removed()); }

  private:
    // Is the processor as the compensator sees it.
    template <Hardware H>
    class Compensated {
      public:
        Compensated(const ProcessorClock& owner, H& hardware)
            : m_owner(owner)
            , m_hardware(hardware) {}

        [[nodiscard]] lib::Ticks clock() const { return m_hardware.counter() - m_owner.removed(); }

        [[nodiscard]] lib::Ticks decrementer() const { return m_hardware.left(); }

        // The sum has grown already. The time that passes between the last reading and here is genuine.
        void set(lib::Ticks /*clock*/, lib::Ticks /*decrementer*/) { m_hardware.arm_again(); }

      private:
        const ProcessorClock& m_owner;
        H& m_hardware;
    };

    Compensator m_compensator;
    std::uint64_t m_records = 0;   // records that were settled
    std::uint64_t m_rest_x256 = 0; // part of a tick that is not yet taken off
    lib::Ticks m_early;            // the time that an early interrupt takes
    lib::Ticks m_last_read;        // the greatest time that was read
};

} // namespace kernel::compensation
