// SPDX-License-Identifier: MIT
// Packs files into one: the chunk files of a session, its manifest and formats, or a single trace file. Every byte
// comes back. Memory is one block, whatever the files' sizes.
#pragma once

#include "host/formats/dat/segment.hpp"
#include "host/formats/packed/block.hpp"
#include "host/formats/packed/column_codec.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace host::formats::packed {

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
