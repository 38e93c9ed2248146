// SPDX-License-Identifier: MIT
// A store for POSIX and Linux: it has one open file for the journal and one for each stream.
#include "host/collector/reliable/file_store.hpp"

#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/crc32c.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector::reliable {

namespace {

using trace::Descriptor;

// Opens a file for reading and writing; creates it if it does not exist. If it cannot be opened or is no regular file,
// errno states why.
Descriptor open_regular(const std::string& path) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644));

    struct stat state {};

    if (file && (::fstat(file.number(), &state) != 0 || !S_ISREG(state.st_mode))) {
        errno = EINVAL;
        return {};
    }
    return file;
}

bool write_all(const Descriptor& file, std::span<const std::byte> bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
    return true;
}

// Returns how many bytes were read: fewer than requested if the file ends or cannot be read.
std::size_t read_some(const Descriptor& file, std::span<std::byte> out, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t count =
            ::pread(file.number(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        done += static_cast<std::size_t>(count);
    }
    return done;
}

// So that a session at its limit can still end.
constexpr std::uint64_t kEntriesSpared = 2 * tracer::reliable::kStreamsMax;
constexpr std::size_t kPieceBytes = 64 * 1024; // how much is read in one call

std::string stream_file(const std::string& base, std::uint16_t number) {
    return fmt::format("{}-{}.trc", base, number);
}

struct StreamFile {
    Descriptor file;
    Mark mark;
    std::vector<Loss> losses;
    std::uint64_t bytes = 0; // appended bytes
    bool unflushed = false;  // the last flush failed
};

class FileStore final : public SessionStore {
  public:
    FileStore(std::string path, const FileStores::Limits& limits, const FileStores::Report& report)
        : m_path(std::move(path))
        , m_limits(limits)
        , m_report(report) {}

    // Opens what an earlier process has left. Returns what is wrong; empty if everything agrees with the journal.
    [[nodiscard]] std::string load() {
        struct stat state {};

        if (::lstat((m_path + ".journal").c_str(), &state) != 0 && errno == ENOENT) {
            return {}; // nothing of the session has come yet
        }
        if (std::string wrong = open_journal(); !wrong.empty()) {
            return wrong;
        }
        if (std::string wrong = read_journal(); !wrong.empty()) {
            return wrong;
        }
        if (::ftruncate(m_journal.number(), static_cast<off_t>(m_journal_bytes)) != 0 || !flush_journal()) {
            return fmt::format("{}.journal: {}", m_path, std::strerror(errno));
        }
        for (std::uint16_t i = 0; i < tracer::reliable::kStreamsMax; ++i) {
            if (m_streams[i].mark.bytes == 0) {
                continue;
            }
            if (std::string wrong = reopen(i); !wrong.empty()) {
                return wrong;
            }
        }
        return {};
    }

    [[nodiscard]] Mark durable(std::uint16_t stream) const override { return m_streams.at(stream).mark; }

    [[nodiscard]] bool append(std::uint16_t number, std::span<const std::byte> records) override {
        StreamFile& stream = m_streams.at(number);
        if (m_failed || !within_limit(records.size(), m_limits.session_bytes) || !begun() || !open_stream(number)) {
            return false;
        }
        if (!write_all(stream.file, records, stream.bytes)) {
            return false; // a part may be written; the next attempt writes at the same position
        }
        stream.bytes += records.size();
        m_bytes += records.size();
        return true;
    }

    [[nodiscard]] std::vector<Loss> losses(std::uint16_t stream) const override { return m_streams.at(stream).losses; }

    void lost(std::uint16_t /*stream*/, std::uint64_t /*packets*/) override {} // the next mark states it

    [[nodiscard]] bool sync(std::uint16_t number, const Mark& mark) override {
        StreamFile& stream = m_streams.at(number);
        ASSERT(mark.bytes == stream.bytes);
        if (m_journal_bytes == 0 && mark.packets == 0) {
            return true; // there is nothing to continue
        }
        if (m_failed || !begun() ||
            !within_limit(JournalEntry::kBytes, m_limits.session_bytes + kEntriesSpared * JournalEntry::kBytes) ||
            !flush(number, mark)) {
            return false;
        }
        // The name of a stream must be durable before a mark of it is written.
        if (!sync_directory() || !write_all(m_journal, JournalEntry{number, mark}.encode(), m_journal_bytes) ||
            ::fdatasync(m_journal.number()) != 0) {
            return false;
        }
        m_journal_bytes += JournalEntry::kBytes;
        take_mark(stream, mark);
        return true;
    }

  private:
    // Opens the journal and locks it. Returns what is wrong; empty if nothing is.
    [[nodiscard]] std::string open_journal() {
        Descriptor journal = open_regular(m_path + ".journal");
        if (!journal) {
            return fmt::format("{}.journal: {}", m_path, std::strerror(errno));
        }
        if (::flock(journal.number(), LOCK_EX | LOCK_NB) != 0) {
            return fmt::format("{}.journal: another process records this session", m_path);
        }
        m_journal = std::move(journal);
        return {};
    }

    // Returns whether the journal is open; creates it at the first call.
    [[nodiscard]] bool begun() {
        if (!m_journal) {
            if (const std::string wrong = open_journal(); !wrong.empty()) {
                fail(wrong);
            }
        }
        return static_cast<bool>(m_journal);
    }

    // Returns whether this number of further bytes is within the limit. Reports the first time that it is not.
    [[nodiscard]] bool within_limit(std::size_t more, std::uint64_t bytes_max) {
        if (m_bytes + m_journal_bytes + more <= bytes_max) {
            return true;
        }
        if (!std::exchange(m_limit_reported, true) && m_report) {
            m_report(fmt::format("{}: cut off by a limit: a session has at most {} bytes (--session-bytes)", m_path,
                                 m_limits.session_bytes));
        }
        return false;
    }

    static void take_mark(StreamFile& stream, const Mark& mark) {
        if (mark.lost > stream.mark.lost) {
            stream.losses.push_back({.at_byte = stream.mark.bytes, .packets = mark.lost - stream.mark.lost});
        }
        stream.mark = mark;
    }

    [[nodiscard]] bool flush(std::uint16_t number, const Mark& mark) {
        StreamFile& stream = m_streams.at(number);
        if (!stream.file) {
            return true;
        }
        if (stream.unflushed && !write_again(stream, mark)) {
            fail(fmt::format("{}: the disk has not kept what was written; start the collector again, it continues at "
                             "what is durable",
                             path_of(number)));
            return false;
        }
        stream.unflushed = ::fdatasync(stream.file.number()) != 0;
        return !stream.unflushed;
    }

    // Writes what follows the last mark once more. Returns false if it is not what was appended.
    [[nodiscard]] static bool write_again(const StreamFile& stream, const Mark& mark) {
        std::vector<std::byte> piece(kPieceBytes);
        std::uint32_t crc = stream.mark.crc32c;
        for (std::uint64_t at = stream.mark.bytes; at < stream.bytes;) {
            const std::uint64_t size = std::min<std::uint64_t>(stream.bytes - at, piece.size());
            const auto part = std::span(piece).first(static_cast<std::size_t>(size));
            if (read_some(stream.file, part, at) != part.size() || !write_all(stream.file, part, at)) {
                return false;
            }
            crc = lib::crc32c(part, crc);
            at += size;
        }
        return crc == mark.crc32c;
    }

    // A process that was killed may not have flushed the last entry that it wrote, so that is flushed now.
    [[nodiscard]] bool flush_journal() {
        JournalEntry::Bytes last{};
        const std::uint64_t at = m_journal_bytes - JournalEntry::kBytes;
        return m_journal_bytes == 0 || (read_some(m_journal, last, at) == last.size() &&
                                        write_all(m_journal, last, at) && ::fdatasync(m_journal.number()) == 0);
    }

    void fail(const std::string& why) {
        m_failed = true;
        if (m_report) {
            m_report(why);
        }
    }

    // The process may have been killed while it wrote the last entry, so only that entry may be wrong. Any other wrong
    // entry is damage. Then nothing is cut to the mark before it, because the sender has forgotten what the later marks
    // promise.
    [[nodiscard]] std::string read_journal() {
        struct stat state {};

        if (::fstat(m_journal.number(), &state) != 0) {
            return fmt::format("{}.journal: {}", m_path, std::strerror(errno));
        }
        const auto size = static_cast<std::uint64_t>(state.st_size);
        for (; size - m_journal_bytes >= JournalEntry::kBytes; m_journal_bytes += JournalEntry::kBytes) {
            JournalEntry::Bytes entry{};
            const bool is_last = size - m_journal_bytes < 2 * JournalEntry::kBytes;
            const bool is_read = read_some(m_journal, entry, m_journal_bytes) == entry.size();
            const auto read = is_read ? JournalEntry::decode(entry) : std::nullopt;
            if (read) {
                take_mark(m_streams[read->stream], read->mark);
            } else if (is_read && is_last) {
                break;
            } else {
                return fmt::format("{}.journal: damaged at byte {}; keep its files, and record elsewhere", m_path,
                                   m_journal_bytes);
            }
        }
        return {};
    }

    [[nodiscard]] std::string path_of(std::uint16_t number) const { return stream_file(m_path, number); }

    [[nodiscard]] bool open_stream(std::uint16_t number) {
        StreamFile& stream = m_streams.at(number);
        if (!stream.file) {
            stream.file = open_regular(path_of(number));
            m_directory_synced = false;
            // An earlier process may have left bytes without a mark.
            if (stream.file && ::ftruncate(stream.file.number(), 0) != 0) {
                stream.file = {};
            }
        }
        return static_cast<bool>(stream.file);
    }

    // Opens the stream of an earlier process, cuts it to its mark, and compares its checksum with the mark.
    [[nodiscard]] std::string reopen(std::uint16_t number) {
        StreamFile& stream = m_streams.at(number);
        const std::string path = path_of(number);
        stream.file = open_regular(path);
        if (!stream.file) {
            return fmt::format("{}: {}", path, std::strerror(errno));
        }
        std::vector<std::byte> piece(kPieceBytes);
        std::uint32_t crc = 0;
        while (stream.bytes < stream.mark.bytes) {
            const std::uint64_t left = stream.mark.bytes - stream.bytes;
            const auto wanted =
                std::span(piece).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size())));
            if (read_some(stream.file, wanted, stream.bytes) != wanted.size()) {
                return fmt::format("{}: shorter than its journal says; remove its files or record elsewhere", path);
            }
            crc = lib::crc32c(wanted, crc);
            stream.bytes += wanted.size();
        }
        if (crc != stream.mark.crc32c) {
            return fmt::format("{}: its checksum is not that of its journal; remove its files or record elsewhere",
                               path);
        }
        m_bytes += stream.bytes;
        if (::ftruncate(stream.file.number(), static_cast<off_t>(stream.bytes)) != 0) {
            return fmt::format("{}: {}", path, std::strerror(errno));
        }
        return {};
    }

    // Makes new names durable.
    [[nodiscard]] bool sync_directory() {
        if (!m_directory_synced) {
            const std::size_t slash = m_path.rfind('/');
            const std::string directory = slash == std::string::npos ? "." : m_path.substr(0, slash);
            const Descriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            m_directory_synced = file && ::fsync(file.number()) == 0;
            if (!m_directory_synced) { // a second attempt would not notice what the first one has lost
                fail(fmt::format("{}: {}", directory, std::strerror(errno)));
            }
        }
        return m_directory_synced;
    }

    std::string m_path; // without the ending of a file
    FileStores::Limits m_limits;
    Descriptor m_journal;
    std::uint64_t m_journal_bytes = 0;
    std::uint64_t m_bytes = 0; // in all streams
    bool m_directory_synced = false;
    bool m_failed = false; // nothing more is taken or promised
    bool m_limit_reported = false;
    const FileStores::Report& m_report;
    std::array<StreamFile, tracer::reliable::kStreamsMax> m_streams;
};

} // namespace

std::string FileStores::name_of(const Peer& peer, std::uint64_t session) {
    return fmt::format("{:016x}-{:08x}-{}", session, peer.ipv4, peer.port);
}

std::string FileStores::stream_path(const Peer& peer, std::uint64_t session, std::uint16_t stream) const {
    return stream_file(m_directory + '/' + name_of(peer, session), stream);
}

std::uint64_t FileStores::remove(const Peer& peer, std::uint64_t session) const {
    std::uint64_t bytes = 0;
    const auto remove_file = [&bytes](const std::string& path) {
        struct stat state {};

        if (::lstat(path.c_str(), &state) == 0 && ::unlink(path.c_str()) == 0) {
            bytes += static_cast<std::uint64_t>(state.st_size);
        }
    };
    for (std::uint16_t stream = 0; stream < tracer::reliable::kStreamsMax; ++stream) {
        remove_file(stream_path(peer, session, stream));
    }
    remove_file(m_directory + '/' + name_of(peer, session) + ".journal");
    return bytes;
}

std::vector<std::pair<Peer, std::uint64_t>> FileStores::sessions() const {
    std::vector<std::pair<Peer, std::uint64_t>> found;
    std::error_code none; // a directory that does not exist holds nothing
    for (const auto& entry : std::filesystem::directory_iterator(m_directory, none)) {
        const std::string name = entry.path().filename();
        Peer peer;
        std::uint64_t session = 0;
        if (std::sscanf(name.c_str(), "%16" SCNx64 "-%8" SCNx32 "-%5" SCNu16, &session, &peer.ipv4, &peer.port) == 3 &&
            name == name_of(peer, session) + ".journal") {
            found.emplace_back(peer, session);
        }
    }
    return found;
}

std::unique_ptr<SessionStore> FileStores::open(const Peer& peer, std::uint64_t session) {
    auto store = std::make_unique<FileStore>(m_directory + '/' + name_of(peer, session), m_limits, m_report);
    m_why = store->load();
    return m_why.empty() ? std::move(store) : nullptr;
}

} // namespace host::collector::reliable
