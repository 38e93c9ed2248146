// SPDX-License-Identifier: MIT
#include "host/trace/byte_source.hpp"

#include "host/text/format.hpp"
#include "lib/crc32c.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <nmmintrin.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace host::trace {

namespace {

// A read of a stream that has this many bytes returns them and does not wait for more, so that what a pipe delivers is
// shown at once.
constexpr std::size_t kStreamBytesMin = 16;

// After this time the user learns that a FIFO has no writer, or one that writes nothing.
constexpr int kPatienceMs = 1000;

// Waits until something can be read, or the writers have ended. Returns false if it was stopped before.
bool await_writer(int descriptor, const volatile std::sig_atomic_t* stop, std::function<void()> on_wait = {}) {
    pollfd writer{.fd = descriptor, .events = POLLIN, .revents = 0};
    while (true) {
        const bool is_stopped = stop != nullptr && *stop != 0;
        const int ready = ::poll(&writer, 1, is_stopped ? 0 : kPatienceMs);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return true;
        }
        if (is_stopped) {
            return false;
        }
        if (ready == 0 && on_wait) {
            std::exchange(on_wait, nullptr)();
        }
    }
}

} // namespace

// The file is opened without waiting for the writer of a FIFO, so that the user learns what is waited for.
lib::Result<std::shared_ptr<ByteSource>> ByteSource::open(const std::string& path, const std::function<void()>& on_wait,
                                                          const volatile std::sig_atomic_t* stop) {
    struct stat status {};

    const bool is_input = path == "-";
    const int descriptor = is_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (!is_input && descriptor >= 0 && ::fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISFIFO(status.st_mode)) {
            static_cast<void>(await_writer(descriptor, stop, on_wait));
        }
        ::fcntl(descriptor, F_SETFL, 0);
    }
    auto source = take(descriptor, !is_input);
    if (source) {
        source.value()->m_stop = stop;
    }
    return source;
}

// O_NONBLOCK keeps open() from waiting for the writer of a FIFO; it has no effect on regular files.
lib::Result<std::shared_ptr<ByteSource>> ByteSource::open_file(const std::string& path) {
    auto source = take(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), true);
    if (source && !source.value()->seekable()) {
        return lib::Error::unsupported;
    }
    return source;
}

lib::Result<std::shared_ptr<ByteSource>> ByteSource::take(int descriptor, bool owned) {
    if (descriptor < 0) {
        return errno == ENOENT ? lib::Error::not_found : errno == EACCES ? lib::Error::refused : lib::Error::io;
    }
    auto source = std::make_shared<ByteSource>(descriptor, owned, std::nullopt);

    struct stat status {};

    if (::fstat(descriptor, &status) != 0) {
        return lib::Error::io;
    }
    if (S_ISDIR(status.st_mode)) {
        return lib::Error::unsupported;
    }
    // Only a file that was opened here is positioned freely: standard input may be a file of which another program has
    // read a part.
    if (S_ISREG(status.st_mode) && owned) {
        source->m_size_bytes = static_cast<std::uint64_t>(status.st_size);
    }
    return source;
}

bool ByteSource::is_stream(const std::string& path) {
    struct stat status {};

    return path == "-" || (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

ByteSource::ByteSource(int descriptor, bool owned, std::optional<std::uint64_t> size_bytes)
    : m_descriptor(descriptor)
    , m_owned(owned)
    , m_size_bytes(size_bytes) {}

std::shared_ptr<ByteSource> ByteSource::of_parts(std::shared_ptr<ByteSource> whole, std::vector<Part> parts) {
    auto source = std::make_shared<ByteSource>(-1, false, 0);
    source->m_whole = std::move(whole);
    source->m_parts = std::move(parts);
    for (const Part& part : source->m_parts) {
        source->m_begins.push_back(*source->m_size_bytes);
        *source->m_size_bytes += part.size_bytes;
    }
    return source;
}

ByteSource::~ByteSource() {
    if (m_owned) {
        ::close(m_descriptor);
    }
}

void ByteSource::take_size() {
    struct stat status {};

    if (seekable() && m_whole == nullptr && ::fstat(m_descriptor, &status) == 0) {
        m_size_bytes = static_cast<std::uint64_t>(status.st_size);
    }
}

std::uint64_t ByteSource::stored_bytes() const {
    constexpr int kPiecesMax = 10'000;
    if (!seekable() || m_whole != nullptr) {
        return size_bytes();
    }
    off_t end = 0;
    for (int piece = 0; piece < kPiecesMax; ++piece) {
        const off_t begin = ::lseek(m_descriptor, end, SEEK_DATA);
        if (begin < 0) {
            return errno == ENXIO ? static_cast<std::uint64_t>(end) : size_bytes();
        }
        end = ::lseek(m_descriptor, begin, SEEK_HOLE);
        if (end < 0) {
            break;
        }
    }
    return size_bytes();
}

std::size_t ByteSource::send(std::uint64_t offset_bytes, std::size_t bytes, int descriptor) {
    auto offset = static_cast<off_t>(offset_bytes);
    const ssize_t count = ::sendfile(descriptor, m_descriptor, &offset, bytes);
    return count < 0 ? 0 : static_cast<std::size_t>(count);
}

lib::Result<std::size_t> ByteSource::read(std::uint64_t offset_bytes, std::span<std::byte> out) {
    if (m_whole != nullptr) {
        return read_parts(offset_bytes, out);
    }
    std::size_t filled = 0;
    if (!m_ahead.empty()) {
        filled = std::min(out.size(), m_ahead.size());
        std::copy_n(m_ahead.begin(), filled, out.begin());
        m_ahead.erase(m_ahead.begin(), m_ahead.begin() + static_cast<std::ptrdiff_t>(filled));
        if (filled >= kStreamBytesMin) {
            return filled;
        }
    }
    while (filled < out.size()) {
        const std::span<std::byte> rest = out.subspan(filled);
        if (!seekable() && m_stop != nullptr && !await_writer(m_descriptor, m_stop)) {
            break;
        }
        const ssize_t count =
            seekable() ? ::pread(m_descriptor, rest.data(), rest.size(), static_cast<off_t>(offset_bytes + filled))
                       : ::read(m_descriptor, rest.data(), rest.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return lib::Error::io;
        }
        if (count == 0) {
            break;
        }
        filled += static_cast<std::size_t>(count);
        if (!seekable() && filled >= kStreamBytesMin) {
            break; // the rest comes with the next read
        }
        if (offset_bytes + filled == m_size_bytes) {
            break; // this is the end of the file; another read would only return 0
        }
    }
    return filled;
}

lib::Result<std::size_t> ByteSource::read_parts(std::uint64_t offset_bytes, std::span<std::byte> out) {
    std::size_t filled = 0;
    auto begin = std::ranges::upper_bound(m_begins, offset_bytes);
    while (filled < out.size() && offset_bytes < *m_size_bytes) {
        const auto number = static_cast<std::size_t>(begin - m_begins.begin()) - 1;
        const Part& part = m_parts[number];
        const std::uint64_t within = offset_bytes - m_begins[number];
        const auto wanted = std::min<std::uint64_t>(part.size_bytes - within, out.size() - filled);
        const auto count = m_whole->read(part.begin_bytes + within, out.subspan(filled, wanted));
        if (!count) {
            return count;
        }
        filled += count.value();
        offset_bytes += count.value();
        if (count.value() < wanted) {
            break; // the whole source became shorter
        }
        ++begin;
    }
    return filled;
}

lib::Result<std::size_t> ByteSource::peek(std::span<std::byte> out) {
    const auto count = read(0, out);
    if (count && !seekable()) {
        m_ahead.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count.value()));
    }
    return count;
}

lib::Result<std::shared_ptr<ByteSource>> ByteSource::positioned(std::shared_ptr<ByteSource> source) {
    if (source->seekable()) {
        return source;
    }
    auto spool = Spool::create();
    if (!spool) {
        return spool.error();
    }
    std::vector<std::byte> buffer(kBufferBytes);
    while (true) {
        const auto count = source->read(0, buffer);
        if (!count) {
            return count.error();
        }
        if (count.value() == 0) {
            return spool.value().take();
        }
        if (const auto kept = spool.value().append(std::span(buffer).first(count.value())); !kept) {
            return kept.error();
        }
    }
}

lib::Result<std::string, Failure<lib::Error>> read_file(const std::string& path, std::size_t bytes_max) {
    const auto failure = [](lib::Error error) { return Failure<lib::Error>{error, std::string(file_error(error))}; };
    const auto source = ByteSource::open_file(path);
    if (!source) {
        return failure(source.error());
    }
    if (source.value()->size_bytes() > bytes_max) {
        return Failure<lib::Error>{lib::Error::unsupported, fmt::format("larger than {} bytes", bytes_max)};
    }
    std::string text;
    text.reserve(source.value()->size_bytes() + kParserRoomBytes);
    text.resize(source.value()->size_bytes());
    const auto count = source.value()->read(0, std::as_writable_bytes(std::span(text)));
    if (!count) {
        return failure(count.error());
    }
    text.resize(count.value());
    return text;
}

// mkostemp(3) replaces the six X by a unique text.
lib::Result<int> open_nameless_file() {
    const char* const folder = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): no thread changes it
    std::string path = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/remora-XXXXXX";
    const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor < 0) {
        return errno == ENOSPC || errno == EDQUOT ? lib::Error::no_space : lib::Error::io;
    }
    ::unlink(path.c_str());
    return descriptor;
}

lib::Result<Spool> Spool::create() {
    const auto descriptor = open_nameless_file();
    if (!descriptor) {
        return descriptor.error();
    }
    return Spool(descriptor.value());
}

Spool::Spool(Spool&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_size_bytes(other.m_size_bytes) {}

Spool& Spool::operator=(Spool&& other) noexcept {
    std::swap(m_descriptor, other.m_descriptor);
    std::swap(m_size_bytes, other.m_size_bytes);
    return *this;
}

Spool::~Spool() {
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

lib::Result<void> Spool::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(m_size_bytes));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            const bool full =
                errno == ENOSPC || errno == EDQUOT || errno == EFBIG; // EFBIG: a limit of this process was reached
            return full ? lib::Error::no_space : lib::Error::io;
        }
        m_size_bytes += static_cast<std::uint64_t>(count);
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
}

std::shared_ptr<ByteSource> Spool::take() {
    return std::make_shared<ByteSource>(std::exchange(m_descriptor, -1), true, m_size_bytes);
}

// --- checksum --------------------------------------------------------------------------------------------------------

// The instruction is part of SSE 4.2. Whether the processor has it is determined at run time, because the tools run on
// any x86-64.

namespace {

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t previous) {
    std::uint64_t crc = ~previous;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, bytes.data() + at, sizeof word);
        crc = _mm_crc32_u64(crc, word);
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (; at < bytes.size(); ++at) {
        rest = _mm_crc32_u8(rest, std::to_integer<std::uint8_t>(bytes[at]));
    }
    return ~rest;
}

} // namespace

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t previous) {
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    return has_instruction ? by_instruction(bytes, previous) : lib::crc32c(bytes, previous);
}

} // namespace host::trace
