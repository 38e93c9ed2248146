// SPDX-License-Identifier: MIT
// Tests very many chunks that overlap: what is open and what is kept in memory while they are merged.
#include "host/formats/dat/manifest.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/byte_source.hpp"
#include "tests/support/allocated_bytes.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace host::formats::dat::chunk_merge_test {

namespace {

using support::ChunkBuilder;

class OpenFilesLimit {
  public:
    explicit OpenFilesLimit(rlim_t files) {
        ::getrlimit(RLIMIT_NOFILE, &m_before);
        const rlimit now{.rlim_cur = files, .rlim_max = m_before.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &now);
    }

    OpenFilesLimit(const OpenFilesLimit&) = delete;
    OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;

    ~OpenFilesLimit() { ::setrlimit(RLIMIT_NOFILE, &m_before); }

  private:
    rlimit m_before{};
};

class ChunkMergeTest : public testing::Test {
  protected:
    // A session of files of one chunk each. The records of all chunks are interleaved: record r of chunk c is at
    // r * chunks + c.
    void write_session(std::size_t chunks, std::size_t records) const {
        Manifest manifest{.origin = "files", .complete = true};
        for (std::size_t c = 0; c < chunks; ++c) {
            ChunkBuilder chunk(static_cast<std::uint16_t>(c));
            for (std::size_t r = 0; r < records; ++r) {
                chunk.event(r * chunks + c, "ipoint", static_cast<std::uint16_t>(r), static_cast<std::uint32_t>(c));
            }
            ManifestChunk entry{.file = std::to_string(c) + "trace.dat"};
            const support::Bytes bytes = chunk.bytes();
            entry.bytes = bytes.size();
            entry.crc32c = trace::checksum(bytes);
            manifest.chunks.push_back(entry);
            m_directory.write(entry.file, bytes);
        }
        ASSERT_TRUE(save_manifest(manifest, m_directory.path()).ok());
    }

    // Reads the session, whose events must come in the order of their stamps, each of them. Returns the greatest number
    // of bytes that were allocated for it.
    [[nodiscard]] std::size_t read_session(std::uint64_t events) const {
        const std::size_t before = allocated_bytes();
        std::size_t most = 0;
        trace::Diagnostics diagnostics([](std::string_view line) { ADD_FAILURE() << line; });
        const auto opened = Trace::open(m_directory.path(), {}, diagnostics);
        EXPECT_TRUE(opened.ok());
        std::uint64_t stamp = 0;
        opened.value()->for_each([&](const trace::Event& event) {
            if (event.metadata) {
                return;
            }
            EXPECT_EQ(event.ticks.value, stamp);
            ++stamp;
            if (stamp % 1000 == 0) {
                most = std::max(most, allocated_bytes() - before);
            }
        });
        EXPECT_EQ(stamp, events);
        return most;
    }

    support::TemporaryDirectory m_directory;
};

TEST_F(ChunkMergeTest, NeedsFewFilesAndLittleMemoryForManyChunksAtOnce) {
    constexpr std::size_t kChunks = 2'000;
    write_session(kChunks, 3);
    const OpenFilesLimit limit(256);
    EXPECT_LT(read_session(3 * kChunks), kChunks * 4096);
}

// More slots than a small buffer holds, several times.
TEST_F(ChunkMergeTest, ReadsChunksPieceByPieceWhereMemoryIsShort) {
    constexpr std::size_t kChunks = 150;
    constexpr std::size_t kRecords = 1000;
    write_session(kChunks, kRecords);
    const OpenFilesLimit limit(150);
    EXPECT_LT(read_session(kChunks * kRecords), 150 * 20'000);
}

} // namespace

} // namespace host::formats::dat::chunk_merge_test
