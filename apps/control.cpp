// SPDX-License-Identifier: MIT
// The default application is a small control loop, designed so that a short trace shows everything the kernel records.
// It has six HARD tasks, two mutexes, a producer and a consumer, two NRT loads, and a periodic timer event. All times
// are milliseconds after a common beginning; the seed varies the execution times of jobs, never their releases.
//
//   task        T    D   offset  WCET   role
//   sensor      5    4      0    0.5    produces a sample: semaphore `samples`, user_event_0
//   control    10    8      3    1.2    needs `state`, then `output`; the most urgent user of `state`; control_output
//   actuator   20   10      2    1      needs `output`
//   supervisor 50   30      4    3.5    needs no mutex: the middle task that inheritance delays
//   telemetry  50   50      1    6      holds `state` for 4 ms: the low-priority owner
//   late      100   17     20   10      one of its jobs exceeds its deadline, on purpose
//
// In every period, telemetry owns `state` when control arrives at 3; supervisor arrives at 4 with a deadline before
// telemetry's, yet telemetry continues, on behalf of control, until it unlocks. The late job stops as soon as its miss
// was counted; until then it has the earliest deadline. At other phases than these, it makes others late.
#include "apps/work.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/time/timer.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/trace_printf.hpp"
#include "tracer/typed_event.hpp"

#include <array>

namespace apps {

namespace {

using kernel::Pid;
using lib::microseconds;
using lib::milliseconds;
using lib::Nanoseconds;

constexpr Nanoseconds kDurationDefault = milliseconds(300);
constexpr Nanoseconds kDurationMin = milliseconds(100); // one period of every task
constexpr Nanoseconds kHeartbeat = milliseconds(7);
constexpr Nanoseconds kDrainMax = milliseconds(100);

struct HardTask {
    std::string_view name;
    kernel::TaskBody body;
    kernel::HardModel model;
    Pid pid{};
};

struct Plant {
    kernel::Mutex state;
    kernel::Mutex output;
    kernel::Semaphore samples;
    Random random{1};
    std::uint64_t late_job = 0; // the number of late's job that misses
    std::uint32_t produced = 0;
    std::uint32_t consumed = 0;
    std::uint32_t heartbeats = 0;
    std::int32_t position_mrad = 0;
    lib::Ticks end{}; // when the run ends
    bool icount = false;
    bool failed = false;
};

constinit Plant s_plant;

// Every tool shows the controller's input and output by name (docs/user-events.md).
constinit tracer::TypedEvent<std::int32_t, std::uint16_t> s_control_output{"control_output",
                                                                           {{"error", "mrad"}, {"drive", "mV"}}};

constexpr std::int32_t kTargetMrad = 1'000;
constexpr std::int32_t kDriveRestMv = 2'000;

// Executes one step of a proportional controller, on a plant that follows by half of the distance.
void control_step() {
    const std::int32_t error_mrad = kTargetMrad - s_plant.position_mrad;
    const std::int32_t drive_mv = kDriveRestMv + error_mrad;
    s_control_output.log(error_mrad, static_cast<std::uint16_t>(drive_mv));
    s_plant.position_mrad += error_mrad / 2;
}

// A call fails only if the kernel is broken; the application then reports it and its result is not 0.
template <typename T>
void expect(const lib::Result<T>& result, std::string_view what) {
    if (!result.ok()) {
        s_plant.failed = true;
        kernel::console().line("control: ", what, ": ", lib::error_name(result.error()));
    }
}

// Computes for between 60 and 90 hundredths of the given time.
void compute_about(Nanoseconds most) {
    compute({most.value * s_plant.random.between(60, 90) / 100});
}

// --- the HARD tasks ------------------------------------------------------------------------------------------------

// On a host that is too slow for them these tasks take the whole processor, and the main task cannot end the run.
// Therefore they rest after its end. Under a clock that counts instructions all have what they need.
void end_job() {
    if (!s_plant.icount && kernel::now() >= s_plant.end) {
        kernel::task_sleep();
    } else {
        kernel::task_endcycle();
    }
}

void sensor(void*) {
    for (;;) {
        compute_about(microseconds(400));
        ++s_plant.produced;
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, s_plant.produced, s_plant.random.next());
        expect(kernel::sem_post(s_plant.samples), "sem_post");
        end_job();
    }
}

void control(void*) {
    for (;;) {
        compute_about(microseconds(300));
        expect(kernel::mutex_lock(s_plant.state), "lock state");
        compute_about(microseconds(300));
        expect(kernel::mutex_unlock(s_plant.state), "unlock state");
        expect(kernel::mutex_lock(s_plant.output), "lock output");
        compute_about(microseconds(200));
        control_step();
        expect(kernel::mutex_unlock(s_plant.output), "unlock output");
        end_job();
    }
}

void actuator(void*) {
    for (;;) {
        expect(kernel::mutex_lock(s_plant.output), "lock output");
        compute_about(microseconds(600));
        expect(kernel::mutex_unlock(s_plant.output), "unlock output");
        TRACER_LOGEVENT(FTrace_EVT_user_event_2, 0, s_plant.produced);
        end_job();
    }
}

void supervisor(void*) {
    for (;;) {
        compute_about(milliseconds(3));
        tracer::trace_printf<"%u samples so far, position %d mrad">(s_plant.produced, s_plant.position_mrad);
        end_job();
    }
}

void telemetry(void*) {
    for (;;) {
        compute(microseconds(200));
        expect(kernel::mutex_lock(s_plant.state), "lock state");
        compute(milliseconds(4));
        expect(kernel::mutex_unlock(s_plant.state), "unlock state");
        compute_about(milliseconds(1));
        end_job();
    }
}

void late(void*) {
    for (std::uint64_t job = 0;; ++job) {
        compute_about(milliseconds(2));
        if (job == s_plant.late_job) {
            TRACER_LOGEVENT(FTrace_EVT_user_event_3, 0, job);
            while (kernel::task_info(kernel::task_self()).value().jobs.deadline_misses == 0) {
                compute(microseconds(50));
            }
        }
        end_job();
    }
}

constinit std::array<HardTask, 6> s_hard_tasks{{
    {"sensor", &sensor, {microseconds(500), milliseconds(5), milliseconds(4), milliseconds(0)}},
    {"control", &control, {microseconds(1'200), milliseconds(10), milliseconds(8), milliseconds(3)}},
    {"actuator", &actuator, {milliseconds(1), milliseconds(20), milliseconds(10), milliseconds(2)}},
    {"supervisor", &supervisor, {microseconds(3'500), milliseconds(50), milliseconds(30), milliseconds(4)}},
    {"telemetry", &telemetry, {milliseconds(6), milliseconds(50), milliseconds(50), milliseconds(1)}},
    {"late", &late, {milliseconds(10), milliseconds(100), milliseconds(17), milliseconds(20)}},
}};

// --- the others ----------------------------------------------------------------------------------------------------

void consumer(void*) {
    for (;;) {
        expect(kernel::sem_wait(s_plant.samples), "sem_wait");
        compute(microseconds(100));
        ++s_plant.consumed;
    }
}

// Works in bursts, so that the idle task runs as well.
void load(void*) {
    for (;;) {
        compute_about(milliseconds(2));
        kernel::task_delay(milliseconds(6));
    }
}

void heartbeat(void*) {
    ++s_plant.heartbeats;
    TRACER_LOGEVENT(FTrace_EVT_user_event_1, s_plant.heartbeats, 0);
}

Pid start_nrt(std::string_view name, kernel::TaskBody body, Nanoseconds slice) {
    const auto pid = kernel::task_create(
        {.name = name, .body = body, .argument = nullptr, .model = kernel::NrtModel{.slice = slice, .weight = 1}});
    expect(pid, name);
    if (!pid.ok()) {
        return {};
    }
    expect(kernel::task_activate(pid.value()), name);
    return pid.value();
}

void start_hard(HardTask& task, lib::Ticks begin) {
    const auto pid =
        kernel::task_create({.name = task.name, .body = task.body, .argument = nullptr, .model = task.model});
    expect(pid, task.name);
    if (pid.ok()) {
        task.pid = pid.value();
        expect(kernel::task_activate_at(task.pid, begin), task.name);
    }
}

// --- the expected counts --------------------------------------------------------------------------------------------

void check(std::string_view what, std::uint64_t found, std::uint64_t least, std::uint64_t most) {
    if (found < least || found > most) {
        s_plant.failed = true;
        kernel::console().line("control: ", what, ": ", found, ", expected ", least, " to ", most);
    }
}

// With a clock that counts instructions everything is exact. On a host's clock the machine may be delayed for any time,
// so only results that do not depend on speed are checked.
void check_task(const HardTask& task, Nanoseconds elapsed, bool exact) {
    const auto info = kernel::task_info(task.pid);
    expect(info, task.name);
    if (!info.ok()) {
        return;
    }
    const bool is_late = task.body == &late;
    const kernel::JobCounts& jobs = info.value().jobs;
    const std::uint64_t releases = (elapsed - task.model.offset).value / task.model.period.value + 1;
    const std::uint64_t planned = is_late ? 1 : 0;
    const std::uint64_t most = ~std::uint64_t{0};
    check(task.name, jobs.released, exact ? releases - 1 : 1, exact ? releases : most);
    check(task.name, jobs.deadline_misses, planned, exact ? planned : most);
    check(task.name, jobs.wcet_violations, 0, exact && !is_late ? 0 : most);
}

// Checks all counts; `beaten`: the main task waited, so that the timer's handler could run.
void check_all(Nanoseconds elapsed, bool exact, bool beaten) {
    for (const HardTask& task : s_hard_tasks) {
        check_task(task, elapsed, exact);
    }
    const std::uint64_t frames = elapsed.value / milliseconds(50).value;
    check("locks of `state` that waited", s_plant.state.contentions(), exact ? frames : 0, ~std::uint64_t{0});
    const std::uint64_t beats = elapsed.value / kHeartbeat.value;
    check("heartbeats", s_plant.heartbeats + kernel::timer_overruns(),
          exact    ? beats
          : beaten ? 1
                   : 0,
          exact ? beats + 1 : ~std::uint64_t{0});
}

void stop_hard_tasks() {
    for (const HardTask& task : s_hard_tasks) {
        expect(kernel::task_kill(task.pid), task.name);
    }
}

// Waits for the consumer, which has the lowest priority: it runs once the producers have ended.
void drain() {
    for (Nanoseconds waited; s_plant.consumed < s_plant.produced && waited < kDrainMax;
         waited = waited + milliseconds(1)) {
        kernel::task_delay(milliseconds(1));
    }
    check("samples consumed", s_plant.consumed, s_plant.produced, s_plant.produced);
}

int start(const kernel::AppArguments& arguments) {
    const Nanoseconds asked = arguments.duration.value != 0 ? arguments.duration : kDurationDefault;
    const Nanoseconds duration = asked < kDurationMin ? kDurationMin : asked;
    s_plant.random = Random{arguments.seed};
    s_plant.icount = arguments.icount;
    s_plant.late_job = s_plant.random.between(0, (duration.value - 1) / milliseconds(100).value);

    expect(kernel::mutex_init(s_plant.state, "state"), "mutex_init");
    expect(kernel::mutex_init(s_plant.output, "output"), "mutex_init");
    expect(kernel::sem_init(s_plant.samples, "samples", 0), "sem_init");

    const lib::Ticks begin = kernel::after(milliseconds(2));
    s_plant.end = begin + kernel::to_ticks(duration);
    for (HardTask& task : s_hard_tasks) {
        start_hard(task, begin);
    }
    const auto beat =
        kernel::kern_event_post_periodic(begin + kernel::to_ticks(kHeartbeat), kHeartbeat, &heartbeat, nullptr);
    expect(beat, "kern_event_post_periodic");
    start_nrt("consumer", &consumer, milliseconds(1));
    const Pid load_a = start_nrt("load-a", &load, milliseconds(1));
    const Pid load_b = start_nrt("load-b", &load, milliseconds(2));

    const lib::Ticks now = kernel::now();
    const bool waits = now < s_plant.end; // unless the host took this long to get here
    if (waits) {
        kernel::task_delay(kernel::to_nanoseconds(s_plant.end - now));
    }
    // The elapsed time is used, not the duration, because the main task has had to wait for the processor, too.
    check_all(kernel::to_nanoseconds(kernel::now() - begin), arguments.icount, waits);
    stop_hard_tasks();
    expect(kernel::kern_event_delete(beat.value()), "kern_event_delete");
    expect(kernel::task_kill(load_a), "load-a");
    expect(kernel::task_kill(load_b), "load-b");
    drain();
    return s_plant.failed ? 1 : 0;
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kControl{
    "control", "control loop: deadlines, inheritance, semaphore, timer, one planned miss", &start, false};

} // namespace apps
