// SPDX-License-Identifier: MIT
// Tests the restart rule in chunks that are written compactly, as restart_cases.cpp does: one layout of each kind (the
// record path knows no more of them), each form of an event, a turn of the stamp, the end of a chunk and of a blackout.
// What the decoder reads must be what it reads when the interrupt comes first.
#include "tests/kernel/interrupter.hpp"
#include "tests/kernel/recording.hpp"
#include "tracer/chunk/compact_chunk.hpp"
#include "tracer/compact/decoder.hpp"
#include "tracer/record/record_path.hpp"

namespace {

namespace restart_compact_cases {

using namespace guest;
using tracer::compact::Decoder;
using tracer::compact::Layout;

constexpr std::uint32_t kWord = tracer::event_code("task_schedule");
constexpr std::uint32_t kNone = tracer::event_code("timer_wakeup_start");
constexpr std::uint32_t kRare = tracer::event_code("user_event_9");

constexpr Layout kLayouts[] = {Layout::a, Layout::a2, Layout::large64, Layout::large96};

enum class State : std::uint8_t {
    room,
    turn,     // the event before was in another turn of the stamp
    resume,   // blackout_end is due
    full,     // and nothing follows
    followed, // full, and another compact chunk follows
};

struct Situation {
    std::string_view name;
    State state;
    std::uint32_t code;
    std::uint16_t par1;
    std::uint32_t par2;
    std::uint32_t long_slots = 0;
};

constexpr Situation kSituations[] = {
    {"compact, no payload", State::room, kNone, 0, 0},
    {"compact, one word", State::room, kWord, kOuter, 5},
    {"compact, does not fit its form", State::room, kNone, kOuter, 0},
    {"compact, does not fit its word", State::room, kWord, kOuter, 0x1'0000},
    {"compact, rare", State::room, kRare, kOuter, 0xFFFF'FFFF},
    {"compact, fast path", State::room, kWord | tracer::kFastPathBit, kOuter, 5},
    {"compact, long, even", State::room, 0, 0, 0, 4},
    {"compact, long, odd", State::room, 0, 0, 0, 5},
    {"compact, long of 64 slots", State::room, 0, 0, 0, 64},
    {"compact, a new turn", State::turn, kWord, kOuter, 5},
    {"compact, a blackout ends", State::resume, kWord, kOuter, 5},
    {"compact, dropping", State::full, kWord, kOuter, 5},
    {"compact, into the next chunk", State::followed, kWord, kOuter, 5},
    {"compact, long into the next chunk", State::followed, 0, 0, 0, 4},
};

struct Outcome {
    std::array<tracer::Record, 256> records{};
    std::size_t size = 0;
    bool whole = true;
    std::uint64_t dropped = 0;
    std::uint64_t refused = 0;
};

using Area = std::array<std::byte, 2048>;
alignas(16) constinit Area g_area{};
alignas(16) constinit Area g_next_area{};
constinit tracer::ChunkControl g_chunk;
constinit tracer::ChunkControl g_next;
constinit int g_parking = -1; // what the store believes to be current
constinit int g_other = -1;

int make_plain_chunk() {
    const int number = FTrace_chunk_create(4 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT(number >= 0);
    return number;
}

void select_fresh(int number) {
    ASSERT(FTrace_set_chunk_flags(number, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP) == 0);
    ASSERT(FTrace_actual_chunk_select(number) == 0);
}

void start_chunk(tracer::ChunkControl& control, Area& area, Layout layout, std::size_t bytes) {
    area.fill(std::byte{0xC5});
    control = {};
    control.data = area.data();
    control.mode = TRACER_MODE_JTN;
    ASSERT(tracer::start_compact_chunk(control, layout, static_cast<std::uint32_t>(bytes)).ok());
}

RawEvent outer_of(const Situation& situation) {
    static constinit std::array<tracer::Record, kLongSlotsMax> slots{};
    if (situation.long_slots != 0) {
        return long_event(std::span(slots).first(situation.long_slots), kOuter);
    }
    return {.rdi = situation.code | std::uint32_t{situation.par1} << 16, .rsi = situation.par2, .path = &tracer_record};
}

void prepare(const Situation& situation, Layout layout) {
    tracer::CpuTrace& cpu = tracer::instance().cpu;
    const bool fills = situation.state == State::full || situation.state == State::followed;
    start_chunk(g_chunk, g_area, layout, fills ? tracer::compact_chunk_bytes_min(layout) : g_area.size());
    if (situation.state == State::followed) {
        start_chunk(g_next, g_next_area, layout, g_next_area.size());
    }
    select_fresh(g_parking);
    ASSERT(enable_bare());
    tracer::write_shared(cpu.active, &g_chunk);
    const std::uint64_t dropped = cpu.dropped_bytes;
    for (int i = 0; i < 3 || (fills && cpu.dropped_bytes == dropped); ++i) {
        tracer::detail::record(kWord, 0, static_cast<std::uint32_t>(i));
    }
    cpu.reported_bytes = cpu.dropped_bytes; // so that each run records the same
    switch (situation.state) {
    case State::room:
    case State::full:
        break;
    case State::turn:
        g_chunk.word ^= std::uint64_t{layout != Layout::large96} << 40; // wide headers know no turns
        break;
    case State::resume:
        g_chunk.word |= TRACER_WORD_RESUME;
        break;
    case State::followed:
        g_chunk.next = &g_next;
        break;
    }
}

void read(Outcome& outcome, const tracer::ChunkControl& control, lib::Ticks& last) {
    static constinit Decoder decoder;
    const std::span<const std::byte> stream(control.data, control.word & TRACER_WORD_POSITION_MASK);
    decoder.restart(stream.size());
    Decoder::Step step{};
    while ((step = decoder.next(stream.subspan(decoder.offset()))) == Decoder::Step::records) {
        for (const tracer::Record& record : decoder.records()) {
            outcome.whole = outcome.whole && record.stamp() >= last && outcome.size < outcome.records.size();
            last = record.stamp();
            // How many of those before fit depends on when the stamp's turn changes by itself.
            const bool before = record.code == kWord && record.par1 == 0;
            if (outcome.whole && !before) {
                outcome.records[outcome.size++] = record;
            }
        }
    }
    outcome.whole = outcome.whole && step == Decoder::Step::end;
}

template <typename Act>
void play(const Situation& situation, Layout layout, Outcome& outcome, Act act) {
    const arch::IrqGuard guard;
    tracer::CpuTrace& cpu = tracer::instance().cpu;
    tracer::ChunkControl* const parking = &must(tracer::instance().store.find(g_parking))->control;
    prepare(situation, layout);
    const std::uint64_t dropped = cpu.dropped_bytes;
    const std::uint64_t refused = cpu.refused_bytes;
    act();
    outcome.dropped = cpu.dropped_bytes - dropped;
    outcome.refused = cpu.refused_bytes - refused;
    cpu.reported_bytes = cpu.dropped_bytes;
    tracer::write_shared(cpu.active, parking);
    FTrace_disable();
    select_fresh(g_other); // the one that is selected cannot be emptied
    outcome.size = 0;
    outcome.whole = true;
    lib::Ticks last;
    read(outcome, g_chunk, last);
    if (situation.state == State::followed) {
        read(outcome, g_next, last);
    }
}

bool same(const Outcome& a, const Outcome& b) {
    bool equal = a.size == b.size && a.dropped == b.dropped && a.refused == b.refused;
    for (std::size_t i = 0; equal && i < a.size; ++i) {
        equal = a.records[i].code == b.records[i].code && a.records[i].par1 == b.records[i].par1 &&
                a.records[i].par2 == b.records[i].par2;
    }
    return equal && a.whole && b.whole;
}

constinit Outcome interrupt_first{};
constinit Outcome outer_first{};
constinit Outcome outcome{};
constinit Boundaries boundaries;

void interrupt_everywhere(const Situation& situation, Layout layout, Way way) {
    const RawEvent outer = outer_of(situation);
    play(situation, layout, interrupt_first, [&] {
        interrupt_by_instruction(way);
        record_freely(outer);
    });
    play(situation, layout, outer_first, [&] {
        record_freely(outer);
        interrupt_by_instruction(way);
    });
    check(interrupt_first.size > 1 || interrupt_first.dropped != 0, "the run without interruption recorded something");
    for (std::size_t step = 0; step < boundaries.size(); ++step) {
        if (!boundaries.choose(step)) {
            continue;
        }
        bool reached = false;
        play(situation, layout, outcome, [&] { reached = record_in_steps(outer, step, vector_of(way)); });
        check(reached, "the interrupt comes where it is meant to");
        if (!same(outcome, boundaries.after_commit(step) ? outer_first : interrupt_first)) {
            ++failures;
            kernel::console().line("failed: ", situation.name, ", layout ", static_cast<std::uint32_t>(layout), ", ",
                                   kWayNames[static_cast<std::size_t>(way)], ", step ", step, " of ", boundaries.size(),
                                   ": torn, lost, doubled or out of order");
        }
    }
}

int every_instruction_compact(const kernel::AppArguments&) {
    FTrace_disable();
    filter_the_kernel();
    FTrace_set_filter(FTrace_filter_interrupt, 0);
    g_parking = make_plain_chunk();
    g_other = make_plain_chunk();
    start_interrupter();
    for (const Situation& situation : kSituations) {
        for (const Layout layout : kLayouts) {
            if (situation.long_slots == kLongSlotsMax && layout != kLayouts[0]) {
                continue; // the same loop, and it takes long
            }
            play(situation, layout, outcome, [&] { record_in_steps(outer_of(situation)); });
            boundaries.take_path();
            for (const Way way : {Way::irq, Way::nmi, Way::debug}) {
                interrupt_everywhere(situation, layout, way);
            }
        }
    }
    stop_interrupter();
    boundaries.report(265);
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kRestartCompactCase{
    "t_restart_every_instruction_compact", "the stubs rewind an interrupted compact record", &every_instruction_compact,
    false};

} // namespace restart_compact_cases

} // namespace
