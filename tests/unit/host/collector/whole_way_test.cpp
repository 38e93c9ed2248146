// SPDX-License-Identifier: MIT
// Tests all from a machine's sender to the sessions' files, over a virtual network and clock and a real disk: whatever
// the network loses, wherever collectors are killed, machines pause or are reset, a run whose sender had everything
// acknowledged is on the disk whole, and no file joins two runs. A failure prints --gtest_filter=... SEED=n.
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/served_collector.hpp"
#include "tracer/reliable/sender.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <gtest/gtest.h>
#include <random>

namespace host::collector {

namespace whole_way_test {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
namespace filesystem = std::filesystem;

using served_collector::Served;
using served_collector::virtual_time;

constexpr Address kMachine{0x7F00'0001, 10'000};
constexpr std::uint64_t kSeeds = 50;

struct Run {
    std::uint64_t boot_id = 0;
    std::vector<Bytes> chunks;
    std::vector<tracer::ChunkBegin> begins;
};

class WholeWay final : private tracer::reliable::DatagramPeer {
  public:
    explicit WholeWay(std::uint64_t seed)
        : m_random(seed) {
        virtual_time = lib::milliseconds(1'000);
        m_loss = pick(4) == 0 ? 0 : pick(30);
        m_is_forged = pick(2) == 0;
        restart();
    }

    void play() {
        const std::uint64_t runs = 1 + pick(2);
        for (std::uint64_t run = 1; run <= runs; ++run) {
            // An instruction clock gives two boots one id.
            m_runs.push_back(make(pick(3) == 0 ? 1 : run, run));
            const bool whole = run == runs;
            send(m_runs.back(), whole ? m_runs.back().chunks.size() : 1 + pick(2));
        }
        m_collector->stop();
        m_collector.reset();
        expect_no_mixture();
        expect_whole(m_runs.back());
    }

  private:
    std::uint64_t pick(std::uint64_t below) {
        return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(m_random);
    }

    [[nodiscard]] bool lost() { return pick(100) < m_loss; }

    void restart() {
        m_collector.reset();
        // Of two sessions, one of which silent, that one is closed; more leave room for a forger's.
        m_collector = std::make_unique<Served>(m_path, Served::Options{.limits = {.sessions = m_is_forged ? 8U : 2U}},
                                               [this](const Address&, std::span<const std::byte> reply) {
                                                   if (!lost()) {
                                                       m_answers.emplace_back(reply.begin(), reply.end());
                                                   }
                                               });
    }

    Run make(std::uint64_t boot_id, std::uint64_t salt) {
        Run run{.boot_id = boot_id};
        const std::uint64_t chunks = 2 + pick(3);
        for (std::uint16_t number = 0; number < chunks; ++number) {
            ChunkBuilder builder(number);
            builder.begin.boot_id = boot_id;
            builder.name("task", 12, "sensor").build("control", boot_id);
            const std::uint64_t events = 100 + pick(400);
            for (std::uint32_t i = 0; i < events; ++i) {
                builder.event(1'000 + std::uint64_t{number} * 100'000 + i, "ipoint", static_cast<std::uint16_t>(salt),
                              i);
            }
            run.chunks.push_back(builder.bytes());
            run.begins.push_back(builder.description());
        }
        return run;
    }

    // What else happens while a machine sends.
    void disturb() {
        switch (pick(400)) {
        case 0:
            restart();
            break;
        case 1: // longer than the idle limit; at the end of a run nothing else is done than sending
            virtual_time = virtual_time + lib::milliseconds(m_finishing ? 0 : 61'000);
            m_collector->tick();
            break;
        case 2: // another machine in its name
            if (m_is_forged) {
                const auto forged = support::packets(make(9, 9).chunks.front(), m_forged);
                m_collector->take_plain(kMachine, m_forged,
                                        std::span(forged.back()).subspan(tracer::kPacketHeaderBytes));
            }
            break;
        default:
            break;
        }
    }

    void send(const Run& run, std::size_t chunks) {
        tracer::reliable::ReliableSink sink(*this, {});
        sink.set_patience(lib::milliseconds(1'000'000));
        const auto carry = [&] {
            for (int i = 0; i < 1'000'000 && sink.state() == tracer::SinkState::busy; ++i) {
                static_cast<void>(sink.step());
                virtual_time = virtual_time + lib::milliseconds(1);
                m_collector->tick();
                disturb();
            }
            ASSERT_EQ(sink.state(), tracer::SinkState::idle);
        };
        tracer::ExportEnd totals{.chunks = static_cast<std::uint32_t>(run.chunks.size()),
                                 .result = tracer::RunResult::completed};
        for (std::size_t i = 0; i < chunks; ++i) {
            tracer::ChunkImage image;
            image.description = run.begins[i];
            image.parts[0] = run.chunks[i];
            ASSERT_TRUE(sink.submit(image).ok());
            ASSERT_NO_FATAL_FAILURE(carry());
        }
        if (chunks == run.chunks.size()) {
            for (const tracer::ChunkBegin& begin : run.begins) {
                totals.records += begin.records;
            }
            ASSERT_TRUE(sink.finish(totals).ok());
            m_finishing = true;
            ASSERT_NO_FATAL_FAILURE(carry());
            ASSERT_EQ(sink.counters().lost, 0U);
        }
    }

    [[nodiscard]] static std::string text(const Bytes& bytes) {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    [[nodiscard]] std::vector<filesystem::path> directories() const {
        std::vector<filesystem::path> all;
        for (const auto& entry : filesystem::directory_iterator(m_path)) {
            if (entry.is_directory()) {
                all.push_back(entry.path());
            }
        }
        return all;
    }

    // Every file is the beginning of one chunk, and all chunks of a directory are of one run.
    void expect_no_mixture() const {
        for (const filesystem::path& directory : directories()) {
            const bool of_one = std::ranges::any_of(m_runs, [&directory](const Run& run) {
                for (std::size_t i = 0; i < run.chunks.size(); ++i) {
                    const filesystem::path file = directory / (std::to_string(i) + "trace.dat");
                    if (filesystem::exists(file) && !text(run.chunks[i]).starts_with(support::read_text(file))) {
                        return false;
                    }
                }
                return true;
            });
            EXPECT_TRUE(of_one || is_forged(directory)) << directory;
        }
    }

    [[nodiscard]] static bool is_forged(const filesystem::path& directory) {
        const std::string name = directory.filename();
        return name.starts_with("0000000000000009") || name.starts_with("0000000000000000");
    }

    void expect_whole(const Run& run) const {
        const bool found = std::ranges::any_of(directories(), [&run](const filesystem::path& directory) {
            const auto manifest = formats::dat::load_manifest(directory);
            if (!manifest || !manifest.value().complete || manifest.value().chunks.size() != run.chunks.size()) {
                return false;
            }
            for (std::size_t i = 0; i < run.chunks.size(); ++i) {
                if (support::read_text(directory / (std::to_string(i) + "trace.dat")) != text(run.chunks[i])) {
                    return false;
                }
            }
            return true;
        });
        EXPECT_TRUE(found) << "what was acknowledged is in no session";
    }

    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        const std::uint64_t copies = lost() ? 0 : 1 + (pick(20) == 0 ? 1U : 0U);
        for (std::uint64_t i = 0; i < copies; ++i) {
            m_collector->take(kMachine, datagram);
        }
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

    std::mt19937_64 m_random;
    std::uint64_t m_loss = 0; // of 100
    TemporaryDirectory m_directory;
    std::string m_path = m_directory / "all";
    std::unique_ptr<Served> m_collector;
    std::deque<Bytes> m_answers;
    std::vector<Run> m_runs;
    std::uint32_t m_forged = 1;
    bool m_is_forged = false;
    bool m_finishing = false;
};

TEST(WholeWayToTheDisk, WhatWasAcknowledgedIsInASession) {
    const char* const one = std::getenv("SEED");
    const std::uint64_t first = one != nullptr ? std::strtoull(one, nullptr, 10) : 1;
    for (std::uint64_t seed = first; seed < (one != nullptr ? first + 1 : first + kSeeds); ++seed) {
        SCOPED_TRACE("SEED=" + std::to_string(seed));
        WholeWay(seed).play();
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

} // namespace whole_way_test

} // namespace host::collector
