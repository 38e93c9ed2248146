// SPDX-License-Identifier: MIT
// Declares the data of the record path (record_path.S): one CpuTrace per processor, at GS:0, and one ChunkControl per
// chunk. The record path changes it one commit at a time. Every shared word is therefore read and written through
// single-instruction accessors, which are atomic with respect to anything that can interrupt this processor.
//
// Counts advance by 16, the size of a record, like positions. So the same instruction, the last one of the restartable
// sequence, commits a record, an emergency record, a drop and a refusal.
#pragma once

#include "tracer/record/record.hpp"
#include "tracer/record/record_path_layout.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// These are the published chunk flags with their published values, and how our tracer uses each. Host-safe: chunk_begin
// also contains the mode of the chunk. Source: S.Ha.R.K. user manual, volume V, "Chunk management".

using ChunkFlags = std::uint8_t;

inline constexpr ChunkFlags kFlagFree = 0x01;       // may be selected or linked, which empties it
inline constexpr ChunkFlags kFlagFull = 0x02;       // derived: closed, or no room and not cyclic
inline constexpr ChunkFlags kFlagCyclic = 0x00;     // mode: when full, start again at the beginning
inline constexpr ChunkFlags kFlagJumpToNext = 0x04; // mode: when full, continue in the linked chunk
inline constexpr ChunkFlags kFlagStop = 0x08;       // mode: when full, drop and count
inline constexpr ChunkFlags kFlagBusy = 0x10;       // derived: queued for export, not yet carried by all sinks
inline constexpr ChunkFlags kFlagNoDelete = 0x20;   // may not be deleted
inline constexpr ChunkFlags kFlagCompressed = 0x40; // derived: the main area is a compact stream

inline constexpr ChunkFlags kModeMask = kFlagJumpToNext | kFlagStop;
// A caller may pass these only with their present values: they report a state and do not change it.
inline constexpr ChunkFlags kDerivedFlags = kFlagFull | kFlagBusy | kFlagCompressed;
inline constexpr ChunkFlags kValidFlags = 0x7F;

// Holds the state of a processor that executes instructions in steps: its previous step, whichever task made it. Each
// CpuTrace has one; only InstructionTrace changes it.
struct CpuSteps {
    std::uint64_t address = 0;  // of the instruction of the previous step
    std::uint64_t taken = 0;    // recorded or not
    std::uint32_t in_block = 0; // instructions since the last block record
    std::uint16_t context = 0;  // of the task that made it; 0: no step so far
};

struct alignas(64) ChunkControl {
    std::uint64_t word = 0; // see record_path_layout.h
    std::byte* data = nullptr;
    std::uint32_t limit = 0; // bytes available to whole records, reduced when a long event did not fit; 0 if compact
    std::uint32_t mode = TRACER_MODE_CYC;
    ChunkControl* next = nullptr;
    std::uint64_t emergency_word = 0; // see record_path_layout.h
    std::byte* emergency_data = nullptr;
    std::uint32_t emergency_limit = 0;
    std::uint32_t ends = 0;             // blackout_end records written here by the tracer itself
    std::uint64_t pending_reported = 0; // copied to CpuTrace::reported_bytes when the reported flag is cleared
    std::uint32_t pending_ends = 0;     // copied to ends at the same time
    std::uint32_t compact_limit = 0;    // a compact chunk's limit in bytes
    std::uint64_t stop_at = 0;          // bytes ever written here at which a fired trigger ends recording
    // These are indexed by the parity of the lap: bytes written before that lap, and the length of the previous lap.
    std::array<std::uint64_t, 2> lap_base{};
    std::array<std::uint32_t, 2> lap_end{};
    // lap << 32 | end: unfinished long events may have overwritten older records up to here.
    std::uint64_t scribbled = 0;
    const std::uint32_t* compact_headers = nullptr; // by code; see record_path_layout.h
    std::uint32_t compact_escape = 0;               // the word before a large header, if the layout needs one
    std::uint8_t compact_turn_shift = 0;            // stamp >> shift is the turn
    std::uint8_t compact_left = 0;                  // stamp << left >> right (64 bits) are the header's stamp bits
    std::uint8_t compact_right = 0;
};

// States what a trigger does once its event has been recorded.
enum class TriggerAction : std::uint32_t {
    none = TRACER_TRIGGER_NONE,
    start = TRACER_TRIGGER_START,   // recording begins with that record
    stop = TRACER_TRIGGER_STOP,     // recording ends once its window is complete
    freeze = TRACER_TRIGGER_FREEZE, // the chunk is closed then; recording continues in the next
};

// Key and mask are compared with the event in the record path's registers: a bit counts if it is set in the mask.
struct Trigger {
    TriggerAction action = TriggerAction::none;
    std::uint32_t key1 = 0; // code | par1 << 16
    std::uint32_t mask1 = 0;
    std::uint32_t key2 = 0; // par2
    std::uint32_t mask2 = 0;
    std::uint64_t after_bytes = 0; // 16 per record of the window after the trigger's own record
};

struct alignas(64) CpuTrace {
    CpuTrace* self = this;
    ChunkControl* active;             // never null: the null chunk while nothing is recorded
    std::uint64_t dropped_bytes = 0;  // 16 per record that did not fit
    std::uint64_t refused_bytes = 0;  // 16 per record that arrived while nothing was recorded
    std::uint64_t reported_bytes = 0; // the part of dropped_bytes that blackout_end records have reported
    std::uint32_t mask = 0;           // families that are recorded, one bit each; 0 while disabled
    std::uint32_t filter = 0;         // families that set_filter suppresses
    std::uint32_t cpu = 0;
    Trigger trigger;                  // changes only while no chunk is armed or fired
    ChunkControl* selected = nullptr; // what enable() makes active; meaningful while disabled
    CpuSteps steps;                   // not used by the record path

    constexpr explicit CpuTrace(std::uint32_t cpu_number = 0);
    CpuTrace(const CpuTrace&) = delete;
    CpuTrace& operator=(const CpuTrace&) = delete;
};

// Replaces a chunk when none is active: its size is 0, and its mode makes the record path count a refusal.
inline constinit ChunkControl null_chunk{.mode = TRACER_MODE_NONE};

constexpr CpuTrace::CpuTrace(std::uint32_t cpu_number)
    : active(&null_chunk)
    , cpu(cpu_number) {}

static_assert(offsetof(CpuTrace, self) == TRACER_CPU_SELF && offsetof(CpuTrace, active) == TRACER_CPU_ACTIVE);
static_assert(offsetof(CpuTrace, dropped_bytes) == TRACER_CPU_DROPPED);
static_assert(offsetof(CpuTrace, refused_bytes) == TRACER_CPU_REFUSED);
static_assert(offsetof(CpuTrace, reported_bytes) == TRACER_CPU_REPORTED);
static_assert(offsetof(CpuTrace, mask) == TRACER_CPU_MASK && sizeof(CpuTrace) <= 128);
static_assert(offsetof(CpuTrace, trigger) + offsetof(Trigger, action) == TRACER_CPU_TRIGGER_ACTION);
static_assert(offsetof(CpuTrace, trigger) + offsetof(Trigger, key1) == TRACER_CPU_TRIGGER_KEY1);
static_assert(offsetof(CpuTrace, trigger) + offsetof(Trigger, mask1) == TRACER_CPU_TRIGGER_MASK1);
static_assert(offsetof(CpuTrace, trigger) + offsetof(Trigger, key2) == TRACER_CPU_TRIGGER_KEY2);
static_assert(offsetof(CpuTrace, trigger) + offsetof(Trigger, mask2) == TRACER_CPU_TRIGGER_MASK2);
static_assert(offsetof(CpuTrace, trigger) + offsetof(Trigger, after_bytes) == TRACER_CPU_TRIGGER_AFTER);
static_assert(offsetof(ChunkControl, word) == TRACER_CHUNK_WORD && offsetof(ChunkControl, data) == TRACER_CHUNK_DATA);
static_assert(offsetof(ChunkControl, limit) == TRACER_CHUNK_LIMIT && offsetof(ChunkControl, mode) == TRACER_CHUNK_MODE);
static_assert(offsetof(ChunkControl, next) == TRACER_CHUNK_NEXT);
static_assert(offsetof(ChunkControl, emergency_word) == TRACER_CHUNK_EMERGENCY_WORD);
static_assert(offsetof(ChunkControl, emergency_data) == TRACER_CHUNK_EMERGENCY_DATA);
static_assert(offsetof(ChunkControl, emergency_limit) == TRACER_CHUNK_EMERGENCY_LIMIT);
static_assert(offsetof(ChunkControl, ends) == TRACER_CHUNK_ENDS);
static_assert(offsetof(ChunkControl, pending_reported) == TRACER_CHUNK_PENDING_REPORTED);
static_assert(offsetof(ChunkControl, pending_ends) == TRACER_CHUNK_PENDING_ENDS && sizeof(ChunkControl) == 128);
static_assert(offsetof(ChunkControl, compact_limit) == TRACER_CHUNK_COMPACT_LIMIT);
static_assert(offsetof(ChunkControl, stop_at) == TRACER_CHUNK_STOP_AT);
static_assert(offsetof(ChunkControl, lap_base) == TRACER_CHUNK_LAP_BASE);
static_assert(offsetof(ChunkControl, lap_end) == TRACER_CHUNK_LAP_END);
static_assert(offsetof(ChunkControl, scribbled) == TRACER_CHUNK_SCRIBBLED);
static_assert(offsetof(ChunkControl, compact_headers) == TRACER_CHUNK_COMPACT_HEADERS);
static_assert(offsetof(ChunkControl, compact_escape) == TRACER_CHUNK_COMPACT_ESCAPE);
static_assert(offsetof(ChunkControl, compact_turn_shift) == TRACER_CHUNK_COMPACT_TURN_SHIFT);
static_assert(offsetof(ChunkControl, compact_left) == TRACER_CHUNK_COMPACT_LEFT);
static_assert(offsetof(ChunkControl, compact_right) == TRACER_CHUNK_COMPACT_RIGHT);
static_assert(TRACER_MODE_JTN == kFlagJumpToNext && TRACER_MODE_STOP == kFlagStop && TRACER_MODE_CYC == kFlagCyclic);

// The largest main or emergency area has a limit that fits the position field.
inline constexpr std::uint32_t kAreaBytesMax = TRACER_WORD_POSITION_MASK / kRecordBytes * kRecordBytes;

// --- single-instruction access to words that the record path may change at any moment --------------------------------
// Only an interrupt on this processor can observe the order between different words, and it sees program order. Acquire
// and release keep the compiler from reordering (and would serve a reader on another processor).

template <typename T>
[[nodiscard]] inline T read_shared(const T& word) {
    return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

template <typename T>
inline void write_shared(T& word, T value) {
    __atomic_store(&word, &value, __ATOMIC_RELEASE);
}

template <typename T>
[[nodiscard]] inline T exchange_shared(T& word, T value) {
    return __atomic_exchange_n(&word, value, __ATOMIC_ACQ_REL);
}

inline void set_shared_bits(std::uint64_t& word, std::uint64_t bits) {
    static_cast<void>(__atomic_fetch_or(&word, bits, __ATOMIC_ACQ_REL));
}

inline void clear_shared_bits(std::uint64_t& word, std::uint64_t bits) {
    static_cast<void>(__atomic_fetch_and(&word, ~bits, __ATOMIC_ACQ_REL));
}

inline void add_shared(std::uint64_t& word, std::uint64_t amount) {
    static_cast<void>(__atomic_fetch_add(&word, amount, __ATOMIC_ACQ_REL));
}

// --- which records of the previous lap of a cyclic chunk are still whole: the exporter and the reader of a machine's
// memory apply the same rule

// Returns the end of the bytes of the main area that are of the present lap, or scratch: the slot at the position, and
// what an unfinished long event may have overwritten. Both words are those of the ChunkControl.
[[nodiscard]] constexpr std::size_t scratch_end(std::uint64_t word, std::uint64_t scribbled) {
    const std::size_t end = (word & TRACER_WORD_POSITION_MASK) + kRecordBytes;
    return scribbled >> 32 == word >> 32 ? std::max<std::size_t>(end, scribbled & 0xFFFF'FFFF) : end;
}

// Returns the offset of the first record that begins an event, or records.size() if there is none: a long event whose
// first slots are overwritten is left out as a whole. Precondition: the records are whole.
[[nodiscard]] constexpr std::size_t first_event(std::span<const std::byte> records) {
    std::size_t at = 0;
    while (at < records.size()) {
        const Combine combine = decode_record(records.subspan(at)).combine();
        if (combine == Combine::simple || combine == Combine::first) {
            break;
        }
        at += kRecordBytes;
    }
    return at;
}

} // namespace tracer
