// SPDX-License-Identifier: MIT
// Has what the in-guest cases share. A case is an application t_*: it records the order in which things happen as
// letters and compares it with the order computed by hand. Nothing depends on how fast the machine is: tasks are
// released by other tasks, not by the clock, and whoever must wait for time waits for the kernel's own counters.
#pragma once

#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "lib/text.hpp"
#include "tests/kernel/checked.hpp"

#include <cstdint>
#include <string_view>

namespace guest {

// Keeps letters in the order in which they were added. Context: any.
class Order {
  public:
    constexpr Order() = default;

    void add(char letter) {
        const arch::IrqGuard guard;
        m_letters.add(letter);
    }

    [[nodiscard]] std::string_view letters() const { return m_letters.view(); }

  private:
    lib::Text<120> m_letters;
};

inline constinit Order order;
inline constinit int failures = 0;

inline void check(bool condition, std::string_view what) {
    if (!condition) {
        ++failures;
        kernel::console().line("failed: ", what);
    }
}

inline void check_order(std::string_view expected) {
    if (order.letters() != expected) {
        ++failures;
        kernel::console().line("failed: order is ", order.letters(), ", expected ", expected);
    }
}

// Counts NMIs, which would be a panic without a handler.
inline void count_nmis() {
    const auto attached = kernel::interrupt_attach(
        2, "nmi", [](void*) {}, nullptr);
    ASSERT(attached.ok());
}

template <typename T>
T must(const lib::Result<T>& result) {
    ASSERT(result.ok());
    if constexpr (!std::is_void_v<T>) {
        return result.value();
    }
}

inline void check_error(const lib::Result<void>& result, lib::Error expected, std::string_view what) {
    check(!result.ok() && result.error() == expected, what);
}

// Returns a model whose job is due this long after its release; the period is far beyond any case.
[[nodiscard]] inline kernel::HardModel due_after(std::uint64_t milliseconds) {
    return {lib::milliseconds(1), lib::milliseconds(100'000), lib::milliseconds(milliseconds), {}};
}

inline kernel::Pid create(std::string_view name, const kernel::TaskModel& model, kernel::TaskBody body) {
    return must(kernel::task_create({.name = name, .body = body, .argument = nullptr, .model = model}));
}

// Starts a task that is released now, whatever "now" will be when it runs.
inline kernel::Pid start(std::string_view name, const kernel::TaskModel& model, kernel::TaskBody body) {
    const kernel::Pid pid = create(name, model, body);
    must(kernel::task_activate(pid));
    return pid;
}

// Is a job that adds its letter.
template <char Letter>
void letter(void*) {
    order.add(Letter);
}

// The launcher makes three tasks ready without giving them the processor: B, which is due first, runs first.
template <kernel::HardModel (*Due)(std::uint64_t milliseconds)>
int nearest_first() {
    start("launcher", Due(500), [](void*) {
        start("A", Due(3'000), letter<'A'>);
        start("B", Due(1'000), letter<'B'>);
        start("C", Due(2'000), letter<'C'>);
        order.add('L');
    });
    check_order("LBCA");
    return failures;
}

[[nodiscard]] inline kernel::JobCounts my_jobs() {
    return must(kernel::task_info(kernel::task_self())).jobs;
}

// Reads memory again, because others change what this task looks at.
inline void look_again() {
    asm volatile("pause" : : : "memory");
}

// Computes until the condition holds.
template <typename Condition>
void spin_until(Condition condition) {
    while (!condition()) {
        look_again();
    }
}

} // namespace guest
