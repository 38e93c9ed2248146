// SPDX-License-Identifier: MIT
// Bytes of a file, a pipe or standard input, and the slots in them. Buffered pread, no mmap: a file that shrinks while
// it is read ends in an error, not in a signal. Memory is one buffer of kBufferBytes per open reader, whatever the size
// of the input.
#pragma once

#include "lib/result.hpp"
#include "tracer/record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::trace {

class ByteSource {
  public:
    // "-" is standard input. not_found, refused (no permission), unsupported (a directory), io.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> open(const std::string& path);

    // Whether reading this path once takes what it holds: standard input, a FIFO, a device, a socket.
    [[nodiscard]] static bool is_stream(const std::string& path);

    ByteSource(int descriptor, bool owned, std::optional<std::uint64_t> size_bytes);
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    ~ByteSource();

    // Fills `out` as far as the input goes: fewer bytes only at its end. A stream (not seekable) ignores the offset
    // and goes on where it stopped. io if the read failed.
    [[nodiscard]] lib::Result<std::size_t> read(std::uint64_t offset_bytes, std::span<std::byte> out);

    // The first bytes of the input, which a later read() returns again. Before any read() of a stream; waits for as
    // many bytes as one record, then takes what there is. io.
    [[nodiscard]] lib::Result<std::size_t> peek(std::span<std::byte> out);

    // The whole of a stream, copied to a file without a name so that it can be positioned; a source that can be
    // positioned already is returned as it is. no_space, io.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> positioned(std::shared_ptr<ByteSource> source);

    [[nodiscard]] bool seekable() const { return m_size_bytes.has_value(); }

    // 0 for a stream.
    [[nodiscard]] std::uint64_t size_bytes() const { return m_size_bytes.value_or(0); }

  private:
    int m_descriptor;
    bool m_owned;
    std::optional<std::uint64_t> m_size_bytes;
    std::vector<std::byte> m_ahead; // of a stream: peeked at, not yet read
};

// Bytes and what diagnostics call them.
struct NamedSource {
    std::string name;
    std::shared_ptr<ByteSource> bytes;
    bool keep_open = false; // it cannot be opened again by its name
};

// A file without a name that takes bytes and then gives them back: for inputs that must be unpacked before they can be
// positioned. The disk holds them; memory does not.
class Spool {
  public:
    // In TMPDIR, else /tmp. io, no_space.
    [[nodiscard]] static lib::Result<Spool> create();

    Spool() = default; // takes nothing: append() fails
    Spool(Spool&& other) noexcept;
    Spool& operator=(Spool&& other) noexcept;
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;
    ~Spool();

    // no_space, io.
    [[nodiscard]] lib::Result<void> append(std::span<const std::byte> bytes);

    // Anywhere, also behind the end; append() goes on behind whatever lies farthest. no_space, io.
    [[nodiscard]] lib::Result<void> write_at(std::uint64_t offset_bytes, std::span<const std::byte> bytes);

    [[nodiscard]] std::uint64_t size_bytes() const { return m_size_bytes; }

    // What was appended. The spool has nothing afterwards and takes nothing any more.
    [[nodiscard]] std::shared_ptr<ByteSource> take();

  private:
    explicit Spool(int descriptor)
        : m_descriptor(descriptor) {}

    int m_descriptor = -1;
    std::uint64_t m_size_bytes = 0;
};

// Walks over the 16-byte slots of [begin, end) of a source.
class SlotReader {
  public:
    static constexpr std::size_t kBufferBytes = 64 * 1024;
    static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

    SlotReader(std::shared_ptr<ByteSource> source, std::uint64_t begin_bytes, std::uint64_t end_bytes);

    // False at the end, or once a read failed.
    [[nodiscard]] bool next(tracer::Record& record) {
        if (m_position + tracer::kRecordBytes > m_filled && !refill()) {
            return false;
        }
        record = tracer::decode_record(std::span(m_buffer).subspan(m_position, tracer::kRecordBytes));
        m_position += tracer::kRecordBytes;
        return true;
    }

    // The next slot as it lies in the buffer, null if next() must refill it; skip() takes it.
    [[nodiscard]] const std::byte* buffered() const {
        return m_position + tracer::kRecordBytes <= m_filled ? m_buffer.data() + m_position : nullptr;
    }

    void skip(std::size_t slots = 1) { m_position += slots * tracer::kRecordBytes; }

    // How many slots lie there one behind the other.
    [[nodiscard]] std::size_t buffered_slots() const { return (m_filled - m_position) / tracer::kRecordBytes; }

    // Of the next slot, from the start of the file.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_buffer_offset + m_position; }

    // Bytes behind the last whole slot; meaningful once next() was false.
    [[nodiscard]] std::size_t tail_bytes() const { return m_filled - m_position; }

    [[nodiscard]] bool failed() const { return m_failed; }

    // The file ended before `end_bytes`: somebody cut it after its size was taken.
    [[nodiscard]] bool shrunk() const { return m_shrunk; }

  private:
    bool refill();

    std::shared_ptr<ByteSource> m_source;
    std::uint64_t m_end;
    std::uint64_t m_buffer_offset;
    std::vector<std::byte> m_buffer;
    std::size_t m_position = 0;
    std::size_t m_filled = 0;
    bool m_failed = false;
    bool m_shrunk = false;
};

} // namespace host::trace
