// SPDX-License-Identifier: MIT
// The files of one session of FileStores: how they are written, flushed, and read again after a restart.
#pragma once

#include "host/collector/reliable/file_store.hpp"
#include "host/collector/reliable/journal_place.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/crc32c.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector::reliable {

// So that a session at its limit can still end.
inline constexpr std::uint64_t kEntriesSpared = 2 * tracer::reliable::kStreamsMax;
inline constexpr std::size_t kPieceBytes = 64 * 1024;    // how much is read in one call
inline constexpr std::uint64_t kLoadBytes = 256U << 10U; // how much is loaded between two flushes

inline std::string stream_file(const std::string& session, std::uint16_t number) {
    return fmt::format("{}-{}.trc", session, number);
}

inline std::string journal_file(const std::string& session) {
    return session + ".journal";
}

// The receiving thread appends. A sync() may be executed by another thread; what both use is in m_marks, under the
// lock, which nothing holds while it waits for the disk.
class FileStores::FileStore final : public SessionStore {
  public:
    FileStore(Place& place, std::string name, const FileStores::Limits& limits)
        : m_place(place)
        , m_name(std::move(name))
        , m_limits(limits) {}

    ~FileStore() override;

    FileStore(const FileStore&) = delete;
    FileStore& operator=(const FileStore&) = delete;

    // Returns whether something of the session has come.
    [[nodiscard]] bool has_journal() const { return m_place.has(journal_file(m_name)); }

    // Opens what an earlier process has left. Returns what is wrong; empty if everything agrees with the journal.
    [[nodiscard]] std::string load() {
        std::optional<std::string> wrong;
        while (!wrong) {
            wrong = load_part();
        }
        return *wrong;
    }

    [[nodiscard]] Mark durable(std::uint16_t stream) const override {
        const std::scoped_lock lock(m_lock);
        return m_streams.at(stream).mark;
    }

    [[nodiscard]] std::vector<Loss> losses(std::uint16_t stream) const override {
        const std::scoped_lock lock(m_lock);
        return m_streams.at(stream).losses;
    }

    [[nodiscard]] bool append(std::uint16_t number, std::span<const std::byte> records) override {
        Stream& stream = m_streams.at(number);
        if (m_failed || !within_limit(records.size(), m_limits.session_bytes) || !within_total(records.size()) ||
            !begun()) {
            return false;
        }
        const int file = m_place.kept_open(stream_file(m_name, number));
        if (file < 0 || (stream.bytes == 0 && !cut(file, 0))) { // an earlier process may have left bytes without a mark
            return false;
        }
        if (stream.bytes == 0) {
            m_new_names = true;
            stream.size = 0;
        }
        const bool written = write_all(file, records, stream.bytes);
        grow(stream.size, written ? stream.bytes + records.size() : size_of(file));
        if (written) { // else a part may be written; the next attempt writes at the same position
            stream.bytes += records.size();
            m_bytes += records.size();
        }
        return written;
    }

    // Begins a session again: what has no mark is dropped when nothing is pending. Returns false if the files must be
    // read again for that.
    [[nodiscard]] bool begin_again() {
        m_rewinds = true;
        return m_state != StoreState::failed && !m_failed;
    }

    // Returns whether a sync of this session is pending.
    [[nodiscard]] bool pending() const {
        const std::scoped_lock lock(m_lock);
        return m_state == StoreState::loading ||
               std::ranges::any_of(m_streams, [](const Stream& stream) { return stream.state == SyncState::pending; });
    }

    [[nodiscard]] StoreState poll() override {
        if (m_state != StoreState::ready || (m_rewinds && pending())) {
            return m_state == StoreState::failed ? StoreState::failed : StoreState::loading;
        }
        if (std::exchange(m_rewinds, false)) {
            m_bytes = 0;
            for (Stream& stream : m_streams) {
                stream.bytes = stream.mark.bytes;
                m_bytes += stream.bytes;
            }
        }
        return StoreState::ready;
    }

    void lost(std::uint16_t /*stream*/, std::uint64_t /*packets*/) override {} // the next mark states it

    [[nodiscard]] bool sync(std::uint16_t number, const Mark& mark) override {
        ASSERT(mark.bytes == m_streams.at(number).bytes);
        if (is_nothing(mark)) {
            return true;
        }
        return flush_alone(number, mark);
    }

    [[nodiscard]] SyncState begin_sync(std::uint16_t number, const Mark& mark) override;

    [[nodiscard]] SyncState sync_state(std::uint16_t number) override {
        const std::scoped_lock lock(m_lock);
        return m_streams.at(number).state;
    }

    void wait() override;

  private:
    friend class FileStores::Flusher;

    struct Stream {
        std::uint64_t bytes = 0; // appended bytes
        std::uint64_t size = 0;  // of the file, which may have more than that
        // These belong to whoever executes sync(), and are read under the lock by the others.
        Mark mark;
        std::vector<Loss> losses;
        bool unflushed = false; // the last flush failed
        SyncState state = SyncState::done;
    };

    // How far load() has come.
    struct Load {
        bool has_journal = false; // all of it is read
        std::uint16_t stream = 0; // that is read
        std::uint32_t crc32c = 0; // of what is read of it
    };

    // Returns whether there is nothing to continue: what a sender has lost before its first packet it says again.
    [[nodiscard]] bool is_nothing(const Mark& mark) const { return m_journal_bytes == 0 && mark.bytes == 0; }

    // Executes a sync().
    [[nodiscard]] bool flush_alone(std::uint16_t number, const Mark& mark) {
        if (!may_mark(number, mark) || !flush(number, mark) || !sync_directory() || !write_mark(number, mark, 0) ||
            !flush_journal()) {
            return false;
        }
        count_marks(1);
        take_mark(number, mark);
        return true;
    }

    // At the limit of all sessions, what came is still marked, and its end. What a sender has lost, it says again.
    [[nodiscard]] bool may_mark(std::uint16_t number, const Mark& mark) {
        const bool is_loss = mark.bytes == m_streams[number].mark.bytes && !mark.ended;
        return !m_failed && begun() && (!is_loss || within_total(JournalEntry::kBytes)) &&
               within_limit(JournalEntry::kBytes, m_limits.session_bytes + kEntriesSpared * JournalEntry::kBytes);
    }

    // Executes a part of load(), which open() has left to the flusher. Returns whether that was the last one: then this
    // store may not exist any more.
    [[nodiscard]] bool load_part_aside();

    // Reads a part of the journal, or of the next stream. Returns what load() returns; none if something is left.
    [[nodiscard]] std::optional<std::string> load_part() {
        std::string wrong;
        if (!m_load.has_journal) {
            wrong = read_journal();
        } else {
            wrong = reopen(m_load.stream);
        }
        while (m_load.has_journal && m_load.stream < m_streams.size() && m_streams[m_load.stream].mark.bytes == 0) {
            ++m_load.stream;
        }
        const bool is_over = !wrong.empty() || (m_load.has_journal && m_load.stream == m_streams.size());
        return is_over ? std::optional(wrong) : std::nullopt;
    }

    // Counts a file that has become as long as this.
    void grow(std::uint64_t& size, std::uint64_t end) {
        m_place.bytes += end > size ? end - size : 0;
        size = std::max(size, end);
    }

    // Cuts a file to its first bytes, and counts that.
    [[nodiscard]] bool cut(int file, std::uint64_t bytes) const {
        const std::uint64_t size = size_of(file);
        if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
            return false;
        }
        m_place.bytes -= std::min(m_place.bytes.load(), size - std::min(size, bytes));
        return true;
    }

    [[nodiscard]] static std::uint64_t size_of(int file) {
        struct stat state {};

        return ::fstat(file, &state) == 0 ? static_cast<std::uint64_t>(state.st_size) : 0;
    }

    // Returns whether the journal exists; makes it at the first call.
    [[nodiscard]] bool begun() {
        if (!m_begun) {
            const bool is_new = !has_journal();
            m_begun = static_cast<bool>(m_place.open(journal_file(m_name)));
            m_place.journals += is_new && m_begun ? 1U : 0U;
            m_new_names = true;
            if (!m_begun) {
                fail(fmt::format("{}: {}", path_of(journal_file(m_name)), std::strerror(errno)));
            }
        }
        return m_begun;
    }

    // Returns whether this number of further bytes is within the limit. Reports the first time that it is not.
    [[nodiscard]] bool within_limit(std::size_t more, std::uint64_t bytes_max) {
        if (m_bytes + m_journal_bytes + more <= bytes_max) {
            return true;
        }
        if (!m_limit_reported.exchange(true) && m_place.report) {
            m_place.report(fmt::format("{}: cut off by a limit: a session has at most {} bytes (--session-bytes)",
                                       path_of(m_name), m_limits.session_bytes));
        }
        return false;
    }

    // The same for all sessions.
    [[nodiscard]] bool within_total(std::size_t more) {
        if (m_place.bytes + more <= m_limits.total_bytes) {
            return true;
        }
        if (!m_total_reported.exchange(true) && m_place.report) {
            m_place.report(fmt::format("cut off by a limit: all sessions together have at most {} bytes "
                                       "(--total-bytes)",
                                       m_limits.total_bytes));
        }
        return false;
    }

    void take_mark(std::uint16_t number, const Mark& mark) {
        const std::scoped_lock lock(m_lock);
        Stream& stream = m_streams[number];
        if (mark.lost > stream.mark.lost) {
            stream.losses.push_back({.at_byte = stream.mark.bytes, .packets = mark.lost - stream.mark.lost});
        }
        stream.mark = mark;
    }

    void set_state(std::uint16_t number, SyncState state) {
        const std::scoped_lock lock(m_lock);
        m_streams[number].state = state;
    }

    [[nodiscard]] bool flush(std::uint16_t number, const Mark& mark) {
        Stream& stream = m_streams[number];
        if (mark.bytes == stream.mark.bytes && !stream.unflushed) {
            return true;
        }
        const trace::Descriptor file = m_place.open(stream_file(m_name, number));
        if (!file) {
            return false;
        }
        if (stream.unflushed && !write_again(file, stream, mark)) {
            fail(fmt::format("{}: the disk has not kept what was written; start the collector again, it continues at "
                             "what is durable",
                             path_of(stream_file(m_name, number))));
            return false;
        }
        stream.unflushed = ::fdatasync(file.number()) != 0;
        return !stream.unflushed;
    }

    // Writes what follows the last mark once more. Returns false if it is not what was appended.
    [[nodiscard]] static bool write_again(const trace::Descriptor& file, const Stream& stream, const Mark& mark) {
        std::vector<std::byte> piece(kPieceBytes);
        std::uint32_t crc = stream.mark.crc32c;
        for (std::uint64_t at = stream.mark.bytes; at < mark.bytes;) {
            const std::uint64_t size = std::min<std::uint64_t>(mark.bytes - at, piece.size());
            const auto part = std::span(piece).first(static_cast<std::size_t>(size));
            if (read_some(file, part, at) != part.size() || !write_all(file.number(), part, at)) {
                return false;
            }
            crc = lib::crc32c(part, crc);
            at += size;
        }
        return crc == mark.crc32c;
    }

    // Writes an entry after `before` others that do not count yet. It counts when the journal is flushed.
    [[nodiscard]] bool write_mark(std::uint16_t number, const Mark& mark, std::size_t before) {
        const trace::Descriptor journal = m_place.open(journal_file(m_name));
        const std::uint64_t at = m_journal_bytes + before * JournalEntry::kBytes;
        if (!journal || !write_all(journal.number(), JournalEntry{number, mark}.encode(), at)) {
            return false;
        }
        grow(m_journal_size, at + JournalEntry::kBytes);
        return true;
    }

    [[nodiscard]] bool flush_journal() {
        const trace::Descriptor journal = m_place.open(journal_file(m_name));
        return journal && ::fdatasync(journal.number()) == 0;
    }

    void count_marks(std::size_t entries) { m_journal_bytes += entries * JournalEntry::kBytes; }

    // A process that was killed may not have flushed the last entry that it wrote, so that is flushed now.
    [[nodiscard]] bool flush_last_entry(const trace::Descriptor& journal) {
        JournalEntry::Bytes last{};
        const std::uint64_t at = m_journal_bytes - JournalEntry::kBytes;
        return m_journal_bytes == 0 || (read_some(journal, last, at) == last.size() &&
                                        write_all(journal.number(), last, at) && ::fdatasync(journal.number()) == 0);
    }

    void fail(const std::string& why) {
        m_failed = true;
        if (m_place.report) {
            m_place.report(why);
        }
    }

    // Reads a part of the journal; a wrong entry at its end is read again. Any wrong entry but the last of all is
    // damage. Then nothing is cut to the mark before it, because the sender has forgotten what the later marks promise.
    [[nodiscard]] std::string read_journal() {
        const trace::Descriptor journal = m_place.open(journal_file(m_name));

        struct stat state {};

        if (!journal || ::fstat(journal.number(), &state) != 0) {
            return fmt::format("{}: {}", path_of(journal_file(m_name)), std::strerror(errno));
        }
        const std::uint64_t entries = static_cast<std::uint64_t>(state.st_size) / JournalEntry::kBytes;
        const std::uint64_t first = m_journal_bytes / JournalEntry::kBytes;
        const std::uint64_t end = std::min(entries, first + kLoadBytes / JournalEntry::kBytes);
        const auto damage = read_entries(journal, first, end, [this](const JournalEntry& entry) {
            take_mark(entry.stream, entry.mark);
            count_marks(1);
        });
        if (damage) {
            return fmt::format("{}: damaged at byte {}; keep its files, and record elsewhere",
                               path_of(journal_file(m_name)), *damage);
        }
        if (end == entries) {
            m_load.has_journal = true;
            m_journal_size = m_journal_bytes;
            if (!cut(journal.number(), m_journal_bytes) || !flush_last_entry(journal)) {
                return fmt::format("{}: {}", path_of(journal_file(m_name)), std::strerror(errno));
            }
        }
        return {};
    }

    [[nodiscard]] std::string path_of(const std::string& name) const { return m_place.path + '/' + name; }

    // Reads a part of the stream of an earlier process. At the end it cuts the stream to its mark, and compares its
    // checksum with the mark.
    [[nodiscard]] std::string reopen(std::uint16_t number) {
        Stream& stream = m_streams.at(number);
        const std::string path = path_of(stream_file(m_name, number));
        const trace::Descriptor file = m_place.open(stream_file(m_name, number));
        if (!file) {
            return fmt::format("{}: {}", path, std::strerror(errno));
        }
        std::vector<std::byte> piece(kPieceBytes);
        const std::uint64_t until = std::min(stream.mark.bytes, stream.bytes + kLoadBytes);
        while (stream.bytes < until) {
            const auto wanted = std::span(piece).first(std::min<std::uint64_t>(until - stream.bytes, piece.size()));
            if (read_some(file, wanted, stream.bytes) != wanted.size()) {
                return fmt::format("{}: shorter than its journal says; remove its files or record elsewhere", path);
            }
            m_load.crc32c = lib::crc32c(wanted, m_load.crc32c);
            stream.bytes += wanted.size();
        }
        if (stream.bytes < stream.mark.bytes) {
            return {};
        }
        if (m_load.crc32c != stream.mark.crc32c) {
            return fmt::format("{}: its checksum is not that of its journal; remove its files or record elsewhere",
                               path);
        }
        m_bytes += stream.bytes;
        stream.size = stream.bytes;
        m_load = {.has_journal = true, .stream = static_cast<std::uint16_t>(number + 1)};
        return cut(file.number(), stream.bytes) ? std::string() : fmt::format("{}: {}", path, std::strerror(errno));
    }

    // Makes new names durable, because the name of a stream must be durable before a mark of it is written.
    [[nodiscard]] bool sync_directory() {
        if (m_new_names.exchange(false) && ::fsync(m_place.directory.number()) != 0) {
            // A second attempt would not notice what the first one has lost.
            fail(fmt::format("{}: {}", m_place.path, std::strerror(errno)));
        }
        return !m_failed;
    }

    Place& m_place;
    std::string m_name; // without the ending of a file
    FileStores::Limits m_limits;
    mutable std::mutex m_lock;
    std::array<Stream, tracer::reliable::kStreamsMax> m_streams;
    std::atomic<StoreState> m_state = StoreState::ready;
    Load m_load;
    bool m_rewinds = false;                         // what has no mark is to be dropped
    std::uint64_t m_journal_size = 0;               // of the file, which may have more than
    std::atomic<std::uint64_t> m_journal_bytes = 0; // of entries that are durable
    std::atomic<std::uint64_t> m_bytes = 0;         // in all streams
    std::atomic<bool> m_begun = false;              // the journal exists
    std::atomic<bool> m_new_names = false;          // a file was made since the directory was flushed
    std::atomic<bool> m_failed = false;             // nothing more is taken or promised
    std::atomic<bool> m_limit_reported = false;
    std::atomic<bool> m_total_reported = false;
};

} // namespace host::collector::reliable
