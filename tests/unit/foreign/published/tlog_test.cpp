// SPDX-License-Identifier: MIT
// Tests the published calls, and what they return where the original ends the program or crashes.
#include "foreign/published/tlog_event.h"

#include "foreign/published/tlog.h"
#include "tests/support/host_command.hpp"
#include "tests/support/tlog_files.hpp"

#include <climits>
#include <cmath>
#include <gmock/gmock.h>

namespace host::compat {

namespace {

using support::TlogFile;
using testing::HasSubstr;

class TlogCompat : public testing::Test {
  protected:
    tlog_exec_profile* read(const support::Bytes& bytes, int nodes) {
        std::string path = m_directory.write("trace.log", bytes);
        m_profiles.emplace_back(tlog_read_file(path.data(), nodes), &tlog_close);
        return m_profiles.back().get();
    }

    void expect_error(const support::Bytes& bytes, int nodes, const std::string& text) {
        EXPECT_EQ(read(bytes, nodes), nullptr);
        EXPECT_THAT(tlog_last_error(), HasSubstr(text));
    }

    support::TemporaryDirectory m_directory;
    std::vector<std::unique_ptr<tlog_exec_profile, decltype(&tlog_close)>> m_profiles;
};

TEST_F(TlogCompat, EventsAreInTheByteOrderOfThisMachine) {
    tlog_exec_profile* const profile = read(TlogFile().small_process(0, 0).small_process(256, 3).bytes(), 257);
    ASSERT_NE(profile, nullptr) << tlog_last_error();
    EXPECT_EQ(tlog_get_N_events(profile, 0), 5);
    EXPECT_EQ(tlog_get_N_events(profile, 1), 0);
    EXPECT_EQ(tlog_get_N_events(profile, 256), 5);
    const tlog_exec_event* const event = tlog_get_event(profile, 256, 2);
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->proc_id, 256);
    EXPECT_EQ(event->log_type, TLOG_EVENT_1);
    EXPECT_EQ(event->arg1, 4);
    EXPECT_EQ(event->arg2, -1);
    EXPECT_EQ(event->time_stamp, 3.75);
    EXPECT_EQ(tlog_get_event(profile, 0, 4)->log_type, TLOG_END);
}

TEST_F(TlogCompat, NodesAndIndicesOutOfRangeAreErrors) {
    const auto bytes = TlogFile().small_process(0, 0).small_process(3, 0).bytes();
    expect_error(bytes, 3, "record 64 belongs to node 3, but n_node is 3");
    expect_error(bytes, 0, "n_node is 0");
    expect_error(bytes, -1, "n_node is -1");
    expect_error(bytes, 65'537, "n_node is 65537");
    tlog_exec_profile* const profile = read(bytes, 4);
    ASSERT_NE(profile, nullptr);
    for (const int node : {-1, 4, 5, INT_MAX, INT_MIN}) {
        EXPECT_EQ(tlog_get_N_events(profile, node), -1);
        EXPECT_EQ(tlog_get_event(profile, node, 0), nullptr);
        EXPECT_THAT(tlog_last_error(), HasSubstr("the profile has nodes 0 to 3"));
    }
    for (const int index : {-1, 5, INT_MAX, INT_MIN}) {
        EXPECT_EQ(tlog_get_event(profile, 0, index), nullptr);
    }
    EXPECT_EQ(tlog_get_N_events(nullptr, 0), -1);
    EXPECT_EQ(tlog_get_event(nullptr, 0, 0), nullptr);
    EXPECT_EQ(tlog_read_file(nullptr, 1), nullptr);
    tlog_close(nullptr);
}

TEST_F(TlogCompat, DamagedFilesAreErrors) {
    char nowhere[] = "/nowhere/trace.log";
    EXPECT_EQ(tlog_read_file(nowhere, 1), nullptr);
    EXPECT_THAT(tlog_last_error(), HasSubstr("No such file"));
    char folder[] = "/";
    EXPECT_EQ(tlog_read_file(folder, 1), nullptr);
    expect_error({}, 1, "it is empty");
    expect_error(TlogFile().record(0, 1, 0).bytes(), 1, "its last block has 16 of 1024 bytes");
    expect_error(TlogFile().small_process(0, 0).small_process(1, 0).small_process(0, 9).bytes(), 2,
                 "record 128: node 0 comes again after node 1");
    expect_error(TlogFile().record(0, 1, 2).record(0, 2, 1).pad().bytes(), 1, "record 1: time goes back");
    expect_error(TlogFile().record(0, 1, std::nan("")).pad().bytes(), 1, "record 0 has a time of");
}

TEST_F(TlogCompat, AMillionEventsOfANodeAreRead) {
    TlogFile file;
    constexpr int kEvents = 1'000'000;
    for (int i = 0; i < kEvents; ++i) {
        file.record(0, i == 0 ? 1 : i + 1 < kEvents ? 31 : 2, i * 1e-6, 0, static_cast<std::uint32_t>(i));
    }
    tlog_exec_profile* const profile = read(file.pad().bytes(), 1);
    ASSERT_NE(profile, nullptr) << tlog_last_error();
    EXPECT_EQ(tlog_get_N_events(profile, 0), kEvents);
    EXPECT_EQ(tlog_get_event(profile, 0, kEvents - 1)->arg2, kEvents - 1);
}

TEST_F(TlogCompat, ASampleProgramInOldCCompilesAndPrintsTheFormat) {
    const std::string log = m_directory.write("trace.log", TlogFile().small_process(0, 0).small_process(1, 1).bytes());
    const std::string program = m_directory / "sample";
    const std::string flags = "-std=gnu89 -w -I foreign/published";
    const auto built = test::run_command("gcc -c " + flags + " examples/tlog_sample.c -o " + program +
                                         ".o && g++ -iquote . " + "-std=c++20 " + program +
                                         ".o foreign/published/tlog.cpp lib/assert_hosted.cpp -o " + program);
    ASSERT_EQ(built.exit_code, 0) << built.output;
    EXPECT_EQ(test::run_command(program + " " + log + " 2").output,
              "--- Tlog exec profile dump: proc=0, #data=5\n0:proc_id=0, log_type=1, time=0\n"
              "1:proc_id=0, log_type=10, time=0.5\n2:proc_id=0, log_type=31, time=0.75\n"
              "3:proc_id=0, log_type=11, time=1\n4:proc_id=0, log_type=2, time=2\n"
              "--- Tlog exec profile dump: proc=1, #data=5\n0:proc_id=1, log_type=1, time=1\n"
              "1:proc_id=1, log_type=10, time=1.5\n2:proc_id=1, log_type=31, time=1.75\n"
              "3:proc_id=1, log_type=11, time=2\n4:proc_id=1, log_type=2, time=3\n");
    EXPECT_EQ(test::run_command(program + " " + log + " 1").exit_code, 1);
}

} // namespace

} // namespace host::compat
