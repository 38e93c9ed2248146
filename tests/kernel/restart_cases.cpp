// SPDX-License-Identifier: MIT
// Tests the restart rule as the machine's own stubs apply it. In each situation that the record path can meet, a record
// is interrupted before every instruction it executes, by a device's interrupt, by an NMI and by a debug exception;
// each comes in through its own stub of entry.S and logs records of its own. The chunks must then hold what they hold
// when the interrupt simply comes first: nothing torn, lost, doubled or out of order. After the commit it comes second.
// Loops are interrupted in their first, middle and last turn. Three ways are stepped (stepping.hpp); the fourth is the
// processor's own: a hardware breakpoint.
#include "tests/kernel/interrupter.hpp"
#include "tests/kernel/recording.hpp"
#include "tracer/record/record_path.hpp"

#include <algorithm>

namespace {

namespace restart_cases {

using namespace guest;
using Action = tracer::TriggerAction;

constexpr std::uint16_t kOrdinary = FTrace_EVT_user_event_0;
constexpr std::uint16_t kEmergency = tracer::event_code("task_deadline_miss");
constexpr std::uint16_t kTrigger = 3; // par1 of the record that is logged to meet a trigger

constexpr FTrace_flags kCyclic = FTRACE_CHUNK_FLAG_CYC;
constexpr FTrace_flags kJump = FTRACE_CHUNK_FLAG_JTN;
constexpr FTrace_flags kStop = FTRACE_CHUNK_FLAG_STOP;

// States how recording continues when the chunk ends.
enum class Next : std::uint8_t {
    none,
    linked,
    late,     // linked only after the records before: the blackout ends with the jump
    selected, // selected after the records before: blackout_end is due there
    full,     // linked, and just as full
    cyclic,   // linked, to a chunk that never ends
};

// Describes the chunk in which the outer record begins.
struct Start {
    std::string_view name; // of the situation
    FTrace_flags mode;
    int slots;
    int filled; // records before the outer one; beyond `slots` they are lost
    Next next = Next::none;
    int emergency = 4; // slots
};

struct Trigger {
    Action action = Action::none;
    std::uint16_t par1 = kTrigger; // of the records to wait for; kOuter: the outer one
    std::uint32_t records_after = 0;
    bool fired = false; // it is met before the outer record
};

struct Situation {
    Start start;
    std::uint16_t code = kOrdinary;
    bool close = false;                  // next_chunk before the outer record
    bool disable = false;                // before the outer record
    std::uint32_t long_slots = 0;        // of the outer event; 0: a single record
    std::uint32_t nested_long_slots = 0; // of the event of a handler
    Trigger trigger{};
    // The path may have found that the event does not fit when the interrupt comes: either may then be first to see the
    // chunk end, and both outcomes are right.
    bool may_end_chunk = false;
    // In a cyclic chunk the lap may then be shorter, or a blackout be recorded once more: fewer old records are left.
    bool newest_only = false;
};

constexpr Situation kSituations[] = {
    {.start = {"cyclic, room", kCyclic, 8, 3}},
    {.start = {"cyclic, last slot", kCyclic, 8, 7}},
    {.start = {"cyclic, full", kCyclic, 8, 8}},
    {.start = {"cyclic, second lap", kCyclic, 8, 11}},
    {.start = {"cyclic of one slot", kCyclic, 1, 1}},
    {.start = {"jump, room", kJump, 8, 3, Next::linked}},
    {.start = {"jump, last slot", kJump, 8, 7, Next::linked}},
    {.start = {"jump, full", kJump, 8, 8, Next::linked}},
    {.start = {"jump, full, the next as well", kJump, 8, 8, Next::full}},
    {.start = {"jump, full, the next is cyclic", kJump, 8, 8, Next::cyclic}},
    {.start = {"jump, room, no next", kJump, 8, 3}},
    {.start = {"jump, last slot, no next", kJump, 8, 7}},
    {.start = {"jump, full, no next", kJump, 8, 8}},
    {.start = {"jump, dropping, a next comes", kJump, 8, 11, Next::late}},
    {.start = {"jump, closed", kJump, 8, 3, Next::linked}, .close = true},
    {.start = {"stop, room", kStop, 8, 3}},
    {.start = {"stop, last slot", kStop, 8, 7}},
    {.start = {"stop, full", kStop, 8, 8}},
    {.start = {"stop, dropping", kStop, 8, 11}},
    {.start = {"stop, full, no emergency area", kStop, 8, 8, Next::none, 0}},
    {.start = {"stop, full, one emergency slot", kStop, 8, 8, Next::none, 1}},
    {.start = {"stop, dropping, another is selected", kStop, 8, 11, Next::selected}},
    {.start = {"stop, closed", kStop, 8, 3, Next::linked}, .close = true},
    {.start = {"emergency event, room", kStop, 8, 3}, .code = kEmergency},
    {.start = {"emergency event, full", kStop, 8, 8}, .code = kEmergency},
    {.start = {"emergency event, last emergency slot", kStop, 8, 9, Next::none, 2}, .code = kEmergency},
    {.start = {"emergency event, emergency area full", kStop, 8, 9, Next::none, 1}, .code = kEmergency},
    {.start = {"emergency event, no emergency area", kStop, 8, 9, Next::none, 0}, .code = kEmergency},
    {.start = {"disabled", kStop, 8, 3}, .disable = true},

    {.start = {"long, room", kCyclic, 16, 3}, .long_slots = 5},
    {.start = {"long of one slot", kCyclic, 8, 3}, .long_slots = 1},
    {.start = {"long, last slots", kCyclic, 8, 6}, .long_slots = 2},
    {.start = {"long, short lap", kCyclic, 16, 14}, .long_slots = 5, .newest_only = true},
    {.start = {"long, second lap", kCyclic, 16, 21}, .long_slots = 5},
    {.start = {"long met by long", kCyclic, 20, 3}, .long_slots = 5, .nested_long_slots = 2},
    {.start = {"long of 64 slots", kStop, 80, 3}, .long_slots = 64},
    {.start = {"long, disabled", kStop, 8, 3}, .disable = true, .long_slots = 2},
    {.start = {"long, jump, room", kJump, 8, 2, Next::linked}, .long_slots = 2},
    {.start = {"long, jump, full", kJump, 8, 8, Next::linked}, .long_slots = 2},
    {.start = {"long, jump, tail too short", kJump, 8, 6, Next::linked}, .long_slots = 5, .may_end_chunk = true},
    {.start = {"long, stop, tail too short", kStop, 8, 6}, .long_slots = 5, .may_end_chunk = true},
    {.start = {"long, stop, dropping", kStop, 8, 10}, .long_slots = 5},
    {.start = {"long, dropping, another is selected", kStop, 8, 11, Next::selected}, .long_slots = 2},
    {.start = {"long, larger than its cyclic chunk", kCyclic, 4, 3}, .long_slots = 5, .newest_only = true},
    {.start = {"met by a long event", kJump, 8, 4, Next::linked}, .nested_long_slots = 3},

    {.start = {"stop armed, not met", kCyclic, 8, 3}, .trigger = {.action = Action::stop}},
    {.start = {"stop armed, met", kCyclic, 8, 3},
     .trigger = {.action = Action::stop, .par1 = kOuter, .records_after = 2}},
    {.start = {"stop armed, met in the last slot", kJump, 8, 7, Next::linked},
     .trigger = {.action = Action::stop, .par1 = kOuter, .records_after = 2}},
    {.start = {"stop armed, goes along", kJump, 8, 8, Next::linked},
     .trigger = {.action = Action::stop, .par1 = kOuter, .records_after = 2}},
    {.start = {"stop fired, in the window", kCyclic, 8, 3},
     .trigger = {.action = Action::stop, .records_after = 5, .fired = true}},
    {.start = {"stop fired, last of the window", kCyclic, 8, 3},
     .trigger = {.action = Action::stop, .records_after = 1, .fired = true}},
    {.start = {"stop fired, window over", kCyclic, 8, 3}, .trigger = {.action = Action::stop, .fired = true}},
    {.start = {"stop fired, goes along", kJump, 8, 7, Next::linked},
     .trigger = {.action = Action::stop, .records_after = 2, .fired = true}},
    {.start = {"freeze armed, met", kJump, 8, 3, Next::linked}, .trigger = {.action = Action::freeze, .par1 = kOuter}},
    {.start = {"freeze fired, window over", kJump, 8, 3, Next::linked},
     .trigger = {.action = Action::freeze, .fired = true}},
    {.start = {"start armed, not met", kStop, 8, 3}, .trigger = {.action = Action::start}},
    {.start = {"start armed, met", kStop, 8, 3}, .trigger = {.action = Action::start, .par1 = kOuter}},
    {.start = {"long, stop armed", kCyclic, 16, 3}, .long_slots = 5, .trigger = {.action = Action::stop}},
    {.start = {"long, stop fired", kCyclic, 20, 3},
     .long_slots = 5,
     .trigger = {.action = Action::stop, .records_after = 9, .fired = true}},
};

// --- one run ---------------------------------------------------------------------------------------------------------

struct Outcome {
    std::array<tracer::Record, 120> records{};
    std::size_t size = 0;
    lib::Ticks main_stamp;
    bool stamps_rise = true;
    tracer::Totals totals;
};

// What earlier runs left there must not look like this run's records.
void wipe(int number) {
    const tracer::ChunkControl& control = must(tracer::instance().store.find(number))->control;
    std::ranges::fill(std::span(control.data, control.limit), std::byte{0xC5});
    std::ranges::fill(std::span(control.emergency_data, control.emergency_limit), std::byte{0xC5});
}

int make_chunk(int slots, FTrace_flags mode, int emergency) {
    const int number = FTrace_chunk_create(slots * kRecordBytes, emergency * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0);
    wipe(number);
    return number;
}

// Stamps never fall from one main area to the next, nor within an emergency area.
void append(Outcome& outcome, int chunk) {
    const tracer::ChunkContents contents = tracer::ChunkStore::contents(*must(tracer::instance().store.find(chunk)));
    lib::Ticks emergency_stamp;
    for (const auto part : {contents.older, contents.newer, contents.emergency}) {
        lib::Ticks& stamp = part.data() == contents.emergency.data() ? emergency_stamp : outcome.main_stamp;
        for (std::size_t at = 0; at < part.size(); at += tracer::kRecordBytes) {
            const tracer::Record record = tracer::decode_record(part.subspan(at, tracer::kRecordBytes));
            outcome.stamps_rise = outcome.stamps_rise && record.stamp() >= stamp;
            stamp = record.stamp();
            outcome.records[outcome.size++] = record;
        }
    }
}

int make_successor(const Situation& situation) {
    switch (situation.start.next) {
    case Next::none:
        return -1;
    case Next::cyclic:
        return make_chunk(2, kCyclic, 0);
    case Next::full:
    case Next::linked:
    case Next::late:
    case Next::selected:
        return make_chunk(8, kStop, 4);
    }
    return -1;
}

// Makes what comes before the outer record.
void prepare(const Situation& situation, int first, int second) {
    const bool link_early = situation.start.next == Next::linked || situation.start.next == Next::full ||
                            situation.start.next == Next::cyclic;
    ASSERT(!link_early || FTrace_chunk_link(first, second) == 0);
    ASSERT(FTrace_actual_chunk_select(first) == 0 && enable_bare());
    for (int i = 0; i < situation.start.filled; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, static_cast<std::uint32_t>(i));
    }
    if (situation.start.next == Next::full) {
        tracer::Chunk* const chunk = must(tracer::instance().store.find(second));
        tracer::write_shared(chunk->control.word, std::uint64_t{TRACER_WORD_CLOSED}); // as good as full
    }
    ASSERT(situation.start.next != Next::late || FTrace_chunk_link(first, second) == 0);
    ASSERT(situation.start.next != Next::selected || FTrace_actual_chunk_select(second) == 0);
    static_cast<void>(situation.close && tracer::instance().control.close_active().ok()); // refused without a next one
    if (situation.trigger.action != Action::none) {
        must(tracer::instance().control.arm({.action = situation.trigger.action,
                                             .code = kOrdinary,
                                             .par1 = situation.trigger.par1,
                                             .par2 = {},
                                             .records_after = situation.trigger.records_after}));
    }
    if (situation.trigger.fired) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, kTrigger, 0);
    }
    if (situation.disable) {
        FTrace_disable();
    }
}

// Deletes the chunks. A current chunk cannot be deleted, so another one becomes it and takes the end of a blackout.
void clean_up(int first, int second) {
    static constinit int parking = -1;
    tracer::instance().control.disarm();
    parking = parking >= 0 ? parking : make_chunk(4, kStop, 4);
    ASSERT(FTrace_set_chunk_flags(parking, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP) == 0);
    ASSERT(FTrace_actual_chunk_select(parking) == 0 && enable_bare());
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 0);
    FTrace_disable();
    ASSERT(FTrace_chunk_delete(first) == 0 && (second < 0 || FTrace_chunk_delete(second) == 0));
}

// Makes fresh chunks in this situation, calls `act`, and returns what is in them.
template <typename Act>
void play(const Situation& situation, Outcome& outcome, Act act) {
    const arch::IrqGuard guard;
    const int first = make_chunk(situation.start.slots, situation.start.mode, situation.start.emergency);
    const int second = make_successor(situation);
    set_nested_long_slots(situation.nested_long_slots);
    const tracer::Totals before = tracer::totals(0);
    prepare(situation, first, second);
    act();
    FTrace_disable();
    outcome.size = 0;
    outcome.main_stamp = {};
    outcome.stamps_rise = true;
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

bool same_event(const tracer::Record& a, const tracer::Record& b) {
    return a.code == b.code && a.par1 == b.par1 && a.par2 == b.par2;
}

bool same(const Outcome& a, const Outcome& b) {
    bool equal = a.size == b.size && a.totals == b.totals;
    for (std::size_t i = 0; equal && i < a.size; ++i) {
        equal = same_event(a.records[i], b.records[i]);
    }
    return equal;
}

bool tracer_made(const tracer::Record& record) {
    return record.code == TRACER_EVENT_BLACKOUT_START || record.code == TRACER_EVENT_BLACKOUT_END;
}

bool complete(const Outcome& a) {
    return a.size + a.totals.overwritten == a.totals.committed + a.totals.tracer_made;
}

// Returns the index of the last record before `end` that is not the tracer's own, or -1 if there is none.
int last_logged(const Outcome& a, int end) {
    do {
        --end;
    } while (end >= 0 && tracer_made(a.records[static_cast<std::size_t>(end)]));
    return end;
}

// Returns whether counts and newest records are the same, except for the tracer's own.
bool same_newest(const Outcome& a, const Outcome& b) {
    int in_a = last_logged(a, static_cast<int>(a.size));
    int in_b = last_logged(b, static_cast<int>(b.size));
    bool equal = in_a >= 0 && in_b >= 0 && a.totals.committed == b.totals.committed &&
                 a.totals.dropped == b.totals.dropped && a.totals.refused == b.totals.refused;
    while (equal && in_a >= 0 && in_b >= 0) {
        equal = same_event(a.records[static_cast<std::size_t>(in_a)], b.records[static_cast<std::size_t>(in_b)]);
        in_a = last_logged(a, in_a);
        in_b = last_logged(b, in_b);
    }
    return equal;
}

// --- the cases -------------------------------------------------------------------------------------------------------

RawEvent outer_of(const Situation& situation) {
    static constinit std::array<tracer::Record, kLongSlotsMax> slots{};
    if (situation.long_slots != 0) {
        return long_event(std::span(slots).first(situation.long_slots), kOuter);
    }
    return {.rdi = situation.code | std::uint32_t{kOuter} << 16, .rsi = 7, .path = &tracer_record};
}

void log_outer(const Situation& situation) {
    record_freely(outer_of(situation));
}

constinit Outcome interrupt_first{};
constinit Outcome outer_first{};
constinit Outcome chunk_ends_first{};
constinit Outcome outcome{};
constinit Boundaries boundaries;

void interrupted_at(const Situation& situation, Way way, std::size_t step) {
    const std::uint64_t address = boundaries.address(step);
    const int hits_before = interrupter_hits();
    bool reached = false;
    play(situation, outcome, [&] {
        if (way == Way::breakpoint) {
            set_breakpoint(address);
            log_outer(situation);
            clear_breakpoint();
            reached = interrupter_hits() == hits_before + 1;
        } else {
            reached = record_in_steps(outer_of(situation), step, vector_of(way));
        }
    });
    check(reached, "the interrupt comes where it is meant to");
    const bool committed = boundaries.after_commit(step);
    const Outcome& expected = committed ? outer_first : interrupt_first;
    bool right = same(outcome, expected);
    right = right || (situation.may_end_chunk && !committed && same(outcome, chunk_ends_first));
    right = right || (situation.newest_only && same_newest(outcome, expected));
    right = right && complete(outcome) && outcome.stamps_rise;
    if (!right) {
        ++failures;
        kernel::console().line("failed: ", situation.start.name, ", ", kWayNames[static_cast<std::size_t>(way)],
                               ", step ", step, " of ", boundaries.size(), ": torn, lost, doubled or out of order");
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
    play(situation, chunk_ends_first, [&] {
        if (situation.may_end_chunk) {
            tracer::ChunkControl& control = *tracer::instance().cpu.active;
            control.limit = static_cast<std::uint32_t>(control.word & TRACER_WORD_POSITION_MASK);
        }
        interrupt_by_instruction(way);
        log_outer(situation);
    });
    for (std::size_t step = 0; step < boundaries.size(); ++step) {
        if (boundaries.choose(step)) {
            interrupted_at(situation, way, step);
        }
    }
}

int every_instruction(const kernel::AppArguments&) {
    FTrace_disable();
    filter_the_kernel();
    FTrace_set_filter(FTrace_filter_interrupt, 0);
    start_interrupter();
    for (const Situation& situation : kSituations) {
        play(situation, outcome, [&] { record_in_steps(outer_of(situation)); });
        boundaries.take_path();
        for (const Way way : kWays) {
            interrupt_everywhere(situation, way);
        }
    }
    stop_interrupter();
    boundaries.report(285);
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kRestartCase{
    "t_restart_every_instruction", "the stubs rewind an interrupted record", &guest::checked<&every_instruction>,
    false};

} // namespace restart_cases

} // namespace
