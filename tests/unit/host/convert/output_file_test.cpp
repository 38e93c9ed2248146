// SPDX-License-Identifier: MIT
// What a writer asks of its file, whatever the length of a text in the trace.
#include "host/convert/output_file.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace host::convert {

namespace {

class OutputFileRoom : public testing::Test {
  protected:
    // Writes in place.
    void put(std::size_t bytes, char letter) {
        std::fill_n(m_file->room(bytes), bytes, letter);
        m_file->used(bytes);
        m_expected.append(bytes, letter);
    }

    void append(std::size_t bytes, char letter) {
        m_file->append(std::string(bytes, letter));
        m_expected.append(bytes, letter);
    }

    support::TemporaryDirectory m_directory;
    std::string m_path = m_directory / "out";
    std::unique_ptr<OutputFile> m_file = std::move(OutputFile::create(m_path).value());
    std::string m_expected;
};

TEST_F(OutputFileRoom, GrowsWithWhatIsAskedFor) {
    constexpr std::size_t kBuffer = OutputFile::kBufferBytes;
    put(10, 'a');
    put(kBuffer, 'b');
    put(kBuffer + 1, 'c');
    put(5 * kBuffer, 'd');
    append(3, 'e');
    put(5 * kBuffer - 3, 'f');
    append(6 * kBuffer, 'g');
    put(1, 'h');
    EXPECT_EQ(m_file->position_bytes(), m_expected.size());
    ASSERT_TRUE(m_file->close().ok());
    EXPECT_TRUE(support::read_text(m_path) == m_expected);
}

TEST_F(OutputFileRoom, IsNotTakenBeyondItsEnd) {
    EXPECT_DEATH(m_file->used(OutputFile::kBufferBytes + 1), "m_buffer.size");
}

} // namespace

} // namespace host::convert
