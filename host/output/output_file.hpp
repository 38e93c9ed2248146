// SPDX-License-Identifier: MIT
// Where a converter writes. A file grows beside its final name, as NAME.XXXXXX.partial with a name that no other file
// has, and takes the final name only when it is complete; a conversion that ends early leaves no file, and an existing
// file is not changed until then. A failed write is remembered, not thrown: writers continue appending, and
// commit() reports it.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/assert.hpp"
#include "lib/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::output {

// Why there is no output: what callers act on, and a text for the user.

enum class Fault : std::uint8_t {
    unusable, // the trace does not fit the format, or the output cannot be written
    no_space, // for the output or for a temporary file
    closed,   // the reader of the stream has gone
};

using Failure = trace::Failure<Fault>;

// Of an operation whose errors have no text but their names.
[[nodiscard]] inline Failure failure_of(lib::Error error) {
    return {error == lib::Error::no_space ? Fault::no_space
            : error == lib::Error::closed ? Fault::closed
                                          : Fault::unusable,
            std::string(error_name(error))};
}

[[nodiscard]] constexpr trace::ExitStatus status_of(Fault fault) {
    return fault == Fault::no_space ? trace::ExitStatus::no_space : trace::ExitStatus::usage;
}

// One file, written from front to back through a buffer; what was written can be patched.
class OutputFile {
  public:
    static constexpr std::size_t kBufferBytes = 256 * 1024;

    // no_space, io, refused (no permission).
    [[nodiscard]] static lib::Result<std::unique_ptr<OutputFile>> create(const std::string& path);

    // What exists already and is no regular file; nothing of it is removed. Likewise.
    [[nodiscard]] static lib::Result<std::unique_ptr<OutputFile>> device(const std::string& path);

    // A stream that is open already, such as standard output: nothing can be patched.
    explicit OutputFile(int descriptor, bool owned);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    void append(std::span<const std::byte> bytes) {
        if (bytes.size() > m_buffer.size() - m_filled) {
            append_slowly(bytes);
            return;
        }
        // Of nothing, too. Not std::ranges::copy: that of g++ 12 copies constant bytes one by one.
        std::copy(bytes.begin(), bytes.end(), m_buffer.data() + m_filled);
        m_filled += bytes.size();
    }

    void append(std::string_view text) { append(std::as_bytes(std::span(text))); }

    // So many bytes of another file, from `offset_bytes` on. io: it cannot be read, or ends before.
    [[nodiscard]] lib::Result<void> append(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t bytes);

    // For those who format in place: at least `bytes` of room, of which used() says how many were taken. The buffer
    // grows if that is more than it holds. The pointer is valid until the next call.
    [[nodiscard]] char* room(std::size_t bytes) {
        if (bytes > m_buffer.size() - m_filled) {
            make_room(bytes);
        }
        return reinterpret_cast<char*>(m_buffer.data()) + m_filled;
    }

    void used(std::size_t bytes) {
        ASSERT(bytes <= m_buffer.size() - m_filled);
        m_filled += bytes;
    }

    // Overwrites bytes that are in the file already. Not on a stream.
    void patch(std::uint64_t offset_bytes, std::span<const std::byte> bytes);

    // Of the next byte.
    [[nodiscard]] std::uint64_t position_bytes() const { return m_written + m_filled; }

    void flush();

    // An errno, 0 while nothing has failed. EPIPE: the stream has no reader any more.
    [[nodiscard]] int error_number() const { return m_error_number; }

    // Everything is written. no_space, io.
    [[nodiscard]] lib::Result<void> close();

  private:
    void append_slowly(std::span<const std::byte> bytes);
    void make_room(std::size_t bytes);
    void write_out(std::span<const std::byte> bytes);
    void allocate(std::size_t bytes);

    int m_descriptor;
    bool m_owned;
    bool m_allocates;              // still; false for a stream
    std::uint64_t m_allocated = 0; // bytes of the file that have their place on the disk
    std::vector<std::byte> m_buffer;
    std::size_t m_filled = 0;
    std::uint64_t m_written = 0; // where the file ends without the buffer
    int m_error_number = 0;
};

// What a conversion leaves: one file, a directory of files, or a stream.
class Destination {
  public:
    enum class Shape : std::uint8_t {
        file,
        directory,
        library_file, // one file that a library opens and writes by itself, at partial_path()
    };

    // path "-" is standard output (Shape::file only); a device or FIFO is written as it is, a symbolic link is
    // followed. inputs: the traces' paths, which must not be the output, nor hold it or be in it. Unusable: it is an
    // input, or exists and is a directory (for a file), or a directory that is not empty, or a file (for a directory).
    [[nodiscard]] static lib::Result<std::unique_ptr<Destination>, Failure> open(const std::string& path, Shape shape,
                                                                                 std::span<const std::string> inputs);

    [[nodiscard]] static lib::Result<std::unique_ptr<Destination>, Failure> open(const std::string& path, Shape shape,
                                                                                 const std::string& input);
    Destination(const Destination&) = delete;
    Destination& operator=(const Destination&) = delete;
    ~Destination(); // removes what was not committed

    // The file. Only for Shape::file.
    [[nodiscard]] OutputFile& file() { return *m_files.front(); }

    // A new file in the directory; `name` has no slash.
    [[nodiscard]] lib::Result<OutputFile*, Failure> add_file(std::string_view name);

    // Where a library writes by itself (Shape::library_file): an empty file, and the library has closed it before
    // commit(). Its errors are the writer's to report.
    [[nodiscard]] const std::string& partial_path() const { return m_partial; }

    // Everything is written and has its name.
    [[nodiscard]] lib::Result<void, Failure> commit();

    // Committing would replace an existing file or directory.
    [[nodiscard]] bool replaces() const { return m_replaces; }

    // A write has failed already: it makes no sense to continue.
    [[nodiscard]] bool failed() const;

  private:
    Destination() = default;

    // Makes what the output grows in. An errno, or 0.
    [[nodiscard]] int make_partial();

    std::string m_path;    // empty: a stream
    std::string m_partial; // where it grows
    Shape m_shape = Shape::file;
    std::vector<std::unique_ptr<OutputFile>> m_files;
    bool m_replaces = false;
    bool m_committed = false;
};

} // namespace host::output
