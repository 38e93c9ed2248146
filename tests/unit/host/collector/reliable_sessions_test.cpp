// SPDX-License-Identifier: MIT
// Tests acknowledged packets through the whole collector, over a real UDP socket: the session has what a sender of
// version 1 would have left, and a collector that is stopped and started again continues.
#include "host/collector/reliable_sessions.hpp"

#include "host/collector/collector.hpp"
#include "host/collector/reliable/file_store.hpp"
#include "host/collector/session_directory.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/udp_flow.hpp"
#include "tracer/reliable/sender.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <thread>
#include <utility>

namespace host::collector {

namespace reliable_sessions_test {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;

struct Watch : Observer {
    void closed(const SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> /*error*/) override {
        last = manifest;
        last_directory = std::filesystem::path(session.directory).filename();
        ++closings;
    }

    // Only the first chunk is waited for.
    void sealed(const SessionView& /*session*/, const formats::dat::ManifestChunk& /*chunk*/) override {
        stop = sealed_stops ? 1 : stop;
    }

    void refused(std::string_view why) override {
        refusal = why;
        is_refused = true;
    }

    formats::dat::Manifest last;
    std::string last_directory;
    std::string refusal;
    bool sealed_stops = true;
    std::atomic<int> closings = 0;
    std::atomic<bool> is_refused = false;
    std::atomic<bool> is_over = false;
    volatile std::sig_atomic_t stop = 0;
};

class Acknowledged : public testing::Test {
  protected:
    static constexpr std::uint16_t kChunks = 4;

    Acknowledged() {
        EXPECT_TRUE(m_socket.bind({INADDR_LOOPBACK, 0}).ok());
        for (std::uint16_t number = 0; number < kChunks; ++number) {
            ChunkBuilder builder(number);
            builder.name("task", 12, "sensor").build("control", 42);
            for (std::uint16_t i = 0; i < 1'000; ++i) {
                builder.event(1'000 + std::uint64_t{number} * 100'000 + i, "ipoint", i);
            }
            m_chunks.push_back(builder.bytes());
            m_begins.push_back(builder.description());
        }
    }

    // Carries every chunk and the totals, as the exporter would; ends when the collector has all of it, or with
    // `false`.
    bool send(const std::function<void(std::uint16_t chunk)>& before = [](std::uint16_t) {}) {
        support::UdpFlow flow(m_socket.local().port);
        tracer::reliable::ReliableSink sink(flow, {});
        sink.set_patience(lib::milliseconds(60'000));
        const auto carry = [&sink] {
            while (sink.state() == tracer::SinkState::busy) {
                static_cast<void>(sink.step());
                std::this_thread::yield();
            }
            return sink.state() == tracer::SinkState::idle;
        };
        for (std::uint16_t i = 0; i < kChunks; ++i) {
            before(i);
            tracer::ChunkImage image;
            image.description = m_begins[i];
            image.parts[0] = m_chunks[i];
            if (!sink.submit(image) || !carry()) {
                return false;
            }
        }
        return sink.finish({kChunks, tracer::RunResult::completed, 1'000U * kChunks, 0, 0, 0}).ok() && carry() &&
               sink.counters().lost == 0;
    }

    SessionTable::Outcome collect(OldSession old, bool stop_early) {
        m_watch.stop = 0;
        m_options.stop = stop_early ? &m_watch.stop : nullptr;
        const auto directory = SessionDirectory::open(m_path, old);
        EXPECT_TRUE(directory.ok());
        m_options.directory = directory.value();
        Collector collector(m_socket, std::exchange(m_options, {.timeout = std::chrono::milliseconds(60'000)}),
                            m_watch);
        return collector.run();
    }

    // HELLO and HELLO with its cookie, of a machine that then sends nothing.
    void greet(support::UdpFlow& flow) {
        namespace wire = tracer::reliable;
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        wire::Hello hello;
        for (int i = 0; i < 2; ++i) {
            wire::encode_body(hello, std::span(packet).subspan(wire::kHeaderBytes));
            wire::encode({.type = wire::PacketType::hello, .session = 0x5712A, .stamp = 1}, nullptr, packet,
                         wire::Covers::header);
            ASSERT_TRUE(flow.send(packet).ok());
            Bytes answer(packet.size());
            while (!flow.receive(answer).ok()) {
                std::this_thread::yield();
            }
            hello.cookie = wire::decode_body<wire::HelloAck>(answer).cookie;
        }
    }

    void expect_complete() const {
        EXPECT_TRUE(m_watch.last.complete) << m_watch.last.reason;
        ASSERT_EQ(m_watch.last.chunks.size(), kChunks);
        for (std::uint16_t i = 0; i < kChunks; ++i) {
            const std::string file = support::read_text(m_path + '/' + std::to_string(i) + "trace.dat");
            EXPECT_EQ(file, std::string(reinterpret_cast<const char*>(m_chunks[i].data()), m_chunks[i].size()));
        }
        EXPECT_FALSE(std::filesystem::exists(m_path + ".journal")) << "the journal of a session that has ended";
    }

    UdpSocket m_socket;
    CollectOptions m_options{.timeout = std::chrono::milliseconds(60'000)};
    Watch m_watch;
    TemporaryDirectory m_directory;
    std::string m_path = m_directory / "run";
    std::vector<Bytes> m_chunks;
    std::vector<tracer::ChunkBegin> m_begins;
};

TEST_F(Acknowledged, LeavesWhatAPlainSenderWouldHaveLeft) {
    bool sent = false;
    std::thread sender([&] { sent = send(); });
    const auto outcome = collect(OldSession::keep, false);
    sender.join();
    EXPECT_TRUE(sent) << "the last answer did not come";
    EXPECT_FALSE(outcome.error);
    EXPECT_EQ(outcome.complete, 1U);
    expect_complete();
}

TEST_F(Acknowledged, ContinuesWithAnotherCollector) {
    bool sent = false;
    std::thread sender([&] { sent = send(); });
    EXPECT_EQ(collect(OldSession::keep, true).complete, 0U);
    EXPECT_TRUE(std::filesystem::exists(m_path + ".journal"));
    EXPECT_TRUE(ReliableSessions::can_continue(m_path)) << "the command does so by itself";
    const auto outcome = collect(OldSession::replace, false);
    sender.join();
    EXPECT_TRUE(sent);
    EXPECT_EQ(outcome.complete, 1U);
    expect_complete();
    EXPECT_FALSE(ReliableSessions::can_continue(m_path));
}

// The sender is kept waiting; the command ends with exit status 4.
TEST_F(Acknowledged, ReportsADiskThatIsFull) {
    bool sent = true;
    std::thread sender([&] {
        support::UdpFlow flow(m_socket.local().port);
        tracer::reliable::ReliableSink sink(flow, {});
        tracer::ChunkImage image;
        image.description = m_begins[0];
        image.parts[0] = m_chunks[0];
        ASSERT_TRUE(sink.submit(image).ok());
        while (!m_watch.is_over) {
            static_cast<void>(sink.step());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        sent = sink.state() != tracer::SinkState::busy;
    });
    const auto directory = SessionDirectory::open(m_path, OldSession::keep);
    ASSERT_TRUE(directory.ok());
    Collector collector(m_socket,
                        {.directory = directory.value(),
                         .serve = {},
                         .limits = {.session_bytes = 4'000},
                         .idle_timeout = {},
                         .timeout = std::chrono::milliseconds(3'000),
                         .stop = nullptr,
                         .key = {}},
                        m_watch);
    EXPECT_EQ(collector.run().error, lib::Error::no_space);
    m_watch.is_over = true;
    sender.join();
    EXPECT_FALSE(sent) << "the chunk is kept";
    EXPECT_TRUE(m_watch.refusal.ends_with("cut off by a limit: a session has at most 4000 bytes (--session-bytes)"))
        << m_watch.refusal;
}

// Files that the journal does not hold would be gone.
TEST_F(Acknowledged, ContinuesNoSessionOfAnotherBoot) {
    bool sent = false;
    std::thread sender([&] { sent = send(); });
    EXPECT_EQ(collect(OldSession::keep, true).complete, 0U);
    const std::string other = m_path + "/9trace.dat";
    ChunkBuilder builder(0);
    builder.begin.boot_id = 99;
    builder.event(1'000, "ipoint", 1);
    const Bytes bytes = builder.bytes();
    std::ofstream(other, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    EXPECT_FALSE(ReliableSessions::can_continue(m_path));
    std::filesystem::remove(other);
    EXPECT_TRUE(ReliableSessions::can_continue(m_path));
    std::filesystem::copy_file(std::filesystem::directory_iterator(m_path + ".journal")->path(),
                               m_path + ".journal/second.journal");
    EXPECT_TRUE(ReliableSessions::can_continue(m_path)) << "nothing is lost, whichever of the two continues";
    std::filesystem::remove(m_path + ".journal/second.journal");
    EXPECT_EQ(collect(OldSession::replace, false).complete, 1U);
    sender.join();
    EXPECT_TRUE(sent);
}

// Only a machine whose trace comes owns the session of `record --out`.
TEST_F(Acknowledged, AMachineThatOnlyGreetsTakesNothingFromAnother) {
    bool sent = false;
    std::thread sender([&] {
        support::UdpFlow stranger(m_socket.local().port);
        greet(stranger);
        sent = send();
    });
    const auto outcome = collect(OldSession::keep, false);
    sender.join();
    EXPECT_TRUE(sent);
    EXPECT_EQ(outcome.complete, 1U);
    expect_complete();
}

// The session ends for silence; when the machine continues, all of it makes another one.
TEST_F(Acknowledged, AMachineThatPausesLosesNothing) {
    const auto root = SessionDirectory::open(m_path, OldSession::leave);
    m_options = {.serve = root.value(),
                 .limits = {.sessions = 2},
                 .idle_timeout = std::chrono::milliseconds(50),
                 .stop = &m_watch.stop};
    bool sent = false;
    std::thread sender([&] {
        sent = send([this](std::uint16_t chunk) {
            while (chunk == 2 && m_watch.closings == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        m_watch.stop = 1;
    });
    m_watch.sealed_stops = false;
    Collector collector(m_socket, std::exchange(m_options, {}), m_watch);
    const auto outcome = collector.run();
    sender.join();
    EXPECT_TRUE(sent);
    EXPECT_EQ(outcome.complete, 1U);
    m_path += "/" + m_watch.last_directory;
    expect_complete();

    EXPECT_FALSE(std::filesystem::exists(m_directory / "run.journal"));
}

// A collector was killed when the sender had everything acknowledged, and the session was not written yet.
TEST_F(Acknowledged, WritesWhatAnEarlierCollectorHadAcknowledged) {
    Bytes stream;
    for (const Bytes& chunk : m_chunks) {
        stream.insert(stream.end(), chunk.begin(), chunk.end());
    }
    const Bytes end = support::export_end({kChunks, tracer::RunResult::completed, 1'000U * kChunks, 0, 0, 0});
    stream.insert(stream.end(), end.begin(), end.end());
    std::filesystem::create_directory(m_path + ".journal");
    {
        reliable::FileStores files(m_path + ".journal");
        const auto store = files.open({0x7F00'0001, 4000}, 0xAB);
        reliable::Mark mark{.bytes = stream.size(), .crc32c = lib::crc32c(stream), .ended = true};
        for (std::size_t at = 0; at < stream.size(); at += tracer::reliable::kBodyBytesMax, ++mark.packets) {
            const std::size_t size = std::min(tracer::reliable::kBodyBytesMax, stream.size() - at);
            ASSERT_TRUE(store->append(0, std::span(stream).subspan(at, size)));
        }
        ASSERT_TRUE(store->sync(0, mark));
    }
    std::filesystem::copy(m_path + ".journal", m_directory / "kept.journal");
    EXPECT_EQ(collect(OldSession::keep, false).complete, 1U);
    expect_complete();
    std::filesystem::rename(m_directory / "kept.journal", m_path + ".journal");
    m_options.force = true;
    bool sent = false;
    std::thread sender([&] { sent = send(); });
    EXPECT_EQ(collect(OldSession::replace, false).complete, 2U) << "the one in the journal is beside the run";
    sender.join();
    EXPECT_TRUE(sent) << "another run was recorded, not the one in the journal";
    expect_complete();
}

TEST_F(Acknowledged, SaysThatAKeyIsAnotherOne) {
    m_options.key = tracer::reliable::SipKey{1, 2};
    std::thread sender([&] {
        support::UdpFlow flow(m_socket.local().port);
        Bytes packet(tracer::reliable::kHeaderBytes + tracer::reliable::kControlBytes);
        tracer::reliable::encode({.type = tracer::reliable::PacketType::hello, .session = 1}, nullptr, packet);
        while (!m_watch.is_refused) {
            ASSERT_TRUE(flow.send(packet).ok());
            std::this_thread::yield();
        }
        m_watch.stop = 1;
    });
    EXPECT_EQ(collect(OldSession::keep, true).complete, 0U);
    sender.join();
    EXPECT_NE(m_watch.refusal.find("not authentic"), std::string::npos) << m_watch.refusal;
    EXPECT_GT(m_watch.last.transfer.value().malformed, 0U);
}

TEST_F(Acknowledged, SaysWhereItCannotJournal) {
    { const std::ofstream taken(m_path + ".journal"); }
    bool sent = true;
    std::thread sender([&] {
        support::UdpFlow flow(m_socket.local().port);
        tracer::reliable::ReliableSink sink(flow, {});
        tracer::ChunkImage image;
        image.description = m_begins[0];
        image.parts[0] = m_chunks[0];
        ASSERT_TRUE(sink.submit(image).ok());
        while (!m_watch.is_refused) {
            static_cast<void>(sink.step());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        sent = sink.state() != tracer::SinkState::busy;
        m_watch.stop = 1;
    });
    EXPECT_EQ(collect(OldSession::keep, true).complete, 0U);
    sender.join();
    EXPECT_FALSE(sent) << "the chunk is kept";
    EXPECT_NE(m_watch.refusal.find(".journal"), std::string::npos);
}

// --- without a socket ---------------------------------------------------------------------------------------------

constexpr Address kMachine{INADDR_LOOPBACK, 10'000};

// The sender's network is the receiver itself.
struct Direct final : tracer::reliable::DatagramPeer {
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        sessions->take(datagram, kMachine);
        return {};
    }

    [[nodiscard]] lib::Result<void> poll() override { return {}; }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override { return time = time + lib::milliseconds(10); }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        if (inbox.empty()) {
            return lib::Error::not_found;
        }
        const Bytes datagram = std::exchange(inbox, {});
        std::ranges::copy(datagram, out.begin());
        return datagram.size();
    }

    ReliableSessions* sessions = nullptr;
    Bytes inbox; // an answer to each packet at most
    lib::Nanoseconds time = lib::milliseconds(1);
};

class Journals : public testing::Test {
  protected:
    std::unique_ptr<ReliableSessions> open(std::uint64_t total_bytes) {
        auto sessions = std::make_unique<ReliableSessions>(
            ReliableSessions::Options{
                .journals = m_path, .limits = {.total_bytes = total_bytes}, .key = {}, .forget_after = {}},
            ReliableSessions::Calls{
                .deliver =
                    [this](const Address&, std::uint32_t, std::span<const std::byte> records) {
                        m_delivered += records.size();
                        return true;
                    },
                .send = [this](const Address&,
                               std::span<const std::byte> reply) { m_peer.inbox.assign(reply.begin(), reply.end()); },
                .refuse = [this](const std::string& why) { m_refused.push_back(why); },
                .stray = {},
                .settled = [this](const Address&) { return m_settled; }},
            m_usage);
        m_peer.sessions = sessions.get();
        return sessions;
    }

    // A chunk of so many bytes.
    tracer::SinkState carry(tracer::reliable::ReliableSink& sink, std::size_t bytes) {
        m_memory.resize(bytes);
        tracer::ChunkImage image;
        image.parts[0] = m_memory;
        image.description.boot_id = 5;
        EXPECT_TRUE(sink.submit(image).ok());
        return step(sink);
    }

    static tracer::SinkState step(tracer::reliable::ReliableSink& sink) {
        for (int i = 0; i < 200 && sink.state() == tracer::SinkState::busy; ++i) {
            static_cast<void>(sink.step());
        }
        return sink.state();
    }

    [[nodiscard]] std::uint64_t bytes_on_disk() const {
        std::uint64_t bytes = 0;
        for (const auto& file : std::filesystem::directory_iterator(m_path)) {
            bytes += file.file_size();
        }
        return bytes;
    }

    TemporaryDirectory m_directory;
    std::string m_path = m_directory / "serve.journal";
    Usage m_usage;
    Direct m_peer;
    Bytes m_memory;
    std::size_t m_delivered = 0;
    bool m_settled = false;
    std::vector<std::string> m_refused;
};

TEST_F(Journals, CountForTheDiskAndGoWhenTheirSessionIsOnIt) {
    auto sessions = open(1U << 20U);
    tracer::reliable::ReliableSink sink(m_peer, {});
    EXPECT_EQ(carry(sink, 10'000 * tracer::kRecordBytes), tracer::SinkState::idle);
    EXPECT_EQ(m_delivered, 10'000 * tracer::kRecordBytes);
    EXPECT_GT(m_usage.bytes, m_delivered);
    EXPECT_EQ(m_usage.bytes, bytes_on_disk());
    sessions->tick();
    EXPECT_EQ(m_usage.bytes, bytes_on_disk()) << "a session that has not ended";

    m_usage.bytes = 0; // the next collector finds them
    sessions.reset();
    sessions = open(1U << 20U);
    EXPECT_EQ(m_usage.bytes, bytes_on_disk());
    ASSERT_TRUE(sink.finish({.chunks = 1}).ok());
    EXPECT_EQ(step(sink), tracer::SinkState::idle);
    sessions->tick();
    EXPECT_EQ(m_usage.bytes, bytes_on_disk());
    EXPECT_GT(m_usage.bytes, 0U) << "the session's own files are not on the disk yet";
    m_settled = true;
    sessions->tick();
    EXPECT_EQ(bytes_on_disk(), 0U);
    EXPECT_EQ(m_usage.bytes, 0U);
}

TEST_F(Journals, TakeNoMoreThanAllSessionsTogetherMay) {
    const auto sessions = open(40'000);
    m_usage.bytes = 20'000; // by others
    tracer::reliable::ReliableSink sink(m_peer, {});
    EXPECT_EQ(carry(sink, 30'000 / 16 * 16), tracer::SinkState::busy);
    EXPECT_TRUE(sessions->disk_full());
    EXPECT_LE(m_usage.bytes, 40'000U);
    EXPECT_EQ(m_refused, std::vector<std::string>{"cut off by a limit: all sessions together have at most 40000 bytes "
                                                  "(--total-bytes)"});
    m_usage.bytes = 0;
    for (int i = 0; i < 100 && sink.state() == tracer::SinkState::busy; ++i) {
        static_cast<void>(step(sink));
    }
    EXPECT_EQ(sink.state(), tracer::SinkState::idle);
}

} // namespace reliable_sessions_test

} // namespace host::collector
