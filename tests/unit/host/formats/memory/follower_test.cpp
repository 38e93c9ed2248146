// SPDX-License-Identifier: MIT
// A memory that changes while it is read: every record is taken once, whole and in order, or counted as lost.
#include "host/formats/memory/follower.hpp"

#include "host/trace/event.hpp"
#include "tests/support/memory_image.hpp"

#include <atomic>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace host::formats::memory {

namespace {

using support::MemoryImage;

// Stamp and parameter are made from one number: a record that is made of two is known by it.
tracer::Record numbered(std::uint64_t number) {
    return tracer::make_record(trace::kCodeOf<"ipoint">, static_cast<std::uint16_t>(number),
                               static_cast<std::uint32_t>(number), {1000 + number});
}

// The machine's memory in a file that this process has mapped, and a follower that reads the file.
class MemoryFollower : public testing::Test {
  protected:
    ~MemoryFollower() override {
        m_follower.reset();
        ::munmap(m_memory.data(), m_memory.size());
    }

    void start() {
        const std::size_t size = m_image.bytes().size();
        const int descriptor = ::memfd_create("memory", MFD_CLOEXEC);
        ASSERT_EQ(::ftruncate(descriptor, static_cast<off_t>(size)), 0);
        void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        ASSERT_NE(mapped, MAP_FAILED);
        m_memory = {static_cast<std::byte*>(mapped), size};
        m_image.move_to(m_memory);
        trace::Diagnostics diagnostics([](std::string_view line) { ADD_FAILURE() << line; });
        auto box = BlackBox::open(
            {.name = "memory", .bytes = std::make_shared<trace::ByteSource>(descriptor, true, size)}, diagnostics);
        ASSERT_TRUE(box.ok());
        m_follower = std::make_unique<Follower>(std::move(box.value()));
    }

    Follower::Step step() {
        unsigned piece = 0;
        return m_follower->step([&](std::span<const std::byte> bytes) {
            if (piece++ % 3 != 0) { // not the preamble
                take(bytes);
            }
            return true;
        });
    }

    void end_run() {
        m_image.put(MemoryImage::kBase + offsetof(tracer::black_box::Descriptor, state),
                    tracer::black_box::State::ended);
    }

    MemoryImage m_image;
    std::unique_ptr<Follower> m_follower;
    std::uint64_t m_next = 0; // the least number that may come
    std::uint64_t m_taken = 0;

  private:
    void take(std::span<const std::byte> bytes) {
        for (; !bytes.empty(); bytes = bytes.subspan(tracer::kRecordBytes)) {
            const tracer::Record record = tracer::decode_record(bytes);
            const std::uint64_t number = record.stamp().value - 1000;
            ASSERT_EQ(record, numbered(number)) << "torn";
            ASSERT_GE(number, m_next) << "again, or out of order";
            m_next = number + 1;
            ++m_taken;
        }
    }

    std::span<std::byte> m_memory;
};

TEST_F(MemoryFollower, TakesEachRecordOnce) {
    m_image.add_chunk(0, 8);
    m_image.add_chunk(1, 8);
    m_image.set_active(0);
    start();
    EXPECT_EQ(step(), Follower::Step::idle);
    for (std::uint64_t number = 0; number < 8; ++number) {
        m_image.write(0, numbered(number));
        EXPECT_EQ(step(), Follower::Step::more);
        EXPECT_EQ(m_taken, number + 1);
    }
    m_image.write(1, numbered(8));
    m_image.set_active(1);
    m_image.write_emergency(1, numbered(9));
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_taken, 10U);
    EXPECT_EQ(step(), Follower::Step::idle);
    end_run();
    EXPECT_EQ(step(), Follower::Step::ended);
}

TEST_F(MemoryFollower, LeavesWhatIsNewerThanTheActiveChunkForTheNextStep) {
    m_image.add_chunk(0, 8);
    m_image.add_chunk(1, 8);
    m_image.set_active(0);
    m_image.write(0, numbered(0));
    m_image.write(1, numbered(1)); // recording has moved on, which the pointer does not show yet
    start();
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_taken, 1U);
    m_image.set_active(1);
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_taken, 2U);
}

TEST_F(MemoryFollower, CountsWhatACyclicChunkOverwrote) {
    m_image.add_chunk(0, 8, 0, tracer::kFlagCyclic);
    m_image.set_active(0);
    start();
    for (std::uint64_t number = 0; number < 20; ++number) {
        m_image.write(0, numbered(number));
    }
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_taken, 7U); // of 8 slots one is scratch
    EXPECT_EQ(m_follower->lost(), 13U);
    EXPECT_EQ(m_next, 20U);
}

TEST_F(MemoryFollower, CountsAtTheEndWhatAChunkHadThatWasUsedAnew) {
    m_image.add_chunk(0, 8);
    m_image.set_active(0);
    start();
    for (std::uint64_t number = 0; number < 3; ++number) {
        m_image.write(0, numbered(number));
    }
    EXPECT_EQ(step(), Follower::Step::more);
    m_image.write(0, numbered(3)); // never seen: the chunk is emptied
    m_image.put(MemoryImage::kRetired, std::uint64_t{4});
    m_image.put(MemoryImage::entry(0, tracer::black_box::kChunkFields.uses), std::uint32_t{2});
    m_image.put(MemoryImage::control(0, TRACER_CHUNK_WORD), std::uint64_t{0});
    m_image.write(0, numbered(4));
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_taken, 4U);
    EXPECT_EQ(m_follower->lost(), 0U);
    end_run();
    EXPECT_EQ(step(), Follower::Step::ended);
    EXPECT_EQ(m_follower->lost(), 1U);
    EXPECT_EQ(m_follower->missing(), 1U);
}

TEST_F(MemoryFollower, WhatIsLostAfterItBeganIsMissing) {
    m_image.add_chunk(0, 8, 0, tracer::kFlagCyclic);
    m_image.add_chunk(1, 8);
    m_image.set_active(0);
    m_image.write(0, numbered(0));
    m_image.write(1, numbered(0));
    m_image.write(1, numbered(0));
    m_image.put(MemoryImage::kArena + 8 * tracer::kRecordBytes + 16, std::uint64_t{0}); // it never holds
    m_image.put(MemoryImage::kRetired, std::uint64_t{100});                             // before
    start();
    EXPECT_EQ(step(), Follower::Step::more);
    for (std::uint64_t number = 1; number < 20; ++number) {
        m_image.write(0, numbered(number));
    }
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_follower->missing(), 12U);
    end_run();
    EXPECT_EQ(step(), Follower::Step::ended);
    EXPECT_EQ(m_follower->missing(), 14U); // and the two of the chunk that does not hold
    EXPECT_EQ(m_follower->lost(), 114U);
}

TEST_F(MemoryFollower, EndsWithTheRunOfThatBoot) {
    m_image.add_chunk(0, 8);
    start();
    m_image.put(MemoryImage::kBase, std::uint64_t{0}); // the machine is reset
    EXPECT_EQ(step(), Follower::Step::ended);
}

TEST_F(MemoryFollower, NeverTakesWhatIsOverwrittenDuringTheCopy) {
    constexpr std::uint64_t kRecords = 3'000'000;
    m_image.add_chunk(0, 512, 0, tracer::kFlagCyclic);
    m_image.set_active(0);
    start();
    std::thread machine([this] {
        for (std::uint64_t number = 0; number < kRecords; ++number) {
            m_image.write(0, numbered(number));
        }
        end_run();
    });
    while (!HasFatalFailure() && step() != Follower::Step::ended) {
    }
    machine.join();
    EXPECT_EQ(m_next, kRecords);
    EXPECT_EQ(m_taken + m_follower->lost(), kRecords);
    EXPECT_EQ(m_follower->records(), m_taken);
}

} // namespace

} // namespace host::formats::memory
