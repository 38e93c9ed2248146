// SPDX-License-Identifier: MIT
// Tests what the machine does between the reader's look at a head and its copy of the records: nothing of it is taken
// for something else.
#include "host/formats/memory/chunk_copy.hpp"

#include "host/trace/event.hpp"
#include "tests/support/memory_image.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace host::formats::memory::chunk_copy_test {

namespace {

using support::MemoryImage;

constexpr std::uint32_t kSlots = 8;

class ChunkCopying : public testing::Test {
  protected:
    ChunkCopying() {
        m_image.add_chunk(0, kSlots, 2, tracer::kFlagCyclic);
        m_image.set_active(0);
        const std::size_t size = m_image.bytes().size();
        const int descriptor = ::memfd_create("memory", MFD_CLOEXEC);
        EXPECT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);
        void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        EXPECT_NE(mapped, MAP_FAILED);
        m_memory = {static_cast<std::byte*>(mapped), size};
        m_image.move_to(m_memory);
        trace::Diagnostics diagnostics([](std::string_view line) { ADD_FAILURE() << line; });
        auto box = BlackBox::open(
            {.name = "memory", .bytes = std::make_shared<trace::ByteSource>(descriptor, true, size)}, diagnostics);
        EXPECT_TRUE(box.ok());
        m_box = std::move(box.value());
    }

    ~ChunkCopying() override { ::munmap(m_memory.data(), m_memory.size()); }

    void write(std::uint64_t records) {
        for (; records != 0; --records) {
            m_image.write(0, tracer::make_record(trace::kCodeOf<"ipoint">, 0, 0, {1000 + m_written++}));
        }
    }

    // The numbers of the records that a copy from there has, if the machine writes so many while the first try is made,
    // and so many during each further one.
    std::vector<std::uint64_t> copied(std::uint64_t from, std::uint64_t meanwhile, std::uint64_t always = 0) {
        bool first = true;
        ChunkCopier copier(m_box, [&] { write(std::exchange(first, false) ? meanwhile : always); });
        ChunkCopy copy;
        const auto found = copier.copy(0, {.uses = 1, .end_bytes = from * tracer::kRecordBytes}, Streams::kept, copy);
        m_why = found ? "" : found.error().text;
        std::vector<std::uint64_t> numbers;
        if (found) {
            m_lost = copy.lost;
            for (auto rest = std::span(copy.records); !rest.empty(); rest = rest.subspan(16)) {
                numbers.push_back(tracer::decode_record(rest).stamp().value - 1000);
            }
        }
        return numbers;
    }

    static std::vector<std::uint64_t> range(std::uint64_t first, std::uint64_t end) {
        std::vector<std::uint64_t> numbers;
        for (; first < end; ++first) {
            numbers.push_back(first);
        }
        return numbers;
    }

    MemoryImage m_image;
    std::uint64_t m_written = 0;
    std::uint64_t m_lost = 0;
    std::string m_why;
    BlackBox m_box;

  private:
    std::span<std::byte> m_memory;
};

TEST_F(ChunkCopying, TakesNothingThatCameAfterTheHead) {
    write(5);
    EXPECT_EQ(copied(0, 2), range(0, 5));
    EXPECT_EQ(copied(3, 0), range(3, 7));
}

TEST_F(ChunkCopying, LeavesOutWhatTheSameLapOverwrote) {
    write(kSlots + 3);                     // 4 to 7 of the first lap, 8 to 10
    EXPECT_EQ(copied(0, 2), range(6, 11)); // 4 and 5 are overwritten, 5 is scratch at the second look
    EXPECT_EQ(m_lost, 6U);
}

TEST_F(ChunkCopying, LeavesOutWhatTheNextLapOverwrote) {
    write(5);
    EXPECT_EQ(copied(0, 5), range(3, 5)); // 8 and 9 are in the places of 0 and 1, the place of 2 is scratch
    EXPECT_EQ(m_lost, 3U);
}

TEST_F(ChunkCopying, TakesNoRecordOfALaterLapForOneThatWasThere) {
    write(6);
    EXPECT_EQ(copied(4, kSlots), range(0, 0)); // 12 and 13 are in the places of 4 and 5
    EXPECT_EQ(m_lost, 2U);
}

TEST_F(ChunkCopying, BeginsAgainAfterTwoLaps) {
    write(6);
    EXPECT_EQ(copied(4, 2 * kSlots), range(15, 22));
    EXPECT_EQ(m_lost, 11U);
}

TEST_F(ChunkCopying, GivesUpAChunkThatIsAlwaysOverwritten) {
    write(6);
    EXPECT_EQ(copied(4, 2 * kSlots, 2 * kSlots), range(0, 0));
    EXPECT_EQ(m_why, "the machine overwrites it faster than it can be copied (16 tries)");
}

// A head that is being written may contradict itself, or say that there is no chunk.
TEST_F(ChunkCopying, BeginsAgainWhenTheHeadDoesNotHoldMeanwhile) {
    write(6);
    const std::uint64_t exists = MemoryImage::entry(0, tracer::black_box::kChunkFields.exists);
    ChunkCopy copy;
    ChunkCopier torn(m_box, [&] { m_image.put(exists, std::uint8_t{7}); });
    const auto refused = torn.copy(0, {}, Streams::kept, copy);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().text, "exists 7");
    m_image.put(exists, std::uint8_t{1});
    ChunkCopier emptied(m_box, [&] { m_image.put(exists, std::uint8_t{0}); });
    const auto none = emptied.copy(0, {}, Streams::kept, copy);
    ASSERT_TRUE(none.ok());
    EXPECT_FALSE(none.value());
}

TEST_F(ChunkCopying, BeginsAgainWhenTheChunkWasUsedAnew) {
    write(6);
    bool first = true;
    const auto anew = [&] {
        if (std::exchange(first, false)) {
            m_image.put(MemoryImage::entry(0, tracer::black_box::kChunkFields.uses), std::uint32_t{2});
            m_image.put(MemoryImage::control(0, TRACER_CHUNK_WORD), std::uint64_t{0});
            write(6); // 6 to 11, in the places of 0 to 5
        }
    };
    ChunkCopier copier(m_box, anew);
    ChunkCopy copy;
    const auto found = copier.copy(0, {.uses = 1, .end_bytes = 64}, Streams::kept, copy);
    ASSERT_TRUE(found.ok() && found.value());
    EXPECT_EQ(copy.place.uses, 2U);
    EXPECT_EQ(copy.stamp->value, 1006U);
    EXPECT_EQ(copy.events(), 6U);
}

} // namespace

} // namespace host::formats::memory::chunk_copy_test
