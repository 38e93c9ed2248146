// SPDX-License-Identifier: MIT
// The one test for "does a whole chunk begin here?". A chunk that describes itself begins with a chunk_begin, a long
// event of several slots: its first slot can be recognized alone, and it counts only if all of its slots are there and
// can be decoded. Used wherever a chunk is looked for: in a file, in packets, in blocks, in a pipe.
#pragma once

#include "host/formats/dat/combined.hpp"
#include "host/trace/event.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/record.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace host::formats::dat {

// Code and flag of the first slot, reserved bits left out.
inline constexpr std::uint16_t kChunkBeginCode =
    trace::kCodeOf<"chunk_begin"> | static_cast<std::uint16_t>(tracer::Combine::first);

// Likewise of a machine whose bytes are in the other order.
inline constexpr auto kSwappedBeginCode = static_cast<std::uint16_t>((kChunkBeginCode << 8) | (kChunkBeginCode >> 8));

// The first slot of a chunk_begin.
[[nodiscard]] constexpr bool begins_chunk(const tracer::Record& record) {
    return (record.code & (tracer::kCodeMask | tracer::kCombineMask)) == kChunkBeginCode;
}

// The long event with which the slots begin, if it has this code, is whole and can be decoded.
// next_slot() returns std::optional<tracer::Record>: nothing at the end of the slots.
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

// Likewise, of slots in memory.
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

// The description of the chunk that begins with these slots.
template <typename Slots>
[[nodiscard]] std::optional<tracer::ChunkBegin> read_chunk_begin(Slots&& slots) {
    return read_leading_event<tracer::ChunkBegin>(trace::kCodeOf<"chunk_begin">, std::forward<Slots>(slots));
}

} // namespace host::formats::dat
