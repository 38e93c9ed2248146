// SPDX-License-Identifier: MIT
#include "tests/simulation/disk.hpp"

#include "lib/crc32c.hpp"
#include "tests/simulation/failed.hpp"

namespace simulation {

namespace {

class Store final : public reliable::SessionStore {
  public:
    Store(const Disk& disk, StoredSession& session)
        : m_disk(disk)
        , m_session(session) {
        require(!session.open, "one session has two stores");
        session.open = true;
        for (auto& [number, stream] : session.streams) {
            stream.bytes.resize(stream.mark.bytes);
            stream.lost = stream.mark.lost;
        }
    }

    ~Store() override { m_session.open = false; }

    [[nodiscard]] reliable::Mark durable(std::uint16_t stream) const override {
        const auto found = m_session.streams.find(stream);
        return found == m_session.streams.end() ? reliable::Mark{} : found->second.mark;
    }

    [[nodiscard]] bool append(std::uint16_t stream, std::span<const std::byte> records) override {
        if (m_disk.full) {
            return false;
        }
        m_disk.boundary();
        auto& bytes = m_session.streams[stream].bytes;
        bytes.insert(bytes.end(), records.begin(), records.end());
        m_disk.boundary();
        return true;
    }

    void lost(std::uint16_t number, std::uint64_t packets) override {
        StoredStream& stream = m_session.streams[number];
        require(stream.mark.bytes == stream.bytes.size(), "no mark says where a loss is");
        stream.lost += packets;
    }

    [[nodiscard]] bool sync(std::uint16_t number, const reliable::Mark& mark) override {
        if (m_disk.full || m_disk.stuck) {
            return false;
        }
        m_disk.boundary();
        check(number, mark);
        m_session.streams[number].mark = mark;
        m_disk.boundary();
        return true;
    }

    [[nodiscard]] reliable::SyncState begin_sync(std::uint16_t number, const reliable::Mark& mark) override {
        if (m_disk.full || m_disk.stuck || m_disk.flush_time.value == 0) {
            return SessionStore::begin_sync(number, mark);
        }
        m_disk.boundary();
        check(number, mark);
        require(!m_flushes.contains(number), "a stream is flushed twice at a time");
        m_flushes[number] = {.mark = mark, .ends = m_disk.clock() + m_disk.flush_time};
        return reliable::SyncState::pending;
    }

    [[nodiscard]] reliable::SyncState sync_state(std::uint16_t number) override {
        const auto flush = m_flushes.find(number);
        if (flush != m_flushes.end() && m_disk.clock() < flush->second.ends) {
            return reliable::SyncState::pending;
        }
        if (flush != m_flushes.end()) {
            if (m_disk.full || m_disk.stuck) {
                m_flushes.erase(flush);
                return reliable::SyncState::failed;
            }
            m_session.streams[number].mark = flush->second.mark;
            m_flushes.erase(flush);
            m_disk.boundary();
        }
        return reliable::SyncState::done;
    }

  private:
    struct Flush {
        reliable::Mark mark;
        lib::Nanoseconds ends;
    };

    void check(std::uint16_t number, const reliable::Mark& mark) {
        const StoredStream& stream = m_session.streams[number];
        require(mark.bytes == stream.bytes.size(), "a mark counts other bytes than were appended");
        require(mark.lost == stream.lost, "a mark counts other losses than were announced");
        require(mark.packets >= stream.mark.packets, "a mark goes back");
    }

    const Disk& m_disk;
    StoredSession& m_session;
    std::map<std::uint16_t, Flush> m_flushes; // that have not ended
};

} // namespace

std::unique_ptr<reliable::SessionStore> Disk::open(const reliable::Peer& peer, std::uint64_t session) {
    return std::make_unique<Store>(*this, m_sessions[Key{peer.ipv4, peer.port, session}]);
}

} // namespace simulation
