// SPDX-License-Identifier: MIT
// Puts long events together from their slots, and decides whether a whole chunk begins at a slot. A chunk that
// describes itself begins with a chunk_begin, a long event of several slots. Its first slot can be recognized alone,
// but it counts only if all of its slots are there and can be decoded. This is used wherever chunks are searched: in a
// file, in packets, in blocks, in a pipe.
#pragma once

#include "host/trace/event.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace host::formats::dat {

// Puts the slots of one long event together (tracer/names/metadata.hpp draws them). It never guesses inside a damaged
// event: a slot that does not belong to the event ends the assembly, and the outcome says how. An event has at most
// kCombineSlotsMax slots.
class CombinedAssembler {
  public:
    enum class Outcome : std::uint8_t {
        simple,   // a single slot while no event was open: single() makes a payload of it
        open,     // belongs to a long event that continues
        complete, // the slot was the last one: payload() is whole
        broken,   // a simple or first slot while an event was open: the event is incomplete; feed the slot again
        orphan,   // a middle or last slot without a first
        mixed,    // a middle or last slot of another event: both are given up
        too_long, // more than kCombineSlotsMax slots: the event is given up
        skipping, // a further slot of an event that was too long
    };

    constexpr Outcome feed(const tracer::Record& record) {
        const tracer::Combine flag = record.combine();
        if (flag == tracer::Combine::simple || flag == tracer::Combine::first) {
            m_skipping = false;
            if (m_slots != 0) {
                m_slots = 0;
                return Outcome::broken;
            }
            if (flag == tracer::Combine::simple) {
                return Outcome::simple;
            }
            append(record);
            m_first = record;
            return Outcome::open;
        }
        if (m_skipping) {
            return Outcome::skipping;
        }
        if (m_slots == 0) {
            return Outcome::orphan;
        }
        if (record.event_code() != m_first.event_code() || record.stamp() != m_first.stamp()) {
            m_slots = 0;
            return Outcome::mixed;
        }
        if (m_slots == tracer::kCombineSlotsMax) {
            m_slots = 0;
            m_skipping = true;
            return Outcome::too_long;
        }
        append(record);
        if (flag == tracer::Combine::middle) {
            return Outcome::open;
        }
        m_complete_bytes = m_slots * tracer::kPayloadBytesPerSlot;
        m_slots = 0;
        return Outcome::complete;
    }

    [[nodiscard]] constexpr bool is_open() const { return m_slots != 0; }

    // Returns whether a simple slot would change nothing.
    [[nodiscard]] constexpr bool is_idle() const { return m_slots == 0 && !m_skipping; }

    // Returns the payload with its length word and padding. It is valid after `complete`, until the next feed().
    [[nodiscard]] constexpr std::span<const std::byte> payload() const {
        return std::span(m_bytes).first(m_complete_bytes);
    }

    // Returns the payload of a slot for which feed() returned `simple`: a long event may have one slot.
    constexpr std::span<const std::byte> single(const tracer::Record& record) {
        append(record);
        m_first = record;
        m_slots = 0;
        m_complete_bytes = tracer::kPayloadBytesPerSlot;
        return payload();
    }

    // Returns the bits that are set in the code of any slot, other than the event and the flag. They are valid as long
    // as payload() is.
    [[nodiscard]] constexpr std::uint16_t other_bits() const { return m_other_bits; }

    constexpr void reset() {
        m_slots = 0;
        m_skipping = false;
    }

  private:
    constexpr void append(const tracer::Record& record) {
        m_other_bits = static_cast<std::uint16_t>((m_slots == 0 ? 0 : m_other_bits) |
                                                  (record.code & ~(tracer::kCodeMask | tracer::kCombineMask)));
        const auto piece = tracer::slot_payload(record);
        for (std::size_t i = 0; i < piece.size(); ++i) {
            m_bytes[m_slots * tracer::kPayloadBytesPerSlot + i] = piece[i];
        }
        ++m_slots;
    }

    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> m_bytes{};
    std::size_t m_slots = 0;
    std::size_t m_complete_bytes = 0;
    tracer::Record m_first;
    std::uint16_t m_other_bits = 0;
    bool m_skipping = false;
};

// This is the code and flag of the first slot, without reserved bits.
inline constexpr std::uint16_t kChunkBeginCode =
    trace::kCodeOf<"chunk_begin"> | static_cast<std::uint16_t>(tracer::Combine::first);

// The code as a machine with the other byte order writes it.
inline constexpr auto kSwappedBeginCode = static_cast<std::uint16_t>((kChunkBeginCode << 8) | (kChunkBeginCode >> 8));

// Returns whether the record is the first slot of a chunk_begin.
[[nodiscard]] constexpr bool begins_chunk(const tracer::Record& record) {
    return (record.code & (tracer::kCodeMask | tracer::kCombineMask)) == kChunkBeginCode;
}

// Returns the long event with which the slots begin, if it has this code, is whole and can be decoded. next_slot()
// returns std::optional<tracer::Record>: nothing at the end of the slots.
template <typename Payload, std::invocable NextSlot>
[[nodiscard]] std::optional<Payload> read_leading_event(std::uint8_t code, NextSlot next_slot) {
    CombinedAssembler assembler;
    for (std::size_t slot = 0; slot < tracer::kCombineSlotsMax; ++slot) {
        const std::optional<tracer::Record> record = next_slot();
        if (!record || record->event_code() != code) {
            return std::nullopt;
        }
        const CombinedAssembler::Outcome outcome = assembler.feed(*record);
        if (outcome == CombinedAssembler::Outcome::complete) {
            const auto payload = tracer::decode_payload<Payload>(assembler.payload());
            return payload ? std::optional(payload.value()) : std::nullopt;
        }
        if (outcome != CombinedAssembler::Outcome::open) {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

// Reads the leading event from slots in memory.
template <typename Payload>
[[nodiscard]] std::optional<Payload> read_leading_event(std::uint8_t code, std::span<const std::byte> slots_untrusted) {
    return read_leading_event<Payload>(code, [&]() -> std::optional<tracer::Record> {
        if (slots_untrusted.size() < tracer::kRecordBytes) {
            return std::nullopt;
        }
        const tracer::Record record = tracer::decode_record(slots_untrusted);
        slots_untrusted = slots_untrusted.subspan(tracer::kRecordBytes);
        return record;
    });
}

// Returns the description of the chunk that begins with these slots.
template <typename Slots>
[[nodiscard]] std::optional<tracer::ChunkBegin> read_chunk_begin(Slots&& slots) {
    return read_leading_event<tracer::ChunkBegin>(trace::kCodeOf<"chunk_begin">, std::forward<Slots>(slots));
}

// Plain records need no further decoding: one slot, a known code, no bit that needs a check, nothing that the reader
// itself must note. Nearly all records of nearly all traces are plain, and readers have a fast path for them. A record
// that is not plain may still be valid: the slow path decides.

// These are reserved bits and the page; the only page is 0.
inline constexpr std::uint16_t kBitsWithoutMeaning = 0x4F00;

// Returns whether the record describes the trace instead of being part of it.
[[nodiscard]] constexpr bool is_metadata_family(std::uint16_t code) {
    return static_cast<tracer::Family>(code & 0x0F) == tracer::Family::metadata;
}

// This is some seconds. A stamp is damaged if it differs by more than this from the stamps of the records before and
// after it, and these are in order.
inline constexpr std::uint64_t kStrayTicks = std::uint64_t{1} << 32;

// The rows by code; null if the code is not plain.
inline constexpr auto kPlainRows = [] {
    constexpr auto kNoted = std::to_array<std::uint8_t>(
        {trace::kCodeOf<"cycles_per_msec">, trace::kCodeOf<"trace_start">, trace::kCodeOf<"trace_stop">,
         trace::kCodeOf<"id">, trace::kCodeOf<"task_create">, trace::kCodeOf<"numevents">,
         trace::kCodeOf<"blackout_start">, trace::kCodeOf<"blackout_end">, trace::kCodeOf<"clock_compensated">,
         trace::kCodeOf<"compensation_count">});
    std::array<const tracer::EventRow*, 256> rows{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        const bool plain =
            row.code != 0 && row.shape == tracer::Shape::simple && row.family() != tracer::Family::metadata &&
            std::ranges::find(kNoted, row.code) == kNoted.end() && tracer::canonical_code(row.code) == row.code;
        rows[row.code] = plain ? &row : nullptr;
    }
    return rows;
}();

// Returns null if the record is not plain. Code 0 (an empty slot) is in no row.
[[nodiscard]] inline const tracer::EventRow* plain_row(std::uint16_t code) {
    return (code & (kBitsWithoutMeaning | tracer::kCombineMask)) == 0 ? kPlainRows[code & tracer::kCodeMask] : nullptr;
}

static_assert(std::endian::native == std::endian::little, "records are copied from memory without conversion");

// Decodes a record as decode_record() does, but without a span, for callers that have checked the bounds of many
// records at once.
[[nodiscard]] inline tracer::Record load_record(const std::byte* slot) {
    tracer::Record record;
    __builtin_memcpy(&record, slot, sizeof record);
    return record;
}

// Loads the stamp of the record in a slot, both halves at once. The high half comes first, so the halves are exchanged.
[[nodiscard]] inline std::uint64_t load_stamp(const std::byte* slot) {
    std::uint64_t halves = 0;
    __builtin_memcpy(&halves, slot + offsetof(tracer::Record, tsc_high), sizeof halves);
    return std::rotl(halves, 32);
}

} // namespace host::formats::dat
