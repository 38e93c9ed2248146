// SPDX-License-Identifier: MIT
// The restart rule as the machine's own stubs apply it: a hardware breakpoint interrupts the record path at every
// instruction, the debug exception comes in through the common stub of entry.S, and its handler logs a record of its
// own. The chunk must then hold what it holds when the two records are simply logged one after the other: nothing torn,
// lost, doubled or out of order. (A single step would not do: each step inside the sequence starts it over.)
#include "arch/x86_64/interrupts.hpp"
#include "tests/kernel/recording.hpp"
#include "tracer/record_path.hpp"

namespace {

using namespace guest;

constexpr std::uint16_t kOuter = 1;
constexpr std::uint16_t kNested = 2;
constexpr std::uint64_t kArm = 0x1; // DR7: local enable of breakpoint 0, on execution
constexpr std::uint64_t kDisarm = 0x0;

constinit int g_hits = 0;

void set_breakpoint(std::uint64_t address) {
    asm volatile("movq %0, %%dr0" : : "r"(address));
    asm volatile("movq %0, %%dr7" : : "r"(kArm));
}

void clear_breakpoint() {
    asm volatile("movq %0, %%dr7" : : "r"(kDisarm));
}

// #DB: the stub has rewound the interrupted record already.
void on_breakpoint(arch::x86_64::InterruptFrame&) {
    clear_breakpoint();
    ++g_hits;
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, kNested, 0);
}

struct Situation {
    FTrace_flags mode;
    int slots;
    int filled; // before the outer record
    bool successor;
};

constexpr Situation kSituations[] = {
    {FTRACE_CHUNK_FLAG_CYC, 8, 3, false},  // room
    {FTRACE_CHUNK_FLAG_CYC, 8, 7, false},  // last slot
    {FTRACE_CHUNK_FLAG_CYC, 8, 8, false},  // wrap
    {FTRACE_CHUNK_FLAG_JTN, 8, 7, true},   // last slot, then the next chunk
    {FTRACE_CHUNK_FLAG_JTN, 8, 8, true},   // into the next chunk
    {FTRACE_CHUNK_FLAG_STOP, 8, 7, false}, // last slot, then a blackout begins
    {FTRACE_CHUNK_FLAG_STOP, 8, 8, false}, // a blackout begins
};

int make_chunk(int slots, FTrace_flags mode) {
    const int number = FTrace_chunk_create(slots * kRecordBytes, 4 * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0);
    return number;
}

struct Outcome {
    std::array<tracer::Record, 32> records{};
    std::size_t size = 0;
    tracer::Totals totals;
};

void append(Outcome& outcome, int chunk) {
    static constinit Recording recording;
    recording.read(chunk);
    for (const tracer::Record& record : recording.records()) {
        outcome.records[outcome.size++] = record;
    }
}

// One outer record in a fresh chunk in this situation; `act` stands around it.
template <typename Act>
void play(const Situation& situation, Outcome& outcome, Act act) {
    const int first = make_chunk(situation.slots, situation.mode);
    const int second = situation.successor ? make_chunk(8, FTRACE_CHUNK_FLAG_STOP) : -1;
    ASSERT(second < 0 || FTrace_chunk_link(first, second) == 0);
    ASSERT(FTrace_actual_chunk_select(first) == 0 && FTrace_enable() == 0);
    const tracer::Totals before = tracer::totals(0);
    for (int i = 0; i < situation.filled; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, static_cast<std::uint32_t>(i));
    }
    act();
    FTrace_disable();
    outcome.size = 0;
    const tracer::Totals after = tracer::totals(0);
    outcome.totals = {.committed = after.committed - before.committed,
                      .dropped = after.dropped - before.dropped,
                      .refused = after.refused - before.refused,
                      .tracer_made = after.tracer_made - before.tracer_made,
                      .overwritten = after.overwritten - before.overwritten};
    append(outcome, first);
    if (second >= 0) {
        append(outcome, second);
    }
    // A current chunk cannot be deleted: let another one be it, and let it take the end of a blackout.
    static constinit int parking = -1;
    parking = parking >= 0 ? parking : make_chunk(4, FTRACE_CHUNK_FLAG_STOP);
    ASSERT(FTrace_set_chunk_flags(parking, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP) == 0);
    ASSERT(FTrace_actual_chunk_select(parking) == 0 && FTrace_enable() == 0);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 0);
    FTrace_disable();
    ASSERT(FTrace_chunk_delete(first) == 0 && (second < 0 || FTrace_chunk_delete(second) == 0));
}

void log_outer() {
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, kOuter, 7);
}

bool same(const Outcome& a, const Outcome& b) {
    bool equal = a.size == b.size && a.totals == b.totals;
    for (std::size_t i = 0; equal && i < a.size; ++i) {
        const bool rises = i == 0 || a.records[i - 1].stamp() <= a.records[i].stamp();
        equal = rises && a.records[i].code == b.records[i].code && a.records[i].par1 == b.records[i].par1 &&
                a.records[i].par2 == b.records[i].par2;
    }
    return equal;
}

constinit Outcome alone{};
constinit Outcome nested_first{};
constinit Outcome outcome{};

int every_instruction(const kernel::AppArguments&) {
    FTrace_disable();
    filter_the_kernel();
    arch::x86_64::set_debug_hook(&on_breakpoint);
    const auto begin = reinterpret_cast<std::uint64_t>(&tracer_region_begin);
    const auto end = reinterpret_cast<std::uint64_t>(&tracer_region_end);
    for (const Situation& situation : kSituations) {
        play(situation, alone, [] { log_outer(); });
        play(situation, nested_first, [] {
            TRACER_LOGEVENT(FTrace_EVT_user_event_0, kNested, 0);
            log_outer();
        });
        int interrupted = 0;
        for (std::uint64_t address = begin; address <= end; ++address) {
            g_hits = 0;
            play(situation, outcome, [address] {
                const arch::IrqGuard guard;
                set_breakpoint(address);
                log_outer();
                clear_breakpoint();
            });
            interrupted += g_hits;
            const bool after_the_commit = address == end;
            if (!after_the_commit) {
                check(same(outcome, g_hits == 0 ? alone : nested_first), "torn, lost, doubled or out of order");
            }
        }
        check(interrupted >= 12, "the breakpoint hit the instructions of the path");
    }
    arch::x86_64::set_debug_hook(nullptr);
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kRestartCase{
    "t_restart_every_instruction", "the stubs rewind an interrupted record", &guest::checked<&every_instruction>,
    false};

} // namespace
