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
        StoredStream& stream = m_session.streams[number];
        require(mark.bytes == stream.bytes.size(), "a mark counts other bytes than were appended");
        require(mark.lost == stream.lost, "a mark counts other losses than were announced");
        require(mark.packets >= stream.mark.packets, "a mark goes back");
        stream.mark = mark;
        m_disk.boundary();
        return true;
    }

  private:
    const Disk& m_disk;
    StoredSession& m_session;
};

} // namespace

std::unique_ptr<reliable::SessionStore> Disk::open(const reliable::Peer& peer, std::uint64_t session) {
    return std::make_unique<Store>(*this, m_sessions[Key{peer.ipv4, peer.port, session}]);
}

} // namespace simulation
