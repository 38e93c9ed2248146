// SPDX-License-Identifier: MIT
// Writes each chunk to a file of its own: "0trace.dat", "1trace.dat", ... in the order of the chunks; the base name is
// the one passed to FTrace_init_disk_writer. A file holds exactly the image: preamble, then records. File systems are
// separate: a FileVolume takes names and bytes. An existing file is never overwritten. The totals of the run are a file
// of their own after the last chunk's, "endtrace.dat": the event export_end alone. If an earlier run left that file, no
// chunk is written: its totals would be taken for those of this run.
#pragma once

#include "lib/text.hpp"
#include "tracer/chunk/chunk_store.hpp"
#include "tracer/export/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer {

// A volume has one file open at a time.
class FileVolume {
  public:
    FileVolume(const FileVolume&) = delete;
    FileVolume& operator=(const FileVolume&) = delete;

    // Checks a name; no volume need be there. invalid_argument: the file system does not allow the name.
    [[nodiscard]] virtual lib::Result<void> check_name(std::string_view name) const = 0;

    // Checks that a name is free. exists: it is taken; io: the volume failed.
    [[nodiscard]] virtual lib::Result<void> check_free(std::string_view name) = 0;

    // Reserves the whole size of the file. exists: the name is taken; no_space: it would not fit; invalid_argument: the
    // file system does not allow the name; io: the volume failed.
    [[nodiscard]] virtual lib::Result<void> create(std::string_view name, std::size_t size_bytes) = 0;

    // Appends bytes. no_space: they are more than was reserved; io: the volume failed.
    [[nodiscard]] virtual lib::Result<void> append(std::span<const std::byte> bytes) = 0;

    // Closes the file, which is then on the volume. corrupt: fewer bytes were appended than reserved; io: a failure.
    [[nodiscard]] virtual lib::Result<void> close() = 0;

  protected:
    constexpr FileVolume() = default;
    ~FileVolume() = default;
};

class DiskSink final : public ChunkSink {
  public:
    static constexpr std::size_t kNameMax = 255;
    static constexpr std::uint32_t kNumberMax = kChunksMax - 1; // of a file: each chunk is written once, at the end
    static constexpr std::string_view kTotalsPrefix = "end";    // instead of a number, and as long as the largest one
    static constexpr std::size_t kStepBytes = std::size_t{32} * 1024;

    // Copies base_name, 1..kNameMax characters, which is not checked.
    constexpr explicit DiskSink(FileVolume& volume, std::string_view base_name = "trace.dat")
        : m_volume(volume)
        , m_base(base_name) {}

    // Must be called before the first chunk; a later call replaces the name. invalid_argument: it is empty, or not a
    // name that the volume allows with the largest number of a file before it; refused: files were written already.
    [[nodiscard]] lib::Result<void> set_base_name(std::string_view base_name);

    [[nodiscard]] std::string_view name() const override { return "disk"; }

    [[nodiscard]] lib::Result<void> submit(const ChunkImage& image) override;
    SinkState step() override;

    // Writes the totals, unless there was no chunk.
    [[nodiscard]] lib::Result<void> finish(const ExportEnd& totals) override;

    [[nodiscard]] SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return m_error; }

    // Returns the number of complete files; the next one gets this number.
    [[nodiscard]] std::uint32_t files() const { return m_files; }

  private:
    SinkState fail(lib::Error error);
    void begin_file(const ChunkImage& image);
    [[nodiscard]] lib::Result<void> create_file();

    FileVolume& m_volume;
    lib::Text<kNameMax> m_base;
    lib::Text<kNameMax + 10> m_file;
    SinkState m_state = SinkState::idle;
    lib::Error m_error{};
    ChunkImage m_image; // spans only: the bytes are the exporter's
    std::size_t m_part = 0;
    std::size_t m_offset = 0; // in that part
    bool m_created = false;
    bool m_ending = false; // the image is the totals
    std::uint32_t m_files = 0;
    std::array<std::byte, kCombineSlotsMax * kRecordBytes> m_end{};
};

} // namespace tracer
