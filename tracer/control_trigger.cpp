// SPDX-License-Identifier: MIT
// Triggers: an event that starts, stops or freezes recording. What is waited for stands in the CpuTrace, and a flag in
// the chunk's word sends every record past the comparison (record_path.S); without a trigger nothing is compared.
//
//   armed chunk:  |.....|.....|trigger|.....|.....|             stop, freeze: window = trigger + records_after
//                              <---- stop_at ---->x             start: records before the trigger are refused
#include "tracer/control.hpp"
#include "tracer/event_table.hpp"
#include "tracer/log.hpp"

namespace tracer {

namespace {

// A bit of rsi that is 0 for every event: par2 stands higher, and slots are aligned. With this key nothing matches.
constexpr std::uint64_t kInertKey = 1;
static_assert(alignof(Record) > kInertKey);

constexpr std::uint64_t kTriggerFlags = TRACER_WORD_ARMED | TRACER_WORD_FIRED;

std::uint64_t written(const ChunkControl& control, std::uint64_t word) {
    return control.lap_base[(word >> 32) & 1] + (word & TRACER_WORD_POSITION_MASK);
}

// By the record path, for somebody: not what the tracer itself writes.
bool is_recorded(const EventRow& row) {
    return row.code != 0 && row.shape != Shape::consumed && row.family() != Family::metadata &&
           row.code != TRACER_EVENT_BLACKOUT_START && row.code != TRACER_EVENT_BLACKOUT_END;
}

bool takes_parameters(const EventRow& row) {
    return row.shape == Shape::simple;
}

} // namespace

lib::Result<void> Control::arm(const TriggerRequest& request) {
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
    disarm();
    m_cpu.trigger = {.action = request.action,
                     .key1 = request.code | std::uint32_t{request.par1.value_or(0)} << 16,
                     .mask1 = kCodeMask | (request.par1 ? 0xFFFF'0000U : 0U),
                     .key2 = std::uint64_t{request.par2.value_or(0)} << 32 | kInertKey,
                     .mask2 = (request.par2 ? 0xFFFF'FFFF'0000'0000U : 0U) | kInertKey,
                     .after_bytes = std::uint64_t{request.records_after} * kRecordBytes};
    // Nothing meets it yet, so an interrupt's record can only take the flag along, and setting it once more is the
    // same. A flag in a chunk that was left stays behind, without effect. Each turn needs another chunk to fill up, so
    // there are few.
    ChunkControl* watched = nullptr;
    for (std::size_t turn = 0; watched != recording_into() && turn < kChunksMax; ++turn) {
        watched = recording_into();
        set_shared_bits(watched->word, TRACER_WORD_ARMED);
    }
    write_shared(m_cpu.trigger.key2, m_cpu.trigger.key2 & ~kInertKey);
    return {};
}

void Control::disarm() {
    // First where records go, until none has gone on from there: then no flag is handed on any more.
    ChunkControl* watched = nullptr;
    for (std::size_t turn = 0; watched != recording_into() && turn < kChunksMax; ++turn) {
        watched = recording_into();
        clear_shared_bits(watched->word, kTriggerFlags);
    }
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
        if (word != 0 && (word & kTriggerFlags) != 0 && current(chunk.control)) {
            if ((word & TRACER_WORD_ARMED) != 0) {
                return TriggerState::armed;
            }
            return written(chunk.control, word) >= chunk.control.stop_at ? TriggerState::done : TriggerState::fired;
        }
    }
    return TriggerState::done;
}

// The same rule as in the record path's jump, while disabled. The chunk that is entered is empty.
void Control::hand_over_trigger(const ChunkControl& left, ChunkControl& entered) {
    if ((entered.mode & TRACER_MODE_COMPACT) != 0) {
        return; // its records cannot be counted: the watch ends
    }
    const std::uint64_t word = read_shared(left.word);
    if ((word & TRACER_WORD_FIRED) != 0) {
        entered.stop_at = written(entered, read_shared(entered.word)) + (left.stop_at - written(left, word));
    }
    set_shared_bits(entered.word, word & kTriggerFlags);
}

// Along the links from where recording is.
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

// Likewise; null if nothing is selected.
ChunkControl* Control::recording_into() const {
    return enabled() ? read_shared(m_cpu.active) : m_cpu.selected;
}

// Where records go, or would go once enabled.
bool Control::current(const ChunkControl& control) const {
    return read_shared(m_cpu.active) == &control || m_cpu.selected == &control;
}

} // namespace tracer
