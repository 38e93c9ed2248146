// SPDX-License-Identifier: MIT
// Reads a compact stream from untrusted bytes, one event at a time. It never reads past its input, its work is linear,
// and an invalid stream ends with a Fault and the offset. Host-safe. Context: any (large: use static storage in the
// kernel).
//
// Usage:   Decoder decoder(stream.size());
//          while (decoder.next(stream.subspan(decoder.offset())) == Decoder::Step::records) {
//              for (const Record& record : decoder.records()) { ... }
//          }
//          if (decoder.fault() != Fault::none) { ... fault_text(decoder.fault()), decoder.offset() ... }
#pragma once

#include "tracer/compact/id_map.hpp"
#include "tracer/compact/recall.hpp"
#include "tracer/compact/unwrap.hpp"
#include "tracer/names/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer::compact {

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
    // The longest header with its map, or event: next() needs this much at once, or the rest of the stream.
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

    // Begins a stream of so many bytes at its start.
    void restart(std::uint64_t stream_bytes);

    // `rest` is the stream from offset() on: kLookaheadBytes, or all that remains. With fewer, the stream counts as
    // cut.
    [[nodiscard]] Step next(std::span<const std::byte> rest);

    // The records are valid until the next call.
    [[nodiscard]] std::span<const Record> records() const { return std::span(m_records).first(m_count); }

    // Returns where next() will read, or after damage where the fault is, in bytes from the start of the stream.
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }

    [[nodiscard]] Fault fault() const { return m_fault; }

    // Valid once the first next() has returned records.
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

// The stamp of the first event or heartbeat of a stream; corrupt if there is none. Reads the header, the map and at
// most the first event.
[[nodiscard]] lib::Result<lib::Ticks> first_stamp(std::span<const std::byte> stream);

} // namespace tracer::compact
