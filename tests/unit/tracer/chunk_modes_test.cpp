// SPDX-License-Identifier: MIT
// Tests chunk modes end to end through the real record path: a random comparison with a simple model, and each
// published mode by hand.
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/model.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

namespace chunk_modes_test {

using tests::emergency_records;
using tests::main_records;
using tests::TracerFixture;
using tests::TracerModel;
using tracer::Chunk;

std::vector<tests::ModelEvent> events_of(const std::vector<tracer::Record>& records) {
    std::vector<tests::ModelEvent> events;
    for (const tracer::Record& record : records) {
        events.push_back({record.event_code(), record.par2});
    }
    return events;
}

class Comparison {
  public:
    explicit Comparison(std::uint64_t seed)
        : m_random(seed) {
        constexpr std::array<tracer::ChunkFlags, 3> modes = {tracer::kFlagCyclic, tracer::kFlagJumpToNext,
                                                             tracer::kFlagStop};
        for (tests::ModelChunk& chunk : m_model.chunks) {
            chunk.exists = chunk.free = true;
            chunk.mode = modes[m_random() % modes.size()];
            chunk.slots = 1 + m_random() % 7;
            chunk.emergency_slots = m_random() % 4;
            m_real.push_back(&m_fixture.chunk(static_cast<std::uint32_t>(chunk.slots),
                                              static_cast<std::uint32_t>(chunk.emergency_slots), chunk.mode));
        }
    }

    // Returns the difference after one random operation; empty if there is none.
    std::string step() {
        const std::string operation = operate();
        if (m_failed) {
            return operation + ": one refused, the other did not";
        }
        if (m_fixture.tracer().control.totals() != m_model.sum()) {
            return operation + ": totals";
        }
        const tracer::Totals totals = m_model.sum();
        if (totals.committed + totals.dropped + totals.refused != m_model.attempts) {
            return operation + ": identity";
        }
        for (std::size_t i = 0; i < m_real.size(); ++i) {
            if (events_of(main_records(*m_real[i])) != m_model.chunks[i].kept() ||
                events_of(emergency_records(*m_real[i])) != m_model.chunks[i].emergency) {
                return operation + ": contents of chunk " + std::to_string(i);
            }
        }
        return {};
    }

  private:
    std::string operate() {
        tracer::Control& control = m_fixture.tracer().control;
        const int first = static_cast<int>(m_random() % m_real.size());
        const int second = static_cast<int>(m_random() % m_real.size());
        Chunk& chunk = *m_real[static_cast<std::size_t>(first)];
        Chunk& other = *m_real[static_cast<std::size_t>(second)];
        switch (m_random() % 32) {
        case 0:
        case 1:
            m_failed = control.select(chunk).ok() != m_model.select(first);
            return "select";
        case 2:
        case 3:
            m_failed = m_fixture.tracer().store.link(chunk, other).ok() != m_model.link(first, second);
            return "link";
        case 4:
        case 5:
            m_failed = control.enable().ok() != m_model.enable();
            return "enable";
        case 6:
            control.disable();
            m_model.disable();
            return "disable";
        case 7:
            m_failed = control.close_active().ok() != m_model.next_chunk();
            return "next_chunk";
        case 8:
        case 9: {
            const auto flags = static_cast<tracer::ChunkFlags>(m_fixture.tracer().store.flags(chunk) | 0x01);
            m_failed = m_fixture.tracer().store.set_flags(chunk, flags).ok() != m_model.make_free(first);
            return "set FREE";
        }
        case 10:
        case 11:
            tracer::log<"task_deadline_miss">(1, m_serial);
            m_model.log(tracer::event_code("task_deadline_miss"), m_serial++);
            return "log emergency";
        default:
            tracer::log<"ipoint">(1, m_serial);
            m_model.log(tracer::event_code("ipoint"), m_serial++);
            return "log";
        }
    }

    TracerFixture m_fixture{4096};
    TracerModel m_model;
    std::vector<Chunk*> m_real;
    std::mt19937_64 m_random;
    std::uint32_t m_serial = 1;
    bool m_failed = false;
};

TEST(ChunkModes, EqualAPlainModelUnderRandomOperations) {
    const char* const given = std::getenv("REMORA_TEST_SEED");
    const std::uint64_t first_seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    for (std::uint64_t seed = first_seed; seed < first_seed + 200; ++seed) {
        Comparison comparison(seed);
        for (int i = 0; i < 400; ++i) {
            ASSERT_EQ(comparison.step(), "") << "REMORA_TEST_SEED=" << seed << ", operation " << i;
        }
    }
}

std::vector<std::uint32_t> serials(const std::vector<tracer::Record>& records) {
    std::vector<std::uint32_t> result;
    for (const tracer::Record& record : records) {
        result.push_back(record.par2);
    }
    return result;
}

void log_serials(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        tracer::log<"ipoint">(0, i);
    }
}

TEST(ChunkModes, CyclicKeepsTheNewestButOne) {
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(4, 0, tracer::kFlagCyclic);
    fixture.select_and_enable(chunk);
    log_serials(4);
    EXPECT_EQ(serials(main_records(chunk)), (std::vector<std::uint32_t>{0, 1, 2, 3})); // not yet wrapped: all
    log_serials(0);
    for (std::uint32_t i = 4; i < 7; ++i) {
        tracer::log<"ipoint">(0, i);
    }
    EXPECT_EQ(serials(main_records(chunk)),
              (std::vector<std::uint32_t>{4, 5, 6})); // the slot at the position is scratch
    tracer::log<"ipoint">(0, 7);
    EXPECT_EQ(serials(main_records(chunk)), (std::vector<std::uint32_t>{4, 5, 6, 7})); // at the limit: all
    EXPECT_EQ(fixture.tracer().store.flags(chunk) & tracer::kFlagFull, 0) << "the next record finds room";
    EXPECT_EQ(fixture.tracer().control.totals(), (tracer::Totals{.committed = 8, .overwritten = 4}));
}

TEST(ChunkModes, StopKeepsTheOldest) {
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(4, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    log_serials(10);
    EXPECT_EQ(serials(main_records(chunk)), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(fixture.tracer().control.totals(), (tracer::Totals{.committed = 4, .dropped = 6}));
    EXPECT_NE(fixture.tracer().store.flags(chunk) & tracer::kFlagFull, 0);
}

TEST(ChunkModes, JumpLosesNoEventOnItsWay) {
    TracerFixture fixture;
    Chunk& a = fixture.chunk(3, 0, tracer::kFlagJumpToNext);
    Chunk& b = fixture.chunk(3, 0, tracer::kFlagJumpToNext);
    Chunk& c = fixture.chunk(3, 2, tracer::kFlagJumpToNext);
    fixture.link(a, b);
    fixture.link(b, c);
    fixture.select_and_enable(a);
    log_serials(12);
    EXPECT_EQ(serials(main_records(a)), (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_EQ(serials(main_records(b)), (std::vector<std::uint32_t>{3, 4, 5}));
    EXPECT_EQ(serials(main_records(c)), (std::vector<std::uint32_t>{6, 7, 8}));
    // Without a successor it stops, counts and reports it.
    EXPECT_EQ(emergency_records(c).at(0).code, FTrace_EVT_blackout_start);
    EXPECT_EQ(fixture.tracer().control.totals(), (tracer::Totals{.committed = 9, .dropped = 3, .tracer_made = 1}));
}

TEST(ChunkModes, BlackoutEndStatesTheLoss) {
    TracerFixture fixture;
    Chunk& a = fixture.chunk(2, 1, tracer::kFlagStop);
    Chunk& b = fixture.chunk(4, 0, tracer::kFlagStop);
    fixture.select_and_enable(a);
    log_serials(5);
    ASSERT_TRUE(fixture.tracer().control.select(b).ok());
    log_serials(1);
    ASSERT_EQ(main_records(b).size(), 2U);
    EXPECT_EQ(main_records(b)[0].code, FTrace_EVT_blackout_end);
    EXPECT_EQ(main_records(b)[0].par2, 3U);
    EXPECT_EQ(main_records(b)[1].code, FTrace_EVT_ipoint);
}

TEST(ChunkModes, BlackoutEndStatesTheGreatestNumberForALargerLoss) {
    TracerFixture fixture;
    fixture.expect_miscounts();
    Chunk& a = fixture.chunk(2, 1, tracer::kFlagStop);
    fixture.select_and_enable(a);
    log_serials(2 + 7);
    for (const std::uint64_t lost : {std::uint64_t{0xFFFF'FFFE}, std::uint64_t{1} << 32}) {
        fixture.tracer().cpu.dropped_bytes = fixture.tracer().cpu.reported_bytes + lost * tracer::kRecordBytes;
        Chunk& b = fixture.chunk(4, 0, tracer::kFlagStop);
        ASSERT_TRUE(fixture.tracer().control.select(b).ok());
        log_serials(1);
        ASSERT_EQ(main_records(b).size(), 2U);
        EXPECT_EQ(main_records(b)[0].code, FTrace_EVT_blackout_end);
        EXPECT_EQ(main_records(b)[0].par2, std::min<std::uint64_t>(lost, 0xFFFF'FFFF));
        log_serials(4);
    }
}

TEST(ChunkModes, EnabledAgainRecordingContinuesWhereItStopped) {
    TracerFixture fixture;
    Chunk& chunk = fixture.chunk(8, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    log_serials(2);
    fixture.tracer().control.disable();
    log_serials(5);
    ASSERT_TRUE(fixture.tracer().control.enable().ok());
    tracer::log<"ipoint">(0, 2);
    EXPECT_EQ(serials(main_records(chunk)), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(ChunkStore, FindsTheFirstGapAndMergesFreedOnes) {
    TracerFixture fixture(64);
    Chunk& a = fixture.chunk(1, 0, 0);
    Chunk& b = fixture.chunk(1, 0, 0);
    Chunk& c = fixture.chunk(2, 0, 0);
    EXPECT_EQ(fixture.tracer().store.create(16, 0, 1).error(), lib::Error::no_space);
    const std::byte* const begin = a.control.data;
    ASSERT_TRUE(fixture.tracer().store.remove(a).ok());
    ASSERT_TRUE(fixture.tracer().store.remove(b).ok());
    const auto merged = fixture.tracer().store.create(17, 8, 1); // two slots' worth of arena
    ASSERT_FALSE(merged.ok());                                   // 17 -> 32 and 8 -> 16 bytes
    EXPECT_EQ(fixture.chunk(2, 0, 0).control.data, begin);
    EXPECT_EQ(c.control.data, begin + 32);
}

TEST(ChunkStore, RemovesTheLinksToAChunkWithItAndNoOthers) {
    TracerFixture fixture;
    Chunk& a = fixture.chunk(1, 0, tracer::kFlagJumpToNext);
    Chunk& b = fixture.chunk(1, 0, tracer::kFlagJumpToNext);
    Chunk& c = fixture.chunk(1, 0, tracer::kFlagJumpToNext);
    Chunk& d = fixture.chunk(1, 0, tracer::kFlagJumpToNext);
    fixture.link(a, b);
    fixture.link(c, d);
    ASSERT_TRUE(fixture.tracer().store.remove(b).ok());
    EXPECT_EQ(a.control.next, nullptr);
    EXPECT_EQ(c.control.next, &d.control);
}

// What an interrupted writer left there is not exported.
TEST(ChunkStore, FillsTheLastSlotOfAFrozenStreamWithZeros) {
    for (unsigned records = 1; records <= 4; ++records) {
        TracerFixture fixture;
        const auto made = fixture.tracer().store.create(
            2048, 0, tracer::kFlagFree | tracer::kFlagStop | tracer::kFlagCompressed, tracer::compact::Layout::a);
        ASSERT_TRUE(made.ok());
        Chunk& chunk = *made.value();
        fixture.select_and_enable(chunk);
        for (unsigned i = 0; i < records; ++i) {
            tracer::log<"timer_wakeup_start">(0, 0); // four bytes
        }
        fixture.tracer().control.disable();
        ASSERT_TRUE(fixture.tracer().store.freeze(chunk).ok());
        const auto contents = tracer::ChunkStore::contents(chunk);
        EXPECT_EQ(contents.stream_records, records);
        EXPECT_LT(contents.newer.size() - contents.stream_bytes, tracer::kRecordBytes);
        const auto rest = contents.newer.subspan(contents.stream_bytes);
        EXPECT_TRUE(std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; })) << records;
        EXPECT_EQ(contents.newer.data()[contents.newer.size()], tests::kPattern) << "and nothing after it";
    }
}

TEST(ChunkStore, HasRoomFor256Chunks) {
    TracerFixture fixture(1U << 16);
    for (int i = 0; i < 256; ++i) {
        EXPECT_EQ(fixture.chunk(1, 0, 0).number, i);
    }
    EXPECT_EQ(fixture.tracer().store.create(16, 0, 1).error(), lib::Error::no_space);
}

TEST(ChunkStore, CountsWhatEmptyingAndDeletingThrowAway) {
    TracerFixture fixture;
    Chunk& a = fixture.chunk(4, 2, tracer::kFlagStop);
    Chunk& b = fixture.chunk(4, 0, tracer::kFlagStop);
    fixture.select_and_enable(a);
    log_serials(6);
    ASSERT_TRUE(fixture.tracer().control.select(b).ok());
    ASSERT_TRUE(fixture.tracer().store.remove(a).ok());
    EXPECT_EQ(fixture.tracer().control.totals(),
              (tracer::Totals{.committed = 4, .dropped = 2, .tracer_made = 1, .overwritten = 5}));
    EXPECT_EQ(b.generation(), 0U);
    fixture.tracer().control.disable();
    ASSERT_TRUE(fixture.tracer().store.set_flags(b, tracer::kFlagFree).ok());
    ASSERT_TRUE(fixture.tracer().control.select(b).ok());
    EXPECT_EQ(b.generation(), 1U);
}

} // namespace chunk_modes_test
