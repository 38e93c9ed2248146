// SPDX-License-Identifier: MIT
// Stores sessions on a disk, so that a collector that was killed can continue them. One directory has for each session:
//
//   <session>-<address>-<port>.journal      a mark of a stream for each sync(), each with its CRC
//   <session>-<address>-<port>-<stream>.trc the stream: chunk images one after the other
//
// Names consist of hexadecimal and decimal numbers; nothing from the wire is part of a name as text. sync() flushes the
// stream, then appends the mark to the journal and flushes it, so a mark in the journal describes bytes that are on the
// disk. open() reads the journal of an earlier process up to a last entry that is not whole, makes it durable (a killed
// process may not have), cuts each stream to its last mark and compares its CRC. A loss is where the mark before it
// ends. A session of which nothing has come has no file. The directory is locked while it is used, and no link is
// followed. A file is only open while it is flushed; of the streams, the kOpenMax of all sessions that were written
// last.
//
// After a flush that failed, the system may consider the pages written. What is not durable is then read back, compared
// with its CRC and written again before the next flush. If it is not what was written, the store takes and promises
// nothing more; only a collector that is started again continues, after what is durable.
#pragma once

#include "host/collector/reliable/store.hpp"
#include "lib/assert.hpp"
#include "lib/crc32c.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "tracer/reliable/packet.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::collector::reliable {

// One entry of a session's journal: how far a stream has come, with the CRC of the entry. Little-endian:
//
//   stream u16 | ended u16 | crc32c of the stream u32 | packets u64 | bytes u64 | lost u64 | 0 u32 | crc32c u32
struct JournalEntry {
    static constexpr std::size_t kBytes = 40;
    using Bytes = std::array<std::byte, kBytes>;

    std::uint16_t stream = 0; // below kStreamsMax
    Mark mark;

    [[nodiscard]] Bytes encode() const {
        Bytes entry{};
        lib::ByteWriter writer(entry);
        writer.le(stream);
        writer.le(static_cast<std::uint16_t>(mark.ended ? 1 : 0));
        writer.le(mark.crc32c);
        writer.le(mark.packets);
        writer.le(mark.bytes);
        writer.le(mark.lost);
        writer.le(std::uint32_t{0});
        writer.le(lib::crc32c(writer.written()));
        ASSERT(!writer.failed() && writer.offset() == kBytes);
        return entry;
    }

    // Returns none if the entry is not whole.
    [[nodiscard]] static std::optional<JournalEntry> decode(const Bytes& untrusted) {
        lib::ByteReader reader(untrusted);
        JournalEntry entry;
        entry.stream = reader.le<std::uint16_t>();
        entry.mark.ended = reader.le<std::uint16_t>() != 0;
        entry.mark.crc32c = reader.le<std::uint32_t>();
        entry.mark.packets = reader.le<std::uint64_t>();
        entry.mark.bytes = reader.le<std::uint64_t>();
        entry.mark.lost = reader.le<std::uint64_t>();
        reader.le<std::uint32_t>();
        const bool whole = reader.le<std::uint32_t>() == lib::crc32c(std::span(untrusted).first(kBytes - 4));
        return whole && entry.stream < tracer::reliable::kStreamsMax ? std::optional(entry) : std::nullopt;
    }
};

class FileStores final : public StoreProvider {
  public:
    struct Limits {
        std::uint64_t session_bytes = std::uint64_t{1} << 30U; // of all streams of a session and its journal
        std::uint64_t total_bytes = ~std::uint64_t{0};         // that are counted, in all files
    };

    // Says who flushes, and reads what an earlier process has left: begin_sync() and open() themselves, or a thread
    // beside them.
    enum class Flushes : std::uint8_t {
        at_once,
        aside,
    };

    static constexpr std::size_t kMarkBytes = JournalEntry::kBytes; // added to a journal by each sync()
    static constexpr std::size_t kOpenMax = 8;                      // streams that are open, of all sessions together
    static constexpr std::size_t kKnownMax = 1'024; // sessions whose marks are kept, so that nothing is read again

    // Called for what limits or ends a store, and for each store once; why: the reason. With Flushes::aside, also by
    // that thread.
    using Report = std::function<void(const std::string& why)>;

    explicit FileStores(std::string directory)
        : FileStores(std::move(directory), Limits{}, {}) {}

    // bytes: grows and shrinks with the files, also by the other thread; null: nothing counts them.
    FileStores(std::string directory, const Limits& limits, Report report = {}, Flushes flushes = Flushes::at_once,
               std::atomic<std::uint64_t>* bytes = nullptr);
    FileStores(const FileStores&) = delete;
    FileStores& operator=(const FileStores&) = delete;
    ~FileStores() override; // no store may exist any more

    // Makes the directory, if it does not exist, and locks it, which open() does otherwise. If that fails, why() states
    // the reason. Errors: no_space, refused.
    [[nodiscard]] lib::Result<void> make();

    // Returns null if a file is damaged or no regular file, the disk fails, or another process uses the directory;
    // why() states the reason. With Flushes::aside, what is wrong with the files is reported, and the store fails.
    [[nodiscard]] std::shared_ptr<SessionStore> open(const Peer& peer, std::uint64_t session) override;

    // Returns the sessions that have a journal in the directory, in no particular order.
    [[nodiscard]] std::vector<std::pair<Peer, std::uint64_t>> sessions() const;

    // Returns the number of journals; those that others make or remove count from the next recount() on.
    [[nodiscard]] std::size_t journals() const;
    void recount();

    // Returns whether something of the session has come.
    [[nodiscard]] bool has_journal(const Peer& peer, std::uint64_t session);

    // What the last marks of an earlier process state, by one small read that changes nothing.
    struct Glance {
        bool is_damaged = false; // open() states where
        bool is_ended = false;   // the last mark ends a stream, as that of a session that has ended does
        bool is_empty = false;   // there is no mark
        bool is_plain = false;   // every mark was read, and none states a loss or an end
    };

    [[nodiscard]] Glance glance(const Peer& peer, std::uint64_t session);

    [[nodiscard]] std::string stream_path(const Peer& peer, std::uint64_t session, std::uint16_t stream) const;

    // Deletes the files of a session that is not continued any more; its store may still exist. Returns false if a
    // flush of them is pending.
    [[nodiscard]] bool remove(const Peer& peer, std::uint64_t session);

    // Returns a descriptor that becomes readable when a flush has ended; -1 if there is none.
    [[nodiscard]] int event() const;

    [[nodiscard]] const std::string& why() const { return m_why; }

    // Returns the name without directory and ending, such as "0123456789abcdef-7f000001-20000".
    [[nodiscard]] static std::string name_of(const Peer& peer, std::uint64_t session);

  private:
    struct Place;
    class FileStore;
    class Flusher;

    std::string m_directory;
    Limits m_limits;
    Report m_report;
    std::string m_why;
    std::unique_ptr<Place> m_place;
    std::map<std::string, std::shared_ptr<FileStore>> m_known; // with a flusher: by name, what was opened
    Flushes m_flushes;
};

} // namespace host::collector::reliable
