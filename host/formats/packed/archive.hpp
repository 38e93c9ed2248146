// SPDX-License-Identifier: MIT
// Reads packed files: finds the blocks, judges them, and gives back the bytes of each file that was packed. A damaged
// block costs itself, and what cannot be decoded without it; all bytes that are returned were packed. Memory is one
// block and a line per block of the index.
#pragma once

#include "host/formats/dat/record_stream.hpp"
#include "host/formats/dat/segment.hpp"
#include "host/formats/packed/block.hpp"
#include "host/formats/packed/column_codec.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace host::formats::packed {

struct PackedFile {
    std::string name; // never empty, no path: safe to create in a directory
    bool records = false;
    std::uint64_t bytes = 0; // as the table says
};

class ArchiveReader {
  public:
    // The bytes of one file, piece by piece from its beginning; files come one after the other.
    using Sink = std::function<lib::Result<void>(std::size_t file, std::span<const std::byte> bytes)>;

    // Looks for the blocks and reads the table. unsupported: nothing in it is a block; io, no_space. Any error was
    // reported to diagnostics, which outlives the reader.
    [[nodiscard]] static lib::Result<std::unique_ptr<ArchiveReader>>
    open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

    // Files whose names are lost have a number for a name.
    [[nodiscard]] const std::vector<PackedFile>& files() const { return m_files; }

    // Blocks of data that are missing or could not be used; complete after extract().
    [[nodiscard]] std::uint64_t absent() const { return m_absent; }

    // All that can be had. An error of the sink ends it and is returned.
    [[nodiscard]] lib::Result<void> extract(const Sink& sink);

  private:
    struct Entry {
        std::uint64_t offset_bytes = 0;
        BlockHeader header;
    };

    ArchiveReader(trace::NamedSource input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

    [[nodiscard]] lib::Result<void> find_blocks();
    [[nodiscard]] bool judge(const Entry& entry);
    [[nodiscard]] std::uint64_t find_header(std::uint64_t from);
    void order_blocks();
    void read_table();
    void name_lost_files();
    [[nodiscard]] bool read_piece(const Entry& entry);
    [[nodiscard]] bool may_be_used(const Entry& entry);
    void report(trace::Code code, const Entry& entry, std::string_view text);
    void report(trace::Code code, std::uint64_t offset_bytes, std::string_view text);

    trace::NamedSource m_input;
    bool m_salvage;
    bool m_strict;
    trace::Diagnostics& m_diagnostics;
    std::uint64_t m_size = 0;
    std::vector<Entry> m_entries; // in order of their sequence
    std::vector<PackedFile> m_files;
    ColumnCodec m_codec;
    std::vector<std::byte> m_body;
    std::vector<std::byte> m_raw;
    std::span<const std::byte> m_piece; // of m_raw, after read_piece()

    std::uint64_t m_absent = 0; // blocks of data that are missing or could not be used

    // Of the segment that is being put together.
    std::uint32_t m_segment = ~std::uint32_t{0};
    std::uint32_t m_next_index = 0;
    bool m_has_first = false;
    bool m_whole = true;
};

// The events of a packed session. Its files are unpacked to where they can be positioned, and read as any records are.
//
// Any error was reported to diagnostics.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open_stream(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

// Packs files into one: the chunk files of a session, its manifest and formats, or a single trace file. Every byte
// comes back. Memory is one block, whatever the files' sizes.

struct FileToPack {
    std::string name;                           // as the table has it: no path
    std::shared_ptr<trace::ByteSource> bytes{}; // null: of the file at `path`, which is opened when its turn comes
    bool records = false;                       // a file of trace records; else any bytes
    std::string path{};                         // a session may have more files than a process may hold open
    std::uint64_t path_bytes = 0;               // its size

    [[nodiscard]] std::uint64_t size_bytes() const { return bytes != nullptr ? bytes->size_bytes() : path_bytes; }
};

class ArchiveWriter {
  public:
    using Sink = std::function<void(std::span<const std::byte>)>;

    // Called after each block with the number of raw bytes that are packed.
    using Progress = std::function<void(std::uint64_t done_bytes)>;

    ArchiveWriter(Sink sink, Progress progress);

    // All of it. Refused: reading a file failed, or it is not as long as it was.
    [[nodiscard]] lib::Result<void, trace::Refusal> write(std::span<const FileToPack> files);

  private:
    [[nodiscard]] lib::Result<void> write_file(const FileToPack& file);
    [[nodiscard]] lib::Result<void> write_segment(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                                  BlockHeader header, bool records);
    void write_table(std::span<const FileToPack> files);
    void write_block(BlockHeader header, std::span<const std::byte> raw);

    Sink m_sink;
    Progress m_progress;
    ColumnCodec m_codec;
    dat::SlotWindow m_window;
    std::vector<std::byte> m_raw;
    std::vector<std::byte> m_body;
    std::uint32_t m_file = 0;
    std::uint32_t m_segment = 0;
    std::uint64_t m_sequence = 0;
    std::uint64_t m_done_bytes = 0;
};

// Which files an archive is made of: all of a session, or one file.
//
// Sorted by name. Refused: a file cannot be read, or the directory has none.
[[nodiscard]] lib::Result<std::vector<FileToPack>, trace::Refusal> files_to_pack(const std::string& input);

} // namespace host::formats::packed
