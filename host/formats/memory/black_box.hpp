// SPDX-License-Identifier: MIT
// Reads the black box in a machine's memory (tracer/black_box/descriptor.hpp): its descriptor, which is checked, and
// what its tables contain at this moment. The machine may be running: a head or a counter is that of the instant at
// which it is read. Nothing in the memory is trusted; every length is checked before it is used.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"
#include "tracer/black_box/descriptor.hpp"
#include "tracer/names/names.hpp"
#include "tracer/record/record_path_layout.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::formats::memory {

// Reads the memory of a machine in a file by physical address. The file is a guest's RAM (offset = address, also while
// the guest runs), a part of it that QEMU's pmemsave wrote (the descriptor of the black box says where it begins), or
// an ELF core of dump-guest-memory. Sizes and offsets in the file are checked before they are used. Sources: System V
// ABI, chapter 5 (program headers); QEMU's documentation of pmemsave and dump-guest-memory.
class Image {
  public:
    // A pmemsave file is searched up to this offset for the descriptor, page by page.
    static constexpr std::uint64_t kSearchBytesMax = std::uint64_t{1} << 32;
    // An ELF core may have so many segments; QEMU writes a few.
    static constexpr std::size_t kSegmentsMax = 1024;

    Image() = default; // no memory: read() fails

    // source: one that can be positioned. Errors: corrupt (an ELF file that is not a core of a 64-bit machine, or whose
    // headers contradict themselves), not_found (the file has no descriptor; the text says where it was searched).
    [[nodiscard]] static lib::Result<Image, trace::Failure<lib::Error>> open(std::shared_ptr<trace::ByteSource> source);

    // Fills `out` from this address on. Returns false if the file does not contain all of it.
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> out) const;

    // Returns the offset of the address in the file, for messages; 0 if it is not there.
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;

    // Returns the address of the descriptor's magic.
    [[nodiscard]] std::uint64_t descriptor_address() const { return m_descriptor; }

    // Takes another descriptor of the same memory.
    void move_to(std::uint64_t descriptor_address) { m_descriptor = descriptor_address; }

  private:
    struct Segment {
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
        std::uint64_t offset_bytes = 0;
    };

    [[nodiscard]] std::optional<trace::Failure<lib::Error>> take_core();
    [[nodiscard]] bool has_magic(std::uint64_t address) const;
    [[nodiscard]] bool find_base();
    [[nodiscard]] bool find_in_core();
    [[nodiscard]] const Segment* segment_of(std::uint64_t address) const;

    std::shared_ptr<trace::ByteSource> m_source;
    std::vector<Segment> m_segments; // one for the whole file, unless it is a core
    std::uint64_t m_descriptor = 0;
};

// Returns whether the source is an ELF core, or has the descriptor at its address or at its beginning. This is a fast
// check for an input whose kind is not known.
[[nodiscard]] bool is_memory(trace::ByteSource& source);

// Searches the whole source for a descriptor.
[[nodiscard]] bool holds_descriptor(trace::ByteSource& source);

// A checked entry of the table of chunks: its areas are in the arena, and its positions in its areas.
struct ChunkHead {
    std::uint32_t number = 0;
    std::uint32_t uses = 0;
    std::uint8_t flags = 0;
    bool compressed = false;        // a compact stream in place of records; recording into it has ended
    std::uint32_t stream_bytes = 0; // of a compressed chunk
    std::uint64_t written = 0;      // records of a compressed chunk
    std::uint64_t overwritten = 0;  // overwritten records of a compressed chunk
    std::uint64_t word = 0;
    std::uint64_t data = 0; // addresses
    std::uint64_t emergency_data = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t mode = 0;
    std::uint64_t emergency_word = 0;
    std::array<std::uint64_t, 2> lap_base{};
    std::array<std::uint32_t, 2> lap_end{};
    std::uint64_t scribbled = 0;

    [[nodiscard]] std::size_t position() const { return word & TRACER_WORD_POSITION_MASK; }

    // Returns whether the record path writes the chunk as a compact stream.
    [[nodiscard]] bool compact() const { return (mode & TRACER_MODE_COMPACT) != 0; }

    [[nodiscard]] std::uint64_t lap() const { return compact() ? 0 : word >> 32; }

    // Returns how many bytes were ever written to the main area.
    [[nodiscard]] std::uint64_t end() const { return lap_base[lap() & 1] + position(); }

    [[nodiscard]] std::size_t emergency_position() const { return emergency_word & 0xFFFF'FFFF; }

    // Returns how many records its memory has now; 0 for a compact stream that is still being written.
    [[nodiscard]] std::uint64_t records_held() const;

    // Returns whether both heads belong to one use of the chunk with the same areas, so that what was copied of the
    // earlier one is part of the later one.
    [[nodiscard]] bool continues(const ChunkHead& earlier) const;
};

// The counts of one processor.
struct ProcessorCounts {
    std::uint64_t active = 0;  // address of the ChunkControl that receives records
    std::uint64_t dropped = 0; // records
    std::uint64_t refused = 0;
};

class BlackBox {
  public:
    static constexpr std::uint64_t kArenaBytesMax = std::uint64_t{1} << 30;
    static constexpr std::uint32_t kEntriesMax = 4096;    // of a table
    static constexpr std::uint32_t kEntryBytesMax = 4096; // of an entry
    static constexpr std::uint64_t kFormatsBytesMax = std::uint64_t{1} << 20;

    BlackBox() = default;

    // Any error is reported to diagnostics: E-MAGIC (no black box), E-HEADER (an ELF file or a descriptor that
    // contradicts itself), E-VERSION, E-HCRC.
    [[nodiscard]] static lib::Result<BlackBox> open(const trace::NamedSource& input, trace::Diagnostics& diagnostics);

    // Returns where the descriptor of a further processor is; 0: there is none. Their processors rise.
    [[nodiscard]] std::uint64_t next_address() const;

    // Opens that one. Errors as of open(). Precondition: next_address() is not 0.
    [[nodiscard]] lib::Result<BlackBox> open_next(std::string_view file, trace::Diagnostics& diagnostics) const;

    [[nodiscard]] const Image& image() const { return m_image; }

    [[nodiscard]] const tracer::black_box::Descriptor& descriptor() const { return m_descriptor; }

    // Returns the state that the machine has now; nothing if it has been restarted, or if its memory cannot be read any
    // more.
    [[nodiscard]] std::optional<tracer::black_box::State> state() const;

    // Returns nothing if there is no chunk of this number; the refusal names the invalid field. Precondition: index <
    // descriptor().chunks.entries.
    [[nodiscard]] lib::Result<std::optional<ChunkHead>, trace::Refusal> head(std::uint32_t index) const;

    // Reads all heads at once, unchecked, to find out what has changed. Returns false if they are not in the file.
    [[nodiscard]] bool read_table(std::vector<std::byte>& table) const;

    // The values that change when records are written. Precondition of mark(): the table was read and has this index.
    struct Mark {
        std::uint32_t uses = 0; // 0: no such chunk
        std::uint64_t word = 0;
        std::size_t emergency_position = 0;
    };

    [[nodiscard]] Mark mark(std::span<const std::byte> table, std::uint32_t index) const;

    [[nodiscard]] ProcessorCounts processor(std::uint32_t index) const;

    // Returns the number of the chunk that receives records; the number of entries of the table if there is none.
    [[nodiscard]] std::uint32_t active_chunk() const;

    // Returns the number of records of chunks that were emptied or deleted.
    [[nodiscard]] std::uint64_t retired_records() const;

    // Entries in the order of their publication. An invalid one ends the list, and the fault names it.
    template <typename Entry>
    struct Listed {
        std::vector<Entry> entries;
        std::string fault;
    };

    [[nodiscard]] Listed<tracer::NameEntry> names() const;
    [[nodiscard]] Listed<tracer::EncodedDeclaration> declarations() const;

    // Returns how many names the table had no space for.
    [[nodiscard]] std::uint32_t names_lost() const;

    // Returns the texts of trace_printf, if the image has them.
    [[nodiscard]] std::vector<std::byte> formats() const;

  private:
    [[nodiscard]] bool holds_arena() const;
    [[nodiscard]] bool read_entry(const tracer::black_box::Table& table, std::uint32_t index,
                                  std::vector<std::byte>& entry) const;
    // Returns the entry at this place of the order; nothing after the last one.
    [[nodiscard]] std::optional<std::vector<std::byte>> published(const tracer::black_box::Table& table,
                                                                  const tracer::black_box::Area& order,
                                                                  std::size_t place, std::string& why) const;

    Image m_image;
    tracer::black_box::Descriptor m_descriptor;
    bool m_held_arena = false; // when it was opened
};

} // namespace host::formats::memory
