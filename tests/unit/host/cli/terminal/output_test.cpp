// SPDX-License-Identifier: MIT
// Tests what a command prints, as the other end of its stream sees it: a socket that keeps writes apart.
#include "host/cli/terminal/output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace host::cli {

namespace {

class OutputStream : public testing::Test {
  protected:
    OutputStream() {
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, m_ends), 0);
        m_stream = ::fdopen(m_ends[0], "w");
    }

    ~OutputStream() override {
        std::fclose(m_stream);
        ::close(m_ends[1]);
    }

    std::string next_write() {
        std::string text(2 * Output::kFlushBytes, '\0');
        const ssize_t bytes = ::recv(m_ends[1], text.data(), text.size(), MSG_DONTWAIT);
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
        return text;
    }

    int m_ends[2] = {-1, -1};
    std::FILE* m_stream = nullptr;
};

} // namespace

TEST_F(OutputStream, GetsAFullBufferInOneWrite) {
    Output out(m_stream);
    std::string expected;
    while (expected.size() < Output::kFlushBytes) {
        const std::string line = fmt::format("line {}\n", expected.size());
        out.print("{}", line);
        expected += line;
    }
    EXPECT_EQ(next_write(), expected);
    EXPECT_EQ(next_write(), "");
    EXPECT_FALSE(out.failed());
}

TEST_F(OutputStream, GetsALongTextAfterWhatTheBufferHolds) {
    Output out(m_stream);
    const std::string text(Output::kFlushBytes + 1, 'x');
    out.print("{}", "before");
    out.write(text);
    EXPECT_EQ(next_write(), "before");
    EXPECT_EQ(next_write(), text);
    out.write("");
    EXPECT_EQ(next_write(), "");
}

TEST_F(OutputStream, GetsTheRestAtTheEnd) {
    {
        Output out(m_stream);
        out.print("{}", "rest");
        EXPECT_EQ(next_write(), "");
    }
    EXPECT_EQ(next_write(), "rest");
}

} // namespace host::cli
