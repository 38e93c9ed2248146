// SPDX-License-Identifier: MIT
// Reads packed files: finds the blocks, judges them, and returns the bytes of each file that was packed. If a block is
// damaged, only it and what cannot be decoded without it are lost; all bytes that are returned were packed. Memory is
// one block and a line per block of the index.
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
    std::string name; // never empty and no path: can safely be created in a directory
    bool records = false;
    std::uint64_t bytes = 0; // as the table says
};

class ArchiveReader {
  public:
    // Receives the bytes of one file, piece by piece from its beginning; the files follow one another.
    using Sink = std::function<lib::Result<void>(std::size_t file, std::span<const std::byte> bytes)>;

    // Finds the blocks and reads the table. Errors: unsupported (it has no block), io, no_space. Any error is reported
    // to diagnostics, which must outlive the reader.
    [[nodiscard]] static lib::Result<std::unique_ptr<ArchiveReader>>
    open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

    // Returns the files; one whose name is lost has a number for a name.
    [[nodiscard]] const std::vector<PackedFile>& files() const { return m_files; }

    // Returns how many blocks of data are missing or could not be used; complete after extract().
    [[nodiscard]] std::uint64_t absent() const { return m_absent; }

    // Gives all data that can be read to the sink. An error of the sink ends it and is returned.
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
    std::vector<Entry> m_entries; // in the order of their sequence numbers
    std::vector<PackedFile> m_files;
    ColumnCodec m_codec;
    std::vector<std::byte> m_body;
    std::vector<std::byte> m_raw;
    std::span<const std::byte> m_piece; // part of m_raw, after read_piece()

    std::uint64_t m_absent = 0; // blocks of data that are missing or could not be used

    // The following members belong to the segment that is being put together.
    std::uint32_t m_segment = ~std::uint32_t{0};
    std::uint32_t m_next_index = 0;
    bool m_has_first = false;
    bool m_whole = true;
};

// Reads the events of a packed session. Its files are unpacked to files that can be positioned, and read as any records
// are. Any error is reported to diagnostics.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open_stream(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

// Packs files into one: the chunk files of a session, its manifest and formats, or a single trace file. Unpacking
// returns every byte. Memory is one block for files of any size.

struct FileToPack {
    std::string name; // name in the table: no path
    std::shared_ptr<trace::ByteSource>
        bytes{};                  // null: those of the file at `path`, which is opened when its turn comes
    bool records = false;         // a file of trace records; else any bytes
    std::string path{};           // because a session may have more files than a process may keep open
    std::uint64_t path_bytes = 0; // its size

    [[nodiscard]] std::uint64_t size_bytes() const { return bytes != nullptr ? bytes->size_bytes() : path_bytes; }
};

class ArchiveWriter {
  public:
    using Sink = std::function<void(std::span<const std::byte>)>;

    // Is called after each block with the number of raw bytes that are packed.
    using Progress = std::function<void(std::uint64_t done_bytes)>;

    ArchiveWriter(Sink sink, Progress progress);

    // Packs all files. Refused if reading a file failed, or if its size has changed.
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

// Returns the files of which an archive is made, sorted by name: all of a session, or one file. Refused if a file
// cannot be read, or if the directory has none.
[[nodiscard]] lib::Result<std::vector<FileToPack>, trace::Refusal> files_to_pack(const std::string& input);

} // namespace host::formats::packed
