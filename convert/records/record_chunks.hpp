// SPDX-License-Identifier: MIT
// Events back into records, and records into chunks, for formats that are made of chunks. Each chunk is one
// processor's; it ends where a chunk of the input ended, or when enough records have come together. Losses that the
// input reports are kept: dropped and refused records as they grew, overwritten ones with the first chunk that has
// records of the same origin, and what damage had cost the input counts as dropped. Memory: kRecordsMax records, and
// the names of each processor.
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
        tracer::ChunkBegin begin; // but preamble_slots; the encoding is that of records
        const trace::Names& names;
        std::span<const std::byte> records;
        lib::Ticks first; // stamp of the first record
    };

    using Write = std::function<void(const Chunk&)>;

    // Of all processors together. A chunk is not ended where time falls unless there are twice as many.
    static constexpr std::size_t kRecordsMax = std::size_t{1} << 16;

    // survey outlives this.
    RecordChunks(const Survey& survey, Write write);

    void add(const trace::Event& event);

    // Writes what is left, and an empty chunk for each described chunk of the input that had no records. Unusable:
    // there were events of another system, which have no record.
    [[nodiscard]] lib::Result<void, Failure> finish();

  private:
    // What one processor has gathered.
    struct Stretch {
        std::vector<tracer::Record> records;
        tracer::ChunkBegin begin;
        trace::Names names;
        lib::Ticks first;
        std::uint32_t source = 0; // whose names these are
        bool has_source = false;
        std::uint64_t cost = 0; // records that damage took, so far
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
    tracer::ChunkBegin m_template; // of the first chunk that describes itself
    std::map<std::uint16_t, Stretch> m_stretches;
    Stretch* m_last = nullptr; // of the event before
    std::uint16_t m_last_cpu = 0;
    std::vector<bool> m_taken; // by source
    std::size_t m_records = 0; // of all stretches
    lib::Ticks m_greatest;
    std::uint64_t m_chunks = 0;
    std::uint64_t m_without_record = 0; // events
};

// unusable: a processor whose number no reader of chunks believes.
[[nodiscard]] lib::Result<void, Failure> check_processors(const Survey& survey);

// What finish() returns after so many events that have no record.
[[nodiscard]] lib::Result<void, Failure> events_without_record(std::uint64_t events);

// Appends the records of one event; false if it has none.
[[nodiscard]] bool append_records(const trace::Event& event, std::vector<tracer::Record>& records);

// Of an event that is one record of ours, which is_one_record() says; slots of incomplete long events are.
[[nodiscard]] inline bool is_one_record(const trace::Event& event) {
    return event.origin == trace::Origin::record && event.payload.empty() &&
           event.state != trace::EventState::malformed;
}

[[nodiscard]] inline tracer::Record record_of(const trace::Event& event) {
    return tracer::make_record(event.raw_code, event.par1, event.par2, event.ticks);
}

// The metadata in front of a chunk, made again from what a reader knows, so that the chunk decodes alone
// (docs/trace-format.md, section 3). The order is that of the kernel's exporter; names are in the order of their
// numbers, for the order in which they were registered is not known any more. begin: everything but preamble_slots,
// which is set. All records carry `stamp`, that of the chunk's first record.
[[nodiscard]] std::vector<std::byte> make_preamble(tracer::ChunkBegin& begin, const trace::TraceFacts& facts,
                                                   const trace::Names& names, lib::Ticks stamp);

} // namespace host::convert::records
