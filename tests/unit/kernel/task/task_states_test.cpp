// SPDX-License-Identifier: MIT
// Tests the table of states and operations: a task is brought into each state it can have, and there it is killed,
// suspended, resumed and aborted. Afterwards everything that it held or waited for must be as if it had never been.
#include "kernel/sched/exception.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace task_states_test {

using namespace hosted;
using kernel::task_resume;
using kernel::task_self;
using kernel::task_suspend;

kernel::Pid s_first;
kernel::Mutex& s_one = mutex("one");
kernel::Mutex& s_two = mutex("two");
kernel::Semaphore& s_units = semaphore("units");

struct StateCase {
    const char* name;
    void (*body)(void*); // brings the task into the state; null: it is not activated
    const char* state_before;
};

void run_on(void*) {
    work("A", 50);
}

void contend(void*) {
    must(kernel::mutex_lock(s_one));
    work("c", 1);
    must(kernel::mutex_unlock(s_one));
}

const StateCase kStates[] = {
    {"sleeping", nullptr, "sleeping"},
    {"ready", run_on, "ready"},
    {"idle", [](void*) { kernel::task_endcycle(); }, "idle"},
    {"gone to sleep", [](void*) { kernel::task_sleep(); }, "sleeping"},
    {"delayed", [](void*) { kernel::task_delay(ms(30)); }, "delayed"},
    {"semaphore", [](void*) { must(kernel::sem_wait(s_units)); }, "waiting"},
    {"signal", [](void*) { static_cast<void>(kernel::signal_wait(2)); }, "waiting"},
    {"timed signal", [](void*) { static_cast<void>(kernel::signal_timedwait(2, ms(30))); }, "waiting"},
    {"mutex", [](void*) { must(kernel::mutex_lock(s_two)); }, "ready"},
    {"owner of a contended mutex",
     [](void*) {
         must(kernel::mutex_lock(s_one));
         work("A", 50);
     },
     "ready"},
    {"owner of a contended mutex that waits",
     [](void*) {
         must(kernel::mutex_lock(s_one));
         must(kernel::sem_wait(s_units));
     },
     "waiting"},
    {"in a handler",
     [](void*) {
         must(kernel::signal_handler_set(
             3, [](std::uint8_t, void*) { work("A", 50); }, nullptr));
         must(kernel::signal_raise(task_self(), 3));
     },
     "ready"},
};

const StateCase* s_case = nullptr;
void (*s_operation)() = nullptr;

const char* state_name(kernel::TaskState state) {
    switch (state) {
    case kernel::TaskState::free:
        return "free";
    case kernel::TaskState::sleeping:
        return "sleeping";
    case kernel::TaskState::ready:
        return "ready";
    case kernel::TaskState::idle:
        return "idle";
    case kernel::TaskState::delayed:
        return "delayed";
    case kernel::TaskState::waiting:
        return "waiting";
    }
    return "?";
}

// The victim is in its state at 5, when the operation happens; then another task takes both mutexes and the unit, and a
// new task takes the victim's place.
void scenario() {
    must(kernel::mutex_init(s_one, "one"));
    must(kernel::mutex_init(s_two, "two"));
    must(kernel::sem_init(s_units, "units", 0));
    must(kernel::mutex_lock(s_two));
    s_first = create("victim", s_case->body != nullptr ? s_case->body : &run_on, hard(60, 200, 190));
    if (s_case->body != nullptr) {
        must(kernel::task_activate_at(s_first, at(0)));
    }
    start("contender", &contend, hard(1, 200, 180, 4));
    must(kernel::kern_event_post(
        at(5),
        [](void*) {
            const char* const state = state_name(must(kernel::task_info(s_first)).state);
            if (std::string_view(state) != s_case->state_before) {
                note(std::string("not in its state but ") + state);
            }
            s_operation();
        },
        nullptr));
    pause_until(70);
    must(kernel::mutex_unlock(s_two));
    must(kernel::mutex_lock(s_one));
    must(kernel::mutex_lock(s_two));
    must(kernel::sem_post(s_units));
    note(kernel::sem_trywait(s_units).ok() ? "clean" : "a unit is lost");
}

std::string without_work(const std::string& report) {
    std::string rest;
    for (std::size_t from = 0; from < report.size();) {
        const std::size_t end = std::min(report.find(" | ", from), report.size());
        const std::string piece = report.substr(from, end - from);
        if (!piece.starts_with("A ") && !piece.starts_with("c ")) {
            rest += rest.empty() ? piece : " | " + piece;
        }
        from = end + 3;
    }
    return rest;
}

class EveryState : public testing::TestWithParam<StateCase> {
  protected:
    static std::string after(void (*operation)()) {
        s_case = &GetParam();
        s_operation = operation;
        return without_work(hosted::run(&scenario));
    }
};

TEST_P(EveryState, IsKilled) {
    EXPECT_EQ(after([] {
                  must(kernel::task_kill(s_first));
                  note(lib::error_name(kernel::task_kill(s_first).error()));
              }),
              "not found | clean");
}

TEST_P(EveryState, IsSuspendedAndKilled) {
    EXPECT_EQ(after([] {
                  must(task_suspend(s_first));
                  must(kernel::task_kill(s_first));
                  note(lib::error_name(task_resume(s_first).error()));
              }),
              "not found | clean");
}

TEST_P(EveryState, IsSuspendedForAWhileAndKilled) {
    EXPECT_EQ(after([] {
                  must(task_suspend(s_first));
                  must(kernel::kern_event_post(
                      at(40),
                      [](void*) {
                          const bool suspended = must(kernel::task_info(s_first)).suspended;
                          must(kernel::task_kill(s_first));
                          note(suspended ? "killed" : "not suspended");
                      },
                      nullptr));
              }),
              "killed | clean");
}

TEST_P(EveryState, IsSuspendedResumedAndKilled) {
    EXPECT_EQ(after([] {
                  must(task_suspend(s_first));
                  must(task_resume(s_first));
                  const char* const state = state_name(must(kernel::task_info(s_first)).state);
                  note(std::string_view(state) == s_case->state_before ? "as before" : state);
                  must(kernel::task_kill(s_first));
              }),
              "as before | clean");
}

TEST_P(EveryState, IsAbortedIfAJobIsInProgress) {
    static std::uint64_t s_aborted = 0;
    EXPECT_EQ(after([] {
                  must(kernel::task_set_reactions(s_first, {.wcet = kernel::Reaction::abort}));
                  const auto off = kernel::IrqOff::from_entry();
                  kernel::Task& task = *kernel::find_task(s_first, off);
                  s_aborted = task.in_job() ? 1 : 0;
                  kernel::raise_exception(task, kernel::TaskException::wcet, off);
                  must(kernel::kern_event_post(
                      at(6),
                      [](void*) {
                          const kernel::TaskInfo info = must(kernel::task_info(s_first));
                          note(info.jobs.aborted == s_aborted ? "counted" : "miscounted");
                          note(info.state == kernel::TaskState::idle || info.state == kernel::TaskState::sleeping
                                   ? "no job"
                                   : "still in a job");
                          must(kernel::task_kill(s_first));
                      },
                      nullptr));
              }),
              "counted | no job | clean");
}

INSTANTIATE_TEST_SUITE_P(Task, EveryState, testing::ValuesIn(kStates), [](const auto& one) {
    std::string name = one.param.name;
    for (char& letter : name) {
        letter = letter == ' ' ? '_' : letter;
    }
    return name;
});

} // namespace task_states_test
