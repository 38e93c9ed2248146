// SPDX-License-Identifier: MIT
// Turns events into records, and records into chunks, for formats that consist of chunks. Each chunk has records of one
// processor; it ends where a chunk of the input ended, or when it has enough records. Losses that the input reports are
// kept: dropped and refused records as they grew, overwritten ones in the first chunk with records of the same origin,
// and records lost by damage of the input as dropped ones. Memory: kRecordsMax records, and the names of each
// processor.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/trace/facts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace host::convert::records {

class RecordChunks {
  public:
    struct Chunk {
        tracer::ChunkBegin begin; // without preamble_slots; the encoding is that of records
        const trace::Names& names;
        std::span<const std::byte> records;
        lib::Ticks first; // stamp of the first record
    };

    using Write = std::function<void(const Chunk&)>;

    // All processors together have at most this many records. A chunk does not end where time falls unless there are
    // twice as many.
    static constexpr std::size_t kRecordsMax = std::size_t{1} << 16;

    // survey must outlive the object.
    RecordChunks(const Survey& survey, Write write);

    void add(const trace::Event& event);

    // Writes the rest, and an empty chunk for each described chunk of the input without records. Unusable: there were
    // events of another system, which have no record.
    [[nodiscard]] lib::Result<void, Failure> finish();

  private:
    // A stretch has the records of one processor that are not written yet.
    struct Stretch {
        std::vector<tracer::Record> records;
        tracer::ChunkBegin begin;
        trace::Names names;
        lib::Ticks first;
        std::uint32_t source = 0; // of the names
        bool has_source = false;
        std::uint64_t cost = 0; // records lost by damage so far
    };

    [[nodiscard]] Stretch& stretch_for(const trace::Event& event);
    void take_source(std::uint32_t source, const trace::Names& names, Stretch& stretch);
    void flush(Stretch& stretch);
    void flush_all();

    [[nodiscard]] Stretch& stretch_of(std::uint16_t cpu) {
        return m_last != nullptr && cpu == m_last_cpu ? *m_last : find_stretch(cpu);
    }

    [[nodiscard]] Stretch& find_stretch(std::uint16_t cpu);

    const Survey& m_survey;
    Write m_write;
    tracer::ChunkBegin m_template; // from the first chunk with a description
    std::map<std::uint16_t, Stretch> m_stretches;
    Stretch* m_last = nullptr; // of the previous event
    std::uint16_t m_last_cpu = 0;
    std::vector<bool> m_taken; // by source
    std::size_t m_records = 0; // in all stretches
    lib::Ticks m_greatest;
    std::uint64_t m_chunks = 0;
    std::uint64_t m_without_record = 0; // events
};

// unusable: the number of a processor is larger than readers of chunks accept.
[[nodiscard]] lib::Result<void, Failure> check_processors(const Survey& survey);

// Returns the result of finish() after `events` events without a record.
[[nodiscard]] lib::Result<void, Failure> events_without_record(std::uint64_t events);

// Appends the records of one event; returns false if it has none.
[[nodiscard]] bool append_records(const trace::Event& event, std::vector<tracer::Record>& records);

// Returns whether the event is one record of ours, as a slot of an incomplete long event is. Then record_of() returns
// the record.
[[nodiscard]] inline bool is_one_record(const trace::Event& event) {
    return event.origin == trace::Origin::record && event.payload.empty() &&
           event.state != trace::EventState::malformed;
}

[[nodiscard]] inline tracer::Record record_of(const trace::Event& event) {
    return tracer::make_record(event.raw_code, event.par1, event.par2, event.ticks);
}

// Returns the metadata before a chunk, made from what a reader knows, so that the chunk decodes alone
// (docs/trace-format.md, section 3). The order is that of the kernel's exporter; names are in the order of their
// numbers, because the order of their registration is lost. begin: complete but for preamble_slots, which is set. All
// records have `stamp`, that of the chunk's first record.
[[nodiscard]] std::vector<std::byte> make_preamble(tracer::ChunkBegin& begin, const trace::TraceFacts& facts,
                                                   const trace::Names& names, lib::Ticks stamp);

} // namespace host::convert::records
