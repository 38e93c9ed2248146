// SPDX-License-Identifier: MIT
// Tests a memory that changes while it is read: every record is taken once, whole and in order, or counted as lost.
#include "host/formats/memory/memory.hpp"

#include "host/formats/dat/record_stream.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "tests/support/memory_image.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace host::formats::memory::follower_test {

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
        m_file = ::memfd_create("memory", MFD_CLOEXEC);
        ASSERT_EQ(::ftruncate(m_file, static_cast<off_t>(size)), 0);
        void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, m_file, 0);
        ASSERT_NE(mapped, MAP_FAILED);
        m_memory = {static_cast<std::byte*>(mapped), size};
        m_image.move_to(m_memory);
        trace::Diagnostics diagnostics([](std::string_view line) { ADD_FAILURE() << line; });
        auto box = BlackBox::open({.name = "memory", .bytes = std::make_shared<trace::ByteSource>(m_file, true, size)},
                                  diagnostics);
        ASSERT_TRUE(box.ok());
        m_follower = std::make_unique<Follower>(std::move(box.value()));
    }

    Follower::Step step() {
        unsigned piece = 0;
        return m_follower->step([&](std::span<const std::byte> bytes) {
            m_stream.insert(m_stream.end(), bytes.begin(), bytes.end());
            if (piece++ % 3 != 0) { // not the preamble
                take(bytes);
            }
            return true;
        });
    }

    // The bytes are kept, and not looked at.
    Follower::Take keep() {
        return [this](std::span<const std::byte> bytes) {
            m_stream.insert(m_stream.end(), bytes.begin(), bytes.end());
            return true;
        };
    }

    // The chunk is emptied, and begins anew. retired: records that were ever written to emptied chunks.
    void empty(std::uint32_t chunk, std::uint64_t retired) {
        m_image.put(MemoryImage::kRetired, retired);
        const std::uint64_t uses = MemoryImage::entry(chunk, tracer::black_box::kChunkFields.uses);
        m_image.put(uses, m_image.get<std::uint32_t>(uses) + 1);
        m_image.put(MemoryImage::control(chunk, TRACER_CHUNK_WORD), std::uint64_t{0});
    }

    // What the readers of the pipe make of everything that was given.
    struct Reading {
        trace::TraceFacts facts;
        std::vector<std::uint64_t> after_holes; // numbers of the records that come after a hole
        std::uint64_t records = 0;
        std::string lines;

        [[nodiscard]] std::uint64_t sum(std::uint64_t trace::ChunkReport::*count) const {
            std::uint64_t all = 0;
            for (const trace::ChunkReport& chunk : facts.chunks) {
                all += chunk.*count;
            }
            return all;
        }
    };

    [[nodiscard]] Reading read() const {
        Reading reading;
        trace::Diagnostics diagnostics([&](std::string_view line) { reading.lines += std::string(line) + '\n'; });
        const int descriptor = ::memfd_create("pipe", MFD_CLOEXEC);
        EXPECT_EQ(::write(descriptor, m_stream.data(), m_stream.size()), static_cast<ssize_t>(m_stream.size()));
        EXPECT_EQ(::lseek(descriptor, 0, SEEK_SET), 0);
        const trace::NamedSource pipe{.name = "pipe",
                                      .bytes = std::make_shared<trace::ByteSource>(descriptor, true, std::nullopt),
                                      .followed = true};
        const auto stream = dat::RecordStream::of_sources(std::span(&pipe, 1), {}, diagnostics);
        EXPECT_TRUE(stream.ok());
        for (auto batch = stream.value()->next_batch(); !batch.empty(); batch = stream.value()->next_batch()) {
            for (const trace::Event& event : batch) {
                if (!event.metadata) {
                    ++reading.records;
                    if (event.after_hole) {
                        reading.after_holes.push_back(event.ticks.value - 1000);
                    }
                }
            }
        }
        diagnostics.finish();
        reading.facts = stream.value()->facts();
        return reading;
    }

    void end_run() {
        m_image.put(MemoryImage::kBase + offsetof(tracer::black_box::Descriptor, state),
                    tracer::black_box::State::ended);
    }

    MemoryImage m_image;
    int m_file = -1; // that has it
    std::unique_ptr<Follower> m_follower;
    std::uint64_t m_next = 0; // the least number that may come
    std::uint64_t m_taken = 0;
    std::vector<std::byte> m_stream; // everything that was given

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

TEST_F(MemoryFollower, WhatWasEmptiedUnseenIsMissingInItsPlace) {
    m_image.add_chunk(0, 8);
    m_image.set_active(0);
    m_image.put(MemoryImage::kRetired, std::uint64_t{100}); // before the following began
    start();
    for (std::uint64_t number = 0; number < 3; ++number) {
        m_image.write(0, numbered(number));
    }
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_follower->lost(), 100U);
    for (std::uint64_t number = 3; number < 5; ++number) {
        m_image.write(0, numbered(number)); // never seen: the chunk is emptied
    }
    empty(0, 105);
    m_image.write(0, numbered(5));
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(m_follower->missing(), 2U);
    m_image.write(0, numbered(6));
    EXPECT_EQ(step(), Follower::Step::more);
    end_run();
    EXPECT_EQ(step(), Follower::Step::ended);
    EXPECT_EQ(m_follower->missing(), 2U);
    EXPECT_EQ(m_follower->lost(), 102U);
    const Reading reading = read();
    EXPECT_EQ(reading.records, 5U);
    EXPECT_EQ(reading.after_holes, std::vector<std::uint64_t>{5});
    EXPECT_EQ(reading.sum(&trace::ChunkReport::missing), 2U);
    EXPECT_THAT(reading.lines, testing::HasSubstr("chunk 0 cpu 0 W-GAP 2 records in front of this part of the chunk"));
    EXPECT_THAT(reading.lines, testing::HasSubstr("W-GAP 2 records in all are missing"));
}

TEST_F(MemoryFollower, StatesWhatIsMissingWhenItStops) {
    m_image.add_chunk(0, 8);
    m_image.add_chunk(1, 8);
    m_image.set_active(0);
    start();
    m_image.write(0, numbered(0));
    EXPECT_EQ(step(), Follower::Step::more);
    m_image.write(0, numbered(1));
    empty(0, 2);
    EXPECT_EQ(step(), Follower::Step::idle);
    EXPECT_EQ(m_follower->missing(), 0U); // nothing came after it
    EXPECT_TRUE(m_follower->stop(keep()));
    EXPECT_EQ(m_follower->missing(), 1U);
    EXPECT_THAT(read().lines, testing::HasSubstr("W-GAP 1 records in all are missing"));
    m_image.write(1, numbered(0));
    m_image.write(1, numbered(0));
    m_image.put(MemoryImage::kArena + 12 * tracer::kRecordBytes + 16, std::uint64_t{0}); // it does not hold
    EXPECT_EQ(step(), Follower::Step::idle);
    EXPECT_TRUE(m_follower->stop(keep()));
    EXPECT_EQ(m_follower->missing(), 3U);
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

TEST_F(MemoryFollower, SaysThatTheMachineWasStartedAnew) {
    m_image.add_chunk(0, 8);
    m_image.set_active(0);
    m_image.write(0, numbered(0));
    start();
    EXPECT_EQ(step(), Follower::Step::more);
    m_image.write(0, numbered(1));
    m_image.put(MemoryImage::kBase, std::uint64_t{0}); // the machine is reset
    EXPECT_EQ(m_follower->step(keep()), Follower::Step::restarted);
    const Reading reading = read();
    EXPECT_EQ(reading.records, 1U); // what is there now may be of no run
    EXPECT_TRUE(reading.facts.restarted);
    EXPECT_THAT(reading.lines, testing::HasSubstr("E-BOOT the machine was reset or started anew"));
}

// Its descriptor and its tables are still there.
TEST_F(MemoryFollower, SaysThatTheFileOfTheMemoryWasCut) {
    m_image.add_chunk(0, 8);
    m_image.set_active(0);
    m_image.write(0, numbered(0));
    start();
    EXPECT_EQ(step(), Follower::Step::more);
    EXPECT_EQ(step(), Follower::Step::idle);
    ASSERT_EQ(::ftruncate(m_file, static_cast<off_t>(m_image.bytes().size() - 4096)), 0);
    EXPECT_EQ(m_follower->step(keep()), Follower::Step::restarted);
    EXPECT_THAT(read().lines, testing::HasSubstr("its memory cannot be read any more"));
}

TEST_F(MemoryFollower, HasOneReportForEachChunk) {
    constexpr std::uint64_t kParts = 500;
    m_image.add_chunk(0, 8, 0, tracer::kFlagCyclic);
    m_image.add_chunk(1, 8);
    m_image.set_active(0);
    start();
    std::uint64_t number = 0;
    EXPECT_EQ(step(), Follower::Step::idle);
    for (std::uint64_t part = 0; part < kParts; ++part) {
        for (const std::uint64_t end = number + (part % 50 == 7 ? 20 : 3); number < end; ++number) {
            m_image.write(0, numbered(number));
        }
        EXPECT_EQ(step(), Follower::Step::more);
    }
    m_image.write(1, numbered(number++));
    m_image.set_active(1);
    EXPECT_EQ(step(), Follower::Step::more);
    const Reading reading = read();
    EXPECT_EQ(reading.facts.chunks.size(), 2U);
    EXPECT_EQ(reading.records, m_taken);
    EXPECT_EQ(reading.sum(&trace::ChunkReport::events), m_taken);
    EXPECT_EQ(reading.sum(&trace::ChunkReport::missing), m_follower->missing());
    EXPECT_EQ(m_taken + m_follower->missing(), number);
    EXPECT_EQ(reading.after_holes.size(), kParts / 50);
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

} // namespace host::formats::memory::follower_test
