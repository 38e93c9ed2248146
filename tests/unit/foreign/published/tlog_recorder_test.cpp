// SPDX-License-Identifier: MIT
// Tests recording of tlog files: several nodes as threads of this program, each with a clock of its own, connected by
// socket pairs; what they write is read by the library and by the reader of traces.
#include "foreign/published/tlog_recorder.hpp"

#include "foreign/published/tlog.h"
#include "foreign/published/tlog_event.h"
#include "tests/support/reading_test.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <sys/socket.h>
#include <thread>

namespace host::compat {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The time that all clocks share, apart from their offsets: it advances by a second with each reading.
class Truth {
  public:
    [[nodiscard]] TlogRecorder::Clock with_offset(double seconds) {
        return [this, seconds] { return static_cast<double>(++m_readings) + seconds; };
    }

  private:
    std::atomic<int> m_readings = 0;
};

class TlogRecording : public support::ReadingTest {
  protected:
    // Nodes with clocks that differ by 1000 s from one to the next.
    void create(std::size_t nodes) {
        TlogPeers root;
        std::vector<TlogPeers> others;
        for (std::size_t node = 1; node < nodes; ++node) {
            std::array<int, 2> ends{};
            ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
            root.links.emplace_back(ends[0]);
            others.push_back({.node = static_cast<std::uint16_t>(node), .links = {}});
            others.back().links.emplace_back(ends[1]);
        }
        m_nodes.push_back(std::make_unique<TlogRecorder>(m_truth.with_offset(0), std::move(root)));
        for (std::size_t node = 1; node < nodes; ++node) {
            m_nodes.push_back(std::make_unique<TlogRecorder>(m_truth.with_offset(1000.0 * static_cast<double>(node)),
                                                             std::move(others[node - 1])));
        }
    }

    // Calls step(node) of all nodes at a time.
    void together(const std::function<void(TlogRecorder&)>& step) {
        std::vector<std::jthread> threads;
        for (const auto& node : m_nodes) {
            threads.emplace_back([&step, &node] { step(*node); });
        }
    }

    void start(std::size_t nodes) {
        create(nodes);
        together([](TlogRecorder& node) { EXPECT_TRUE(node.start()) << tlog_last_error(); });
    }

    // As the readers that are published have it.
    [[nodiscard]] std::vector<int> types_of(tlog_exec_profile* profile, int node) const {
        std::vector<int> types;
        for (int i = 0; i < tlog_get_N_events(profile, node); ++i) {
            EXPECT_EQ(tlog_get_event(profile, node, i)->proc_id, node);
            types.push_back(tlog_get_event(profile, node, i)->log_type);
        }
        return types;
    }

    // The events that the reader of traces finds, if it has nothing to report.
    std::size_t read_file() {
        std::ifstream file(m_file, std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        const auto view = std::as_bytes(std::span(bytes));
        const std::size_t events = read({view.begin(), view.end()});
        EXPECT_EQ(m_lines, "");
        return events;
    }

    Truth m_truth;
    std::vector<std::unique_ptr<TlogRecorder>> m_nodes;
    std::string m_file = m_directory / "trace.log";
};

TEST_F(TlogRecording, TheClocksOfAllNodesAreThatOfNodeZero) {
    start(4);
    const double first = m_nodes[0]->seconds();
    for (std::size_t node = 1; node < m_nodes.size(); ++node) {
        EXPECT_EQ(m_nodes[node]->seconds(), first + static_cast<double>(node)) << node;
    }
}

TEST_F(TlogRecording, WhatIsWrittenIsReadBack) {
    start(3);
    for (const auto& node : m_nodes) {
        ASSERT_TRUE(node->log(TLOG_EVENT_2_IN));
        ASSERT_TRUE(node->log(TLOG_EVENT_2_OUT));
    }
    for (int i = 0; i < 100; ++i) { // more than a block
        ASSERT_TRUE(m_nodes[1]->log(TLOG_EVENT_9));
    }
    together([this](TlogRecorder& node) { EXPECT_TRUE(node.finish(m_file.c_str())) << tlog_last_error(); });
    tlog_exec_profile* const profile = tlog_read_file(m_file.data(), 3);
    ASSERT_NE(profile, nullptr) << tlog_last_error();
    EXPECT_THAT(types_of(profile, 0), ElementsAre(TLOG_START, TLOG_EVENT_2_IN, TLOG_EVENT_2_OUT, TLOG_END));
    EXPECT_EQ(types_of(profile, 1).size(), 104U);
    EXPECT_THAT(types_of(profile, 2), ElementsAre(TLOG_START, TLOG_EVENT_2_IN, TLOG_EVENT_2_OUT, TLOG_END));
    // One reading of the clock each, one after the other.
    for (int node = 1; node < 3; ++node) {
        EXPECT_EQ(tlog_get_event(profile, node, 1)->time_stamp, tlog_get_event(profile, node - 1, 1)->time_stamp + 2);
    }
    tlog_close(profile);
    EXPECT_EQ(read_file(), 4U + 104 + 4);
}

TEST_F(TlogRecording, ANodeThatIsGoneIsReportedAndTheOthersAreWritten) {
    start(3);
    m_nodes.erase(m_nodes.begin() + 1);
    together([this](TlogRecorder& node) {
        const bool is_root = &node == m_nodes.front().get();
        EXPECT_EQ(node.finish(m_file.c_str()), !is_root);
        if (is_root) {
            EXPECT_THAT(tlog_last_error(), HasSubstr("node 1 ended before tlog_finalize"));
        }
    });
    EXPECT_EQ(read_file(), 4U);
}

TEST_F(TlogRecording, ANodeThatEndsWhileClocksAreAdjustedEndsThatOfTheOthers) {
    create(2);
    m_nodes.pop_back();
    EXPECT_FALSE(m_nodes.front()->start());
    EXPECT_THAT(tlog_last_error(), HasSubstr("ended while the clocks were adjusted"));
}

TEST_F(TlogRecording, AFileThatCannotBeWrittenIsReported) {
    start(1);
    EXPECT_FALSE(m_nodes.front()->finish("/nowhere/trace.log"));
    EXPECT_THAT(tlog_last_error(), HasSubstr("/nowhere/trace.log: No such file"));
    EXPECT_FALSE(m_nodes.front()->finish("/dev/full"));
    EXPECT_THAT(tlog_last_error(), HasSubstr("No space left"));
}

TEST_F(TlogRecording, OnlyTypesOfEventsAreRecorded) {
    start(1);
    for (const int type : {-1, 0, 1, 2, 9, 40, 127, 128, 266, 1 << 16}) {
        EXPECT_FALSE(m_nodes.front()->log(type)) << type;
        EXPECT_THAT(tlog_last_error(), HasSubstr("is no type of an event"));
    }
    for (int type = 10; type < 40; ++type) {
        EXPECT_TRUE(m_nodes.front()->log(type)) << type;
    }
}

class TlogCalls : public support::ReadingTest {
  protected:
    TlogCalls() { setenv("TLOG_FILE", m_file.c_str(), 1); }

    ~TlogCalls() override {
        for (const char* const name : {"TLOG_FILE", "TLOG_NODE", "TLOG_NODES", "TLOG_ROOT"}) {
            unsetenv(name);
        }
    }

    // That tlog_initialize fails with this text.
    static void expect_refused(const std::string& text) {
        EXPECT_EQ(tlog_initialize(), -1);
        EXPECT_THAT(tlog_last_error(), HasSubstr(text));
    }

    std::string m_file = m_directory / "trace.log";
};

TEST_F(TlogCalls, RecordOneProcess) {
    ASSERT_EQ(tlog_initialize(), 0) << tlog_last_error();
    EXPECT_EQ(tlog_log(TLOG_EVENT_1), 0);
    EXPECT_EQ(tlog_finalize(), 0) << tlog_last_error();
    tlog_exec_profile* const profile = tlog_read_file(m_file.data(), 1);
    ASSERT_NE(profile, nullptr) << tlog_last_error();
    EXPECT_EQ(tlog_get_N_events(profile, 0), 3);
    EXPECT_EQ(tlog_get_event(profile, 0, 1)->log_type, TLOG_EVENT_1);
    tlog_close(profile);
}

// The file that the program names counts; what was flushed is there although the recording has not ended.
TEST_F(TlogCalls, RecordArgumentsIntoTheNamedFile) {
    std::string named = m_directory / "named.log";
    ASSERT_EQ(tlog_log_filename(named.data()), 0);
    ASSERT_EQ(tlog_initialize(), 0) << tlog_last_error();
    EXPECT_EQ(tlog_log2(TLOG_EVENT_2, -7), 0);
    EXPECT_EQ(tlog_flush(), 0) << tlog_last_error();
    EXPECT_EQ(tlog_log2(40, 1), -1);
    const auto events = [&named] {
        tlog_exec_profile* const profile = tlog_read_file(named.data(), 1);
        EXPECT_NE(profile, nullptr) << tlog_last_error();
        EXPECT_EQ(tlog_get_event(profile, 0, 1)->log_type, TLOG_EVENT_2);
        EXPECT_EQ(tlog_get_event(profile, 0, 1)->arg2, -7);
        const int count = tlog_get_N_events(profile, 0);
        tlog_close(profile);
        return count;
    };
    EXPECT_EQ(events(), 2);
    EXPECT_EQ(tlog_finalize(), 0) << tlog_last_error();
    EXPECT_EQ(events(), 3);
    EXPECT_EQ(std::fopen(m_file.c_str(), "rb"), nullptr) << "TLOG_FILE";
    EXPECT_EQ(tlog_log_filename(nullptr), -1);
}

TEST_F(TlogCalls, OutOfOrderAreErrors) {
    EXPECT_EQ(tlog_flush(), -1);
    EXPECT_EQ(tlog_log2(TLOG_EVENT_1, 1), -1);
    EXPECT_EQ(tlog_log(TLOG_EVENT_1), -1);
    EXPECT_THAT(tlog_last_error(), HasSubstr("without tlog_initialize"));
    EXPECT_EQ(tlog_finalize(), -1);
    ASSERT_EQ(tlog_initialize(), 0);
    expect_refused("was called before");
    EXPECT_EQ(tlog_finalize(), 0);
}

TEST_F(TlogCalls, RefuseAnEnvironmentThatMakesNoSense) {
    setenv("TLOG_NODES", "0", 1);
    expect_refused("TLOG_NODES is \"0\"");
    setenv("TLOG_NODES", "two", 1);
    expect_refused("a number from 1 to 65535 is expected");
    setenv("TLOG_NODES", "2", 1);
    expect_refused("TLOG_NODE is \"\"");
    setenv("TLOG_NODE", "2", 1);
    expect_refused("a number from 0 to 1 is expected");
    setenv("TLOG_NODE", "1", 1);
    expect_refused("TLOG_ROOT is \"\"");
    setenv("TLOG_ROOT", "here", 1);
    expect_refused("as in 127.0.0.1:7001");
    setenv("TLOG_ROOT", "127.0.0.1:70011", 1);
    expect_refused("its port, from 1 to 65535");
}

} // namespace

} // namespace host::compat
