// SPDX-License-Identifier: MIT
// What a chunk announces and what is found of it. The ledger judges the header, counts slots against it, and decides
// whether the chunk is read, given up, or read without relying on its counts. What is missing, what is too much and
// what was erased is reported at the end of the chunk. Records have no checksum; what is stored twice (the count) is
// compared instead.
#pragma once

#include "host/formats/dat/chunk_scope.hpp"
#include "host/formats/dat/slot_feed.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

namespace host::formats::dat {

class ChunkLedger {
  public:
    // scope outlives the ledger.
    explicit ChunkLedger(ChunkScope& scope)
        : m_scope(scope) {}

    ChunkLedger(const ChunkLedger&) = delete;
    ChunkLedger& operator=(const ChunkLedger&) = delete;

    // A new chunk: nothing is known of it.
    void begin();

    // The rest of the chunk is given up.
    [[nodiscard]] bool is_skipped() const { return m_skipped; }

    void skip_slot() { ++m_scope.chunk().skipped; }

    // A slot of all ones: flash or disk that was erased.
    void take_erased(std::uint64_t offset_bytes);

    // The slot describes the trace instead of being part of it: it is in the preamble, or it is the end of an export.
    // Where the length of the preamble is not known, or not to be relied on, its family says so.
    [[nodiscard]] bool is_metadata(const Slot& slot) const;

    void count(const Slot& slot);

    // A slot of code 0, which no machine exports: in a chunk that describes itself its record was lost on the way.
    void take_empty(const Slot& slot);

    // The chunk's very first slot has the bytes of a header in the other order.
    [[nodiscard]] bool reject_swapped(const Slot& slot);

    // The header of the chunk is damaged, or contradicts what follows it. The chunk is read on without relying on the
    // counts in its header if it is known to hold records, or if damaged chunks are salvaged; else it is given up.
    void distrust(trace::Code code, std::uint64_t offset_bytes, std::string_view text, bool holds_records);

    // The chunk is read all the same, and its end is where the next one begins.
    [[nodiscard]] bool distrusts_count() const { return m_distrusts_count; }

    // The header has been read: first is its first slot, own_slots how many it has. False: the chunk is given up.
    [[nodiscard]] bool accept(const tracer::ChunkBegin& description, const Slot& first, std::uint64_t own_slots,
                              bool is_seekable);

    // A numevents: the last slot of the preamble, which repeats the count.
    void check_repeated_count(const Slot& slot);

    // The chunk ends here.
    void finish(std::uint64_t end_bytes);

  private:
    struct Fault {
        trace::Code code;
        std::string text;
    };

    [[nodiscard]] std::optional<Fault> fault_of(const tracer::ChunkBegin& description, const Slot& first,
                                                std::uint64_t own_slots) const;

    void finish_part();

    ChunkScope& m_scope;
    bool m_skipped = false;
    bool m_distrusts_count = false;
    std::uint64_t m_empty = 0;
    std::uint64_t m_empty_bytes = 0; // offset of the first
    std::uint64_t m_erased = 0;
    std::uint64_t m_erased_bytes = 0;                                         // offset of the first
    std::set<std::tuple<std::uint16_t, std::uint16_t, std::uint32_t>> m_seen; // chunks of a pipe
};

} // namespace host::formats::dat
