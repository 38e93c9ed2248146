// SPDX-License-Identifier: MIT
// Bytes of a file, a pipe or standard input. pread, no mmap: a file that shrinks while it is read ends in an error, not
// in a signal.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::trace {

class ByteSource {
  public:
    static constexpr std::size_t kBufferBytes = 64 * 1024; // of a reader: enough that a read costs little

    // "-" is standard input. not_found, refused (no permission), unsupported (a directory), io.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> open(const std::string& path);

    // A regular file alone: of anything else nothing is read, nor is a FIFO's writer waited for. not_found, refused,
    // unsupported (no regular file), io; file_error() says them in words.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> open_file(const std::string& path);

    // Whether the contents of this path can be read only once: standard input, a FIFO, a device, a socket.
    [[nodiscard]] static bool is_stream(const std::string& path);

    struct Part {
        std::uint64_t begin_bytes = 0;
        std::uint64_t size_bytes = 0;
    };

    // Parts of a source that can be positioned, one after the other, as a source of its own.
    [[nodiscard]] static std::shared_ptr<ByteSource> of_parts(std::shared_ptr<ByteSource> whole,
                                                              std::vector<Part> parts);

    ByteSource(int descriptor, bool owned, std::optional<std::uint64_t> size_bytes);
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    ~ByteSource();

    // Fills `out` as far as the input goes: fewer bytes only at its end. A stream (not seekable) ignores the offset
    // and continues where it stopped. io if the read failed.
    [[nodiscard]] lib::Result<std::size_t> read(std::uint64_t offset_bytes, std::span<std::byte> out);

    // The kernel copies up to so many bytes to another open file, without a way through memory of ours. How many; 0: it
    // cannot, and read() may. Precondition: seekable().
    [[nodiscard]] std::size_t send(std::uint64_t offset_bytes, std::size_t bytes, int descriptor);

    // The first bytes of the input, which a later read() returns again. Before any read() of a stream; waits for
    // 16 bytes, then takes what there is. io.
    [[nodiscard]] lib::Result<std::size_t> peek(std::span<std::byte> out);

    // The whole of a stream, copied to a file without a name so that it can be positioned; a source that can be
    // positioned already is returned as it is. no_space, io.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> positioned(std::shared_ptr<ByteSource> source);

    [[nodiscard]] bool seekable() const { return m_size_bytes.has_value(); }

    // Takes the present size of a file that another program is still writing.
    void take_size();

    // 0 for a stream.
    [[nodiscard]] std::uint64_t size_bytes() const { return m_size_bytes.value_or(0); }

  private:
    static lib::Result<std::shared_ptr<ByteSource>> take(int descriptor, bool owned);
    [[nodiscard]] lib::Result<std::size_t> read_parts(std::uint64_t offset_bytes, std::span<std::byte> out);

    int m_descriptor;
    bool m_owned;
    std::optional<std::uint64_t> m_size_bytes;
    std::vector<std::byte> m_ahead;      // of a stream: peeked at, not yet read
    std::shared_ptr<ByteSource> m_whole; // of parts: whose
    std::vector<Part> m_parts;
    std::vector<std::uint64_t> m_begins; // of the parts, in this source
};

// Why open_file() or a reader of the file failed.
[[nodiscard]] constexpr std::string_view file_error(lib::Error error) {
    return error == lib::Error::unsupported ? "not a regular file" : error_name(error);
}

// What read_file() leaves beyond the text: a parser that reads whole vectors needs no copy.
inline constexpr std::size_t kParserRoomBytes = 64;

// The whole of a regular file of at most so many bytes.
[[nodiscard]] lib::Result<std::string, Failure<lib::Error>> read_file(const std::string& path, std::size_t bytes_max);

// Bytes and what diagnostics call them.
struct NamedSource {
    std::string name;
    std::shared_ptr<ByteSource> bytes;
    bool keep_open = false; // it cannot be opened again by its name
    bool followed = false;  // a pipe of parts of the chunks of a machine that runs
};

// A file without a name, known only by its descriptor: it is deleted with the process, however that ends. Open for
// reading and writing, in TMPDIR, else in the system's directory for such files. The caller closes it. no_space, io.
[[nodiscard]] lib::Result<int> open_nameless_file();

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

    [[nodiscard]] std::uint64_t size_bytes() const { return m_size_bytes; }

    // The bytes that were appended. The spool is empty afterwards, and append() fails.
    [[nodiscard]] std::shared_ptr<ByteSource> take();

  private:
    explicit Spool(int descriptor)
        : m_descriptor(descriptor) {}

    int m_descriptor = -1;
    std::uint64_t m_size_bytes = 0;
};

// A file descriptor that is closed with its owner.
class Descriptor {
  public:
    Descriptor() = default;

    explicit Descriptor(int number)
        : m_number(number) {}

    Descriptor(Descriptor&& other) noexcept
        : m_number(std::exchange(other.m_number, -1)) {}

    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    ~Descriptor() {
        if (m_number >= 0) {
            ::close(m_number);
        }
    }

    // -1: none.
    [[nodiscard]] int number() const { return m_number; }

    [[nodiscard]] explicit operator bool() const { return m_number >= 0; }

  private:
    int m_number = -1;
};

// CRC-32C at the speed at which blocks are packed: lib::crc32c, computed by the processor's own instruction where there
// is one.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t previous = 0);

} // namespace host::trace
