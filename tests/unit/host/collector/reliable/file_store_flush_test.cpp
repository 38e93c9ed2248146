// SPDX-License-Identifier: MIT
// Tests flushes that fail. The system counts the pages of a failed flush as written (fsync(2), EIO), so that a second
// flush succeeds although nothing reached the disk: a page cache of that kind is played here, in place of pwrite() and
// fdatasync().
#include "host/collector/reliable/file_store.hpp"

#include "lib/crc32c.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <map>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

using support::Bytes;

// What of each file is on the disk, by its inode.
struct PageCache {
    struct File {
        Bytes disk;
        std::vector<std::pair<std::size_t, std::size_t>> dirty; // begin, end
    };

    static ino_t inode(int descriptor) {
        struct stat state {};

        return ::fstat(descriptor, &state) == 0 ? state.st_ino : 0;
    }

    int flush(int descriptor) {
        File& file = files[inode(descriptor)];
        const auto dirty = std::exchange(file.dirty, {});
        if (failures != 0) {
            --failures;
            errno = EIO;
            return -1;
        }
        for (const auto& [begin, end] : dirty) {
            file.disk.resize(std::max(file.disk.size(), end));
            const ssize_t size = ::pread(descriptor, file.disk.data() + begin, end - begin, static_cast<off_t>(begin));
            EXPECT_EQ(size, static_cast<ssize_t>(end - begin));
        }
        return 0;
    }

    [[nodiscard]] Bytes disk_of(const std::string& path) {
        struct stat state {};

        return ::stat(path.c_str(), &state) == 0 ? files[state.st_ino].disk : Bytes();
    }

    std::map<ino_t, File> files;
    int failures = 0;           // of the next flushes
    std::size_t at_once = ~0U;  // bytes that are read or written by one call
    int interruptions = 0;      // of the next reads and writes
    bool is_unreadable = false; // every read fails
};

PageCache* g_cache = nullptr; // NOLINT: of the two functions

} // namespace

extern "C" ssize_t pwrite(int descriptor, const void* bytes, std::size_t size, off_t offset) {
    if (g_cache != nullptr) {
        if (g_cache->interruptions > 0) {
            --g_cache->interruptions;
            errno = EINTR;
            return -1;
        }
        size = std::min(size, g_cache->at_once);
        const auto begin = static_cast<std::size_t>(offset);
        g_cache->files[PageCache::inode(descriptor)].dirty.emplace_back(begin, begin + size);
    }
    return ::syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

extern "C" ssize_t pread(int descriptor, void* bytes, std::size_t size, off_t offset) {
    if (g_cache != nullptr && g_cache->interruptions > 0) {
        --g_cache->interruptions;
        errno = EINTR;
        return -1;
    }
    if (g_cache != nullptr && g_cache->is_unreadable) {
        errno = EIO;
        return -1;
    }
    return ::syscall(SYS_pread64, descriptor, bytes, g_cache != nullptr ? std::min(size, g_cache->at_once) : size,
                     offset);
}

extern "C" int fdatasync(int descriptor) {
    return g_cache != nullptr ? g_cache->flush(descriptor) : static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace host::collector::reliable {

namespace {

constexpr Peer kPeer{0x7F00'0001, 20000};

class Flushing : public testing::Test {
  protected:
    Flushing() { g_cache = &m_cache; }

    ~Flushing() override { g_cache = nullptr; }

    [[nodiscard]] std::string path(const char* end) const {
        return m_directory.path() + '/' + FileStores::name_of(kPeer, 0xAB) + end;
    }

    void append(SessionStore& store, std::uint8_t value) {
        const Bytes packet(16, static_cast<std::byte>(value));
        ASSERT_TRUE(store.append(0, packet));
        m_all.insert(m_all.end(), packet.begin(), packet.end());
        m_mark = {.packets = m_mark.packets + 1, .bytes = m_all.size(), .crc32c = lib::crc32c(m_all)};
    }

    PageCache m_cache;
    support::TemporaryDirectory m_directory;
    std::vector<std::string> m_reports;
    FileStores m_stores{m_directory.path(), {}, [this](const std::string& why) { m_reports.push_back(why); }};
    Bytes m_all;
    Mark m_mark;
};

TEST_F(Flushing, WritesAgainWhatAFailedFlushHasLost) {
    const auto store = m_stores.open(kPeer, 0xAB);
    append(*store, 1);
    ASSERT_TRUE(store->sync(0, m_mark));
    append(*store, 2);
    m_cache.failures = 2;
    EXPECT_FALSE(store->sync(0, m_mark));
    EXPECT_FALSE(store->sync(0, m_mark));
    append(*store, 3);
    ASSERT_TRUE(store->sync(0, m_mark));
    EXPECT_EQ(m_cache.disk_of(path("-0.trc")), m_all) << "acknowledged, and not on the disk";
    EXPECT_EQ(m_cache.disk_of(path(".journal")).size(), 2U * 40U);
    EXPECT_TRUE(m_reports.empty());
}

// The pages of a failed flush may also be thrown away: then the file has its old contents.
TEST_F(Flushing, PromisesNothingMoreIfTheBytesAreGone) {
    const auto store = m_stores.open(kPeer, 0xAB);
    append(*store, 1);
    ASSERT_TRUE(store->sync(0, m_mark));
    append(*store, 2);
    m_cache.failures = 1;
    EXPECT_FALSE(store->sync(0, m_mark));
    const int file = ::open(path("-0.trc").c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(::syscall(SYS_pwrite64, file, Bytes(16).data(), 16, 16), 16);
    ::close(file);
    EXPECT_FALSE(store->sync(0, m_mark));
    EXPECT_FALSE(store->sync(0, m_mark));
    EXPECT_FALSE(store->append(0, Bytes(16)));
    EXPECT_EQ(store->durable(0).packets, 1U);
    ASSERT_EQ(m_reports.size(), 1U);
    EXPECT_THAT(m_reports[0], testing::HasSubstr("has not kept what was written; start the collector again"));
}

// The entry was written and not flushed when the process was killed: the next one finds it in the page cache.
TEST_F(Flushing, FlushesTheJournalBeforeItPromisesWhatIsInIt) {
    auto store = m_stores.open(kPeer, 0xAB);
    append(*store, 1);
    ASSERT_TRUE(store->sync(0, m_mark));
    append(*store, 2);
    m_cache.failures = 0;
    ASSERT_TRUE(store->sync(0, m_mark));
    store.reset();
    for (auto& [inode, file] : m_cache.files) {
        if (file.disk.size() == 2U * 40U) {
            file.disk.resize(40); // that flush did not happen
        }
    }
    store = m_stores.open(kPeer, 0xAB);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->durable(0), m_mark);
    EXPECT_EQ(m_cache.disk_of(path(".journal")).size(), 2U * 40U);
    store.reset();
    m_cache.failures = 1;
    EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr) << "a journal that cannot be flushed";
}

// A journal that cannot be read is not a torn one: nothing of it is cut.
TEST_F(Flushing, CutsNothingOfAJournalThatCannotBeRead) {
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        append(*store, 1);
        ASSERT_TRUE(store->sync(0, m_mark));
    }
    m_cache.is_unreadable = true;
    EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr);
    EXPECT_THAT(m_stores.why(), testing::EndsWith(".journal: damaged at byte 0; keep its files, and record elsewhere"));
    m_cache.is_unreadable = false;
    const auto store = m_stores.open(kPeer, 0xAB);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->durable(0), m_mark);
}

TEST_F(Flushing, ReadsAndWritesInPartsAndAfterInterruptions) {
    m_cache.at_once = 7;
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        m_cache.interruptions = 2;
        append(*store, 1);
        append(*store, 2);
        EXPECT_EQ(m_cache.interruptions, 0);
        ASSERT_TRUE(store->sync(0, m_mark));
        EXPECT_EQ(m_cache.disk_of(path("-0.trc")), m_all);
        EXPECT_EQ(m_cache.disk_of(path(".journal")).size(), 40U);
    }
    m_cache.interruptions = 2;
    const auto store = m_stores.open(kPeer, 0xAB);
    ASSERT_NE(store, nullptr) << m_stores.why();
    EXPECT_EQ(m_cache.interruptions, 0);
    EXPECT_EQ(store->durable(0), m_mark);
}

TEST_F(Flushing, TakesNothingOnADiskThatWritesNothing) {
    const auto store = m_stores.open(kPeer, 0xAB);
    m_cache.at_once = 0;
    EXPECT_FALSE(store->append(0, Bytes(16)));
    m_cache.at_once = 16;
    append(*store, 1);
    EXPECT_TRUE(store->sync(0, m_mark));
}

} // namespace

} // namespace host::collector::reliable
