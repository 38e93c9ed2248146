// SPDX-License-Identifier: MIT
// Writes the output of a converter. A file is written beside its final name, as NAME.XXXXXX.partial with a name that no
// other file has, and gets the final name only when it is complete. A conversion that ends early leaves no file, also
// if SIGINT, SIGTERM or SIGHUP ends it, and an existing file is not changed until then. A failed write is remembered,
// not thrown: writers continue appending, and commit() reports it.
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

// States why there is no output. Callers act on the fault; the failure adds a text for the user.
enum class Fault : std::uint8_t {
    unusable, // the trace does not fit the format, or the output cannot be written
    no_space, // no space for the output or for a temporary file
    closed,   // the reader of the stream has closed it
};

using Failure = trace::Failure<Fault>;

// Returns the failure of an operation whose errors have no text but their names.
[[nodiscard]] inline Failure failure_of(lib::Error error) {
    return {error == lib::Error::no_space ? Fault::no_space
            : error == lib::Error::closed ? Fault::closed
                                          : Fault::unusable,
            std::string(error_name(error))};
}

[[nodiscard]] constexpr trace::ExitStatus status_of(Fault fault) {
    return fault == Fault::no_space ? trace::ExitStatus::no_space : trace::ExitStatus::usage;
}

// One file, which is written from front to back through a buffer; bytes that were written can be patched.
class OutputFile {
  public:
    static constexpr std::size_t kBufferBytes = 256 * 1024;

    // Creates the file. Errors: no_space, io, refused (no permission).
    [[nodiscard]] static lib::Result<std::unique_ptr<OutputFile>> create(const std::string& path);

    // Opens an existing file that is not a regular file; it is never removed. Errors: no_space, io, refused.
    [[nodiscard]] static lib::Result<std::unique_ptr<OutputFile>> device(const std::string& path);

    // Writes to a stream that is open already, such as standard output; nothing can be patched.
    explicit OutputFile(int descriptor, bool owned);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    void append(std::span<const std::byte> bytes) {
        if (bytes.size() > m_buffer.size() - m_filled) {
            append_slowly(bytes);
            return;
        }
        // This also handles empty input. It is not std::ranges::copy, because that of g++ 12 copies constant bytes one
        // by one.
        std::copy(bytes.begin(), bytes.end(), m_buffer.data() + m_filled);
        m_filled += bytes.size();
    }

    void append(std::string_view text) { append(std::as_bytes(std::span(text))); }

    // Appends so many bytes of another file, from `offset_bytes` on. Error: io (it cannot be read, or ends before
    // that).
    [[nodiscard]] lib::Result<void> append(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t bytes);

    // Returns at least `bytes` of room for formatting in place; used() states how many were written there. The buffer
    // grows if necessary. The pointer is valid until the next call.
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

    // Overwrites bytes that are in the file already. It is not for a stream.
    void patch(std::uint64_t offset_bytes, std::span<const std::byte> bytes);

    // Returns the offset of the next byte.
    [[nodiscard]] std::uint64_t position_bytes() const { return m_written + m_filled; }

    void flush();

    // Returns an errno, 0 while nothing has failed. EPIPE: the reader of the stream has closed it.
    [[nodiscard]] int error_number() const { return m_error_number; }

    // Writes everything and closes the file. Errors: no_space, io.
    [[nodiscard]] lib::Result<void> close();

  private:
    void append_slowly(std::span<const std::byte> bytes);
    void make_room(std::size_t bytes);
    void write_out(std::span<const std::byte> bytes);
    void allocate(std::size_t bytes);

    int m_descriptor;
    bool m_owned;
    bool m_allocates;              // whether disk space is still reserved; false for a stream
    std::uint64_t m_allocated = 0; // bytes for which disk space is reserved
    std::vector<std::byte> m_buffer;
    std::size_t m_filled = 0;
    std::uint64_t m_written = 0; // bytes in the file, without the buffer
    int m_error_number = 0;
};

// The result of a conversion: one file, a directory of files, or a stream.
class Destination {
  public:
    enum class Shape : std::uint8_t {
        file,
        directory,
        library_file, // one file that a library opens and writes itself, at partial_path()
    };

    // The path "-" is standard output (Shape::file only); a device or FIFO is written directly, a symbolic link is
    // followed. inputs: the traces' paths, which must not be the output, contain it or be in it. Unusable: the path is
    // an input, or exists and is a directory (for a file), or a directory that is not empty, or a file (for a
    // directory).
    [[nodiscard]] static lib::Result<std::unique_ptr<Destination>, Failure> open(const std::string& path, Shape shape,
                                                                                 std::span<const std::string> inputs);

    [[nodiscard]] static lib::Result<std::unique_ptr<Destination>, Failure> open(const std::string& path, Shape shape,
                                                                                 const std::string& input);
    Destination(const Destination&) = delete;
    Destination& operator=(const Destination&) = delete;
    ~Destination(); // removes what was not committed

    // Returns the file. Only for Shape::file.
    [[nodiscard]] OutputFile& file() { return *m_files.front(); }

    // Adds a file to the directory; `name` must have no slash.
    [[nodiscard]] lib::Result<OutputFile*, Failure> add_file(std::string_view name);

    // Returns the path of an empty file that a library writes itself (Shape::library_file) and must close before
    // commit(). The writer reports its errors.
    [[nodiscard]] const std::string& partial_path() const { return m_partial; }

    // Writes everything and gives it its name.
    [[nodiscard]] lib::Result<void, Failure> commit();

    // Returns whether committing would replace an existing file or directory.
    [[nodiscard]] bool replaces() const { return m_replaces; }

    // Returns whether a write has failed, so that continuing makes no sense.
    [[nodiscard]] bool failed() const;

  private:
    Destination() = default;

    // Creates the temporary file or directory. Returns an errno, or 0.
    [[nodiscard]] int make_partial();

    std::string m_path;    // empty: a stream
    std::string m_partial; // the temporary name
    Shape m_shape = Shape::file;
    std::vector<std::unique_ptr<OutputFile>> m_files;
    bool m_replaces = false;
    bool m_committed = false;
};

} // namespace host::output
