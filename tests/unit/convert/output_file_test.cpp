// SPDX-License-Identifier: MIT
// Tests what a writer asks of its file, whatever the length of a text in the trace.
#include "convert/writer/writer.hpp"

#include "tests/support/alarms.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <span>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_F(OutputFileRoom, OnTheDiskEndsWithTheFile) {
    constexpr std::uint64_t kBlockBytes = 512; // of st_blocks
    for (int i = 0; i < 40; ++i) {
        append(OutputFile::kBufferBytes, 'a');
    }

    struct stat growing {};

    ASSERT_EQ(::stat(m_path.c_str(), &growing), 0);
    m_file->patch(0, std::as_bytes(std::span("head", 4)));
    ASSERT_TRUE(m_file->close().ok());

    struct stat closed {};

    ASSERT_EQ(::stat(m_path.c_str(), &closed), 0);
    const auto bytes = static_cast<std::uint64_t>(closed.st_size);
    EXPECT_EQ(bytes, m_expected.size());
    EXPECT_LE(static_cast<std::uint64_t>(closed.st_blocks) * kBlockBytes, bytes + 64 * 1024);
    m_expected.replace(0, 4, "head");
    EXPECT_TRUE(support::read_text(m_path) == m_expected);
    // A file system that gives space in advance did so.
    if (static_cast<std::uint64_t>(growing.st_blocks) * kBlockBytes > static_cast<std::uint64_t>(growing.st_size)) {
        EXPECT_LT(closed.st_blocks, growing.st_blocks);
    }
}

TEST_F(OutputFileRoom, IsNotTakenBeyondItsEnd) {
    EXPECT_DEATH(m_file->used(OutputFile::kBufferBytes + 1), "m_buffer.size");
}

// Another file's bytes, from a place in it: between bytes of its own, with a buffer that is not empty.
TEST_F(OutputFileRoom, TakesBytesOfAnotherFile) {
    const std::string other = std::string(10 * OutputFile::kBufferBytes, 'x') + std::string(10, 'y');
    const auto source =
        trace::ByteSource::open_file(m_directory.write("other", std::as_bytes(std::span(other)))).value();
    put(5, 'a');
    ASSERT_TRUE(m_file->append(*source, 100, other.size() - 100).ok());
    m_expected += other.substr(100);
    append(7, 'b');
    EXPECT_EQ(m_file->position_bytes(), m_expected.size());
    EXPECT_FALSE(m_file->append(*source, other.size() - 5, 6).ok()) << "it ends before";
    m_expected += "yyyyy";
    ASSERT_TRUE(m_file->close().ok());
    EXPECT_TRUE(support::read_text(m_path) == m_expected);
}

// To which the kernel copies nothing.
TEST_F(OutputFileRoom, TakesBytesOfAnotherFileAtTheEndOfAStream) {
    const std::string other(3 * OutputFile::kBufferBytes + 1, 'x');
    const auto source =
        trace::ByteSource::open_file(m_directory.write("other", std::as_bytes(std::span(other)))).value();
    {
        OutputFile stream(::open(m_path.c_str(), O_WRONLY | O_APPEND), true);
        stream.append("a");
        ASSERT_TRUE(stream.append(*source, 0, other.size()).ok());
        ASSERT_TRUE(stream.close().ok());
    }
    EXPECT_TRUE(support::read_text(m_path) == "a" + other);
}

// A pipe of a page, of which each signal takes a piece: most writes are interrupted, with a part of their bytes or
// none.
TEST(OutputFileStream, IsWholeThoughSignalsInterruptIt) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    ASSERT_GE(::fcntl(ends[1], F_SETPIPE_SZ, 4096), 4096);
    ASSERT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    static std::array<char, 100'000> s_read;
    static std::size_t s_size = 0;
    const auto take = [from = ends[0]] {
        const ssize_t count = ::read(from, s_read.data() + s_size, std::min<std::size_t>(3000, s_read.size() - s_size));
        s_size += count > 0 ? static_cast<std::size_t>(count) : 0;
        return count > 0;
    };
    std::string expected;
    {
        const support::Alarms alarms([&take] { take(); });
        OutputFile file(ends[1], true);
        for (int i = 0; i < 5'000; ++i) {
            const std::string number = std::to_string(i) + ' ';
            file.append(number);
            expected += number;
        }
        EXPECT_EQ(file.position_bytes(), expected.size());
        ASSERT_TRUE(file.close().ok());
    }
    while (take()) {
    }
    ::close(ends[0]);
    EXPECT_TRUE(std::string_view(s_read.data(), s_size) == expected) << s_size << " of " << expected.size() << " bytes";
}

// A limit of the process takes a part of the buffer; the rest is an error that is kept.
TEST_F(OutputFileRoom, ThatEndsInTheMiddleOfABufferIsAnError) {
    rlimit former{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &former), 0);
    const rlimit least{.rlim_cur = 1000, .rlim_max = former.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &least), 0);
    append(1'500, 'x');
    m_file->flush();
    const int number = m_file->error_number();
    append(10, 'y');
    const bool closed = m_file->close().ok();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &former), 0);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(number, EFBIG);
    EXPECT_FALSE(closed);
    EXPECT_EQ(m_file->error_number(), EFBIG);
    EXPECT_TRUE(support::read_text(m_path) == std::string(1'000, 'x')) << "nothing follows what failed";
}

} // namespace

} // namespace host::convert
