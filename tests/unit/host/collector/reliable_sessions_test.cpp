// SPDX-License-Identifier: MIT
// Acknowledged packets through the whole collector, over a real UDP socket: the session has what a sender of version 1
// would have left, and a collector that is stopped and started again continues.
#include "host/collector/reliable_sessions.hpp"

#include "host/collector/collector.hpp"
#include "host/collector/session_directory.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/udp_flow.hpp"
#include "tracer/reliable/sender.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <thread>

namespace host::collector {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;

struct Watch : Observer {
    void closed(const SessionView& /*session*/, formats::dat::Manifest& manifest,
                std::optional<lib::Error> /*error*/) override {
        last = manifest;
    }

    // Only the first chunk is waited for.
    void sealed(const SessionView& /*session*/, const formats::dat::ManifestChunk& /*chunk*/) override { stop = 1; }

    void refused(std::string_view why) override {
        refusal = why;
        is_refused = true;
    }

    formats::dat::Manifest last;
    std::string refusal;
    std::atomic<bool> is_refused = false;
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
    bool send() {
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
        const auto directory = SessionDirectory::open(m_path, old);
        EXPECT_TRUE(directory.ok());
        Collector collector(m_socket,
                            {.directory = directory.value(),
                             .serve = {},
                             .limits = {},
                             .idle_timeout = {},
                             .timeout = std::chrono::milliseconds(60'000),
                             .stop = stop_early ? &m_watch.stop : nullptr},
                            m_watch);
        return collector.run();
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
    const auto outcome = collect(OldSession::replace, false);
    sender.join();
    EXPECT_TRUE(sent);
    EXPECT_EQ(outcome.complete, 1U);
    expect_complete();
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

} // namespace

} // namespace host::collector
