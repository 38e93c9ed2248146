// SPDX-License-Identifier: MIT
// The chunks: up to 256 of them in one static arena, created, linked, emptied and deleted. It does not record (that is
// the record path's), does not decide who records where (control.hpp) and does not send (exporter.hpp).
//
//   arena   |chunk 0 main|emergency|  free  |chunk 2 main|emergency| free ...     first fit; what no chunk holds is
//   free
//
// Every function runs in task context or irq-off, one at a time (ControlLock); logging may interrupt any of them at any
// instruction. A chunk that is about to be emptied, frozen or deleted is therefore closed first: nothing jumps into a
// closed chunk, and only then is it checked that the record path is not in it already.
#pragma once

#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/cpu_trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracer {

inline constexpr std::size_t kChunksMax = 256;

// What a chunk's words say at one instant.
struct ChunkCounts {
    std::uint64_t written = 0;     // committed records, emergency records and the tracer's own included
    std::uint64_t tracer_made = 0; // of those: blackout_start and blackout_end by the tracer itself
    std::uint64_t overwritten = 0; // of those: replaced by cyclic recording (the scratch slot included)
};

// The main area of a chunk that was compressed: a compact stream in place of the records.
struct CompressedArea {
    bool present = false;
    compact::Layout layout{};
    std::uint32_t stream_bytes = 0; // without the zeros that fill the last 16
    std::uint32_t records = 0;      // that the stream decodes to
    ChunkCounts counts;             // of the whole chunk; nothing is recorded in it any more
};

struct Chunk {
    ChunkControl control; // what the record path needs
    std::uint32_t size_bytes = 0;
    std::uint32_t emergency_bytes = 0;
    std::uint32_t uses = 0; // how often this number began to record; survives deletion
    std::uint8_t number = 0;
    ChunkFlags flags = 0; // FREE, mode, NODEL: what was asked for; the derived flags are not kept here
    bool exists = false;
    bool busy = false;    // handed to an exporter
    bool carried = false; // at least one sink has these contents
    CompressedArea compressed;
    std::optional<compact::Layout> written_as; // a chunk that the record path writes compactly

    // How often the number was used before this use.
    [[nodiscard]] constexpr std::uint32_t generation() const { return uses == 0 ? 0 : uses - 1; }
};

// A chunk's records in time order. In a cyclic chunk that has wrapped, the slots at the position are scratch: a writer
// that was interrupted and started over may have left half a record there, or half of a long event. A long event whose
// first slots are overwritten is left out as a whole. A lap may end before the area does, if a long event did not fit.
//
//   | newer ........ |x| older ........ |      N slots of single records keep the newest N-1 (all N when the position
//   is
//                                              at the limit)
struct ChunkContents {
    std::span<const std::byte> older;
    std::span<const std::byte> newer;
    std::span<const std::byte> emergency;
    // With compact set, `newer` is a compact stream and `older` is empty. Of a chunk that is written compactly, the end
    // of the last 16 bytes holds zeros once it is frozen.
    bool compact = false;
    compact::Layout layout{};
    std::uint32_t stream_bytes = 0;   // of newer, without the zeros that fill its last 16
    std::uint64_t stream_records = 0; // that it decodes to

    // Pieces of 16 bytes, which is what counts on the wire: records, where nothing is compact.
    [[nodiscard]] constexpr std::size_t records() const {
        return (older.size() + newer.size() + emergency.size()) / kRecordBytes;
    }

    // What a reader will find in it.
    [[nodiscard]] constexpr std::uint64_t events() const {
        return compact ? stream_records + emergency.size() / kRecordBytes : records();
    }
};

class ChunkStore {
  public:
    using Slots = std::array<Chunk, kChunksMax>;

    // The slots are zero-initialised; the arena is 16-byte aligned and need not be cleared.
    constexpr ChunkStore(Slots& slots, std::span<std::byte> arena, CpuTrace& cpu)
        : m_slots(slots)
        , m_arena(arena)
        , m_cpu(cpu) {}

    ChunkStore(const ChunkStore&) = delete;
    ChunkStore& operator=(const ChunkStore&) = delete;

    // Takes the first gap of the arena that holds both areas. size in bytes, 16..kAreaBytesMax; emergency 0..likewise.
    // With COMPR the chunk is written compactly in this layout. invalid_argument: sizes or flags; no_space: 256 chunks,
    // or no gap is large enough; unsupported: COMPR and CYC, for the oldest event of a stream that runs into itself
    // would have no beginning; unreachable: COMPR, and the size is less than compact_chunk_bytes_min().
    [[nodiscard]] lib::Result<Chunk*> create(std::uint32_t size_bytes, std::uint32_t emergency_bytes, ChunkFlags flags,
                                             compact::Layout layout = compact::Layout::a);

    // refused: NODEL, current, or linked to the current one; busy: an exporter has it. Links to it are cut.
    [[nodiscard]] lib::Result<void> remove(Chunk& chunk);

    // Replaces what was asked for. invalid_argument: two modes, CYC for a chunk that is written compactly, or a derived
    // flag that is not the present state;
    // refused: FREE for the current chunk; busy: FREE while an exporter has it.
    [[nodiscard]] lib::Result<void> set_flags(Chunk& chunk, ChunkFlags flags);

    // Asked-for and derived flags together, as of now.
    [[nodiscard]] ChunkFlags flags(const Chunk& chunk) const;

    // `to` loses FREE and starts empty. invalid_argument: the same chunk; refused: `to` is not FREE, or is current;
    // unsupported: a trigger is set, and `to` is written compactly.
    [[nodiscard]] lib::Result<void> link(Chunk& from, Chunk& to);

    // Makes a FREE chunk empty and open, and takes FREE away. refused: not FREE, or current.
    [[nodiscard]] lib::Result<void> start(Chunk& chunk);

    // Nothing is recorded in it any more, emergency area included. refused: it is active.
    [[nodiscard]] lib::Result<void> freeze(Chunk& chunk);

    // The chunk with this number; invalid_argument outside 0..255, not_found if there is none.
    [[nodiscard]] lib::Result<Chunk*> find(int number_untrusted);

    // The first chunk that has ANY of these flags; with 0, the first whose mode is CYC. not_found.
    [[nodiscard]] lib::Result<Chunk*> first_with(ChunkFlags flags);

    [[nodiscard]] Slots& slots() { return m_slots; }

    [[nodiscard]] static ChunkCounts counts(const Chunk& chunk);
    [[nodiscard]] static ChunkContents contents(const Chunk& chunk);

    // For the compressor (chunk_compress.hpp), one at a time: a gap of the arena that no chunk has yet, for this
    // chunk's new areas. The chunk is BUSY until replace_areas() or abandon_conversion(). no_space: no gap is large
    // enough.
    [[nodiscard]] lib::Result<void> begin_conversion(Chunk& chunk);
    [[nodiscard]] lib::Result<std::span<std::byte>> reserve(std::size_t bytes);
    // The stream stands at the start of the gap; the emergency area moves behind it, the old areas are free.
    void replace_areas(const CompressedArea& compressed);
    void abandon_conversion();

    // Counts of chunks that were emptied or deleted. Records that were lost so without ever being carried away count as
    // overwritten.
    [[nodiscard]] const ChunkCounts& retired() const { return m_retired; }

    // The record path may write to it at this moment.
    [[nodiscard]] bool is_active(const Chunk& chunk) const { return read_shared(m_cpu.active) == &chunk.control; }

  private:
    [[nodiscard]] lib::Result<std::size_t> find_gap(std::size_t bytes) const;
    [[nodiscard]] bool reachable_from_current(const Chunk& chunk) const;
    static void reopen(Chunk& chunk);
    void retire(Chunk& chunk);
    void deselect(Chunk& chunk);

    Slots& m_slots;
    std::span<std::byte> m_arena;
    CpuTrace& m_cpu;
    ChunkCounts m_retired;
    Chunk* m_converted = nullptr;
    bool m_was_open = false; // m_converted, before
    bool m_was_selected = false;
    std::span<std::byte> m_reserved;
};

} // namespace tracer
