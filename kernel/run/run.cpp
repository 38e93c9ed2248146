// SPDX-License-Identifier: MIT
// Implements the run that run.hpp draws.
#include "kernel/run/run.hpp"

#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/section/section_meter.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"

namespace kernel {

namespace {

struct Run {
    const App* app = nullptr;
    AppArguments arguments;
    RunOutcome outcome;
    Task* idle = nullptr;
    Task* last = nullptr; // ends the run instead of the main task
    lib::Nanoseconds limit;
    Task* ender = nullptr; // the task that shuts the system down
};

constinit Run s_run;

// Where the clock counts instructions, the idle task never halts: QEMU moves such a clock over a halt from another
// thread, now and then before the last instructions are counted, and everything after is late by their number. So each
// tick is an instruction of the guest, whatever the host does meanwhile (softmmu/icount.c, icount_start_warp_timer()).
void idle_body(void*) {
    if (s_run.arguments.icount) {
        arch::wait_by_counting();
    }
    static_cast<void>(arch::irq_save());
    for (;;) {
        section_ends();
        arch::wait_for_interrupt();
        section_begins();
    }
}

void main_body(void*) {
    sys_end(s_run.app->start(s_run.arguments));
}

lib::Result<void> start_idle(BackgroundLevel& background, IrqOff off) {
    const auto pid = task_create({.name = "idle", .body = &idle_body, .argument = nullptr, .model = BackgroundModel{}});
    if (!pid.ok()) {
        return pid.error();
    }
    s_run.idle = find_task(pid.value(), off);
    s_run.idle->immortal = true;
    if (const auto activated = task_activate(pid.value()); !activated.ok()) {
        return activated;
    }
    background.set_idle(*s_run.idle, off);
    return {};
}

// This task ends the run instead of the main task.
void last_body(void*) {
    console().mark("main task: ended before its start() returned: it was killed, or called task_exit(); remedy: end "
                   "the run by sys_end()");
    sys_abort(1);
}

lib::Result<Pid> start_nrt(std::string_view name, TaskBody body) {
    const auto pid = task_create({.name = name, .body = body, .argument = nullptr, .model = NrtModel{}});
    const auto activated = pid.ok() ? task_activate(pid.value()) : pid.error();
    return activated.ok() ? pid : activated.error();
}

void kill_all_but(const Task* first, const Task* second, IrqOff off) {
    for (Task& task : task_table(off)) {
        if (task.state != TaskState::free && &task != first && &task != second) {
            end_task(task, off);
        }
    }
}

// The task that ends the run is round robin, so tasks of higher levels may keep the processor from it. They are killed
// after this time.
constexpr lib::Nanoseconds kEndGrace = lib::milliseconds(10);

void end_without_others(Task&, IrqOff off) {
    if (s_run.ender == nullptr) {
        console().mark("main task: others keep the processor from the end of the run: they are killed");
        kill_all_but(s_run.last, s_run.idle, off);
    }
}

// Starts the task that ends the run, unless one ends it already.
void start_ender(TaskBody body, IrqOff off) {
    if (s_run.ender != nullptr || s_run.last != nullptr) {
        return;
    }
    const auto pid = start_nrt("end-of-run", body);
    if (!pid.ok()) {
        panic("there is no room for a task that ends the run");
    }
    s_run.last = find_task(pid.value(), off);
    task_timer_post<&end_without_others>(*s_run.idle, TaskTimer::delay, after(kEndGrace), off);
}

void end_without_main(Task&, IrqOff off) {
    start_ender(&last_body, off);
}

void limit_body(void*) {
    console().mark("limit_ms: the run is ended after ", s_run.limit.value / 1'000'000, " ms");
    sys_end(0);
}

void end_at_limit(Task&, IrqOff off) {
    start_ender(&limit_body, off);
}

// The run is ended later, because a task may be in the middle of ending others, and by a timer of the idle task, which
// uses none.
void main_ended(IrqOff off) {
    if (s_run.ender == nullptr && s_run.last == nullptr) { // the timer may wait for a task that ends the run already
        task_timer_post<&end_without_main>(*s_run.idle, TaskTimer::delay, now(), off);
    }
}

lib::Result<void> start_main(IrqOff off) {
    const auto pid = start_nrt("main", &main_body);
    if (!pid.ok()) {
        return pid.error();
    }
    find_task(pid.value(), off)->ended = &main_ended;
    return {};
}

// Returns whether the calling task ends the system; it may have begun that already. It returns false if another task
// does.
bool becomes_ender(RunOutcome outcome) {
    const IrqGuard off;
    Task* const self = current_task(off);
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

// A function of an exit level that ends the system again is not returned to: the rest of its level comes next.
[[noreturn]] void shut_down(RunOutcome outcome) {
    if (!becomes_ender(outcome)) {
        task_exit();
    }
    if (outcome.aborted) {
        mark_aborted();
    }
    if (run_level() < RunLevel::before_exit) {
        run_level_functions(RunLevel::shutdown);
        primitive([](IrqOff off) {
            kill_all_but(s_run.ender, s_run.idle, off);
            schedule(off); // the ender may have run in the position of a task that is gone
        });
    }
    run_level_functions(RunLevel::before_exit);
    static_cast<void>(arch::irq_save());
    const IrqOff off = IrqOff::from_save();
    kill_all_but(nullptr, nullptr, off);
    delete_all_timers(off);
    return_to_boot(off);
}

} // namespace

lib::Result<RunOutcome> run(const App& app, const AppArguments& arguments, BackgroundLevel& background) {
    ASSERT(arch::interrupts_disabled() && s_run.app == nullptr);
    const IrqOff off = IrqOff::from_boot();
    set_task_life(kTaskLife, off);
    s_run.app = &app;
    s_run.arguments = arguments;
    if (const auto idle = start_idle(background, off); !idle.ok()) {
        return idle.error();
    }
    run_level_functions(RunLevel::init);
    if (const auto main = start_main(off); !main.ok()) {
        return main.error();
    }
    run_level_functions(RunLevel::running);
    dispatch_next(off);
    context_load(off); // it returns when the last task has left
    return s_run.outcome;
}

void limit_run(lib::Nanoseconds limit, IrqOff off) {
    s_run.limit = limit;
    task_timer_post<&end_at_limit>(*s_run.idle, TaskTimer::job, after(limit), off);
}

void sys_end(int result) {
    shut_down({result, false});
}

void sys_abort(int result) {
    shut_down({result, true});
}

} // namespace kernel
