// SPDX-License-Identifier: MIT
// Tasks that the processor stops and whose reaction is `kill` end, all others continue, and the trace states which task
// it was, at which instruction, over which address.
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/faulty.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace task_fault_cases {

using namespace guest;
using namespace guest::rows;

constexpr std::uint32_t kKilled = (4U << 16) | 2U; // exception "fault", reaction "kill"

using Fault = void (*)();

constinit Fault g_fault = nullptr;
constinit kernel::Mutex g_owned;
constinit bool g_with_mutex = false;
constinit int g_steps = 0;

void faulty_body(void*) {
    order.add('f');
    if (g_with_mutex) {
        must(kernel::mutex_lock(g_owned));
    }
    g_fault();
    order.add('!');
}

// Is a task that has work before and after, and shares nothing with the one that dies.
void other_body(void*) {
    for (;;) {
        ++g_steps;
        kernel::task_endcycle();
    }
}

kernel::Pid doomed(kernel::Reaction reaction) {
    return must(kernel::task_create(
        {.name = "doomed", .body = &faulty_body, .model = kernel::NrtModel{}, .reactions = {.fault = reaction}}));
}

void await_end(kernel::Pid pid) {
    while (kernel::task_info(pid).ok()) {
        kernel::task_delay(lib::microseconds(100));
    }
}

struct Found {
    std::uint64_t instruction = 0;
    std::uint64_t address = 0;
    std::size_t faults = 0;
};

std::uint64_t address_of(const tracer::Record& record) {
    return (std::uint64_t{record.par1} << 32) | record.par2;
}

Found found() {
    Found result;
    for (const tracer::Record& record : recording.records()) {
        result.faults += record.event_code() == FTrace_EVT_task_fault ? 1U : 0U;
        if (record.event_code() == FTrace_EVT_fault_instruction) {
            result.instruction = address_of(record);
        }
        if (record.event_code() == FTrace_EVT_fault_address) {
            result.address = address_of(record);
        }
    }
    return result;
}

struct Vectors {
    std::uint32_t one;
    std::uint32_t other;
};

// Runs a task to its end and compares what was recorded; returns what was found.
Found die(Fault fault, Vectors vectors) {
    g_fault = fault;
    const std::uint64_t killed = kernel::tasks_killed_by_faults();
    const kernel::Pid other =
        must(kernel::task_create({.name = "other",
                                  .body = &other_body,
                                  .model = kernel::HardModel{lib::microseconds(50), lib::milliseconds(1), {}, {}}}));
    must(kernel::task_activate(other));
    spin_until([] { return g_steps > 2; });
    const int chunk = begin(2'000);
    const kernel::Pid pid = doomed(kernel::Reaction::kill);
    const auto context = context_of(pid);
    must(kernel::task_activate(pid));
    await_end(pid);
    const int steps = g_steps;
    spin_until([steps] { return g_steps > steps + 2; });
    end(chunk);
    check_order("f");
    check(kernel::tasks_killed_by_faults() == killed + 1, "one task was killed");
    check(kernel::task_info(other).value().jobs.deadline_misses == 0, "no other task was late");
    check(rows::count(FTrace_EVT_task_fault, context, vectors.one) == 1 ||
              rows::count(FTrace_EVT_task_fault, context, vectors.other) == 1,
          "the exception and the task");
    rows::expect(FTrace_EVT_task_exception, context, kKilled);
    rows::expect(FTrace_EVT_task_end, context, pid.value);
    const Found result = found();
    check(result.faults == 1, "one fault");
    if (guest::faulty::expected.instruction != 0) {
        check(result.instruction == (guest::faulty::expected.instruction & 0xFFFF'FFFF'FFFF), "where it happened");
        check(result.address == guest::faulty::expected.address, "over which address");
    }
    std::uint8_t previous = 0;
    for (const tracer::Record& record : recording.records()) {
        const std::uint8_t code = record.event_code();
        check((code == FTrace_EVT_fault_instruction) == (previous == FTrace_EVT_task_fault), "rip follows");
        check((code == FTrace_EVT_fault_address) == (previous == FTrace_EVT_fault_instruction), "the address follows");
        check((code == FTrace_EVT_task_exception) == (previous == FTrace_EVT_fault_address), "the exception follows");
        previous = code;
    }
    return result;
}

template <Fault Body, std::uint32_t Vector>
int killed(const kernel::AppArguments&) {
    static_cast<void>(die(Body, {Vector, Vector}));
    return failures;
}

int overflow(const kernel::AppArguments&) {
    const Found result = die(&faulty::overflow_the_stack, {14, 14});
    bool inside = false;
    for (std::size_t i = 0; i < kernel::kTasksMax; ++i) {
        const auto guard = reinterpret_cast<std::uint64_t>(kernel::guard_page(i).data());
        inside = inside || result.address - guard < kernel::kGuardBytes;
    }
    check(inside, "the address is in a guard page");
    return failures;
}

// The debug exception of a step needs a stack, too: not the one that is full.
void overflow_in_steps() {
    static constinit char nowhere = 0;
    check(FTrace_itrace_range(&nowhere, &nowhere + 1) == 0, "no instruction is recorded");
    check(FTrace_itrace_begin(FTRACE_ITRACE_INSTRUCTIONS) == 0, "steps begin");
    faulty::overflow_the_stack();
}

int overflow_stepped(const kernel::AppArguments&) {
    static_cast<void>(die(&overflow_in_steps, {14, 14}));
    return failures;
}

// A stack fault by the manual; QEMU says protection fault.
int lost_stack(const kernel::AppArguments&) {
    static_cast<void>(die(&faulty::lose_the_stack, {12, 13}));
    return failures;
}

// What it owned is free, and its slot serves again, a hundred times: nothing of a killed task is left.
int again_and_again(const kernel::AppArguments&) {
    constexpr Fault kFaults[] = {&faulty::overflow_the_stack, &faulty::divide_by_zero, &faulty::lose_the_stack,
                                 &faulty::execute_data};
    must(kernel::mutex_init(g_owned, "owned"));
    g_with_mutex = true;
    for (int i = 0; i < 100; ++i) {
        g_fault = kFaults[i % 4];
        const kernel::Pid pid = doomed(kernel::Reaction::kill);
        must(kernel::task_activate(pid));
        await_end(pid);
        must(kernel::mutex_lock(g_owned));
        must(kernel::mutex_unlock(g_owned));
    }
    check(kernel::tasks_killed_by_faults() == 100, "each was killed");
    return failures;
}

// The job ends, the task does not: its next job starts at the entry, on a stack that is as new.
int aborted(const kernel::AppArguments&) {
    constexpr Fault kFaults[] = {&faulty::overflow_the_stack, &faulty::write_to_null, &faulty::divide_by_zero};
    const kernel::Pid pid = doomed(kernel::Reaction::abort);
    for (const Fault fault : kFaults) {
        g_fault = fault;
        must(kernel::task_activate(pid));
        while (kernel::task_info(pid).value().state != kernel::TaskState::sleeping) {
            kernel::task_delay(lib::microseconds(100));
        }
    }
    check_order("fff");
    const kernel::TaskInfo info = must(kernel::task_info(pid));
    check(info.jobs.aborted == 3 && info.jobs.faults == 3, "three jobs were aborted");
    check(kernel::tasks_killed_by_faults() == 0, "no task was killed");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_fault", "rows of a task's fault: W^X", &checked<&killed<&faulty::write_to_code, 14>>, true},
    {"t_fault_stack_overflow", "a task is killed at its guard page", &checked<&overflow>, true},
    {"t_fault_stack_overflow_in_steps", "a task in steps is killed at its guard page", &checked<&overflow_stepped>,
     true},
    {"t_fault_null_write", "a task is killed for page 0", &checked<&killed<&faulty::write_to_null, 14>>, true},
    {"t_fault_execute_data", "a task is killed for executing data", &checked<&killed<&faulty::execute_data, 14>>, true},
    {"t_fault_wild_address", "a task is killed for an address that cannot be",
     &checked<&killed<&faulty::use_a_wild_address, 13>>, true},
    {"t_fault_lost_stack", "a task is killed for a stack pointer that cannot be", &checked<&lost_stack>, true},
    {"t_fault_divide", "a task is killed for a division", &checked<&killed<&faulty::divide_by_zero, 0>>, true},
    {"t_fault_by_software", "a task is killed for int 13", &checked<&killed<&faulty::raise_protection_fault, 13>>,
     true},
    {"t_fault_aborted", "a fault ends a job, not its task", &checked<&aborted>, false},
    {"t_fault_again_and_again", "nothing is left of a killed task", &checked<&again_and_again>, false},
};

} // namespace task_fault_cases

} // namespace
