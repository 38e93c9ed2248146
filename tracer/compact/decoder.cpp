// SPDX-License-Identifier: MIT
#include "tracer/compact/decoder.hpp"

#include "lib/crc32c.hpp"
#include "tracer/compact/event_walk.hpp"

namespace tracer::compact {

namespace {

constexpr std::size_t kPaddingWordsMax = 1024; // in one step

constexpr std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
    return lib::load_le<std::uint32_t>(bytes.subspan(at));
}

// Returns whether an encoder could have written the entry.
constexpr bool valid_entry(const MapEntry& entry) {
    const bool names_event = (entry.code & kCodeMask) != 0 && (entry.code & ~kPlainCodeMask) == 0;
    switch (entry.form) {
    case Form::none:
    case Form::word:
        return names_event && entry.order == 0;
    case Form::constant:
        return names_event && entry.order == 0 && entry.par1 <= 0xFFFF;
    case Form::recall:
        return entry.code == 0 && entry.order >= 1 && entry.order <= Recall::kOrders;
    case Form::large:
        break;
    }
    return false;
}

} // namespace

void Decoder::restart(std::uint64_t stream_bytes) {
    m_bytes = stream_bytes;
    m_offset = 0;
    m_total = 0;
    m_count = 0;
    m_header = {};
    m_crc = 0;
    m_fault = Fault::none;
    m_begun = false;
    m_unwrap = {};
    m_recall.clear();
}

Decoder::Step Decoder::fail(Fault fault) {
    m_fault = fault;
    return Step::damaged;
}

void Decoder::consume(std::span<const std::byte> rest, std::size_t bytes) {
    if ((m_header.flags & kFlagSealed) != 0) {
        m_crc = lib::crc32c(rest.first(bytes), m_crc);
    }
    m_offset += bytes;
}

Decoder::Step Decoder::next(std::span<const std::byte> rest) {
    m_count = 0;
    if (m_fault != Fault::none) {
        return Step::damaged;
    }
    if (rest.size() > m_bytes - m_offset) {
        rest = rest.first(m_bytes - m_offset);
    }
    if (!m_begun) {
        return take_header(rest);
    }
    for (std::size_t i = 0; i < kPaddingWordsMax; ++i) {
        if (m_offset == m_bytes) {
            return finish();
        }
        if (rest.size() < 4) {
            return fail(Fault::cut);
        }
        const std::uint32_t word = word_at(rest, 0);
        if (word != 0) {
            if (is_compact(m_row, word)) {
                return take_compact(rest, word);
            }
            if (m_row.kind == Kind::bare) {
                return word == escape_word(m_row) ? take_large(rest, 4) : fail(Fault::escape);
            }
            return take_large(rest, 0);
        }
        consume(rest, 4);
        rest = rest.subspan(4);
    }
    return Step::records;
}

Decoder::Step Decoder::take_header(std::span<const std::byte> rest) {
    lib::ByteReader reader(rest);
    const auto magic = reader.le<std::uint32_t>();
    const auto version = reader.le<std::uint8_t>();
    const auto layout = reader.le<std::uint8_t>();
    const auto flags = reader.le<std::uint8_t>();
    const auto reserved = reader.le<std::uint8_t>();
    m_header.entries = reader.le<std::uint32_t>();
    m_header.records = reader.le<std::uint32_t>();
    m_header.bytes = reader.le<std::uint32_t>();
    m_header.crc32c = reader.le<std::uint32_t>();
    if (reader.failed()) {
        return fail(Fault::cut);
    }
    if (magic != kMagic) {
        return fail(Fault::magic);
    }
    if (version != kVersion) {
        return fail(Fault::version);
    }
    const bool sealed = (flags & kFlagSealed) != 0;
    const bool has_totals = m_header.records != 0 || m_header.bytes != 0 || m_header.crc32c != 0;
    if (!is_layout(layout) || (flags & ~kStreamFlags) != 0 || reserved != 0 || (!sealed && has_totals)) {
        return fail(Fault::header);
    }
    if (sealed && m_header.bytes != m_bytes) {
        return fail(m_header.bytes > m_bytes ? Fault::cut : Fault::header);
    }
    m_header.layout = static_cast<Layout>(layout);
    m_header.flags = flags;
    m_row = row_of(m_header.layout);
    m_unwrap = Unwrap(m_row, (flags & kFlagPeriodic) != 0 ? Heartbeats::periodic : Heartbeats::on_demand);
    if (const Fault fault = take_map(reader); fault != Fault::none) {
        return fail(fault);
    }
    if (sealed) {
        m_crc = lib::crc32c(rest.first(kChecksumAt));
        m_crc = lib::crc32c(rest.first(reader.offset()).subspan(kHeaderBytes), m_crc);
    }
    m_offset = reader.offset();
    m_begun = true;
    return Step::records;
}

Fault Decoder::take_map(lib::ByteReader& reader) {
    m_map.clear(m_header.layout);
    if (m_header.entries > m_map.capacity()) {
        return Fault::map;
    }
    for (std::uint32_t i = 0; i < m_header.entries; ++i) {
        MapEntry entry;
        entry.code = reader.le<std::uint16_t>();
        entry.form = static_cast<Form>(reader.le<std::uint8_t>());
        entry.order = reader.le<std::uint8_t>();
        if (entry.form == Form::constant) {
            entry.par1 = reader.le<std::uint32_t>();
            entry.par2 = reader.le<std::uint32_t>();
        }
        if (reader.failed()) {
            return Fault::cut;
        }
        if (!valid_entry(entry) || !m_map.add(entry)) {
            return Fault::map;
        }
    }
    return Fault::none;
}

Decoder::Step Decoder::take_compact(std::span<const std::byte> rest, std::uint32_t word) {
    const CompactHeader header = unpack_compact(m_row, word);
    const MapEntry* const entry = m_map.find(header.id);
    if (entry == nullptr) {
        return fail(Fault::id);
    }
    const auto stamp = m_unwrap.compact(header.time);
    if (!stamp) {
        return fail(Fault::time);
    }
    std::uint64_t key = key_of(entry->code, 0, 0);
    std::size_t bytes = 4;
    if (entry->form == Form::word) {
        if (rest.size() < 8) {
            return fail(Fault::cut);
        }
        const std::uint32_t parameters = word_at(rest, 4);
        key = key_of(entry->code, static_cast<std::uint16_t>(parameters), parameters >> 16);
        bytes = 8;
    } else if (entry->form == Form::constant) {
        key = key_of(entry->code, static_cast<std::uint16_t>(entry->par1), entry->par2);
    } else if (entry->form == Form::recall) {
        key = m_recall.predicted(entry->order);
        if (key == 0) {
            return fail(Fault::recall);
        }
    }
    m_recall.take(key);
    m_records[0] = record_of(key, stamp.value());
    m_count = 1;
    m_total += 1;
    consume(rest, bytes);
    return Step::records;
}

// Takes an event whose large header is at `at` in `rest`, after the escape if there is one.
Decoder::Step Decoder::take_large(std::span<const std::byte> rest, std::size_t at) {
    const std::size_t header_bytes = large_header_bytes(m_row, m_offset);
    if (rest.size() < header_bytes) {
        return fail(Fault::cut);
    }
    const std::uint32_t word = word_at(rest, at);
    const LargeHeader large = unpack_large(word);
    const std::size_t bytes = header_bytes + padded(large.size_bytes);
    const bool is_long = (large.id & kLargeLong) != 0;
    if ((word & kSelectBit) != 0 || (large.id & ~kLargeIdMask) != 0) {
        return fail(Fault::id);
    }
    const bool size_valid = is_long ? large.size_bytes % kPayloadBytesPerSlot == 0 &&
                                          large.size_bytes >= kPayloadBytesPerSlot &&
                                          large.size_bytes <= kCombineSlotsMax * kPayloadBytesPerSlot
                                    : large.size_bytes % 4 == 0 && large.size_bytes <= kRawPayloadBytes;
    if (!size_valid) {
        return fail(Fault::size);
    }
    if (rest.size() < bytes) {
        return fail(Fault::cut);
    }
    const auto payload = rest.subspan(header_bytes, padded(large.size_bytes));
    lib::Result<lib::Ticks> stamp = lib::Error::corrupt;
    if (m_row.kind == Kind::large96) {
        const std::uint64_t low = word_at(rest, header_bytes - 8);
        stamp = m_unwrap.full(low | std::uint64_t{word_at(rest, header_bytes - 4)} << 32);
        if (header_bytes == 16 && word_at(rest, 4) != 0) {
            return fail(Fault::size);
        }
    } else if (word == kHeartbeatWord) {
        stamp = m_unwrap.full(word_at(rest, at + 4) | std::uint64_t{word_at(payload, 0)} << 32);
    } else {
        stamp = m_unwrap.low_half(word_at(rest, at + 4));
    }
    if (!stamp) {
        return fail(Fault::time);
    }
    if (word != kHeartbeatWord || m_row.kind == Kind::large96) {
        if (const Fault fault = take_payload(large, payload, stamp.value()); fault != Fault::none) {
            return fail(fault);
        }
    }
    m_total += m_count;
    consume(rest, bytes);
    return Step::records;
}

Fault Decoder::take_payload(const LargeHeader& large, std::span<const std::byte> payload, lib::Ticks stamp) {
    const auto code =
        static_cast<std::uint16_t>((large.id & kLargeCodeMask) | ((large.id & kLargeFast) != 0 ? kFastPathBit : 0U));
    if ((large.id & kLargeLong) != 0) {
        const std::size_t slots = large.size_bytes / kPayloadBytesPerSlot;
        for (std::size_t slot = 0; slot < slots; ++slot) {
            const auto piece = payload.subspan(slot * kPayloadBytesPerSlot, kPayloadBytesPerSlot);
            const Combine flag = combine_of(slot, slots);
            m_records[slot] =
                make_record(static_cast<std::uint16_t>(code | static_cast<std::uint16_t>(flag)),
                            lib::load_le<std::uint16_t>(piece), lib::load_le<std::uint32_t>(piece.subspan(2)), stamp);
        }
        const std::size_t unused = payload.size() - large.size_bytes;
        if (unused != 0 && lib::load_le<std::uint16_t>(payload.last(2)) != 0) {
            return Fault::size;
        }
        m_count = slots;
        return Fault::none;
    }
    std::uint32_t par1 = 0;
    std::uint32_t par2 = 0;
    if (large.size_bytes == 4) {
        par1 = word_at(payload, 0) & 0xFFFF;
        par2 = word_at(payload, 0) >> 16;
    } else if (large.size_bytes >= 8) {
        par1 = word_at(payload, 0);
        par2 = word_at(payload, 4);
    }
    const bool raw = large.size_bytes == kRawPayloadBytes;
    const std::uint32_t raw_code = raw ? word_at(payload, 8) : code;
    if (par1 > 0xFFFF || raw_code > 0xFFFF || (raw_code & kPlainCodeMask) != code || raw_code == 0) {
        return Fault::size;
    }
    m_records[0] = make_record(static_cast<std::uint16_t>(raw_code), static_cast<std::uint16_t>(par1), par2, stamp);
    m_count = 1;
    if (!raw) {
        m_recall.take(key_of(m_records[0]));
    }
    return Fault::none;
}

Decoder::Step Decoder::finish() {
    if ((m_header.flags & kFlagSealed) != 0) {
        if (m_total != m_header.records) {
            return fail(Fault::records);
        }
        if (m_crc != m_header.crc32c) {
            return fail(Fault::checksum);
        }
    }
    return Step::end;
}

lib::Result<lib::Ticks> first_stamp(std::span<const std::byte> stream) {
    lib::ByteReader reader(stream);
    const auto magic = reader.le<std::uint32_t>();
    const auto version = reader.le<std::uint8_t>();
    const auto layout = reader.le<std::uint8_t>();
    static_cast<void>(reader.take(2));
    const auto entries = reader.le<std::uint32_t>();
    static_cast<void>(reader.take(kHeaderBytes - reader.offset()));
    if (magic != kMagic || version != kVersion || !is_layout(layout) || entries > kMapEntriesMax) {
        return lib::Error::corrupt;
    }
    for (std::uint32_t i = 0; i < entries; ++i) {
        static_cast<void>(reader.take(2));
        const auto form = static_cast<Form>(reader.le<std::uint8_t>());
        static_cast<void>(reader.take(form == Form::constant ? 9 : 1));
    }
    const LayoutRow& row = row_of(static_cast<Layout>(layout));
    const std::size_t at = row.kind == Kind::large96 ? large_header_bytes(row, reader.offset()) - 8
                           : row.kind == Kind::bare  ? std::size_t{8}
                                                     : std::size_t{4};
    static_cast<void>(reader.take(at));
    const auto low = reader.le<std::uint32_t>();
    const auto high = reader.le<std::uint32_t>();
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    return lib::Ticks{low | std::uint64_t{high} << 32};
}

} // namespace tracer::compact
