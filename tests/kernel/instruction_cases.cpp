// SPDX-License-Identifier: MIT
// In instruction-level tracing every instruction of a known piece of code leaves its record, in order; and what runs in
// steps does the same as what runs freely, whatever comes in between.
#include "arch/x86_64/single_step.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/mixing.hpp"
#include "tests/kernel/row_cases.hpp"

#include <array>

extern "C" {
void guest_walk();
extern const std::byte guest_walk_loop[];
extern const std::byte guest_walk_after[];
extern const std::byte guest_walk_leaf[];
extern const std::byte guest_walk_end[];
}

// Instructions have one byte or two, so that the places are easy to distinguish.
asm(R"(
    .text
    .balign 16
guest_walk:
    movl $3, %ecx           # +0, 5 bytes
guest_walk_loop:
    nop                     # +5
    decl %ecx               # +6
    jnz guest_walk_loop     # +8
    sti                     # +10: nothing changes, but the step after it is delayed
    call guest_walk_leaf    # +11
guest_walk_after:
    ret                     # +16
guest_walk_leaf:
    nop                     # +17
    ret                     # +18
guest_walk_end:
)");

namespace {

namespace instruction_cases {

using namespace guest;
using namespace guest::rows;
using tracer::Flow;

std::uint32_t address_of(const void* place) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(place));
}

void walk() {
    asm volatile("call guest_walk" : : : "rcx", "cc", "memory");
}

struct Expected {
    std::uint32_t par1;
    std::uint32_t offset; // from guest_walk
};

void check_walk(std::uint16_t code, std::span<const Expected> expected) {
    std::size_t at = 0;
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() != code) {
            continue;
        }
        const std::uint32_t offset = record.par2 - address_of(reinterpret_cast<const void*>(&guest_walk));
        if (at >= expected.size() || record.par1 != expected[at].par1 || offset != expected[at].offset) {
            kernel::console().line("record ", at, ": ", record.par1, " at +", offset);
            check(false, "the walk is recorded as it was");
            return;
        }
        ++at;
    }
    check(at == expected.size(), "the whole walk is recorded");
}

constexpr std::uint32_t flow(Flow of) {
    return static_cast<std::uint32_t>(of);
}

constexpr std::uint32_t block(Flow of, std::uint32_t instructions) {
    return flow(of) << tracer::kBlockFlowShift | instructions;
}

void walk_in_steps(int grain) {
    check(FTrace_itrace_range(reinterpret_cast<const void*>(&guest_walk), guest_walk_end) == 0, "the range");
    check(FTrace_itrace_begin(grain) == 0, "steps begin");
    walk();
    check(FTrace_itrace_end() == 0, "steps end");
}

// 6E 8E 9E
int instructions(const kernel::AppArguments&) {
    const int chunk = begin();
    const std::uint16_t self = context_of(kernel::task_self());
    walk_in_steps(FTRACE_ITRACE_INSTRUCTIONS);
    walk(); // leaves nothing
    end(chunk);
    constexpr auto kExpected = std::to_array<Expected>({
        {flow(Flow::call), 0},
        {flow(Flow::next), 5},
        {flow(Flow::next), 6},
        {flow(Flow::next), 8},
        {flow(Flow::jump), 5},
        {flow(Flow::next), 6},
        {flow(Flow::next), 8},
        {flow(Flow::jump), 5},
        {flow(Flow::next), 6},
        {flow(Flow::next), 8},
        {flow(Flow::next), 10},
        {flow(Flow::next), 11},
        {flow(Flow::call), 17},
        {flow(Flow::next), 18},
        {flow(Flow::ret), 16},
    });
    check_walk(FTrace_EVT_instruction, kExpected);
    expect(FTrace_EVT_instruction_trace_begin, self, FTRACE_ITRACE_INSTRUCTIONS);
    check(recording.count(FTrace_EVT_instruction_trace_end) == 1, "the end is recorded");
    return failures;
}

// 7E 8E 9E
int blocks(const kernel::AppArguments&) {
    const int chunk = begin();
    walk_in_steps(FTRACE_ITRACE_BLOCKS);
    end(chunk);
    constexpr auto kExpected = std::to_array<Expected>({
        {block(Flow::call, 0), 0},
        {block(Flow::jump, 4), 5},
        {block(Flow::jump, 3), 5},
        {block(Flow::call, 5), 17},
        {block(Flow::ret, 2), 16},
    });
    check_walk(FTrace_EVT_block, kExpected);
    expect(FTrace_EVT_instruction_trace_begin, context_of(kernel::task_self()), FTRACE_ITRACE_BLOCKS);
    return failures;
}

// What is logged in steps is there once, whole, in order: single records, typed events, and those of the kernel.
int records(const kernel::AppArguments&) {
    constexpr std::uint32_t kEvents = 20;
    check(FTrace_itrace_range(guest_walk_leaf, guest_walk_end) == 0, "nothing of this is recorded");
    const int chunk = begin();
    FTrace_set_filter(FTrace_filter_CPU, 1);
    kernel::Mutex mutex;
    must(kernel::mutex_init(mutex, "stepped"));
    check(FTrace_itrace_begin(FTRACE_ITRACE_INSTRUCTIONS) == 0, "steps begin");
    for (std::uint32_t i = 0; i < kEvents; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 7, i);
        must(kernel::mutex_lock(mutex));
        must(kernel::mutex_unlock(mutex));
    }
    check(FTrace_itrace_end() == 0, "steps end");
    end(chunk);
    std::uint32_t next = 0;
    for (const tracer::Record& record : recording.records()) {
        next += record.event_code() == FTrace_EVT_user_event_0 && record.par2 == next ? 1U : 0U;
    }
    check(next == kEvents && recording.count(FTrace_EVT_user_event_0) == kEvents, "each record once, in order");
    const std::uint16_t self = context_of(kernel::task_self());
    check(recording.count(FTrace_EVT_set_mutex_acquire) == kEvents &&
              recording.count(FTrace_EVT_set_mutex_unlock) == kEvents,
          "the kernel's own as well");
    expect(FTrace_EVT_instruction_trace_begin, self, FTRACE_ITRACE_INSTRUCTIONS);
    return failures;
}

constinit std::uint64_t g_hits = 0;
constinit std::uint64_t g_other = 0;
constinit bool g_stop = false;

// The sum comes out the same with timer interrupts, another task that gets its turns, and NMIs between the steps.
int interrupted(const kernel::AppArguments&) {
    constexpr std::uint64_t kRounds = 3'000;
    const std::uint64_t expected = mixed(kRounds);
    check(FTrace_itrace_range(guest_walk_leaf, guest_walk_end) == 0, "nothing of this is recorded");
    const kernel::TimerId timer = must(kernel::kern_event_post_periodic(
        kernel::after(lib::microseconds(100)), lib::microseconds(100), [](void*) { ++g_hits; }, nullptr));
    start("other", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(100'000), lib::milliseconds(100'000), {}},
          [](void*) {
              while (!g_stop) {
                  ++g_other;
                  kernel::task_delay(lib::microseconds(300));
              }
          });
    count_nmis();
    const std::uint64_t before = tracer::this_cpu().steps.taken;
    check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0, "steps begin");
    const std::uint64_t sum = mixed(kRounds);
    for (int i = 0; i < 20; ++i) {
        asm volatile("int $2" : : : "memory");
    }
    check(FTrace_itrace_end() == 0, "steps end");
    const std::uint64_t steps = tracer::this_cpu().steps.taken - before;
    g_stop = true;
    check(sum == expected, "the sum is the same");
    check(steps >= 4 * kRounds, "each instruction was a step");
    check(g_hits > 2 && g_other > 2, "others had their turns");
    must(kernel::kern_event_delete(timer));
    const std::uint64_t after = tracer::this_cpu().steps.taken;
    check(mixed(kRounds) == expected && tracer::this_cpu().steps.taken == after, "and then it runs freely");
    return failures;
}

constinit kernel::Semaphore g_go;
constinit kernel::Semaphore g_done;

// Another task is put into steps by its context, while it waits, with a flag of the application; it ends in steps.
int other_task(const kernel::AppArguments&) {
    static constinit volatile int flag = 0;
    must(kernel::sem_init(g_go, "go", 0));
    must(kernel::sem_init(g_done, "done", 0));
    const kernel::Pid walker = start(
        "walker", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(100'000), lib::milliseconds(100'000), {}},
        [](void*) {
            must(kernel::sem_wait(g_go));
            walk();
            flag = 1;
            walk();
            flag = 0;
            must(kernel::sem_post(g_done));
        });
    const std::uint16_t context = context_of(walker);
    const int chunk = begin();
    check(FTrace_itrace_range(reinterpret_cast<const void*>(&guest_walk), guest_walk_end) == 0, "the range");
    check(FTrace_itrace_flag(&flag) == 0, "the flag");
    check(FTrace_itrace_task(context, 1, FTRACE_ITRACE_INSTRUCTIONS) == 0, "by task");
    must(kernel::sem_post(g_go));
    must(kernel::sem_wait(g_done));
    walk(); // not this task
    end(chunk);
    check(recording.count(FTrace_EVT_instruction) == 15, "one walk of the two, of that task alone");
    expect(FTrace_EVT_instruction_trace_begin, context, FTRACE_ITRACE_INSTRUCTIONS);
    check(FTrace_itrace_task(context, 0, 0) == 0 || !kernel::task_info(walker).ok(), "or it is over with the task");
    check(!tracer::instance().instructions.in_use(), "no task steps any more");
    return failures;
}

constinit int g_runs = 0;

kernel::HardModel seldom() {
    return {lib::milliseconds(1), lib::milliseconds(100'000), lib::milliseconds(100'000), {}};
}

// A task in steps wakes one that runs freely and precedes it: it is in steps when it continues, in its own call.
int wakes_another(const kernel::AppArguments&) {
    must(kernel::sem_init(g_go, "go", 0));
    start("awaited", seldom(), [](void*) {
        for (;;) {
            must(kernel::sem_wait(g_go));
            ++g_runs;
        }
    });
    const int chunk = begin();
    check(FTrace_itrace_range(reinterpret_cast<const void*>(&guest_walk), guest_walk_end) == 0, "the range");
    check(FTrace_itrace_begin(FTRACE_ITRACE_INSTRUCTIONS) == 0, "steps begin");
    walk();
    must(kernel::sem_post(g_go));
    check(g_runs == 1, "the other had the processor");
    walk();
    walk();
    check(FTrace_itrace_end() == 0, "steps end");
    end(chunk);
    check(recording.count(FTrace_EVT_instruction) == 45, "all three walks are recorded");
    return failures;
}

// A task that is ready, since another goes before it, is put into steps by that one.
int made_to_step(const kernel::AppArguments&) {
    static constinit int context = 0;
    must(kernel::sem_init(g_go, "go", 0));
    context = context_of(kernel::task_self());
    start("awaited", seldom(), [](void*) {
        must(kernel::sem_wait(g_go));
        check(FTrace_itrace_task(context, 1, FTRACE_ITRACE_INSTRUCTIONS) == 0, "by task");
    });
    const int chunk = begin();
    check(FTrace_itrace_range(reinterpret_cast<const void*>(&guest_walk), guest_walk_end) == 0, "the range");
    must(kernel::sem_post(g_go));
    walk();
    walk();
    check(FTrace_itrace_end() == 0, "steps end");
    end(chunk);
    check(recording.count(FTrace_EVT_instruction) == 30, "both walks are recorded");
    return failures;
}

// A job that is cut begins again: its first instruction comes from nowhere.
int cut(const kernel::AppArguments&) {
    static constinit int entries = 0;
    constexpr int kEntries = 40;
    must(kernel::sem_init(g_done, "done", 0));
    const int chunk = begin(60'000);
    const kernel::Pid pid = must(kernel::task_create(
        {.name = "cut",
         .body =
             [](void*) {
                 if (++entries == kEntries) {
                     must(kernel::sem_post(g_done));
                     kernel::task_exit();
                 }
                 for (;;) {
                     walk();
                 }
             },
         .model = kernel::HardModel{lib::microseconds(200), lib::microseconds(307), {}, {}},
         .reactions = {.deadline_miss = kernel::Reaction::abort, .wcet = kernel::Reaction::abort}}));
    check(FTrace_itrace_task(context_of(pid), 1, FTRACE_ITRACE_INSTRUCTIONS) == 0, "by task");
    must(kernel::task_activate(pid));
    must(kernel::sem_wait(g_done));
    check(FTrace_disable() == 0, "tracing stops");
    int cuts = 0;
    bool first = false;
    // These are more than a recording takes.
    const auto records = tracer::ChunkStore::contents(*must(tracer::instance().store.find(chunk))).newer;
    for (std::size_t at = 0; at < records.size(); at += tracer::kRecordBytes) {
        const tracer::Record record = tracer::decode_record(records.subspan(at, tracer::kRecordBytes));
        if (record.event_code() == FTrace_EVT_job_abort) {
            ++cuts;
            first = true;
        } else if (record.event_code() == FTrace_EVT_instruction && first) {
            check(record.par1 == flow(Flow::resumed), "its first instruction is resumed");
            first = false;
        }
    }
    check(cuts > 10, "jobs were cut");
    return failures;
}

// Every return that is recorded leads to the end of the call that is recorded, with records between them or not.
int calls(const kernel::AppArguments&) {
    must(kernel::sem_init(g_go, "go", 0));
    const int chunk = begin(20'000);
    check(FTrace_itrace_begin(FTRACE_ITRACE_INSTRUCTIONS) == 0, "steps begin");
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, 2); // a record of the task's
    must(kernel::sem_post(g_go));                   // and those of the kernel's
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 3, 4);
    check(FTrace_itrace_end() == 0, "steps end");
    end(chunk);
    std::array<std::uint32_t, 64> sites{}; // of calls that did not return yet
    std::size_t depth = 0;
    std::uint32_t before = 0;
    int recorded = 0;
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() != FTrace_EVT_instruction) {
            continue;
        }
        if (record.par1 == flow(Flow::call) && depth < sites.size()) {
            sites[depth++] = before;
            ++recorded;
        } else if (record.par1 == flow(Flow::ret) && depth > 0) { // others were called before the steps began
            const std::uint32_t distance = record.par2 - sites[--depth];
            check(distance > 0 && distance <= tracer::kInstructionBytesMax, "a return leads to the end of its call");
        }
        before = record.par2;
    }
    check(depth > 0 && depth < 4, "what did not return is the end of the steps");
    check(recorded > 3 && recording.count(FTrace_EVT_set_mutex_post) == 1 &&
              recording.count(FTrace_EVT_user_event_0) == 2,
          "calls, and records between them");
    return failures;
}

// Returns whether the end of an interrupt asks which task is to continue in steps.
bool interrupts_ask() {
    return arch::x86_64::detail::step_upcalls != nullptr;
}

int refusals(const kernel::AppArguments&) {
    const auto refused = [](int result, std::string_view argument) {
        const FTrace_Error error = FTrace_last_error();
        check(result == -1 && error.text != nullptr, argument);
        check(argument.empty() == (error.argument == nullptr), argument);
    };
    refused(FTrace_itrace_begin(2), "grain");
    refused(FTrace_itrace_begin(-1), "grain");
    refused(FTrace_itrace_end(), "");
    refused(FTrace_itrace_task(0, 1, 0), "context");
    refused(FTrace_itrace_task(65'536, 1, 0), "context");
    refused(FTrace_itrace_task(60'000, 1, 0), "context");
    const int self = context_of(kernel::task_self());
    refused(FTrace_itrace_task(self, 2, 0), "status");
    refused(FTrace_itrace_task(self, 0, 0), "status");
    refused(FTrace_itrace_task(self, 1, 7), "grain");
    refused(FTrace_itrace_range(guest_walk_end, guest_walk_leaf), "end");
    check(!interrupts_ask(), "no task ever stepped: interrupts have nothing to ask");
    check(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS) == 0, "steps begin");
    check(interrupts_ask(), "from now on they ask");
    refused(FTrace_itrace_begin(FTRACE_ITRACE_BLOCKS), "");
    check(FTrace_itrace_end() == 0, "steps end");
    refused(FTrace_itrace_end(), "");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_itrace_instructions", "a record for each instruction", &checked<&instructions>, true},
    {"t_itrace_blocks", "a record for each jump that is taken", &checked<&blocks>, true},
    {"t_itrace_records", "records written in steps", &checked<&records>, true},
    {"t_itrace_interrupted", "interrupts, NMIs and other tasks between the steps", &checked<&interrupted>, true},
    {"t_itrace_other_task", "another task in steps", &checked<&other_task>, true},
    {"t_itrace_wakes_another", "a task in steps is preempted in its own call", &checked<&wakes_another>, true},
    {"t_itrace_made_to_step", "a task that is ready is made to step", &checked<&made_to_step>, true},
    {"t_itrace_cut", "jobs that are cut in steps", &checked<&cut>, true},
    {"t_itrace_calls", "records between the calls", &checked<&calls>, true},
    {"t_itrace_refusals", "what cannot be", &checked<&refusals>, true},
};

} // namespace instruction_cases

} // namespace
