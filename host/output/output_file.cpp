// SPDX-License-Identifier: MIT
// Implements OutputFile and Destination with POSIX calls.
#include "host/output/output_file.hpp"

#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace host::output {

namespace {

namespace fs = std::filesystem;

lib::Error error_of(int number) {
    switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return lib::Error::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
        return lib::Error::refused;
    case ENOENT:
    case ENOTDIR:
        return lib::Error::not_found;
    case EPIPE:
        return lib::Error::closed;
    default:
        return lib::Error::io;
    }
}

// Returns whether both exist and are the same file.
bool is_same_file(const std::string& left, const std::string& right) {
    std::error_code ignored;
    return fs::equivalent(left, right, ignored);
}

// Returns whether `inner` is `outer` or is below it, also if they do not exist yet.
bool is_within(const std::string& inner, const std::string& outer) {
    std::error_code failed;
    const fs::path a = fs::weakly_canonical(inner, failed);
    const fs::path b = fs::weakly_canonical(outer, failed);
    return !failed && std::mismatch(b.begin(), b.end(), a.begin(), a.end()).first == b.end();
}

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back();
    }
    return path;
}

// Returns the file that a path names, where "-" is a standard stream of this process; nothing if it is not a regular
// file.
std::optional<std::pair<dev_t, ino_t>> regular_file(const std::string& path, int stream) {
    struct stat status {};

    const int failed = path == "-" ? ::fstat(stream, &status) : ::stat(path.c_str(), &status);
    return failed == 0 && S_ISREG(status.st_mode) ? std::optional(std::pair(status.st_dev, status.st_ino))
                                                  : std::nullopt;
}

// Returns the session that a file belongs to: the directory that has it and a manifest. Empty if there is none.
std::string session_of(const std::string& input) {
    std::error_code ignored;
    const fs::path folder = fs::path(input).parent_path();
    return fs::is_regular_file(input, ignored) && fs::exists(folder / "manifest.json", ignored)
               ? (folder.empty() ? "." : folder.string())
               : "";
}

// Returns why the destination must not be created; empty if it may be created.
std::string reason_against(const std::string& path, Destination::Shape shape, const std::string& input) {
    if (path.empty()) {
        return "no name: name a file, or - for standard output";
    }
    std::error_code ignored;
    const bool directory = fs::is_directory(path, ignored);
    const auto input_file = regular_file(input, STDIN_FILENO);
    if (is_same_file(path, input) || (input_file && input_file == regular_file(path, STDOUT_FILENO))) {
        return "it is the input: name another output";
    }
    if (path == "-") {
        return "";
    }
    if (const std::string session = session_of(input); !session.empty() && is_within(path, session)) {
        return "it is inside the session that the input is part of: name an output outside of it";
    }
    if (fs::is_directory(input, ignored) && is_within(path, input)) {
        return "it is inside the input session: name an output outside of it";
    }
    if (shape != Destination::Shape::directory) {
        return directory ? "it is a directory: name a file" : "";
    }
    if (directory && is_within(input, path)) {
        return "it holds the input: name another output";
    }
    if (directory && !fs::is_empty(path, ignored)) {
        return "the directory exists and is not empty: remove it, or name another";
    }
    return !directory && fs::exists(path, ignored) ? "it is a file: this format is a directory" : "";
}

// The temporary name that a signal removes, of which a process has one at a time. A handler may use nothing that
// another thread may be changing, so g_has_partial is set after the name was written.
std::array<char, PATH_MAX> g_partial{};
std::atomic<bool> g_has_partial = false;

// Removes a directory of files, by calls that a signal handler may make.
void remove_directory(const char* path) {
    constexpr std::size_t kNameAt = 19; // in the record of an entry: see getdents(2)
    const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    std::array<char, 4096> entries{};
    for (long read = 0; (read = ::syscall(SYS_getdents64, directory, entries.data(), entries.size())) > 0;) {
        for (std::size_t at = 0; at < static_cast<std::size_t>(read);) {
            ::unlinkat(directory, &entries[at + kNameAt], 0);
            at += lib::load_le<std::uint16_t>(std::as_bytes(std::span(entries)).subspan(at + kNameAt - 3));
        }
    }
    ::rmdir(path);
}

extern "C" void remove_partial(int signal) {
    if (g_has_partial && ::unlink(g_partial.data()) != 0) {
        remove_directory(g_partial.data());
    }
    ::raise(signal); // Its default action ends the process after this.
}

// A signal that the program handles, or ignores, ends no conversion by itself.
void remove_at_signal(const std::string& partial) {
    if (g_has_partial || partial.size() >= g_partial.size()) {
        return;
    }
    *std::ranges::copy(partial, g_partial.begin()).out = '\0';
    g_has_partial = true;
    for (const int signal : std::to_array({SIGINT, SIGTERM, SIGHUP})) {
        struct sigaction action {};

        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
            action.sa_handler = remove_partial;
            action.sa_flags = static_cast<int>(SA_RESETHAND);
            ::sigaction(signal, &action, nullptr);
        }
    }
}

constexpr std::size_t kSentBytes = std::size_t{4} << 20; // bytes copied by one call

} // namespace

lib::Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return error_of(errno);
    }
    return std::make_unique<OutputFile>(descriptor, true);
}

lib::Result<std::unique_ptr<OutputFile>> OutputFile::device(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return error_of(errno);
    }
    return std::make_unique<OutputFile>(descriptor, true);
}

OutputFile::OutputFile(int descriptor, bool owned)
    : m_descriptor(descriptor)
    , m_owned(owned)
    , m_allocates(owned)
    , m_buffer(kBufferBytes) {}

OutputFile::~OutputFile() {
    if (m_owned && m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

// Reserves as much disk space as was written so far. Without this, each block gets its place alone when it is written,
// which doubles the system's time. A file system that cannot reserve space is not asked again.
void OutputFile::allocate(std::size_t bytes) {
    constexpr std::uint64_t kLeast = 4 * kBufferBytes; // smaller files gain nothing
    constexpr std::uint64_t kMost = std::uint64_t{64} << 20;
    const std::uint64_t end = m_written + bytes;
    if (!m_allocates || end < kLeast || end <= m_allocated) {
        return;
    }
    const std::uint64_t wanted = end + std::min(end, kMost);
    m_allocates = ::fallocate(m_descriptor, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(m_allocated),
                              static_cast<off_t>(wanted - m_allocated)) == 0;
    m_allocated = m_allocates ? wanted : m_allocated;
}

void OutputFile::write_out(std::span<const std::byte> bytes) {
    allocate(bytes.size());
    m_written += bytes.size();
    while (m_error_number == 0 && !bytes.empty()) {
        const ssize_t count = ::write(m_descriptor, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            m_error_number = errno;
        }
    }
}

void OutputFile::flush() {
    const std::size_t count = m_filled;
    m_filled = 0;
    write_out(std::span(m_buffer).first(count));
}

// Lets the operating system copy what it can. It cannot copy to every kind of file, and if a write fails, write_out()
// finds out why.
lib::Result<void> OutputFile::append(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t bytes) {
    flush();
    while (m_error_number == 0 && bytes != 0) {
        const std::size_t piece = std::min<std::uint64_t>(bytes, kSentBytes);
        allocate(piece);
        std::size_t count = source.send(offset_bytes, piece, m_descriptor);
        m_written += count;
        if (count == 0) {
            const auto read = source.read(offset_bytes, std::span(m_buffer).first(std::min(piece, m_buffer.size())));
            if (!read || read.value() == 0) {
                return lib::Error::io;
            }
            count = read.value();
            write_out(std::span(m_buffer).first(count));
        }
        offset_bytes += count;
        bytes -= count;
    }
    return {};
}

void OutputFile::make_room(std::size_t bytes) {
    flush();
    m_buffer.resize(std::max(m_buffer.size(), bytes));
}

void OutputFile::append_slowly(std::span<const std::byte> bytes) {
    flush();
    if (bytes.size() >= m_buffer.size()) {
        write_out(bytes);
    } else {
        append(bytes);
    }
}

void OutputFile::patch(std::uint64_t offset_bytes, std::span<const std::byte> bytes) {
    flush();
    while (m_error_number == 0 && !bytes.empty()) {
        const ssize_t count = ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            offset_bytes += static_cast<std::uint64_t>(count);
        } else if (errno != EINTR) {
            m_error_number = errno;
        }
    }
}

lib::Result<void> OutputFile::close() {
    flush();
    if (m_allocated > m_written && ::ftruncate(m_descriptor, static_cast<off_t>(m_written)) != 0 &&
        m_error_number == 0) {
        m_error_number = errno;
    }
    if (m_owned && m_descriptor >= 0 && ::close(std::exchange(m_descriptor, -1)) != 0 && m_error_number == 0) {
        m_error_number = errno;
    }
    if (m_error_number != 0) {
        return error_of(m_error_number);
    }
    return {};
}

lib::Result<std::unique_ptr<Destination>, Failure> Destination::open(const std::string& path, Shape shape,
                                                                     const std::string& input) {
    return open(path, shape, std::span(&input, 1));
}

lib::Result<std::unique_ptr<Destination>, Failure> Destination::open(const std::string& path, Shape shape,
                                                                     std::span<const std::string> inputs) {
    auto destination = std::unique_ptr<Destination>(new Destination());
    destination->m_shape = shape;
    std::error_code ignored;
    const std::string target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored).string() : path;
    for (const std::string& input : inputs) {
        std::string against = reason_against(target == "-" ? target : without_slash(target), shape, input);
        if (!against.empty()) {
            return Failure{Fault::unusable, std::move(against)};
        }
    }
    const bool device = target != "-" && fs::exists(target, ignored) && fs::is_other(target, ignored);
    if (target == "-" || device) {
        if (shape != Shape::file) {
            return Failure{Fault::unusable,
                           shape == Shape::directory
                               ? "this format is a directory of files: name one with --output"
                               : "this format is written by a library: name a regular file with --output"};
        }
        auto file =
            device ? OutputFile::device(target) : lib::Result(std::make_unique<OutputFile>(STDOUT_FILENO, false));
        if (!file) {
            return failure_of(file.error());
        }
        destination->m_files.push_back(std::move(file.value()));
        return destination;
    }
    destination->m_path = without_slash(target);
    destination->m_replaces = fs::exists(destination->m_path, ignored);
    if (const int number = destination->make_partial(); number != 0) {
        return Failure{failure_of(error_of(number)).cause, std::error_code(number, std::generic_category()).message()};
    }
    return destination;
}

int Destination::make_partial() {
    constexpr std::string_view kSuffix = ".partial";
    std::string name = m_path + ".XXXXXX";
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (m_shape == Shape::directory) {
        // mkdtemp takes no suffix, so the name has none.
        if (::mkdtemp(name.data()) == nullptr || ::chmod(name.c_str(), 0777 & ~mask) != 0) {
            return errno;
        }
        m_partial = name;
        remove_at_signal(m_partial);
        return 0;
    }
    name += kSuffix;
    const int descriptor = ::mkostemps(name.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    m_partial = name;
    remove_at_signal(m_partial);
    auto file = std::make_unique<OutputFile>(descriptor, true);
    if (::fchmod(descriptor, 0666 & ~mask) != 0) {
        return errno;
    }
    if (m_shape == Shape::file) {
        m_files.push_back(std::move(file)); // the library opens the empty file itself
    }
    return 0;
}

Destination::~Destination() {
    if (!m_committed && !m_partial.empty()) {
        m_files.clear();
        std::error_code ignored;
        fs::remove_all(m_partial, ignored);
    }
    if (m_partial == g_partial.data()) {
        g_has_partial = false;
    }
}

lib::Result<OutputFile*, Failure> Destination::add_file(std::string_view name) {
    auto file = OutputFile::create(m_partial + '/' + std::string(name));
    if (!file) {
        return failure_of(file.error());
    }
    m_files.push_back(std::move(file.value()));
    return m_files.back().get();
}

bool Destination::failed() const {
    return std::ranges::any_of(m_files, [](const auto& file) { return file->error_number() != 0; });
}

lib::Result<void, Failure> Destination::commit() {
    for (const auto& file : m_files) {
        if (const auto closed = file->close(); !closed) {
            return failure_of(closed.error());
        }
    }
    if (!m_path.empty()) {
        std::error_code failed;
        if (m_shape == Shape::directory) {
            fs::remove(m_path, failed); // removes an empty directory of that name
        }
        fs::rename(m_partial, m_path, failed);
        if (failed) {
            return failure_of(error_of(failed.value()));
        }
    }
    m_committed = true;
    return {};
}

} // namespace host::output
