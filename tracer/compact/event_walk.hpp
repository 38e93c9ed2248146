// SPDX-License-Identifier: MIT
// Walks over plain records for the encoder and classifies them: simple events, whole long events, and anything else,
// which is copied as it is. Context: any.
#pragma once

#include "tracer/compact/layout.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/record.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::compact {

static_assert(std::endian::native == std::endian::little, "words are stored in memory order");

inline constexpr std::uint16_t kPlainCodeMask = kCodeMask | kFastPathBit;
inline constexpr std::uint32_t kRawPayloadBytes = 12;
inline constexpr std::uint16_t kReservedBits = 0x4F00;
inline constexpr std::size_t kLongest = 16 + kCombineSlotsMax * kPayloadBytesPerSlot; // of all events

// Load and store a word by one instruction, whatever the compiler makes of load_le() and store_le().
inline std::uint32_t load_word(const std::byte* from) {
    std::uint32_t value = 0;
    __builtin_memcpy(&value, from, sizeof(value));
    return value;
}

inline void store_word(std::byte* to, std::uint32_t value) {
    __builtin_memcpy(to, &value, sizeof(value));
}

inline std::uint64_t stamp_of(const std::byte* record) {
    return std::uint64_t{load_word(record + 4)} << 32 | load_word(record + 8);
}

inline std::uint64_t key_of(const std::byte* record) {
    return load_word(record) | std::uint64_t{load_word(record + 12)} << 32;
}

// Returns whether the key has no combine flag, no reserved bit, and a code.
inline bool is_plain(std::uint64_t key) {
    return (key & 0xFFFF & ~std::uint64_t{kPlainCodeMask}) == 0 && (key & kCodeMask) != 0;
}

inline bool fits_word(std::uint64_t key) {
    return key >> 48 == 0;
}

inline std::uint32_t large_payload(std::uint64_t key) {
    return key >> 16 == 0 ? 0 : fits_word(key) ? 4 : 8;
}

inline std::uint32_t large_id(std::uint64_t key) {
    return static_cast<std::uint32_t>(key & kCodeMask) | ((key & kFastPathBit) != 0 ? kLargeFast : 0U);
}

// Returns the number of slots of the long event that starts here, or 0 if none starts here or it is broken.
inline std::size_t long_event_slots(std::span<const std::byte> records) {
    const Record first = decode_record(records);
    if (first.combine() != Combine::first || (first.code & kReservedBits) != 0) {
        return 0;
    }
    for (std::size_t slot = 1; slot < kCombineSlotsMax && (slot + 1) * kRecordBytes <= records.size(); ++slot) {
        const Record record = decode_record(records.subspan(slot * kRecordBytes));
        if ((record.code & ~kCombineMask) != (first.code & ~kCombineMask) || record.stamp() != first.stamp()) {
            return 0;
        }
        if (record.combine() == Combine::last) {
            return slot + 1;
        }
        if (record.combine() != Combine::middle) {
            return 0;
        }
    }
    return 0;
}

// Splits records into events: visitor.simple(stamp, key), .raw(stamp, record), .combined(stamp, slots). Stops and
// returns false when the visitor returns false.
template <typename Visitor>
bool visit_events(std::span<const std::byte> records, Visitor&& visitor) {
    const std::byte* at = records.data();
    const std::byte* const end = at + records.size() / kRecordBytes * kRecordBytes;
    while (at != end) {
        const std::uint64_t stamp = stamp_of(at);
        const std::uint64_t key = key_of(at);
        std::size_t slots = 1;
        bool more = false;
        if (is_plain(key)) [[likely]] {
            more = visitor.simple(stamp, key);
        } else {
            const auto rest = std::span(at, end);
            slots = long_event_slots(rest);
            more = slots != 0 ? visitor.combined(stamp, rest.first(slots * kRecordBytes)) : visitor.raw(stamp, key);
            slots = slots == 0 ? 1 : slots;
        }
        if (!more) {
            return false;
        }
        at += slots * kRecordBytes;
    }
    return true;
}

} // namespace tracer::compact
