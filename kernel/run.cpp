// SPDX-License-Identifier: MIT
// See run.hpp for the picture.
#include "kernel/run.hpp"

#include "arch/arch.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/panic.hpp"
#include "kernel/runlevel.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/section_meter.hpp"
#include "kernel/task.hpp"
#include "kernel/timer.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

namespace {

struct Run {
    const App* app = nullptr;
    AppArguments arguments;
    RunOutcome outcome;
    Task* idle = nullptr;
    Task* ender = nullptr; // the task that shuts the system down
};

constinit Run s_run;

void idle_body(void* argument) {
    static_cast<void>(argument);
    static_cast<void>(arch::irq_save());
    for (;;) {
        section_ends();
        arch::wait_for_interrupt();
        section_begins();
    }
}

void main_body(void* argument) {
    static_cast<void>(argument);
    sys_end(s_run.app->start(s_run.arguments));
}

lib::Result<void> start_idle(BackgroundLevel& background) {
    const auto pid = task_create({.name = "idle", .body = &idle_body, .argument = nullptr, .model = BackgroundModel{}});
    if (!pid.ok()) {
        return pid.error();
    }
    s_run.idle = find_task(pid.value());
    s_run.idle->immortal = true;
    if (const auto activated = task_activate(pid.value()); !activated.ok()) {
        return activated;
    }
    background.set_idle(*s_run.idle);
    return {};
}

lib::Result<void> start_main() {
    const auto pid = task_create({.name = "main", .body = &main_body, .argument = nullptr, .model = NrtModel{}});
    return pid.ok() ? task_activate(pid.value()) : pid.error();
}

void kill_all_but(const Task* first, const Task* second) {
    for (Task& task : task_table()) {
        if (task.state != TaskState::free && &task != first && &task != second) {
            end_task_irq_off(task);
        }
    }
}

// True if the calling task is to end the system; it may be at that already. False if another one is.
bool becomes_ender(RunOutcome outcome) {
    const IrqGuard guard;
    Task* const self = current_task_irq_off();
    if (self == nullptr || this_processor().in_interrupt) {
        panic("sys_end() or sys_abort() outside of a task");
    }
    if (s_run.ender == nullptr) {
        s_run.ender = self;
        s_run.ender->immortal = true;
        s_run.outcome = outcome;
    } else if (s_run.ender == self) {
        s_run.outcome.aborted = s_run.outcome.aborted || outcome.aborted;
    }
    return s_run.ender == self;
}

// A function of an exit level that ends the system again is not returned to: what is left of its level comes next.
[[noreturn]] void shut_down(RunOutcome outcome) {
    if (!becomes_ender(outcome)) {
        task_exit();
    }
    if (outcome.aborted) {
        mark_aborted();
    }
    if (run_level() < RunLevel::before_exit) {
        run_level_functions(RunLevel::shutdown);
        const IrqGuard guard;
        kill_all_but(s_run.ender, s_run.idle);
        schedule_irq_off(); // the ender may have run in the place of a task that is gone
    }
    run_level_functions(RunLevel::before_exit);
    static_cast<void>(arch::irq_save());
    kill_all_but(nullptr, nullptr);
    delete_all_timers_irq_off();
    return_to_boot_irq_off();
}

} // namespace

lib::Result<RunOutcome> run(const App& app, const AppArguments& arguments, BackgroundLevel& background) {
    ASSERT(arch::interrupts_disabled() && s_run.app == nullptr);
    s_run.app = &app;
    s_run.arguments = arguments;
    if (const auto idle = start_idle(background); !idle.ok()) {
        return idle.error();
    }
    run_level_functions(RunLevel::init);
    if (const auto main = start_main(); !main.ok()) {
        return main.error();
    }
    run_level_functions(RunLevel::running);
    scheduler_irq_off();
    context_load_irq_off(); // returns when the last task has left
    return s_run.outcome;
}

void sys_end(int result) {
    shut_down({result, false});
}

void sys_abort(int result) {
    shut_down({result, true});
}

} // namespace kernel
