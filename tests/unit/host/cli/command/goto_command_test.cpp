// SPDX-License-Identifier: MIT
// Tests remora goto: the place that was named is marked, as many events as asked for are around it, and what is no
// place, or is not there, is refused.
#include "tests/support/host_command_line.hpp"

#include <gmock/gmock.h>

namespace host::cli {

namespace goto_command_test {

using support::ChunkBuilder;
using testing::HasSubstr;

class GotoCommand : public support::CommandLine {
  protected:
    // 40 events, 1 us from each other.
    static ChunkBuilder trace() {
        ChunkBuilder chunk;
        chunk.name("task", 3, "sensor");
        for (std::uint32_t i = 0; i < 40; ++i) {
            chunk.event(1'000 + 1'000 * std::uint64_t{i}, "user_event_0", 0, i);
        }
        return chunk;
    }

    // The lines of the output, without their line breaks.
    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> found;
        std::size_t begin = 0;
        for (std::size_t end = m_out.find('\n'); end != std::string::npos; end = m_out.find('\n', begin)) {
            found.push_back(m_out.substr(begin, end - begin));
            begin = end + 1;
        }
        return found;
    }
};

TEST_F(GotoCommand, MarksTheFirstEventAtATimeOrLater) {
    const std::string path = write(trace().bytes());
    ASSERT_EQ(remora({"goto", path, "10500ns", "--context", "2"}), 0) << m_err;
    ASSERT_EQ(lines().size(), 5U) << m_out;
    EXPECT_THAT(lines()[2], testing::StartsWith("> "));
    EXPECT_THAT(lines()[2], HasSubstr(" 11000 ns"));
    EXPECT_THAT(lines()[0], HasSubstr(" 9000 ns"));
    EXPECT_THAT(lines()[4], HasSubstr(" 13000 ns"));
    ASSERT_EQ(remora({"goto", path, "0.011ms", "--context", "0", "--ticks"}), 0) << m_err;
    ASSERT_EQ(lines().size(), 1U) << m_out;
}

TEST_F(GotoCommand, TakesTheNumbersThatItsLinesBeginWith) {
    const std::string path = write(trace().bytes());
    ASSERT_EQ(remora({"goto", path, "20us", "--context", "0"}), 0) << m_err;
    const std::string marked = m_out;
    const std::size_t begin = marked.find_first_not_of("> ");
    const std::string place = marked.substr(begin, marked.find(' ', begin) - begin); // CHUNK:RECORD
    const std::string record = place.substr(place.find(':') + 1);
    const std::string file = path.substr(path.rfind('/') + 1);
    for (const std::string& words : {place, record, path + ":" + record, file + ":" + record, file + ":" + place}) {
        ASSERT_EQ(remora({"goto", path, words, "--context", "0"}), 0) << words << m_err;
        EXPECT_EQ(m_out, marked) << words;
    }
}

TEST_F(GotoCommand, ShowsFewerLinesAtTheEndsOfTheTrace) {
    const std::string path = write(trace().bytes());
    ASSERT_EQ(remora({"goto", path, "0s", "--context", "3"}), 0) << m_err;
    EXPECT_EQ(lines().size(), 4U) << m_out;
    EXPECT_THAT(lines()[0], testing::StartsWith("> "));
    ASSERT_EQ(remora({"goto", path, "39us", "--context", "3"}), 0) << m_err;
    EXPECT_EQ(lines().size(), 4U) << m_out;
    EXPECT_THAT(lines()[3], testing::StartsWith("> "));
}

TEST_F(GotoCommand, RefusesWhatIsNoPlaceOrNotThere) {
    const std::string path = write(trace().bytes());
    for (const char* const words : {"", "x", "1.5", "-3", ":7", "0:", "0:x", "a:b:c", "1h"}) {
        EXPECT_EQ(remora({"goto", path, words}), 1) << words;
        EXPECT_THAT(m_err, HasSubstr("must be RECORD")) << words;
    }
    for (const char* const words : {"1s", "100000", "7:20", "trace.dat:20", "other.dat:0:20"}) {
        EXPECT_EQ(remora({"goto", path, words}), 1) << words;
        EXPECT_THAT(m_err, HasSubstr("no event of the trace is at")) << words;
        EXPECT_THAT(m_err, HasSubstr("; the last one is 0:")) << words;
    }
    EXPECT_EQ(m_out, "");
}

} // namespace goto_command_test

} // namespace host::cli
