// SPDX-License-Identifier: MIT
// Measures what attackers take from a machine: how much later its export ends, in simulated time, and what the
// collector holds meanwhile. The environment variable FIGURES prints the rows of docs/adr/0014-reliable-export.md.
#include "tests/support/allocated_bytes.hpp"
#include "tests/support/counted_disk.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/served_collector.hpp"
#include "tracer/reliable/sender.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <thread>

namespace host::collector {

namespace attackers_test {

using served_collector::Served;
using served_collector::virtual_time;
using support::Bytes;
using support::ChunkBuilder;
namespace filesystem = std::filesystem;
namespace wire = tracer::reliable;

constexpr Address kGuest{0x0A00'0001, 20'000};
constexpr std::uint32_t kElsewhere = 0x0A00'0002;
constexpr std::uint64_t kChunks = 4;
constexpr std::uint64_t kBefore = 256; // ms

ChunkBuilder chunk(std::uint16_t number) {
    ChunkBuilder builder(number);
    builder.begin.boot_id = 7;
    builder.name("task", 12, "sensor").build("control", 7);
    for (std::uint32_t i = 0; i < 1'000; ++i) {
        builder.event(1'000 + std::uint64_t{number} * 100'000 + i, "ipoint", 1, i);
    }
    return builder;
}

class Attackers : public testing::Test, private tracer::reliable::DatagramPeer {
  protected:
    // What the attacker sends in this millisecond.
    using Attack = std::function<void(std::uint64_t ms)>;

    struct Held {
        std::size_t descriptors = 0;
        std::size_t bytes = 0;
    };

    // Measures the machine alone, and then after a quarter of a second of the attack, which continues meanwhile.
    void withstand(const std::string& attacker, const Attack& attack) {
        const Held before = held();
        const std::uint64_t alone_ms = exports_in({});
        m_collector->stop();
        m_most = {};
        restart();
        for (std::uint64_t ms = 0; ms < kBefore; ++ms) {
            pass(attack);
        }
        const std::uint64_t delay_ms = std::max(exports_in(attack), alone_ms) - alone_ms;
        const std::size_t descriptors = m_most.descriptors - before.descriptors;
        const std::size_t bytes = m_most.bytes - std::min(m_most.bytes, before.bytes);
        // What another thread flushes takes time of the host.
        EXPECT_TRUE(m_flush_aside || delay_ms <= 2'000) << delay_ms;
        EXPECT_LE(descriptors, 1'024U / 4);
        EXPECT_LE(bytes, std::size_t{64} << 20U);
        const auto [files, on_disk] = disk();
        if (std::getenv("FIGURES") != nullptr) {
            fmt::print("| {} | {} | {} | {:.1f} | {:.1f} in {} |\n", attacker,
                       m_flush_aside ? "-" : fmt::format("{}", delay_ms), descriptors,
                       static_cast<double>(bytes) / (1U << 20U), static_cast<double>(on_disk) / (1U << 20U), files);
        }
        m_collector->stop();
        expect_whole();
    }

    void restart() {
        m_collector.reset();
        m_collector = std::make_unique<Served>(
            m_path, Served::Options{.key = m_key, .flush_aside = m_flush_aside, .refuse = [](const std::string&) {}},
            [this](const Address& to, std::span<const std::byte> reply) {
                if (to == kGuest) {
                    m_answers.emplace_back(reply.begin(), reply.end());
                } else {
                    m_reply.assign(reply.begin(), reply.end());
                }
            });
    }

    // Opens a stream of a session from this address, if it is not refused, and sends packets of it.
    void send_stream(const Address& from, std::uint16_t stream, const std::vector<std::uint64_t>& packets) {
        Bytes body(wire::kControlBytes);
        wire::Header header{.type = wire::PacketType::hello, .stream = stream, .session = *from.session, .stamp = 1};
        std::uint64_t& cookie = m_cookies[*from.session];
        for (int i = 0; i < 2 && !m_streams.contains({*from.session, stream}); ++i) {
            wire::encode_body(wire::Hello{.cookie = cookie}, body);
            m_reply.clear();
            post(from, header, nullptr, body);
            const auto answer = wire::decode(m_reply);
            if (answer && answer.value().type == wire::PacketType::hello_ack) {
                const bool is_open = cookie != 0;
                cookie = wire::decode_body<wire::HelloAck>(m_reply).cookie;
                if (is_open && (answer.value().flags & wire::kFlagCookie) == 0) {
                    m_streams.insert({*from.session, stream});
                }
            }
        }
        header.type = wire::PacketType::data;
        header.flags = wire::kFlagPush;
        const wire::SipKey key = wire::session_key({}, *from.session, cookie);
        for (const std::uint64_t seq : packets) {
            header.seq = seq;
            post(from, header, &key, m_first);
        }
    }

    void post(const Address& from, const wire::Header& header, const wire::SipKey* key, const Bytes& body) {
        Bytes packet(wire::kHeaderBytes + body.size());
        std::ranges::copy(body, packet.begin() + wire::kHeaderBytes);
        wire::encode(header, key, packet, m_key ? wire::Covers::packet : wire::Covers::header);
        m_collector->take({from.ipv4, from.port}, packet);
    }

    support::CountedDisk m_disk;
    // In memory, because thousands of files are made.
    support::TemporaryDirectory m_directory{filesystem::exists("/dev/shm") ? "/dev/shm"
                                                                           : filesystem::temp_directory_path()};
    std::string m_path = m_directory / "all";
    std::optional<wire::SipKey> m_key;
    bool m_flush_aside = false;
    bool m_restarts = false; // the collector, after the first chunk
    std::unique_ptr<Served> m_collector;
    std::vector<ChunkBuilder> m_chunks = {chunk(0), chunk(1), chunk(2), chunk(3)};
    Bytes m_first = [this] {
        Bytes image = m_chunks.front().bytes();
        image.resize(wire::kBodyBytesMax);
        return image;
    }();
    Bytes m_short = Bytes(tracer::kRecordBytes);

  private:
    void pass(const Attack& attack) {
        if (attack) {
            attack(m_ms++);
        }
        m_collector->tick();
        virtual_time = virtual_time + lib::milliseconds(1);
        if (m_flush_aside) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // no time passes faster than for that thread
        }
        if (m_ms % 32 != 0) {
            return;
        }
        const Held now = held();
        m_most.descriptors = std::max(m_most.descriptors, now.descriptors);
        m_most.bytes = std::max(m_most.bytes, now.bytes);
    }

    [[nodiscard]] static Held held() {
        const auto open = filesystem::directory_iterator("/proc/self/fd");
        return {.descriptors = static_cast<std::size_t>(std::distance(begin(open), end(open))),
                .bytes = allocated_bytes()};
    }

    // The time until the machine's export has ended.
    std::uint64_t exports_in(const Attack& attack) {
        if (m_collector == nullptr) {
            restart();
        }
        m_answers.clear();
        const lib::Nanoseconds begin = virtual_time;
        wire::ReliableSink sink(*this, {});
        if (m_key) {
            sink.set_key(*m_key);
        }
        const auto carry = [&] {
            for (int i = 0; i < 100'000 && sink.state() == tracer::SinkState::busy; ++i) {
                static_cast<void>(sink.step());
                pass(attack);
            }
            EXPECT_EQ(sink.state(), tracer::SinkState::idle);
        };
        tracer::ExportEnd totals{.chunks = kChunks, .result = tracer::RunResult::completed};
        for (ChunkBuilder& builder : m_chunks) {
            const Bytes bytes = builder.bytes();
            tracer::ChunkImage image;
            image.description = builder.description();
            image.parts[0] = bytes;
            EXPECT_TRUE(sink.submit(image).ok());
            carry();
            totals.records += image.description.records;
            if (m_restarts && totals.records == image.description.records) {
                restart();
            }
        }
        EXPECT_TRUE(sink.finish(totals).ok());
        carry();
        EXPECT_EQ(sink.counters().lost, 0U);
        return (virtual_time - begin).value / lib::milliseconds(1).value;
    }

    [[nodiscard]] std::pair<std::size_t, std::uintmax_t> disk() const {
        std::pair<std::size_t, std::uintmax_t> sum;
        for (const auto& entry : filesystem::recursive_directory_iterator(m_path)) {
            sum.first += entry.is_regular_file() ? 1U : 0U;
            sum.second += entry.is_regular_file() ? entry.file_size() : 0;
        }
        return sum;
    }

    // Both exports are on the disk.
    void expect_whole() const {
        std::size_t complete = 0;
        for (const auto& entry : filesystem::directory_iterator(m_path)) {
            const auto manifest = formats::dat::load_manifest(entry.path());
            complete += manifest && manifest.value().complete && manifest.value().chunks.size() == kChunks ? 1U : 0U;
        }
        EXPECT_EQ(complete, 2U);
    }

    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        m_collector->take(kGuest, datagram);
        return {};
    }

    [[nodiscard]] lib::Result<void> poll() override { return {}; }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override { return virtual_time; }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        if (m_answers.empty()) {
            return lib::Error::not_found;
        }
        const Bytes answer = m_answers.front();
        m_answers.pop_front();
        std::ranges::copy(answer, out.begin());
        return answer.size();
    }

    Held m_most;
    std::uint64_t m_ms = 0;
    std::deque<Bytes> m_answers; // to the machine
    Bytes m_reply;               // the last one to the attacker
    std::map<std::uint64_t, std::uint64_t> m_cookies;
    std::set<std::pair<std::uint64_t, std::uint16_t>> m_streams;
};

Address attacker(std::uint64_t session, std::uint32_t ipv4 = kElsewhere) {
    return {.ipv4 = ipv4, .port = static_cast<std::uint16_t>(1'024 + session % 60'000), .session = session};
}

TEST_F(Attackers, ThatOpenManyStreams) {
    withstand("8 sessions with 64 streams each", [this](std::uint64_t ms) {
        for (std::uint64_t i = 0; i < 2; ++i) {
            const std::uint64_t stream = 2 * ms + i;
            send_stream(attacker(1 + stream / 64 % 8), static_cast<std::uint16_t>(stream % 64), {0});
        }
    });
}

TEST_F(Attackers, ThatMakeItFlush) {
    m_flush_aside = true;
    withstand("8 sessions with 60 streams each, 4 packets a second of each that must be durable",
              [this](std::uint64_t ms) {
                  for (std::uint64_t i = 0; i < 2; ++i) {
                      const std::uint64_t packet = 2 * ms + i;
                      const std::uint64_t stream = packet % 480;
                      send_stream(attacker(1 + stream / 60), static_cast<std::uint16_t>(stream % 60), {packet / 480});
                  }
              });
    EXPECT_GT(m_disk.flushes, 0U);
    EXPECT_EQ(m_disk.own_flushes, 0U) << "the receiving thread waits for the disk";
}

TEST_F(Attackers, ThatForge) {
    m_key = wire::SipKey{1, 2};
    withstand("40 wrong MACs a millisecond in the machine's name", [this](std::uint64_t ms) {
        for (std::uint64_t i = 0; i < 40; ++i) {
            const wire::SipKey wrong{ms, i};
            post(kGuest, {.type = wire::PacketType::hello, .session = 7 + i % 2}, &wrong, Bytes(wire::kControlBytes));
        }
    });
}

TEST_F(Attackers, ThatTakeEveryPlace) {
    withstand("64 sessions of one address that progress, and a new one each millisecond", [this](std::uint64_t ms) {
        send_stream(attacker(1 + ms % 64), 0, {ms / 64});
        send_stream(attacker(1'000 + ms), 0, {0});
    });
}

TEST_F(Attackers, ThatLeaveGaps) {
    std::vector<std::uint64_t> late(wire::kWindowPackets - 1);
    std::ranges::generate(late, [seq = std::uint64_t{1}]() mutable { return seq++; });
    withstand("64 addresses with 64 streams each, whose windows lack the first packet", [&](std::uint64_t ms) {
        const std::uint64_t from = ms < kBefore ? ms * 16 : 0;
        for (std::uint64_t i = 0; i < 16; ++i) {
            const std::uint64_t stream = (from + i) % 64;
            const std::uint64_t session = (from + i) / 64;
            send_stream(attacker(1 + session, kElsewhere + static_cast<std::uint32_t>(session)),
                        static_cast<std::uint16_t>(stream),
                        ms < kBefore && stream < 4 ? late : std::vector<std::uint64_t>{1});
        }
    });
}

TEST_F(Attackers, ThatAskForAnswers) {
    m_restarts = true;
    withstand("40 packets a millisecond of no session, and a collector that is started again",
              [this](std::uint64_t ms) {
                  for (std::uint64_t i = 0; i < 40; ++i) {
                      post(attacker(1 + ms * 40 + i), {.type = wire::PacketType::data, .session = 1 + ms * 40 + i},
                           nullptr, m_short);
                  }
              });
}

} // namespace attackers_test

} // namespace host::collector
