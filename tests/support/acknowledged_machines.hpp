// SPDX-License-Identifier: MIT
// A fixture of machines that send acknowledged packets, without a socket and with a clock of the test's own.
#pragma once

#include "host/collector/reliable_sessions.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::collector {

namespace acknowledged_machines_test {

using support::Bytes;
using support::TemporaryDirectory;
using Lines = std::vector<std::string>;

namespace filesystem = std::filesystem;
namespace wire = tracer::reliable;

inline constexpr reliable::Peer kPeer{INADDR_LOOPBACK, 10'000};
inline constexpr reliable::Peer kOther{INADDR_LOOPBACK, 10'001};

inline constinit lib::Nanoseconds virtual_time{};

inline lib::Nanoseconds clock() {
    return virtual_time;
}

inline void pass(std::uint64_t ms) {
    virtual_time = virtual_time + lib::milliseconds(ms);
}

inline constexpr std::size_t kJournals = 100;

class Machines : public testing::Test {
  protected:
    Machines() { virtual_time = lib::milliseconds(1'000'000); }

    ReliableSessions& open(bool alone = false, bool beside = false, std::optional<wire::SipKey> key = {}) {
        m_sessions.reset();
        m_sessions = std::make_unique<ReliableSessions>(
            ReliableSessions::Options{.journals = m_path,
                                      .limits = m_limits,
                                      .alone = alone,
                                      .beside = beside,
                                      .flush_aside = m_flush_aside,
                                      .key = key,
                                      .clock = &clock,
                                      .journals_max = kJournals,
                                      .strangers_max = m_strangers_max,
                                      .strangers_of_address_max = m_strangers_max / 2},
            ReliableSessions::Calls{
                .deliver =
                    [this](const Address& sender, std::uint32_t number, std::span<const std::byte> records) {
                        m_delivered.push_back(fmt::format("{}/{:x}: {} of {}", sender.port, sender.session.value(),
                                                          number, records.size()));
                        m_records.insert(m_records.end(), records.begin(), records.end());
                        return m_has_place;
                    },
                .open_beside =
                    [this](const Address& sender, std::uint64_t boot_id) {
                        m_beside.push_back(fmt::format("{:x} of boot {:x}", sender.session.value(), boot_id));
                        return m_has_place;
                    },
                .send =
                    [this](const Address& to, std::span<const std::byte> reply) {
                        m_answer.assign(reply.begin(), reply.end());
                        m_answered = to;
                    },
                .refuse = [this](const std::string& why) { m_refused.push_back(why); },
                .stray = [this](const Address& sender) { m_strays.push_back(sender); },
                .settled = [this](const Address& sender) { return m_settled.contains(*sender.session); },
                .has_room = [this] { return m_has_room; }},
            m_usage);
        return *m_sessions;
    }

    // Opens what a collector opens at its start, and passes on what ended before.
    void start(bool alone = false, bool beside = false) {
        open(alone, beside).begin();
        for (int i = 0; i < 100 && m_sessions->awaited(); ++i) {
            m_sessions->tick();
        }
    }

    // The type of the answer, if there is one.
    std::optional<wire::PacketType> take(const wire::Header& header, const Bytes& body,
                                         const reliable::Peer& peer = kPeer) {
        Bytes packet(wire::kHeaderBytes + body.size());
        std::ranges::copy(body, packet.begin() + wire::kHeaderBytes);
        const wire::SipKey key = wire::session_key({}, header.session, m_cookie);
        wire::encode(header, wire::before_session(header.type) ? nullptr : &key, packet, wire::Covers::header);
        m_answer.clear();
        m_sessions->take(packet, {peer.ipv4, peer.port});
        if (m_answer.empty()) {
            return std::nullopt;
        }
        EXPECT_EQ(m_answered, (Address{peer.ipv4, peer.port}));
        return wire::decode(m_answer).value().type;
    }

    std::optional<wire::PacketType> hello(std::uint64_t session, const reliable::Peer& peer = kPeer,
                                          std::uint64_t seq = 0) {
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Hello{}, body);
        const wire::Header header{
            .type = wire::PacketType::hello, .session = session, .seq = seq, .stamp = virtual_time.value};
        EXPECT_EQ(take(header, body, peer), wire::PacketType::hello_ack);
        m_cookie = wire::decode_body<wire::HelloAck>(m_answer).cookie;
        wire::encode_body(wire::Hello{.cookie = m_cookie}, body);
        return take(header, body, peer);
    }

    // So many packets of one record, the last of which is made durable.
    void data(std::uint64_t session, std::uint64_t packets, std::uint64_t from = 0,
              const reliable::Peer& peer = kPeer) {
        for (std::uint64_t seq = from; seq < from + packets; ++seq) {
            const bool last = seq + 1 == from + packets;
            static_cast<void>(take({.type = wire::PacketType::data,
                                    .flags = last ? wire::kFlagPush : std::uint8_t{0},
                                    .session = session,
                                    .seq = seq,
                                    .stamp = virtual_time.value},
                                   Bytes(16, static_cast<std::byte>(seq)), peer));
        }
    }

    // Right if the session has nothing but `packets` packets of data().
    void fin(std::uint64_t session, std::uint64_t packets, const reliable::Peer& peer = kPeer) {
        Bytes all;
        for (std::uint64_t seq = 0; seq < packets; ++seq) {
            all.insert(all.end(), 16, static_cast<std::byte>(seq));
        }
        Bytes body(wire::kControlBytes);
        wire::encode_body(wire::Totals{.bytes = all.size(), .crc32c = lib::crc32c(all), .streams = 1}, body);
        EXPECT_EQ(take({.type = wire::PacketType::fin, .session = session, .seq = packets, .stamp = virtual_time.value},
                       body, peer),
                  wire::PacketType::fin_ack);
    }

    // So many machines say HELLO and nothing else.
    void fill(std::uint64_t machines) {
        for (std::uint64_t session = 1; session <= machines; ++session) {
            ASSERT_EQ(hello(0x100 + session, kOther), wire::PacketType::hello_ack);
        }
    }

    Lines delivered() { return std::exchange(m_delivered, {}); }

    [[nodiscard]] Lines files() const {
        Lines names;
        std::error_code none;
        for (const auto& entry : filesystem::directory_iterator(m_path, none)) {
            names.push_back(entry.path().filename());
        }
        std::ranges::sort(names);
        return names;
    }

    [[nodiscard]] std::uint64_t bytes_on_disk() const {
        std::uint64_t bytes = 0;
        for (const std::string& name : files()) {
            bytes += filesystem::file_size(m_path + '/' + name);
        }
        return bytes;
    }

    // The journal of an earlier collector, with a stream of so many bytes.
    void leave(std::uint64_t session, const Bytes& stream, bool ended, std::uint64_t lost = 0, std::size_t lost_at = 0,
               std::uint16_t number = 0) {
        m_sessions.reset();
        reliable::FileStores stores(m_path);
        const auto store = stores.open(kPeer, session);
        ASSERT_NE(store, nullptr) << stores.why();
        reliable::Mark mark;
        if (lost_at != 0) {
            ASSERT_TRUE(store->append(number, std::span(stream).first(lost_at)));
            mark = {.packets = 1, .bytes = lost_at, .crc32c = lib::crc32c(std::span(stream).first(lost_at))};
            ASSERT_TRUE(store->sync(number, mark));
        }
        ASSERT_TRUE(store->append(number, std::span(stream).subspan(lost_at)));
        mark = {
            .packets = 2 + lost, .bytes = stream.size(), .crc32c = lib::crc32c(stream), .lost = lost, .ended = ended};
        ASSERT_TRUE(store->sync(number, mark));
    }

    TemporaryDirectory m_directory;
    Lines m_beside;
    std::string m_path = m_directory / "all.journal";
    Limits m_limits;
    Usage m_usage;
    Lines m_delivered;
    Bytes m_records;
    Lines m_refused;
    std::vector<Address> m_strays;
    std::set<std::uint64_t> m_settled; // sessions that are on the disk
    bool m_has_place = true;
    bool m_has_room = true;
    std::size_t m_strangers_max = 1'000; // what data() sends begins with no chunk
    bool m_flush_aside = false;
    std::uint64_t m_cookie = 0;
    Bytes m_answer;
    Address m_answered;
    std::unique_ptr<ReliableSessions> m_sessions;
};

} // namespace acknowledged_machines_test

} // namespace host::collector
