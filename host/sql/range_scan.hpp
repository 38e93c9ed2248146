// SPDX-License-Identifier: MIT
// The events of a trace of records in a range of stamps: as RecordStream merges them, but of each chunk only its
// metadata and the records in the range are read.
#pragma once

#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/image_lookup.hpp"
#include "host/sql/record_index.hpp"
#include "host/sql/scan.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace host::sql {

struct RangeRequest {
    TickRange range;                    // an empty one (first > last) reads the metadata alone
    std::optional<std::uint16_t> cpu{}; // only chunks of this processor
    std::uint32_t tsc_khz = 0;          // 0: as the trace says
};

class RangeScan final : public Scan {
  public:
    // All outlive the scan.
    RangeScan(RecordIndex& index, const RangeRequest& request, formats::dat::ImageLookup& images,
              trace::Diagnostics& diagnostics, Statistics& statistics);

    [[nodiscard]] bool next(trace::Event& event) override;

    [[nodiscard]] const trace::TraceFacts& facts() const override { return m_facts; }

  private:
    // A run of records, and which chunk they are of.
    struct Part {
        formats::dat::Segment segment;
        std::uint64_t least_key = 0;
    };

    struct Head {
        std::unique_ptr<trace::TraceFacts> facts; // of the cursor; null: it has those of the scan
        std::unique_ptr<formats::dat::ChunkCursor> cursor;
        std::vector<Part> rest; // to be read after what the cursor reads, the next one last
        std::shared_ptr<trace::ByteSource> source;
        const IndexedChunk* chunk = nullptr;
        std::uint32_t report = 0; // in m_facts.chunks
        trace::Event event;
        std::uint64_t key = 0;
        std::size_t order = 0;
    };

    void open_due();
    void open(const IndexedChunk& chunk, std::size_t order);
    void read_metadata(const IndexedChunk& chunk, std::shared_ptr<trace::ByteSource> source);
    [[nodiscard]] bool begin_part(Head& head);
    void advance(Head head);
    void finish_event(const Head& head, trace::Event& event) const;

    RecordIndex& m_index;
    RangeRequest m_request;
    formats::dat::ImageLookup& m_images;
    trace::Diagnostics& m_diagnostics;
    Statistics& m_statistics;
    trace::TraceFacts m_facts;
    std::size_t m_next_chunk = 0;
    std::vector<Head> m_heads; // a heap: the earliest event on top
    std::optional<Head> m_current;
};

} // namespace host::sql
