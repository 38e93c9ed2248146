// SPDX-License-Identifier: MIT
#include "tests/simulation/disk.hpp"

#include "lib/crc32c.hpp"
#include "tests/simulation/failed.hpp"

#include <algorithm>

namespace simulation {

namespace {

class Store final : public reliable::SessionStore {
  public:
    Store(const Disk& disk, StoredSession& session)
        : m_disk(disk)
        , m_session(session) {
        require(!session.open, "one session has two stores");
        session.open = true;
        const bool reads = !session.known && !session.streams.empty();
        session.known = true;
        m_ready = reads ? disk.clock() + disk.flush_time : lib::Nanoseconds{};
        for (const auto& [number, flush] : session.flushes) {
            m_ready = std::max(m_ready, flush.ends);
        }
    }

    ~Store() override { m_session.open = false; }

    [[nodiscard]] reliable::StoreState poll() override {
        if (m_state == reliable::StoreState::loading && m_disk.clock() >= m_ready) {
            m_state = reliable::StoreState::ready;
            for (auto& [number, stream] : m_session.streams) {
                static_cast<void>(sync_state(number)); // that the store before had begun
                stream.bytes.resize(stream.mark.bytes);
                stream.lost = stream.mark.lost;
            }
        }
        return m_state;
    }

    [[nodiscard]] reliable::Mark durable(std::uint16_t stream) const override {
        require(m_state == reliable::StoreState::ready, "a store is used while it loads");
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
        require(!m_session.flushes.contains(number), "a stream is flushed twice at a time");
        m_session.flushes[number] = {.mark = mark, .ends = m_disk.clock() + m_disk.flush_time};
        return reliable::SyncState::pending;
    }

    [[nodiscard]] reliable::SyncState sync_state(std::uint16_t number) override {
        auto& flushes = m_session.flushes;
        const auto flush = flushes.find(number);
        if (flush != flushes.end() && m_disk.clock() < flush->second.ends) {
            return reliable::SyncState::pending;
        }
        if (flush != flushes.end()) {
            if (m_disk.full || m_disk.stuck) {
                flushes.erase(flush);
                return reliable::SyncState::failed;
            }
            m_session.streams[number].mark = flush->second.mark;
            flushes.erase(flush);
            m_disk.boundary();
        }
        return reliable::SyncState::done;
    }

  private:
    void check(std::uint16_t number, const reliable::Mark& mark) {
        const StoredStream& stream = m_session.streams[number];
        require(mark.bytes == stream.bytes.size(), "a mark counts other bytes than were appended");
        require(mark.lost == stream.lost, "a mark counts other losses than were announced");
        require(mark.packets >= stream.mark.packets, "a mark goes back");
    }

    const Disk& m_disk;
    StoredSession& m_session;
    lib::Nanoseconds
        m_ready; // when it has read what an earlier process left, and flushes of the store before have ended
    reliable::StoreState m_state = reliable::StoreState::loading;
};

} // namespace

void Disk::begin_process() {
    for (auto& [key, session] : m_sessions) {
        session.known = false;
        session.flushes.clear();
    }
}

std::shared_ptr<reliable::SessionStore> Disk::open(const reliable::Peer& peer, std::uint64_t session) {
    return std::make_unique<Store>(*this, m_sessions[Key{peer.ipv4, peer.port, session}]);
}

} // namespace simulation
