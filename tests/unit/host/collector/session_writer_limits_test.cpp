// SPDX-License-Identifier: MIT
// Tests how much a session's writer writes, what it does when it cannot, and when a manifest lists what it has written.
#include "tests/support/flushes.hpp"
#include "tests/support/session_writing.hpp"

#include <atomic>
#include <fcntl.h>
#include <semaphore>
#include <unistd.h>

namespace host::collector {

namespace session_writer_limits_test {

TEST_F(SessionWriting, TakesAsManyBytesAsItsLimitAndNotOneMore) {
    const Bytes image = chunk(0, 4).bytes();
    restart({.session_bytes = image.size()});
    add(image);
    EXPECT_FALSE(m_writer->error());
    add(chunk(0, 1).plain());
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_EQ(m_writer->exceeded(), fmt::format("a session has at most {} bytes (--session-bytes)", image.size()));
    EXPECT_EQ(m_writer->taken_bytes(), image.size());
    restart({.session_bytes = image.size() - 1});
    add(image);
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_TRUE(m_writer->chunks().empty());
    EXPECT_EQ(m_writer->taken_bytes(), 0U);
}

TEST_F(SessionWriting, TakesAsManyBytesAsAllSessionsMayHave) {
    const Bytes image = chunk(0, 4).bytes();
    m_usage.bytes = 100;
    restart({.total_bytes = image.size() + 100});
    add(image);
    EXPECT_FALSE(m_writer->error());
    EXPECT_EQ(m_usage.bytes, image.size() + 100);
    m_usage.bytes = 101;
    restart({.total_bytes = image.size() + 100});
    add(image);
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_EQ(m_writer->exceeded(),
              fmt::format("all sessions together have at most {} bytes (--total-bytes)", image.size() + 100));
    EXPECT_EQ(m_usage.bytes, 101U);
}

TEST_F(SessionWriting, CountsEmptySlotsForItsLimit) {
    const Bytes image = chunk(0, 100).bytes();
    const std::uint32_t p = preamble();
    for (const std::size_t room : {0U, 1U}) {
        restart({.session_bytes = 16 * (p + 10 + p + 10) - 1 + room});
        add(image, 0, p + 10);
        add(image, 2 * p + 20, 2 * p + 25, 1);
        EXPECT_EQ(m_writer->error().has_value(), room == 0) << room;
    }
}

TEST_F(SessionWriting, MakesAsManyFilesAsItsLimit) {
    restart({.files = 2});
    add(chunk(0, 2).bytes());
    add(chunk(1, 2).bytes());
    EXPECT_FALSE(m_writer->error());
    add(chunk(2, 2).bytes());
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    EXPECT_EQ(m_writer->exceeded(), "a session has at most 2 files");
    EXPECT_EQ(chunks().size(), 2U);
    EXPECT_EQ(m_sealed.size(), 2U);
}

TEST_F(SessionWriting, KeepsTheFirstErrorAndWritesNothingMore) {
    m_directory.write("0/0trace.dat", Bytes(1));
    add(chunk(0, 2).bytes());
    EXPECT_EQ(m_writer->error(), lib::Error::exists);
    EXPECT_TRUE(m_writer->exceeded().empty());
    add(chunk(1, 2).bytes());
    EXPECT_EQ(m_writer->error(), lib::Error::exists);
    EXPECT_TRUE(m_writer->chunks().empty());
    EXPECT_EQ(m_usage.bytes, 0U);
    EXPECT_EQ(file(0).size(), 1U);
}

// The descriptor of the open file is given another file: what was buffered cannot be written.
TEST_F(SessionWriting, ReportsAFullDiskAndAFailedOne) {
    for (const bool full : {true, false}) {
        restart({});
        m_syncer.drain(); // its thread opens no file meanwhile
        const int next = ::dup(0);
        ::close(next);
        add(chunk(0, 5).bytes(), 0, preamble() + 2);
        const int other = ::open(full ? "/dev/full" : "/dev/null", (full ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
        ASSERT_EQ(::dup2(other, next), next);
        ::close(other);
        m_writer->finish();
        EXPECT_EQ(m_writer->error(), full ? lib::Error::no_space : lib::Error::io);
        EXPECT_TRUE(m_writer->exceeded().empty());
    }
}

TEST_F(SessionWriting, KeepsTheFirstErrorWhenAnotherOneFollows) {
    restart({.session_bytes = 16 * (preamble() + 2)});
    const int next = ::dup(0);
    ::close(next);
    add(chunk(0, 5).bytes(), 0, preamble() + 2);
    add(chunk(0, 5).bytes(), preamble() + 2, preamble() + 3);
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
    const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(::dup2(other, next), next);
    ::close(other);
    m_writer->finish();
    EXPECT_EQ(m_writer->error(), lib::Error::no_space);
}

// --- the manifest -------------------------------------------------------------------------------------------------

TEST_F(SessionWriting, ListsASealedChunkInAManifestOnce) {
    add(chunk(0, 2).bytes());
    m_syncer.drain();
    EXPECT_EQ(m_manifests, 1);
    m_writer->list_sealed();
    m_syncer.drain();
    EXPECT_EQ(m_manifests, 1) << "it is listed";
    EXPECT_TRUE(formats::dat::load_manifest(m_path).ok());
    EXPECT_TRUE(m_writer->durability()->manifest_idle());
}

// While one is pending there is no other; the chunks that were sealed meanwhile are listed in the next one.
TEST_F(SessionWriting, HasOneManifestPendingAtMost) {
    std::binary_semaphore is_held{0};
    std::binary_semaphore proceed{0};
    std::atomic<bool> hold = true;
    const support::WithFlushes flushes({.of_file =
                                            [&](int) {
                                                if (hold.exchange(false)) {
                                                    is_held.release();
                                                    proceed.acquire();
                                                }
                                                return 0;
                                            },
                                        .of_file_system = {},
                                        .of_name = {}});
    add(chunk(0, 2).bytes());
    is_held.acquire();
    add(chunk(1, 2).bytes());
    add(chunk(2, 2).bytes());
    m_writer->list_sealed();
    EXPECT_EQ(m_manifests, 1);
    proceed.release();
    m_syncer.drain();
    m_writer->list_sealed();
    m_writer->list_sealed();
    m_syncer.drain();
    EXPECT_EQ(m_manifests, 2);
}

TEST_F(SessionWriting, MakesAnOpenFileDurableOnRequest) {
    const Bytes image = chunk(0, 5).bytes();
    m_writer->sync();
    m_syncer.drain();
    EXPECT_EQ(m_writer->durability()->bytes(), 0U);
    add(image, 0, preamble() + 2);
    m_writer->sync();
    m_syncer.drain();
    EXPECT_EQ(m_writer->durability()->bytes(), 16 * (preamble() + 2));
    EXPECT_EQ(file(0), text(image, 0, preamble() + 2)) << "and readable";
    EXPECT_EQ(m_manifests, 0);
}

} // namespace session_writer_limits_test

} // namespace host::collector
