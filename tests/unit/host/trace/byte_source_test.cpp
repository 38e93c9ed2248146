// SPDX-License-Identifier: MIT
// Tests where bytes come from: files, which are read anywhere, and streams, which are read once; and the files without
// a name that make a stream one of the first kind.
#include "host/trace/byte_source.hpp"

#include "tests/support/alarms.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace host::trace {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// At most so many bytes of the source.
std::string take(ByteSource& source, std::uint64_t offset_bytes, std::size_t size) {
    std::string text(size, '\0');
    const auto count = source.read(offset_bytes, std::as_writable_bytes(std::span(text)));
    EXPECT_TRUE(count.ok());
    text.resize(count.value());
    return text;
}

class ByteSources : public testing::Test {
  protected:
    std::string file(std::string_view text) {
        const auto bytes = bytes_of(text);
        return m_directory.write("file", {bytes.begin(), bytes.end()});
    }

    support::TemporaryDirectory m_directory;
};

// A variable of the environment, which gets its value back.
class KeptVariable {
  public:
    explicit KeptVariable(const char* name)
        : m_name{name} {
        if (const char* value = std::getenv(name); value != nullptr) {
            m_value = value;
        }
    }

    KeptVariable(const KeptVariable&) = delete;
    KeptVariable& operator=(const KeptVariable&) = delete;

    ~KeptVariable() { m_value ? ::setenv(m_name, m_value->c_str(), 1) : ::unsetenv(m_name); }

  private:
    const char* m_name;
    std::optional<std::string> m_value;
};

// The reading end of a pipe as a source.
class Pipe {
  public:
    Pipe() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe(ends.data()), 0);
        source = std::make_shared<ByteSource>(ends[0], true, std::nullopt);
        m_in = ends[1];
    }

    ~Pipe() { end(); }

    Pipe& write(std::string_view text) {
        EXPECT_EQ(::write(m_in, text.data(), text.size()), static_cast<ssize_t>(text.size()));
        return *this;
    }

    void end() {
        if (m_in >= 0) {
            ::close(std::exchange(m_in, -1));
        }
    }

    [[nodiscard]] int in() const { return m_in; }

    std::shared_ptr<ByteSource> source;

  private:
    int m_in = -1;
};

TEST_F(ByteSources, AFileIsReadAnywhereAndPeekingChangesNothing) {
    const auto source = ByteSource::open(file("0123456789"));
    ASSERT_TRUE(source.ok());
    EXPECT_TRUE(source.value()->seekable());
    EXPECT_EQ(source.value()->size_bytes(), 10U);
    std::array<std::byte, 4> head{};
    EXPECT_EQ(source.value()->peek(head).value(), 4U);
    EXPECT_EQ(static_cast<char>(head[3]), '3');
    EXPECT_EQ(take(*source.value(), 4, 3), "456");
    EXPECT_EQ(take(*source.value(), 0, 100), "0123456789");
    EXPECT_EQ(take(*source.value(), 9, 2), "9");
    EXPECT_EQ(take(*source.value(), 10, 1), "");
    EXPECT_EQ(ByteSource::positioned(source.value()).value(), source.value());
}

TEST_F(ByteSources, TheSizeOfAFileIsThatOfItsOpeningUntilItIsAskedAgain) {
    const std::string path = file("0123");
    const auto source = ByteSource::open_file(path);
    ASSERT_TRUE(source.ok());
    static_cast<void>(file("012345"));
    EXPECT_EQ(source.value()->size_bytes(), 4U);
    source.value()->take_size();
    EXPECT_EQ(source.value()->size_bytes(), 6U);
}

TEST_F(ByteSources, WhatIsNoFileIsRefusedWithItsReason) {
    const std::string none = m_directory / "none";
    const std::string fifo = m_directory / "fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    EXPECT_EQ(ByteSource::open(none).error(), lib::Error::not_found);
    EXPECT_EQ(ByteSource::open_file(none).error(), lib::Error::not_found);
    EXPECT_EQ(ByteSource::open(m_directory / ".").error(), lib::Error::unsupported);
    EXPECT_EQ(ByteSource::open_file(fifo).error(), lib::Error::unsupported);
    EXPECT_EQ(ByteSource::open(file("") + "/below").error(), lib::Error::io);
    EXPECT_TRUE(ByteSource::is_stream("-"));
    EXPECT_TRUE(ByteSource::is_stream(fifo));
    EXPECT_TRUE(ByteSource::is_stream("/dev/null"));
    EXPECT_FALSE(ByteSource::is_stream(none));
    EXPECT_FALSE(ByteSource::is_stream(file("")));
    EXPECT_FALSE(ByteSource::is_stream(m_directory / "."));
}

// A file that is standard input is read from where it is: another program may have read a part.
TEST_F(ByteSources, StandardInputIsAStreamWhateverItIs) {
    const int kept = ::dup(STDIN_FILENO);
    const int input = ::open(file("0123456789").c_str(), O_RDONLY);
    ASSERT_EQ(::dup2(input, STDIN_FILENO), STDIN_FILENO);
    ASSERT_EQ(::lseek(STDIN_FILENO, 4, SEEK_SET), 4);
    {
        const auto source = ByteSource::open("-");
        ASSERT_TRUE(source.ok());
        EXPECT_FALSE(source.value()->seekable());
        EXPECT_EQ(source.value()->size_bytes(), 0U);
        source.value()->take_size();
        EXPECT_FALSE(source.value()->seekable());
        EXPECT_EQ(take(*source.value(), 0, 100), "456789");
    }
    EXPECT_EQ(::lseek(STDIN_FILENO, 0, SEEK_CUR), 10) << "it stays open";
    ::dup2(kept, STDIN_FILENO);
    ::close(kept);
    ::close(input);
}

TEST_F(ByteSources, AStreamGivesWhatThereIsOnceItIsSixteenBytes) {
    Pipe pipe;
    pipe.write("0123456789abcdef");
    EXPECT_EQ(take(*pipe.source, 0, 100), "0123456789abcdef") << "it does not wait for more";
    pipe.write("0123456789abcde").end();
    EXPECT_EQ(take(*pipe.source, 99, 100), "0123456789abcde") << "offsets have no meaning";
    EXPECT_EQ(take(*pipe.source, 0, 100), "");
}

TEST_F(ByteSources, AStreamIsReadThoughSignalsInterruptIt) {
    Pipe pipe;
    const support::Alarms alarms([in = pipe.in()] { static_cast<void>(!::write(in, "abc", 3)); });
    const std::string text = take(*pipe.source, 0, 100);
    ASSERT_GE(text.size(), 16U) << "it waits for more than the first three bytes";
    for (std::size_t i = 0; i < text.size(); ++i) {
        ASSERT_EQ(text[i], "abc"[i % 3]) << i;
    }
}

// The writer begins when the reader has said that it waits.
TEST_F(ByteSources, ANamedPipeIsWaitedForAndTheCallerLearnsIt) {
    const std::string path = m_directory / "fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    std::thread writer;
    const auto source = ByteSource::open(path, [&] {
        writer = std::thread([&] {
            const int descriptor = ::open(path.c_str(), O_WRONLY);
            EXPECT_EQ(::write(descriptor, "0123456789abcdef", 16), 16);
            ::close(descriptor);
        });
    });
    ASSERT_TRUE(source.ok());
    std::array<std::byte, 16> read{};
    EXPECT_EQ(source.value()->read(0, read).value(), 16U);
    EXPECT_EQ(read.back(), std::byte{'f'});
    EXPECT_EQ(source.value()->read(16, read).value(), 0U);
    writer.join();
}

// Also if a program has opened the pipe and writes nothing, or nothing more.
TEST_F(ByteSources, AStreamThatLetsItsReaderWaitCanBeStopped) {
    const std::string path = m_directory / "fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const volatile std::sig_atomic_t stop = 1;
    std::array<std::byte, 32> read{};
    EXPECT_EQ(ByteSource::open(path, {}, &stop).value()->read(0, read).value(), 0U);
    const int silent = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_EQ(ByteSource::open(path, {}, &stop).value()->read(0, read).value(), 0U);
    EXPECT_EQ(::write(silent, "0123456789", 10), 10);
    EXPECT_EQ(ByteSource::open(path, {}, &stop).value()->read(0, read).value(), 10U) << "what is there is read";
    ::close(silent);
}

TEST_F(ByteSources, AFileThatShrinksEndsWhereItEnds) {
    const std::string path = file("0123456789abcdefghij");
    const auto source = ByteSource::open_file(path).value();
    EXPECT_EQ(take(*source, 0, 20), "0123456789abcdefghij");
    ASSERT_EQ(::truncate(path.c_str(), 12), 0);
    EXPECT_EQ(take(*source, 10, 10), "ab");
    EXPECT_EQ(take(*source, 16, 4), "");
}

TEST_F(ByteSources, WhatWasPeekedAtOfAStreamIsReadAgain) {
    Pipe pipe;
    pipe.write("0123456789abcdefghij");
    std::array<std::byte, 20> head{};
    ASSERT_EQ(pipe.source->peek(head).value(), 20U);
    EXPECT_EQ(static_cast<char>(head[19]), 'j');
    EXPECT_EQ(take(*pipe.source, 0, 2), "01");
    EXPECT_EQ(take(*pipe.source, 0, 16), "23456789abcdefgh") << "enough: it does not wait";
    pipe.write("klmnopqrstuvwxyz").end();
    EXPECT_EQ(take(*pipe.source, 0, 100), "ijklmnopqrstuvwxyz") << "too little: more is read";
}

TEST_F(ByteSources, AStreamBecomesAFileWithoutAName) {
    Pipe pipe;
    std::string text;
    for (int i = 0; i < 5'000; ++i) {
        text += std::to_string(i);
    }
    pipe.write(text).end();
    const auto source = ByteSource::positioned(pipe.source);
    ASSERT_TRUE(source.ok());
    EXPECT_TRUE(source.value()->seekable());
    EXPECT_EQ(source.value()->size_bytes(), text.size());
    EXPECT_EQ(take(*source.value(), 0, text.size() + 1), text);
}

TEST_F(ByteSources, AFileOfAtMostSoManyBytesIsReadWhole) {
    const std::string path = file("0123");
    EXPECT_EQ(read_file(path, 4).value(), "0123");
    const auto greater = read_file(path, 3);
    ASSERT_FALSE(greater.ok());
    EXPECT_EQ(greater.error().text, "larger than 3 bytes");
    EXPECT_EQ(read_file(m_directory / "none", 4).error().text, error_name(lib::Error::not_found));
    EXPECT_EQ(read_file(m_directory / ".", 4).error().text, "not a regular file");
}

TEST_F(ByteSources, ASpoolGivesItsBytesBackOnce) {
    auto spool = Spool::create();
    ASSERT_TRUE(spool.ok());
    EXPECT_TRUE(spool.value().append(bytes_of("abc")).ok());
    EXPECT_EQ(spool.value().size_bytes(), 3U);
    EXPECT_TRUE(spool.value().append(bytes_of("de")).ok());
    Spool moved = std::move(spool.value());
    EXPECT_FALSE(spool.value().append(bytes_of("x")).ok());
    const auto source = moved.take();
    EXPECT_EQ(source->size_bytes(), 5U);
    EXPECT_EQ(take(*source, 0, 9), "abcde");
    EXPECT_EQ(moved.append(bytes_of("x")).error(), lib::Error::io);
    EXPECT_EQ(Spool().append(bytes_of("x")).error(), lib::Error::io);
}

TEST_F(ByteSources, PartsOfASourceAreOne) {
    const auto whole = ByteSource::open_file(file("0123456789")).value();
    const auto parts = ByteSource::of_parts(whole, {{.begin_bytes = 7, .size_bytes = 2},
                                                    {.begin_bytes = 1, .size_bytes = 3},
                                                    {.begin_bytes = 9, .size_bytes = 1}});
    EXPECT_TRUE(parts->seekable());
    EXPECT_EQ(parts->size_bytes(), 6U);
    EXPECT_EQ(take(*parts, 0, 10), "781239");
    EXPECT_EQ(take(*parts, 1, 3), "812");
    EXPECT_EQ(take(*parts, 2, 3), "123");
    EXPECT_EQ(take(*parts, 5, 1), "9");
    EXPECT_EQ(take(*parts, 6, 1), "");
    EXPECT_EQ(take(*parts, 100, 1), "");
    EXPECT_EQ(take(*ByteSource::of_parts(whole, {}), 0, 1), "");
    // The whole is shorter than its parts say.
    EXPECT_EQ(
        take(*ByteSource::of_parts(whole, {{.begin_bytes = 8, .size_bytes = 9}, {.begin_bytes = 0, .size_bytes = 9}}),
             0, 18),
        "89");
}

TEST_F(ByteSources, ASpoolThatIsReplacedKeepsTheOthersBytes) {
    auto spool = Spool::create();
    ASSERT_TRUE(spool.ok());
    ASSERT_TRUE(spool.value().append(bytes_of("abc")).ok());
    Spool other;
    other = std::move(spool.value());
    EXPECT_EQ(other.size_bytes(), 3U);
    EXPECT_EQ(take(*other.take(), 0, 9), "abc");
}

TEST_F(ByteSources, FilesWithoutANameAreInTheFolderThatTheEnvironmentNames) {
    const KeptVariable kept{"TMPDIR"};
    ::setenv("TMPDIR", (m_directory / "none").c_str(), 1);
    EXPECT_EQ(open_nameless_file().error(), lib::Error::io);
    EXPECT_FALSE(Spool::create().ok());
    ::setenv("TMPDIR", "", 1);
    const auto file = open_nameless_file();
    ASSERT_TRUE(file.ok());

    struct stat status {};

    ASSERT_EQ(::fstat(file.value(), &status), 0);
    EXPECT_EQ(status.st_nlink, 0U);
    ::close(file.value());
}

} // namespace

} // namespace host::trace
