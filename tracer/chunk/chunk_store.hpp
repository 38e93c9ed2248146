// SPDX-License-Identifier: MIT
// Keeps up to 256 chunks in one arena: creates, links, empties and deletes them. Recording is the record path's
// task, control.hpp selects the chunk that records go to, and exporter.hpp sends.
//
//   arena   |chunk 0 main|emergency|  free  |chunk 2 main|emergency| free ...     first fit
//
// Every function runs in task context or irq-off, one at a time (ControlLock). Logging may interrupt any of them at any
// instruction. Therefore a chunk that is to be emptied, frozen or deleted is closed first: the record path does not
// jump into a closed chunk. Only after that is it checked that the record path is not already in it.
#pragma once

#include "lib/assert.hpp"
#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/record/cpu_trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracer {

inline constexpr std::size_t kChunksMax = 256;

// Holds the counts of a chunk at one instant.
struct ChunkCounts {
    std::uint64_t written = 0;     // committed records, emergency records and the tracer's own included
    std::uint64_t tracer_made = 0; // of those: blackout_start and blackout_end written by the tracer itself
    std::uint64_t overwritten = 0; // of those: replaced by cyclic recording (the scratch slot included)
};

// Describes the main area of a chunk that was compressed: a compact stream in place of the records.
struct CompressedArea {
    bool present = false;
    compact::Layout layout{};
    std::uint32_t stream_bytes = 0; // without the zeros that fill the last 16
    std::uint32_t records = 0;      // that the stream decodes to
    ChunkCounts counts;             // of the whole chunk; recording into it has ended
};

struct Chunk {
    ChunkControl control; // what the record path needs
    std::uint32_t size_bytes = 0;
    std::uint32_t emergency_bytes = 0;
    std::uint32_t uses = 0; // how often a chunk of this number was started; survives deletion
    std::uint8_t number = 0;
    ChunkFlags flags = 0; // FREE, mode, NODEL: as requested; derived flags are not stored here
    bool exists = false;
    bool busy = false;    // queued for export
    bool carried = false; // at least one sink has these contents
    CompressedArea compressed;
    std::optional<compact::Layout> written_as; // a chunk that the record path writes compactly

    // Returns how often the number was used before this use.
    [[nodiscard]] constexpr std::uint32_t generation() const { return uses == 0 ? 0 : uses - 1; }
};

// Holds the records of a chunk in time order. In a cyclic chunk that has wrapped, the slots at the position are
// scratch: an interrupted and restarted writer may have left half a record or part of a long event there. A long event
// whose first slots are overwritten is left out as a whole. A lap may end before the area, if a long event did not fit.
//
//   | newer ........ |x| older ........ |      N slots of single records keep the newest N-1
//                                              (all N when the position is at the limit)
struct ChunkContents {
    std::span<const std::byte> older;
    std::span<const std::byte> newer;
    std::span<const std::byte> emergency;
    // With compact set, `newer` is a compact stream and `older` is empty. In a chunk that is written compactly, the
    // last 16 bytes are padded with zeros once it is frozen.
    bool compact = false;
    compact::Layout layout{};
    std::uint32_t stream_bytes = 0;   // of newer, without the zeros that fill its last 16
    std::uint64_t stream_records = 0; // number of records it decodes to

    // Returns the number of pieces of 16 bytes, the unit that is counted on the wire. It is the number of records
    // unless the chunk is compact.
    [[nodiscard]] constexpr std::size_t records() const {
        return (older.size() + newer.size() + emergency.size()) / kRecordBytes;
    }

    // Returns the number of records that a reader decodes.
    [[nodiscard]] constexpr std::uint64_t events() const {
        return compact ? stream_records + emergency.size() / kRecordBytes : records();
    }
};

class ChunkStore {
  public:
    using Slots = std::span<Chunk>;

    // There are 1 to kChunksMax slots, value-initialised; the arena is 16-byte aligned and need not be cleared.
    constexpr ChunkStore(Slots slots, std::span<std::byte> arena, CpuTrace& cpu)
        : m_slots(slots)
        , m_arena(arena)
        , m_cpu(cpu) {}

    ChunkStore(const ChunkStore&) = delete;
    ChunkStore& operator=(const ChunkStore&) = delete;

    // Creates a chunk in the first gap of the arena that holds both areas: size is 16..kAreaBytesMax bytes, emergency
    // 0..kAreaBytesMax. With COMPR it is written compactly in this layout. invalid_argument: a size or the flags are
    // invalid; no_space: each slot has a chunk, or no gap is large enough; unsupported: COMPR with CYC, because a wrap
    // would overwrite the beginning of the oldest event; too_small: COMPR, and less than compact_chunk_bytes_min().
    [[nodiscard]] lib::Result<Chunk*> create(std::uint32_t size_bytes, std::uint32_t emergency_bytes, ChunkFlags flags,
                                             compact::Layout layout = compact::Layout::a);

    // Deletes the chunk and links to it. refused: it is NODEL, current, or linked to that; busy: it is queued.
    [[nodiscard]] lib::Result<void> remove(Chunk& chunk);

    // Replaces FREE, NODEL and the mode. invalid_argument: there are two modes, or CYC for a chunk that is written
    // compactly, or a derived flag differs from the present state; refused: FREE is set for the current chunk; busy:
    // FREE is set while the chunk is queued for export.
    [[nodiscard]] lib::Result<void> set_flags(Chunk& chunk, ChunkFlags flags);

    // Returns the requested and the present derived flags together.
    [[nodiscard]] ChunkFlags flags(const Chunk& chunk) const;

    // Links two chunks: `to` loses FREE and starts empty. invalid_argument: both are the same; refused: `to` is not
    // FREE, or is current; busy: `to` is queued for export; unsupported: a trigger is set, `to` is compact.
    [[nodiscard]] lib::Result<void> link(Chunk& from, Chunk& to);

    // Makes a FREE chunk empty and open and clears FREE. refused: it is not FREE, or is current; busy: it is queued.
    [[nodiscard]] lib::Result<void> start(Chunk& chunk);

    // Ends recording into the chunk, emergency area included. refused: it is active.
    [[nodiscard]] lib::Result<void> freeze(Chunk& chunk);

    // Returns the chunk with this number. invalid_argument: it is outside the slots; not_found: there is none.
    [[nodiscard]] lib::Result<Chunk*> find(int number_untrusted);

    // Returns the first chunk that has ANY of these flags, or with 0 the first whose mode is CYC; else not_found.
    [[nodiscard]] lib::Result<Chunk*> first_with(ChunkFlags flags);

    [[nodiscard]] Slots slots() { return m_slots; }

    [[nodiscard]] std::span<const Chunk> slots() const { return m_slots; }

    [[nodiscard]] std::span<const std::byte> arena() const { return m_arena; }

    [[nodiscard]] static ChunkCounts counts(const Chunk& chunk);
    [[nodiscard]] static ChunkContents contents(const Chunk& chunk);

    // Reserve a gap of the arena for a chunk's new areas, one chunk at a time for the compressor (compact_chunk.hpp).
    // It is BUSY until replace_areas() or abandon_conversion(). no_space: no gap is large enough.
    [[nodiscard]] lib::Result<void> begin_conversion(Chunk& chunk);
    [[nodiscard]] lib::Result<std::span<std::byte>> reserve(std::size_t bytes);
    // Moves the emergency area after the stream, which is at the start of the gap, and frees the old areas.
    void replace_areas(const CompressedArea& compressed);
    void abandon_conversion();

    // Returns the counts of chunks that were emptied or deleted. Records that were lost in this way without being
    // exported count as overwritten.
    [[nodiscard]] const ChunkCounts& retired() const { return m_retired; }

    // Continues the counts of an earlier boot, whose chunks these are. Must be called before anything is recorded.
    void continue_from(const ChunkCounts& retired) { m_retired = retired; }

    // Returns true if the record path may write to it now.
    [[nodiscard]] bool is_active(const Chunk& chunk) const { return read_shared(m_cpu.active) == &chunk.control; }

  private:
    // Asserts what holds for a chunk of the store between two calls, whatever the record path does; in checked builds
    // only.
    void assert_whole(const Chunk& chunk) const;
    // Asserts that the chunk's areas overlap those of no other chunk.
    void assert_apart(const Chunk& chunk) const;
    [[nodiscard]] std::size_t begin_of(const Chunk& chunk) const;
    [[nodiscard]] static ChunkContents contents_at(const Chunk& chunk, std::uint64_t word);
    [[nodiscard]] lib::Result<std::size_t> find_gap(std::size_t bytes) const;
    [[nodiscard]] bool reachable_from_current(const Chunk& chunk) const;
    static void reopen(Chunk& chunk);
    void retire(Chunk& chunk);
    void deselect(Chunk& chunk);

    Slots m_slots;
    std::span<std::byte> m_arena;
    CpuTrace& m_cpu;
    ChunkCounts m_retired;
    Chunk* m_converted = nullptr;
    bool m_was_open = false; // state of m_converted before the conversion
    bool m_was_selected = false;
    std::span<std::byte> m_reserved;
};

} // namespace tracer
