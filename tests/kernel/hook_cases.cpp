// SPDX-License-Identifier: MIT
// Provokes each kernel path once and compares the records with the list written by hand: event, context, second
// parameter. An interrupt in between would add decisions of its own; such a recording is thrown away and made again.
//
// Contexts are written as letters: '-' boot, '.' not looked at, m main, i idle, and the tasks of the scenario.
#include "tests/kernel/recording.hpp"

#include "kernel/sync/mutex.hpp"
#include "kernel/time/timer.hpp"

namespace {

namespace hook_cases {

using namespace guest;

constexpr int kAttemptsMax = 20;
constexpr std::uint32_t kEdf = 1; // the level that is registered second

constinit Recording recording;

struct Who {
    char letter;
    std::uint16_t context;
};

struct Line {
    std::string_view event;
    char who = '.';  // par1
    char whom = '.'; // par2, where it is a context
};

constinit std::array<Who, 8> cast{};
constinit std::size_t cast_size = 0;

void enter(char letter, kernel::Pid pid) {
    cast[cast_size++] = {letter, must(kernel::task_info(pid)).context};
}

kernel::Pid create_as(char letter, const kernel::TaskModel& model, kernel::TaskBody body) {
    const kernel::Pid pid = create(std::string_view(&letter, 1), model, body);
    enter(letter, pid);
    return pid;
}

bool is(char letter, std::uint32_t context) {
    if (letter == '.') {
        return true;
    }
    for (std::size_t i = 0; i < cast_size; ++i) {
        if (cast[i].letter == letter) {
            return cast[i].context == context;
        }
    }
    return false;
}

bool matches(const tracer::Record& record, const Line& line) {
    const tracer::EventRow* const row = tracer::find_event(record.event_code());
    return row != nullptr && row->name == line.event && is(line.who, record.par1) && is(line.whom, record.par2);
}

void print_recording() {
    for (const tracer::Record& record : recording.records()) {
        const tracer::EventRow* const row = tracer::find_event(record.event_code());
        kernel::console().line("  ", row != nullptr ? row->name : "?", " ", record.par1, " ", record.par2);
    }
}

void compare(std::span<const Line> expected) {
    const auto records = recording.records();
    bool same = records.size() == expected.size();
    for (std::size_t i = 0; same && i < expected.size(); ++i) {
        same = matches(records[i], expected[i]);
    }
    check(same, "the records are not those expected");
    if (!same) {
        print_recording();
    }
}

// Records everything but timers (their number depends on the policy's bookkeeping, not on what the case does).
void record(void (*scenario)()) {
    FTrace_set_filter(FTrace_filter_timer, 1);
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
        const int number = FTrace_chunk_create(256 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
        ASSERT(number >= 0 && FTrace_actual_chunk_select(number) == 0);
        cast_size = 0;
        enter('m', kernel::task_self());
        ASSERT(enable_bare());
        scenario();
        FTrace_disable();
        recording.read(number);
        if (recording.count(FTrace_EVT_interrupt_start) == 0) {
            return;
        }
    }
    check(false, "every attempt was interrupted");
}

int life(const kernel::AppArguments&) {
    record([] {
        const kernel::Pid h = create_as('h', due_after(1'000), [](void*) {
            kernel::task_endcycle(); // the period is far away: never returns
        });
        must(kernel::task_activate(h));
        must(kernel::task_kill(h));
        const kernel::Pid s = create_as('s', due_after(1'000), [](void*) { kernel::task_sleep(); });
        must(kernel::task_activate(s));
    });
    static constexpr auto kExpected = std::to_array<Line>({
        {"task_create", 'h'},    {"task_activate", 'h'},      {"task_timer", 'h'},
        {"job_release", 'h'},    {"job_deadline", 'h'},       {"set_priority", 'h'},
        {"task_epilogue", 'm'},  {"task_schedule", 'h', 'h'}, {"task_begin_cycle", 'h'},
        {"task_dispatch", 'h'},  {"context_switch", 'h'},     {"task_epilogue", 'h'},
        {"task_end_cycle", 'h'}, {"task_schedule", 'm', 'm'}, {"task_dispatch", 'm'},
        {"context_switch", 'm'}, {"task_end", 'h'},           {"task_schedule", 'm', 'm'}, // also when nothing changes
        {"task_create", 's'},    {"task_activate", 's'},      {"task_timer", 's'},
        {"job_release", 's'},    {"job_deadline", 's'},       {"set_priority", 's'},
        {"task_epilogue", 'm'},  {"task_schedule", 's', 's'}, {"task_begin_cycle", 's'},
        {"task_dispatch", 's'},  {"context_switch", 's'},     {"task_sleep", 's'},
        {"task_epilogue", 's'},  {"task_disable", 's'},       {"task_schedule", 'm', 'm'},
        {"task_dispatch", 'm'},  {"context_switch", 'm'},
    });
    compare(kExpected);
    return failures;
}

int inheritance(const kernel::AppArguments&) {
    record([] {
        static kernel::Mutex mutexes[kAttemptsMax];
        static constinit int used = -1;
        ++used;
        must(kernel::mutex_init(mutexes[used], "contended"));
        const kernel::Pid low = create_as('l', due_after(2'000), [](void*) {
            must(kernel::mutex_lock(mutexes[used]));
            must(kernel::task_activate(create_as('h', due_after(1'000), [](void*) {
                must(kernel::mutex_lock(mutexes[used]));
                must(kernel::mutex_unlock(mutexes[used]));
            })));
            must(kernel::mutex_unlock(mutexes[used]));
        });
        must(kernel::task_activate(low));
    });
    static constexpr auto kExpected = std::to_array<Line>({
        {"set_mutex_create", 'm'},   {"set_mutex_protocol"},      {"task_create", 'l'},
        {"task_activate", 'l'},      {"task_timer", 'l'},         {"job_release", 'l'},
        {"job_deadline", 'l'},       {"set_priority", 'l'},       {"task_epilogue", 'm'},
        {"task_schedule", 'l', 'l'}, {"task_begin_cycle", 'l'},   {"task_dispatch", 'l'},
        {"context_switch", 'l'},     {"set_mutex_lock", 'l'},     {"set_mutex_acquire", 'l'},
        {"task_create", 'h'},        {"task_activate", 'h'},      {"task_timer", 'h'},
        {"job_release", 'h'},        {"job_deadline", 'h'},       {"set_priority", 'h'},
        {"task_epilogue", 'l'},      {"task_schedule", 'h', 'h'}, {"task_begin_cycle", 'h'},
        {"task_dispatch", 'h'},      {"context_switch", 'h'},     {"set_mutex_lock", 'h'}, // the attempt
        {"task_epilogue", 'h'},      {"set_mutex_block", 'h'},    {"set_mutex_inherit", 'l'},
        {"task_schedule", 'l', 'h'}, // l runs in h's place
        {"task_dispatch", 'l'},      {"inheritance", 'l', 'h'},   {"context_switch", 'l'},
        {"set_mutex_unlock", 'l'},   {"task_epilogue", 'l'},      {"task_schedule", 'h', 'h'},
        {"task_dispatch", 'h'},      {"context_switch", 'h'},     {"set_mutex_acquire", 'h'},
        {"set_mutex_unlock", 'h'},   {"task_epilogue", 'h'},      {"task_end", 'h'},
        {"task_schedule", 'l', 'l'}, {"task_dispatch", 'l'},      {"context_switch", 'l'},
        {"task_epilogue", 'l'},      {"task_end", 'l'},           {"task_schedule", 'm', 'm'},
        {"task_dispatch", 'm'},      {"context_switch", 'm'},
    });
    compare(kExpected);
    return failures;
}

int semaphores(const kernel::AppArguments&) {
    record([] {
        static kernel::Semaphore units[kAttemptsMax];
        static constinit int used = -1;
        ++used;
        must(kernel::sem_init(units[used], "units", 0));
        must(kernel::task_activate(
            create_as('w', due_after(1'000), [](void*) { must(kernel::sem_wait(units[used])); })));
        must(kernel::sem_post(units[used]));
        check(!kernel::sem_trywait(units[used]).ok(), "nothing is left"); // not recorded, as published
    });
    static constexpr auto kExpected = std::to_array<Line>({
        {"set_semaphore_create"},    {"task_create", 'w'},        {"task_activate", 'w'},
        {"task_timer", 'w'},         {"job_release", 'w'},        {"job_deadline", 'w'},
        {"set_priority", 'w'},       {"task_epilogue", 'm'},      {"task_schedule", 'w', 'w'},
        {"task_begin_cycle", 'w'},   {"task_dispatch", 'w'},      {"context_switch", 'w'},
        {"set_mutex_wait", 'w'},     {"task_epilogue", 'w'},      {"task_block", 'w'},
        {"task_schedule", 'm', 'm'}, {"task_dispatch", 'm'},      {"context_switch", 'm'},
        {"set_mutex_post", 'm'}, // before the scheduler is asked
        {"task_unblock", 'w'},       {"task_epilogue", 'm'},      {"task_schedule", 'w', 'w'},
        {"task_dispatch", 'w'},      {"context_switch", 'w'},     {"task_epilogue", 'w'},
        {"task_end", 'w'},           {"task_schedule", 'm', 'm'}, {"task_dispatch", 'm'},
        {"context_switch", 'm'},
    });
    compare(kExpected);
    return failures;
}

// What only an interrupt can bring about is looked for, not compared line by line.
int interrupts_and_timers(const kernel::AppArguments&) {
    static constinit bool fired = false;
    const int number = FTrace_chunk_create(256 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT(FTrace_actual_chunk_select(number) == 0 && FTrace_enable() == 0);
    const auto id = must(kernel::kern_event_post(
        kernel::after(lib::milliseconds(1)), [](void*) { fired = true; }, nullptr));
    check_error(kernel::kern_event_delete({.value = 7U << 16 | 200}), lib::Error::not_found, "never posted");
    spin_until([] { return fired; });
    FTrace_disable();
    recording.read(number);
    std::size_t posts = 0;
    std::size_t deletes = 0;
    int depth = 0;
    for (const tracer::Record& record : recording.records()) {
        const std::uint8_t code = record.event_code();
        posts += code == FTrace_EVT_timer_post && record.par2 == id.index() ? 1U : 0U;
        deletes += code == FTrace_EVT_timer_delete && record.par2 == 200 ? 1U : 0U;
        depth += code == FTrace_EVT_interrupt_start ? 1 : code == FTrace_EVT_interrupt_end ? -1 : 0;
        check(depth == 0 || depth == 1, "interrupts do not nest");
        check(depth == 1 || (code != FTrace_EVT_timer_wakeup_start && code != FTrace_EVT_timer_wakeup_end),
              "timers wake up inside the interrupt");
        check(code != FTrace_EVT_interrupt_start || record.par1 == arch::timer_vector(), "the vector is recorded");
    }
    check(posts == 1, "the post with its index");
    check(deletes == 1, "the delete that failed, with its index");
    check(recording.count(FTrace_EVT_timer_wakeup_start) >= 1, "a wake-up begins");
    check(recording.count(FTrace_EVT_timer_wakeup_start) == recording.count(FTrace_EVT_timer_wakeup_end),
          "every wake-up ends");
    return failures;
}

int misses_and_violations(const kernel::AppArguments&) {
    const int number = FTrace_chunk_create(256 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT(FTrace_actual_chunk_select(number) == 0 && FTrace_enable() == 0);
    cast_size = 0;
    const kernel::Pid late = create_as(
        'l', kernel::HardModel{lib::milliseconds(1), lib::milliseconds(4), lib::milliseconds(2), {}}, [](void*) {
            spin_until([] { return my_jobs().released == 2; });
            kernel::task_endcycle();
            FTrace_disable();
            kernel::task_exit();
        });
    must(kernel::task_activate(late));
    FTrace_disable();
    recording.read(number);
    const auto of_late = [](std::uint16_t code) {
        std::size_t found = 0;
        for (const tracer::Record& record : recording.records()) {
            found += record.event_code() == code && is('l', record.par1) && record.par2 == kEdf ? 1U : 0U;
        }
        return found;
    };
    check(of_late(FTrace_EVT_task_deadline_miss) >= 1, "the miss, with context and level");
    check(of_late(FTrace_EVT_task_wcet_violation) == 1, "one violation per job");
    check(of_late(FTrace_EVT_task_timer) >= 1, "the periodic release");
    check(of_late(FTrace_EVT_task_begin_cycle) == 2, "two jobs were begun");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_hook_life", "records of a task's life", &guest::checked<&life>, true},
    {"t_hook_inheritance", "records of a lock that blocks", &guest::checked<&inheritance>, true},
    {"t_hook_semaphore", "records of waiting and posting", &guest::checked<&semaphores>, true},
    {"t_hook_timer", "records of interrupts and timer events", &guest::checked<&interrupts_and_timers>, true},
    {"t_hook_miss", "records of a late and greedy job", &guest::checked<&misses_and_violations>, true},
};

} // namespace hook_cases

} // namespace
