// SPDX-License-Identifier: MIT
// Tests arguments out of range, an output that ends, signals that come twice: the edges of the command line.
#include "tests/support/host_command_line.hpp"

#include "lib/version.hpp"

#include <csignal>
#include <gmock/gmock.h>

namespace host::cli {

namespace command_limits_test {

using testing::HasSubstr;

class CommandLimits : public support::CommandLine {};

TEST_F(CommandLimits, RefuseDurationsThatAreNoneOrLongerThanAYear) {
    for (const char* const option : {"--timeout", "--idle-timeout"}) {
        for (const char* const seconds : {"1e300", "nan", "inf", "-1", "0", "31536001", "1s"}) {
            EXPECT_EQ(remora({"record", "--out", m_directory / "s", std::string(option) + "=" + seconds}), 1);
            EXPECT_THAT(m_err, HasSubstr("up to 31536000")) << option << '=' << seconds;
        }
    }
    EXPECT_FALSE(std::filesystem::exists(m_directory / "s"));
    EXPECT_EQ(remora({"record", "--help"}), 0);
    EXPECT_THAT(m_out, HasSubstr("first valid packet"));
}

TEST_F(CommandLimits, RefuseALimitOfNoLines) {
    EXPECT_EQ(remora({"print", write(sample().bytes()), "--limit", "0"}), 1);
    EXPECT_THAT(m_err, HasSubstr("from 1 on"));
}

TEST_F(CommandLimits, AdoptNoFile) {
    EXPECT_EQ(remora({"adopt", write(sample().bytes())}), 1);
    EXPECT_THAT(m_err, HasSubstr("not a directory"));
}

TEST_F(CommandLimits, StateTheVersionThatTheKernelHas) {
    EXPECT_EQ(remora({"--version"}), 0);
    EXPECT_EQ(m_out, std::string(lib::kVersion) + '\n');
}

TEST_F(CommandLimits, EndQuietlyWhenTheReaderHasSeenEnough) {
    const auto before = std::signal(SIGPIPE, SIG_IGN); // as main() does
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    std::FILE* const closed = ::fdopen(ends[1], "w");
    std::FILE* const err = std::fopen((m_directory / "err.txt").c_str(), "w");
    const std::string path = write(sample().bytes());
    const std::vector<const char*> argv{"remora", "print", path.c_str()};
    EXPECT_EQ(run(static_cast<int>(argv.size()), argv.data(), closed, err, kWholeProgram), 0);
    std::fclose(closed);
    std::fclose(err);
    EXPECT_EQ(support::read_text(m_directory / "err.txt"), "");
    std::signal(SIGPIPE, before);
}

TEST_F(CommandLimits, SayWhyTheOutputCouldNotBeWritten) {
    std::FILE* const full = std::fopen("/dev/full", "w");
    std::FILE* const err = std::fopen((m_directory / "err.txt").c_str(), "w");
    ASSERT_NE(full, nullptr);
    const std::string path = write(sample().bytes());
    const std::vector<const char*> argv{"remora", "print", path.c_str()};
    EXPECT_EQ(run(static_cast<int>(argv.size()), argv.data(), full, err, kWholeProgram), 4);
    std::fclose(full);
    std::fclose(err);
    EXPECT_THAT(support::read_text(m_directory / "err.txt"), HasSubstr("No space left on device"));
}

TEST_F(CommandLimits, KeepTheStopHandlerUntilTheProcessEnds) {
    EXPECT_EQ(remora({"record", "--out", m_directory / "s", "--listen", "127.0.0.1:0", "--timeout", "0.2"}), 2);
    for (const int signal : {SIGINT, SIGTERM}) {
        struct sigaction now {};

        ::sigaction(signal, nullptr, &now);
        EXPECT_NE(now.sa_handler, SIG_DFL) << "a second signal would kill a collector that is closing its session";
        std::signal(signal, SIG_DFL);
    }
}

} // namespace command_limits_test

} // namespace host::cli
