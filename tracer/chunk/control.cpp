// SPDX-License-Identifier: MIT
// Implements recording on and off, the filters, the counts of all chunks, and triggers.
#include "tracer/chunk/control.hpp"

#include "tracer/log.hpp"
#include "tracer/record/event_table.hpp"

namespace tracer {

lib::Result<void> Control::enable() {
    if (enabled()) {
        return {};
    }
    const auto entered = enter();
    if (entered) {
        admit();
    }
    return entered;
}

lib::Result<void> Control::enter() {
    if (m_cpu.selected == nullptr) {
        return lib::Error::refused;
    }
    ASSERT(read_shared(m_cpu.active) == &null_chunk && m_cpu.mask == 0);
    write_shared(m_cpu.active, m_cpu.selected);
    m_cpu.selected = nullptr;
    return {};
}

void Control::admit() {
    write_shared(m_cpu.mask, (0xFFFF & ~m_cpu.filter) | kUnfilteredMask);
}

void Control::disable() {
    hold();
    ChunkControl* const left = exchange_shared(m_cpu.active, &null_chunk);
    if (left != &null_chunk) {
        settle(*left);
        m_cpu.selected = left;
    }
}

lib::Result<void> Control::select(Chunk& chunk) {
    if (chunk.written_as && m_cpu.trigger.action != TriggerAction::none) {
        return lib::Error::unsupported; // the trigger could not watch it
    }
    if (const auto started = m_store.start(chunk); !started) {
        return started;
    }
    ChunkControl& entered = chunk.control;
    if (!enabled()) {
        const ChunkControl& left = m_cpu.selected != nullptr ? *m_cpu.selected : null_chunk;
        hand_over_trigger(left, entered);
        hand_over_blackout(left, entered);
        m_cpu.selected = &entered;
        return {};
    }
    detail::switch_to(entered);
    return {};
}

lib::Result<void> Control::close_active() {
    ChunkControl* const active = read_shared(m_cpu.active);
    if (active == &null_chunk || read_shared(active->next) == nullptr) {
        add_shared(m_cpu.refused_bytes, kRecordBytes);
        return lib::Error::refused;
    }
    // If an interrupt has already moved on to the next chunk, the request is fulfilled; closing a full chunk then
    // changes nothing.
    set_shared_bits(active->word, TRACER_WORD_CLOSED);
    return {};
}

lib::Result<void> Control::set_filter(std::uint8_t filter_code, bool suppress) {
    const EventRow* const row = find_event(filter_code);
    if (row == nullptr || (filter_code & 0xF0) != 0xF0 || row->shape != Shape::simple) {
        return lib::Error::invalid_argument;
    }
    const std::uint32_t bit = 1U << (filter_code & 0x0F);
    m_cpu.filter = suppress ? m_cpu.filter | bit : m_cpu.filter & ~bit;
    if (enabled()) {
        admit();
    }
    return {};
}

Totals Control::totals() const {
    ChunkCounts sum = m_store.retired();
    for (const Chunk& chunk : m_store.slots()) {
        if (chunk.exists) {
            const ChunkCounts counted = ChunkStore::counts(chunk);
            sum.written += counted.written;
            sum.tracer_made += counted.tracer_made;
            sum.overwritten += counted.overwritten;
        }
    }
    return {.committed = sum.written - sum.tracer_made,
            .dropped = read_shared(m_cpu.dropped_bytes) / kRecordBytes,
            .refused = read_shared(m_cpu.refused_bytes) / kRecordBytes,
            .tracer_made = sum.tracer_made,
            .overwritten = sum.overwritten};
}

// Completes the counts of a chunk that is left. If the writer was suspended between its blackout_end and their update,
// no other context will complete it.
void Control::settle(ChunkControl& left) {
    if ((read_shared(left.word) & TRACER_WORD_REPORTED) != 0) {
        m_cpu.reported_bytes = left.pending_reported;
        left.ends = left.pending_ends;
        clear_shared_bits(left.emergency_word, std::uint64_t{1} << 63); // the blackout is over
        clear_shared_bits(left.word, TRACER_WORD_REPORTED);
    }
}

// Hands a blackout over by the rule of the record path's jump, while recording is disabled.
void Control::hand_over_blackout(const ChunkControl& left, ChunkControl& entered) {
    const bool open = (read_shared(left.emergency_word) >> 63) != 0;
    const bool unresumed = (read_shared(left.word) & TRACER_WORD_RESUME) != 0;
    if (open || unresumed || m_cpu.dropped_bytes != m_cpu.reported_bytes) {
        set_shared_bits(entered.word, TRACER_WORD_RESUME);
    }
}

// A trigger is an event that starts, stops or freezes recording. The CpuTrace holds the event to wait for. A flag in
// the word of the chunk makes the record path compare every record with it (record_path.S); without a trigger nothing
// is compared.
//
//   armed chunk:  |.....|.....|trigger|.....|.....|             stop, freeze: window = trigger + records_after
//                              <---- stop_at ---->x             start: records before the trigger are refused

namespace {

// Bit 14 is 0 in the code of every event (record.hpp), so a key in which it is set matches none.
constexpr std::uint32_t kInertKey = 1U << 14;
static_assert((kInertKey & (kFastPathBit | kCombineMask | kCodeMask)) == 0);

constexpr std::uint64_t kTriggerFlags = TRACER_WORD_ARMED | TRACER_WORD_FIRED;

std::uint64_t written(const ChunkControl& control, std::uint64_t word) {
    return control.lap_base[(word >> 32) & 1] + (word & TRACER_WORD_POSITION_MASK);
}

// Returns whether the record path records this event on behalf of a caller, and not the tracer itself.
bool is_recorded(const EventRow& row) {
    return row.code != 0 && row.shape != Shape::consumed && row.family() != Family::metadata &&
           row.code != TRACER_EVENT_BLACKOUT_START && row.code != TRACER_EVENT_BLACKOUT_END;
}

bool takes_parameters(const EventRow& row) {
    return row.shape == Shape::simple;
}

} // namespace

lib::Result<void> Control::check(const TriggerRequest& request) const {
    const EventRow* const row = find_event(request.code);
    const bool known_action = request.action == TriggerAction::start || request.action == TriggerAction::stop ||
                              request.action == TriggerAction::freeze;
    if (!known_action || row == nullptr || !is_recorded(*row) ||
        (request.action == TriggerAction::start && request.records_after != 0) ||
        (!takes_parameters(*row) && (request.par1 || request.par2))) {
        return lib::Error::invalid_argument;
    }
    if ((m_cpu.filter & ~kUnfilteredMask & mask_bit(request.code)) != 0) {
        return lib::Error::busy;
    }
    if (!enabled() && m_cpu.selected == nullptr) {
        return lib::Error::refused;
    }
    if (records_compactly()) {
        return lib::Error::unsupported;
    }
    return {};
}

lib::Result<void> Control::arm(const TriggerRequest& request) {
    if (const auto checked = check(request); !checked) {
        return checked;
    }
    disarm();
    m_cpu.trigger = {.action = request.action,
                     .key1 = request.code | std::uint32_t{request.par1.value_or(0)} << 16 | kInertKey,
                     .mask1 = kCodeMask | (request.par1 ? 0xFFFF'0000U : 0U) | kInertKey,
                     .key2 = request.par2.value_or(0),
                     .mask2 = request.par2 ? 0xFFFF'FFFFU : 0U,
                     .after_bytes = std::uint64_t{request.records_after} * kRecordBytes};
    watch(); // the trigger cannot match yet
    write_shared(m_cpu.trigger.key1, m_cpu.trigger.key1 & ~kInertKey);
    return {};
}

// A record of an interrupt can at most move the flag to the next chunk, and setting it again is harmless. A flag that
// remains in a chunk that was left has no effect. Each repetition requires that another chunk has filled up, so there
// are few.
void Control::watch() {
    ChunkControl* watched = nullptr;
    for (std::size_t turn = 0; watched != recording_into() && turn < kChunksMax; ++turn) {
        watched = recording_into();
        set_shared_bits(watched->word, TRACER_WORD_ARMED);
    }
    ASSERT(watched != nullptr);
}

// Clears the flag where records go, until no record has moved on from there: after that the flag is not handed on.
void Control::unwatch() {
    ChunkControl* watched = nullptr;
    for (std::size_t turn = 0; watched != recording_into() && turn < kChunksMax; ++turn) {
        watched = recording_into();
        clear_shared_bits(watched->word, kTriggerFlags);
    }
}

void Control::disarm() {
    unwatch();
    for (Chunk& chunk : m_store.slots()) {
        if (chunk.exists) {
            clear_shared_bits(chunk.control.word, kTriggerFlags);
        }
    }
    m_cpu.trigger = {};
}

TriggerState Control::trigger_state() const {
    if (m_cpu.trigger.action == TriggerAction::none) {
        return TriggerState::idle;
    }
    for (const Chunk& chunk : m_store.slots()) {
        const std::uint64_t word = chunk.exists ? read_shared(chunk.control.word) : 0;
        if ((word & kTriggerFlags) != 0 && current(chunk.control)) {
            if ((word & TRACER_WORD_ARMED) != 0) {
                return TriggerState::armed;
            }
            return written(chunk.control, word) >= chunk.control.stop_at ? TriggerState::done : TriggerState::fired;
        }
    }
    return TriggerState::done;
}

bool Control::awaits_start() const {
    return m_cpu.trigger.action == TriggerAction::start && trigger_state() == TriggerState::armed;
}

bool Control::has_stopped() const {
    return m_cpu.trigger.action == TriggerAction::stop && trigger_state() == TriggerState::done;
}

// Hands a trigger over to an empty chunk by the rule of the record path's jump, while recording is disabled.
void Control::hand_over_trigger(const ChunkControl& left, ChunkControl& entered) {
    if ((entered.mode & TRACER_MODE_COMPACT) != 0) {
        return; // its records cannot be counted: the trigger ends here
    }
    const std::uint64_t word = read_shared(left.word);
    if ((word & TRACER_WORD_FIRED) != 0) {
        entered.stop_at = written(entered, read_shared(entered.word)) + (left.stop_at - written(left, word));
    }
    set_shared_bits(entered.word, word & kTriggerFlags);
}

// Returns whether a chunk that the links lead to is written compactly.
bool Control::records_compactly() const {
    const ChunkControl* control = recording_into();
    for (std::size_t hops = 0; control != nullptr && hops < kChunksMax; ++hops) {
        if ((control->mode & TRACER_MODE_COMPACT) != 0) {
            return true;
        }
        control = read_shared(control->next);
    }
    return false;
}

// Returns the chunk for records, also while disabled, or null if none is selected.
ChunkControl* Control::recording_into() const {
    return enabled() ? read_shared(m_cpu.active) : m_cpu.selected;
}

// Returns whether records go to this chunk, or would after enable().
bool Control::current(const ChunkControl& control) const {
    return read_shared(m_cpu.active) == &control || m_cpu.selected == &control;
}

} // namespace tracer
