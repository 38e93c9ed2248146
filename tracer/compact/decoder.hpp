// SPDX-License-Identifier: MIT
// Decodes a compact stream into records, and restores their whole stamps. Host-safe. Context: any.
#pragma once

#include "lib/result.hpp"
#include "lib/units.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/compact/recall.hpp"
#include "tracer/compact/stream_header.hpp"
#include "tracer/names/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer::compact {

// Restores whole stamps from cut ones; nothing else counts the turns of the time. The floor is kept as state, so a
// compact stamp that is coarser than the large stamp before it is not mistaken for a turn, and time never decreases.
// Host-safe. Context: any.
//
// Heartbeats on demand: the writer emits a full stamp before any event that is in another turn than the previous one,
// so a stamp that decreases means damage. Periodic heartbeats: there is at least one event in each turn, so a stamp
// that decreases means one more turn, and the next full stamp verifies it.

enum class Heartbeats : std::uint8_t {
    on_demand,
    periodic,
};

class Unwrap {
  public:
    constexpr Unwrap() = default;

    constexpr Unwrap(const LayoutRow& row, Heartbeats heartbeats)
        : m_row(row)
        , m_heartbeats(heartbeats) {}

    // Takes a full stamp: a heartbeat, or any event of large96. corrupt: it is before the previous events, or
    // (periodic) a turn or more after them, so that turns were not counted. The state becomes the new stamp in any
    // case.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> full(std::uint64_t tsc) {
        const bool fell = m_known && tsc < m_floor;
        const bool late = m_known && m_heartbeats == Heartbeats::periodic && m_row.turn_bits() < 64 &&
                          (tsc >> m_row.lsb) - (m_floor >> m_row.lsb) >= turn() >> m_row.lsb;
        m_known = true;
        m_floor = tsc;
        if (fell || late) {
            return lib::Error::corrupt;
        }
        return lib::Ticks{m_floor};
    }

    // Takes a compact stamp, (tsc >> lsb) cut to tsc_bits. corrupt: no full stamp came before it, or it decreased.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> compact(std::uint32_t time) {
        const std::uint64_t granule = (m_floor >> m_row.lsb & ~std::uint64_t{m_row.tsc_mask()}) | time;
        return advance(granule << m_row.lsb, m_row.lsb, turn());
    }

    // Takes the low half of a stamp, that of a large header. corrupt: as above, or (on demand) it is in another turn.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> low_half(std::uint32_t low) {
        const std::uint64_t stamp = (m_floor & ~std::uint64_t{0xFFFF'FFFF}) | low;
        if (m_heartbeats == Heartbeats::on_demand && m_row.turn_bits() < 32 && (stamp ^ m_floor) >= turn()) {
            return lib::Error::corrupt;
        }
        return advance(stamp, 0, std::uint64_t{1} << 32);
    }

    // Returns the floor; no later event has a stamp before it.
    [[nodiscard]] constexpr lib::Ticks floor() const { return {m_floor}; }

  private:
    [[nodiscard]] constexpr std::uint64_t turn() const { return std::uint64_t{1} << m_row.turn_bits(); }

    // Advances to `stamp`, which is correct except for whole turns; it is compared without its cut bits.
    [[nodiscard]] constexpr lib::Result<lib::Ticks> advance(std::uint64_t stamp, unsigned cut_bits,
                                                            std::uint64_t turn_ticks) {
        if (!m_known) {
            return lib::Error::corrupt;
        }
        if (stamp >> cut_bits < m_floor >> cut_bits) {
            if (m_heartbeats == Heartbeats::on_demand) {
                return lib::Error::corrupt;
            }
            stamp += turn_ticks;
        }
        m_floor = stamp > m_floor ? stamp : m_floor;
        return lib::Ticks{m_floor};
    }

    LayoutRow m_row = row_of(Layout::a);
    Heartbeats m_heartbeats = Heartbeats::on_demand;
    bool m_known = false;
    std::uint64_t m_floor = 0;
};

// Reads a compact stream from untrusted bytes, one event at a time. It never reads past its input, its work is linear,
// and an invalid stream ends with a Fault and the offset. Host-safe. Context: any (large: use static storage in the
// kernel).
//
// Usage:   Decoder decoder(stream.size());
//          while (decoder.next(stream.subspan(decoder.offset())) == Decoder::Step::records) {
//              for (const Record& record : decoder.records()) { ... }
//          }
//          if (decoder.fault() != Fault::none) { ... fault_text(decoder.fault()), decoder.offset() ... }

enum class Fault : std::uint8_t {
    none,
    cut,      // the stream ends inside its header, its map or an event
    magic,    // not a compact stream
    version,  // a newer format
    header,   // contradictory fields
    map,      // an invalid entry, or more entries than the layout has ids
    id,       // an event with an id that the map does not have, or with reserved bits
    escape,   // id 0 of a bare layout, but not the escape word
    size,     // a payload that no event of this kind has
    time,     // a stamp that decreases, or that is in another turn without a heartbeat
    recall,   // no event is predicted here
    records,  // the number of records differs from the header's
    checksum, // the decoded bytes differ from the written ones
};

[[nodiscard]] constexpr std::string_view fault_text(Fault fault) {
    switch (fault) {
    case Fault::none:
        return "no fault";
    case Fault::cut:
        return "the compact stream is cut off";
    case Fault::magic:
        return "this is no compact stream";
    case Fault::version:
        return "the compact stream is of a newer format";
    case Fault::header:
        return "the compact stream's header contradicts itself";
    case Fault::map:
        return "the compact stream's map holds an invalid entry";
    case Fault::id:
        return "an event id that the map does not have";
    case Fault::escape:
        return "a header with id 0 that is not the escape word";
    case Fault::size:
        return "a payload of an invalid size";
    case Fault::time:
        return "a stamp decreases, or is in another turn without a heartbeat";
    case Fault::recall:
        return "an event that refers to a prediction, but there is none";
    case Fault::records:
        return "the compact stream does not hold the number of records that its header states";
    case Fault::checksum:
        return "the compact stream's checksum differs: not all records before this are as recorded";
    }
    return "unknown fault";
}

class Decoder {
  public:
    // next() needs this much at once, or the rest of the stream: the longest header with its map, or event.
    static constexpr std::size_t kLookaheadBytes = kHeaderBytes + kMapEntriesMax * 12;

    enum class Step : std::uint8_t {
        records, // records() is valid: none (heartbeat, padding), one, or the slots of one long event
        end,     // of the stream, without a fault
        damaged, // see fault(); final
    };

    constexpr explicit Decoder(std::uint64_t stream_bytes = 0)
        : m_bytes(stream_bytes) {}

    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    // Begins a stream of stream_bytes bytes at its start.
    void restart(std::uint64_t stream_bytes);

    // Decodes the next event. `rest` is the stream from offset() on: kLookaheadBytes, or all that remains. With fewer
    // bytes, the stream counts as cut.
    [[nodiscard]] Step next(std::span<const std::byte> rest);

    // Returns the records, which are valid until the next call.
    [[nodiscard]] std::span<const Record> records() const { return std::span(m_records).first(m_count); }

    // Returns where next() will read, or after damage where the fault is, in bytes from the start of the stream.
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }

    [[nodiscard]] Fault fault() const { return m_fault; }

    // Returns the header, which is valid once the first next() has returned records.
    [[nodiscard]] const StreamHeader& header() const { return m_header; }

    [[nodiscard]] const IdMap& map() const { return m_map; }

  private:
    [[nodiscard]] Step fail(Fault fault);
    [[nodiscard]] Step take_header(std::span<const std::byte> rest);
    [[nodiscard]] Fault take_map(lib::ByteReader& reader);
    [[nodiscard]] Step take_compact(std::span<const std::byte> rest, std::uint32_t word);
    [[nodiscard]] Step take_large(std::span<const std::byte> rest, std::size_t at);
    [[nodiscard]] Fault take_payload(const LargeHeader& large, std::span<const std::byte> payload, lib::Ticks stamp);
    [[nodiscard]] Step finish();
    void consume(std::span<const std::byte> rest, std::size_t bytes);

    std::uint64_t m_bytes;
    std::uint64_t m_offset = 0;
    std::uint64_t m_total = 0;
    std::size_t m_count = 0;
    StreamHeader m_header;
    LayoutRow m_row = row_of(Layout::a);
    std::uint32_t m_crc = 0;
    Fault m_fault = Fault::none;
    bool m_begun = false;
    Unwrap m_unwrap;
    IdMap m_map;
    Recall m_recall;
    std::array<Record, kCombineSlotsMax> m_records{};
};

// Returns the stamp of the first event or heartbeat of a stream; reads the header, the map and at most the first event.
// corrupt: there is none.
[[nodiscard]] lib::Result<lib::Ticks> first_stamp(std::span<const std::byte> stream);

} // namespace tracer::compact
