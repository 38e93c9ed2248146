// SPDX-License-Identifier: MIT
// Reads bytes of a file, a pipe or standard input. It uses pread and no mmap, so that a file that shrinks while it is
// read causes an error and not a signal.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
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
    static constexpr std::size_t kBufferBytes = 64 * 1024; // of a reader; large enough that a read costs little

    // The path "-" is standard input. on_wait: called once if a FIFO lets the caller wait for its first byte. stop: a
    // stream that lets the caller wait, now or in read(), ends when this is not 0; null: never. Errors: not_found,
    // refused (no permission), unsupported (a directory), io.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>>
    open(const std::string& path, const std::function<void()>& on_wait = {},
         const volatile std::sig_atomic_t* stop = nullptr);

    // Opens a regular file. Nothing else is read, and the call does not wait for the writer of a FIFO. Errors:
    // not_found, refused, unsupported (not a regular file), io; file_error() says them in words.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> open_file(const std::string& path);

    // Returns whether the contents of this path can be read only once: standard input, a FIFO, a device, a socket.
    [[nodiscard]] static bool is_stream(const std::string& path);

    struct Part {
        std::uint64_t begin_bytes = 0;
        std::uint64_t size_bytes = 0;
    };

    // Returns a source that consists of these parts, in this order, of a source that can be positioned.
    [[nodiscard]] static std::shared_ptr<ByteSource> of_parts(std::shared_ptr<ByteSource> whole,
                                                              std::vector<Part> parts);

    ByteSource(int descriptor, bool owned, std::optional<std::uint64_t> size_bytes);
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    ~ByteSource();

    // Fills `out`, with fewer bytes only at the end of the input. A stream (not seekable) ignores the offset and
    // continues where it stopped. Error: io.
    [[nodiscard]] lib::Result<std::size_t> read(std::uint64_t offset_bytes, std::span<std::byte> out);

    // Lets the operating system copy up to so many bytes to another open file, without passing them through this
    // process. Returns how many were copied; 0 if it cannot copy, in which case read() may succeed. Precondition:
    // seekable().
    [[nodiscard]] std::size_t send(std::uint64_t offset_bytes, std::size_t bytes, int descriptor);

    // Returns the first bytes of the input; a later read() returns them again. Of a stream it must be called before any
    // read(); it waits for 16 bytes and then takes what is available. Error: io.
    [[nodiscard]] lib::Result<std::size_t> peek(std::span<std::byte> out);

    // Copies the whole of a stream to a file without a name, so that it can be positioned. A source that can be
    // positioned already is returned unchanged. Errors: no_space, io.
    [[nodiscard]] static lib::Result<std::shared_ptr<ByteSource>> positioned(std::shared_ptr<ByteSource> source);

    [[nodiscard]] bool seekable() const { return m_size_bytes.has_value(); }

    // Takes the present size of a file that another program is still writing.
    void take_size();

    // Returns where the last bytes end that the file has stored; those after it, up to its size, are zeros that take no
    // space. Returns the size if the file system does not say.
    [[nodiscard]] std::uint64_t stored_bytes() const;

    // Returns 0 for a stream.
    [[nodiscard]] std::uint64_t size_bytes() const { return m_size_bytes.value_or(0); }

  private:
    static lib::Result<std::shared_ptr<ByteSource>> take(int descriptor, bool owned);
    [[nodiscard]] lib::Result<std::size_t> read_parts(std::uint64_t offset_bytes, std::span<std::byte> out);

    int m_descriptor;
    bool m_owned;
    std::optional<std::uint64_t> m_size_bytes;
    const volatile std::sig_atomic_t* m_stop = nullptr;
    std::vector<std::byte> m_ahead;      // of a stream: bytes that peek() has returned and read() has not
    std::shared_ptr<ByteSource> m_whole; // the source of the parts; null for a source without parts
    std::vector<Part> m_parts;
    std::vector<std::uint64_t> m_begins; // offset of each part in this source
};

// Says in words why open_file() or a reader of the file failed.
[[nodiscard]] constexpr std::string_view file_error(lib::Error error) {
    return error == lib::Error::unsupported ? "not a regular file" : error_name(error);
}

// read_file() reserves so much memory after the text, so that a parser that reads whole vectors needs no copy.
inline constexpr std::size_t kParserRoomBytes = 64;

// Reads a whole regular file of at most so many bytes.
[[nodiscard]] lib::Result<std::string, Failure<lib::Error>> read_file(const std::string& path, std::size_t bytes_max);

// Is a source and its name in diagnostics.
struct NamedSource {
    std::string name;
    std::shared_ptr<ByteSource> bytes;
    bool keep_open = false; // the source cannot be opened again by its name
    bool followed = false;  // the source is a pipe with parts of the chunks of a running machine
};

// Opens a file without a name, known only by its descriptor, so that it is deleted when the process ends, however it
// ends. It is open for reading and writing, in TMPDIR, else in /tmp. The caller closes it. Errors: no_space, io.
[[nodiscard]] lib::Result<int> open_nameless_file();

// A file without a name that takes bytes and then gives them back, for inputs that must be unpacked before they can be
// positioned. The bytes are kept on disk, not in memory.
class Spool {
  public:
    // Creates the file in TMPDIR, else in /tmp. Errors: io, no_space.
    [[nodiscard]] static lib::Result<Spool> create();

    Spool() = default; // has no file: append() fails
    Spool(Spool&& other) noexcept;
    Spool& operator=(Spool&& other) noexcept;
    Spool(const Spool&) = delete;
    Spool& operator=(const Spool&) = delete;
    ~Spool();

    // Appends bytes. Errors: no_space, io.
    [[nodiscard]] lib::Result<void> append(std::span<const std::byte> bytes);

    [[nodiscard]] std::uint64_t size_bytes() const { return m_size_bytes; }

    // Returns the bytes that were appended. The spool has no file afterwards, and append() fails.
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

    // Returns -1 if there is none.
    [[nodiscard]] int number() const { return m_number; }

    [[nodiscard]] explicit operator bool() const { return m_number >= 0; }

  private:
    int m_number = -1;
};

// Computes the CRC-32C of lib::crc32c, by the processor's own instruction if it has one, so that checksums keep pace
// with the packing of blocks.
[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t previous = 0);

} // namespace host::trace
