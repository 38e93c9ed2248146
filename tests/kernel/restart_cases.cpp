// SPDX-License-Identifier: MIT
// The restart rule as the machine's own stubs apply it. In each situation that the record path can meet, a record is
// interrupted before every instruction it executes, by a device's interrupt, by an NMI and by a debug exception; each
// comes in through its own stub of entry.S and logs records of its own. The chunks must then hold what they hold when
// the interrupt simply comes first: nothing torn, lost, doubled or out of order. Behind the commit it comes second.
// Three ways are stepped (stepping.hpp); the fourth is the processor's own: a hardware breakpoint.
#include "kernel/interrupt.hpp"
#include "tests/kernel/recording.hpp"
#include "tests/kernel/stepping.hpp"
#include "tracer/record_path.hpp"

#include <algorithm>

namespace {

using namespace guest;

constexpr std::uint16_t kOuter = 1;
constexpr std::uint16_t kNested = 2;
constexpr std::uint64_t kArm = 0x1; // DR7: local enable of breakpoint 0, on execution
constexpr std::uint64_t kDisarm = 0x0;
constexpr arch::Vector kVectorIrq = 0x90;
constexpr std::uint16_t kOrdinary = FTrace_EVT_user_event_0;
constexpr std::uint16_t kEmergency = tracer::event_code("task_deadline_miss");

enum class Way : std::uint8_t { irq, nmi, debug, breakpoint };
constexpr Way kWays[] = {Way::irq, Way::nmi, Way::debug, Way::breakpoint};
constexpr std::string_view kWayNames[] = {"irq", "nmi", "debug", "breakpoint"};

// How the chunk goes on when it ends.
enum class Next : std::uint8_t {
    none,
    linked,
    late,     // linked only after the records before: the blackout ends with the jump
    selected, // selected after the records before: blackout_end is due there
    full,     // linked, and just as full
    cyclic,   // linked, to a chunk that never ends
};

struct Situation {
    std::string_view name;
    FTrace_flags mode;
    int slots;
    int filled; // records before the outer one; beyond `slots` they are lost
    Next next = Next::none;
    int emergency = 4; // slots
    std::uint16_t code = kOrdinary;
    bool close = false;   // next_chunk before the outer record
    bool disable = false; // before the outer record
};

constexpr Situation kSituations[] = {
    {"cyclic, room", FTRACE_CHUNK_FLAG_CYC, 8, 3},
    {"cyclic, last slot", FTRACE_CHUNK_FLAG_CYC, 8, 7},
    {"cyclic, full", FTRACE_CHUNK_FLAG_CYC, 8, 8},
    {"cyclic, second lap", FTRACE_CHUNK_FLAG_CYC, 8, 11},
    {"cyclic of one slot", FTRACE_CHUNK_FLAG_CYC, 1, 1},
    {"jump, room", FTRACE_CHUNK_FLAG_JTN, 8, 3, Next::linked},
    {"jump, last slot", FTRACE_CHUNK_FLAG_JTN, 8, 7, Next::linked},
    {"jump, full", FTRACE_CHUNK_FLAG_JTN, 8, 8, Next::linked},
    {"jump, full, the next as well", FTRACE_CHUNK_FLAG_JTN, 8, 8, Next::full},
    {"jump, full, the next is cyclic", FTRACE_CHUNK_FLAG_JTN, 8, 8, Next::cyclic},
    {"jump, room, no next", FTRACE_CHUNK_FLAG_JTN, 8, 3},
    {"jump, last slot, no next", FTRACE_CHUNK_FLAG_JTN, 8, 7},
    {"jump, full, no next", FTRACE_CHUNK_FLAG_JTN, 8, 8},
    {"jump, dropping, a next comes", FTRACE_CHUNK_FLAG_JTN, 8, 11, Next::late},
    {"jump, closed", FTRACE_CHUNK_FLAG_JTN, 8, 3, Next::linked, 4, kOrdinary, true},
    {"stop, room", FTRACE_CHUNK_FLAG_STOP, 8, 3},
    {"stop, last slot", FTRACE_CHUNK_FLAG_STOP, 8, 7},
    {"stop, full", FTRACE_CHUNK_FLAG_STOP, 8, 8},
    {"stop, dropping", FTRACE_CHUNK_FLAG_STOP, 8, 11},
    {"stop, full, no emergency area", FTRACE_CHUNK_FLAG_STOP, 8, 8, Next::none, 0},
    {"stop, full, one emergency slot", FTRACE_CHUNK_FLAG_STOP, 8, 8, Next::none, 1},
    {"stop, dropping, another is selected", FTRACE_CHUNK_FLAG_STOP, 8, 11, Next::selected},
    {"stop, closed", FTRACE_CHUNK_FLAG_STOP, 8, 3, Next::linked, 4, kOrdinary, true},
    {"emergency event, room", FTRACE_CHUNK_FLAG_STOP, 8, 3, Next::none, 4, kEmergency},
    {"emergency event, full", FTRACE_CHUNK_FLAG_STOP, 8, 8, Next::none, 4, kEmergency},
    {"emergency event, last emergency slot", FTRACE_CHUNK_FLAG_STOP, 8, 9, Next::none, 2, kEmergency},
    {"emergency event, emergency area full", FTRACE_CHUNK_FLAG_STOP, 8, 9, Next::none, 1, kEmergency},
    {"emergency event, no emergency area", FTRACE_CHUNK_FLAG_STOP, 8, 9, Next::none, 0, kEmergency},
    {"disabled", FTRACE_CHUNK_FLAG_STOP, 8, 3, Next::none, 4, kOrdinary, false, true},
};

// --- the interrupts --------------------------------------------------------------------------------------------------

constinit int g_hits = 0;

void set_breakpoint(std::uint64_t address) {
    asm volatile("movq %0, %%dr0" : : "r"(address));
    asm volatile("movq %0, %%dr7" : : "r"(kArm));
}

void clear_breakpoint() {
    asm volatile("movq %0, %%dr7" : : "r"(kDisarm));
}

// #DB: the stub has rewound the interrupted record already.
void on_debug(arch::x86_64::InterruptFrame&) {
    clear_breakpoint();
    ++g_hits;
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, kNested, 0);
}

// The kernel logs the start and the end of a device's interrupt and of an NMI; NMIs log nothing else.
void on_irq(void*) {
    ++g_hits;
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, kNested, 0);
}

std::uint8_t vector_of(Way way) {
    switch (way) {
    case Way::irq:
        return kVectorIrq;
    case Way::nmi:
        return arch::x86_64::kVectorNmi;
    case Way::debug:
    case Way::breakpoint:
        return arch::x86_64::kVectorDebug;
    }
    return 0;
}

// The same interrupt where no record is under way.
void interrupt_by_instruction(Way way) {
    switch (way) {
    case Way::irq:
        asm volatile("int %0" : : "i"(kVectorIrq) : "memory");
        return;
    case Way::nmi:
        asm volatile("int $2" : : : "memory");
        return;
    case Way::debug:
    case Way::breakpoint:
        asm volatile("int $1" : : : "memory");
        return;
    }
}

// --- one run ---------------------------------------------------------------------------------------------------------

struct Outcome {
    std::array<tracer::Record, 40> records{};
    std::size_t size = 0;
    tracer::Totals totals;
};

int make_chunk(int slots, FTrace_flags mode, int emergency) {
    const int number = FTrace_chunk_create(slots * kRecordBytes, emergency * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0);
    return number;
}

void append(Outcome& outcome, int chunk) {
    static constinit Recording recording;
    recording.read(chunk);
    for (const tracer::Record& record : recording.records()) {
        outcome.records[outcome.size++] = record;
    }
}

int make_successor(const Situation& situation) {
    switch (situation.next) {
    case Next::none:
        return -1;
    case Next::cyclic:
        return make_chunk(2, FTRACE_CHUNK_FLAG_CYC, 0);
    case Next::full:
    case Next::linked:
    case Next::late:
    case Next::selected:
        return make_chunk(8, FTRACE_CHUNK_FLAG_STOP, 4);
    }
    return -1;
}

// What comes before the outer record.
void prepare(const Situation& situation, int first, int second) {
    const bool link_early =
        situation.next == Next::linked || situation.next == Next::full || situation.next == Next::cyclic;
    ASSERT(!link_early || FTrace_chunk_link(first, second) == 0);
    ASSERT(FTrace_actual_chunk_select(first) == 0 && FTrace_enable() == 0);
    for (int i = 0; i < situation.filled; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, static_cast<std::uint32_t>(i));
    }
    if (situation.next == Next::full) {
        tracer::Chunk* const chunk = must(tracer::instance().store.find(second));
        tracer::write_shared(chunk->control.word, std::uint64_t{TRACER_WORD_CLOSED}); // as good as full
    }
    ASSERT(situation.next != Next::late || FTrace_chunk_link(first, second) == 0);
    ASSERT(situation.next != Next::selected || FTrace_actual_chunk_select(second) == 0);
    static_cast<void>(situation.close && tracer::instance().control.close_active().ok()); // refused without a next one
    if (situation.disable) {
        FTrace_disable();
    }
}

// A current chunk cannot be deleted: let another one be it, and let it take the end of a blackout.
void clean_up(int first, int second) {
    static constinit int parking = -1;
    parking = parking >= 0 ? parking : make_chunk(4, FTRACE_CHUNK_FLAG_STOP, 4);
    ASSERT(FTrace_set_chunk_flags(parking, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP) == 0);
    ASSERT(FTrace_actual_chunk_select(parking) == 0 && FTrace_enable() == 0);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 0);
    FTrace_disable();
    ASSERT(FTrace_chunk_delete(first) == 0 && (second < 0 || FTrace_chunk_delete(second) == 0));
}

// Fresh chunks in this situation, then `act`, then what is in them.
template <typename Act>
void play(const Situation& situation, Outcome& outcome, Act act) {
    const arch::IrqGuard guard;
    const int first = make_chunk(situation.slots, situation.mode, situation.emergency);
    const int second = make_successor(situation);
    const tracer::Totals before = tracer::totals(0);
    prepare(situation, first, second);
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
    clean_up(first, second);
}

bool same(const Outcome& a, const Outcome& b) {
    bool equal = a.size == b.size && a.totals == b.totals;
    for (std::size_t i = 0; equal && i < a.size; ++i) {
        equal = a.records[i].code == b.records[i].code && a.records[i].par1 == b.records[i].par1 &&
                a.records[i].par2 == b.records[i].par2;
    }
    return equal;
}

// Stamps never fall within a chunk; the emergency area, which comes last, has a time of its own.
bool stamps_rise(const Outcome& outcome) {
    int falls = 0;
    for (std::size_t i = 1; i < outcome.size; ++i) {
        falls += outcome.records[i].stamp() < outcome.records[i - 1].stamp() ? 1 : 0;
    }
    return falls <= 2;
}

// --- the cases -------------------------------------------------------------------------------------------------------

RawEvent outer_of(const Situation& situation) {
    return {.rdi = situation.code | std::uint32_t{kOuter} << 16, .rsi = std::uint64_t{7} << 32, .path = &tracer_record};
}

void log_outer(const Situation& situation) {
    record_freely(outer_of(situation));
}

constinit Outcome interrupt_first{};
constinit Outcome outer_first{};
constinit Outcome outcome{};
constinit std::array<std::uint64_t, kPathMax> steps{};
constinit std::size_t steps_size = 0;
constinit std::array<bool, 8192> seen{}; // by offset in the region: an instruction interrupted at least once
constinit int injections = 0;

// Every instruction the first, the middle and the last time it is executed.
bool is_chosen(std::size_t step) {
    std::size_t times = 0;
    std::size_t before = 0;
    for (std::size_t i = 0; i < steps_size; ++i) {
        times += steps[i] == steps[step] ? 1U : 0U;
        before += i < step && steps[i] == steps[step] ? 1U : 0U;
    }
    return before == 0 || before == times / 2 || before + 1 == times;
}

void interrupted_at(const Situation& situation, Way way, std::size_t step) {
    const std::uint64_t address = steps[step];
    g_hits = 0;
    bool reached = false;
    play(situation, outcome, [&] {
        if (way == Way::breakpoint) {
            set_breakpoint(address);
            log_outer(situation);
            clear_breakpoint();
            reached = g_hits == 1;
        } else {
            reached = record_in_steps(outer_of(situation), step, vector_of(way));
        }
    });
    check(reached, "the interrupt comes where it is meant to");
    const bool committed = step + 1 == steps_size; // the `ret`
    const bool right = same(outcome, committed ? outer_first : interrupt_first) && stamps_rise(outcome);
    ++injections;
    seen[address - reinterpret_cast<std::uint64_t>(&tracer_region_begin)] = true;
    if (!right) {
        ++failures;
        kernel::console().line("failed: ", situation.name, ", ", kWayNames[static_cast<std::size_t>(way)], ", step ",
                               step, " of ", steps_size, ": torn, lost, doubled or out of order");
    }
}

void interrupt_everywhere(const Situation& situation, Way way) {
    play(situation, interrupt_first, [&] {
        interrupt_by_instruction(way);
        log_outer(situation);
    });
    play(situation, outer_first, [&] {
        log_outer(situation);
        interrupt_by_instruction(way);
    });
    for (std::size_t step = 0; step < steps_size; ++step) {
        if (is_chosen(step)) {
            interrupted_at(situation, way, step);
        }
    }
}

int every_instruction(const kernel::AppArguments&) {
    FTrace_disable();
    filter_the_kernel();
    FTrace_set_filter(FTrace_filter_interrupt, 0);
    arch::x86_64::set_debug_hook(&on_debug);
    must(kernel::interrupt_attach(kVectorIrq, "irq", &on_irq, nullptr));
    for (const Situation& situation : kSituations) {
        play(situation, outcome, [&] { record_in_steps(outer_of(situation)); });
        steps_size = path().size();
        std::ranges::copy(path(), steps.begin());
        check(steps_size >= 11, "the path was stepped through");
        for (const Way way : kWays) {
            interrupt_everywhere(situation, way);
        }
    }
    const auto instructions = std::ranges::count(seen, true);
    kernel::console().line("interrupted ", injections, " times, before ", static_cast<std::uint64_t>(instructions),
                           " instructions");
    check(instructions >= 115, "the situations lead through the whole path");
    arch::x86_64::set_debug_hook(nullptr);
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kRestartCase{
    "t_restart_every_instruction", "the stubs rewind an interrupted record", &every_instruction, false};

} // namespace
