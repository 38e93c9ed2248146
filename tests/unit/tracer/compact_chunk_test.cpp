// SPDX-License-Identifier: MIT
// Tests chunks written compactly from the start, by the record path itself: the decoder returns the logged events, in
// every layout, interrupted at every instruction boundary, across turns, chunks and blackouts.
#include "tracer/chunk/compact_chunk.hpp"

#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/stepper.hpp"
#include "tracer/compact/decoder.hpp"

#include <algorithm>
#include <memory>

namespace compact_chunk_test {

using tests::Stepper;
using tests::TracerFixture;
using tracer::Record;
using tracer::compact::Decoder;
using tracer::compact::Layout;

constexpr std::uint8_t kWord = tracer::event_code("task_schedule");
constexpr std::uint8_t kNone = tracer::event_code("timer_wakeup_start");
constexpr std::uint8_t kRare = tracer::event_code("user_event_9");
constexpr std::uint8_t kLong = tracer::event_code("task_name");
constexpr std::uint8_t kBlackoutEnd = tracer::event_code("blackout_end");

struct Logged {
    std::uint16_t code;
    std::uint16_t par1;
    std::uint32_t par2;

    friend bool operator==(const Logged&, const Logged&) = default;

    friend std::ostream& operator<<(std::ostream& out, const Logged& logged) {
        return out << std::hex << logged.code << ":" << logged.par1 << ":" << logged.par2 << std::dec;
    }
};

// One chunk under the record path, without a store.
class CompactChunk : public testing::TestWithParam<tracer::compact::LayoutRow> {
  protected:
    CompactChunk() {
        m_fixture.select_and_enable(m_fixture.chunk(16, 4, tracer::kFlagStop)); // sets a mask
        m_fixture.expect_miscounts(); // chunks outside of the store; their contents are compared with the logged events
        start(m_control, m_area, 4096);
        tracer::write_shared(m_fixture.tracer().cpu.active, &m_control);
    }

    static void start(tracer::ChunkControl& control, std::span<std::byte> area, std::uint32_t bytes) {
        control.data = area.data();
        control.mode = TRACER_MODE_JTN;
        ASSERT_TRUE(tracer::start_compact_chunk(control, GetParam().layout, bytes).ok());
    }

    static void log(const Logged& logged) { tracer::detail::record(logged.code, logged.par1, logged.par2); }

    static std::vector<Record> long_slots(std::uint32_t count, std::uint32_t serial) {
        std::vector<Record> slots(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            slots[i].code =
                static_cast<std::uint16_t>(kLong | static_cast<std::uint16_t>(tracer::combine_of(i, count)));
            slots[i].par1 = static_cast<std::uint16_t>(i == 0 ? count * 6 : i);
            slots[i].par2 = serial;
        }
        return slots;
    }

    static void log_long(std::uint32_t count, std::uint32_t serial) {
        tracer::detail::record_long(long_slots(count, serial).data(), count);
    }

    // As if the previous event had been in another turn. Wide headers have no turns.
    void leave_the_turn() { m_control.word ^= std::uint64_t{GetParam().kind != tracer::compact::Kind::large96} << 40; }

    [[nodiscard]] static std::span<const std::byte> stream(const tracer::ChunkControl& control) {
        return {control.data, control.word & TRACER_WORD_POSITION_MASK};
    }

    // Everything in the stream; stamps must not decrease, and must be between the two given ones.
    static std::vector<Logged> decoded(const tracer::ChunkControl& control, std::uint64_t from) {
        const auto bytes = stream(control);
        const auto decoder = std::make_unique<Decoder>(bytes.size());
        std::vector<Logged> result;
        std::uint64_t last = from >> GetParam().lsb << GetParam().lsb;
        Decoder::Step step{};
        while ((step = decoder->next(bytes.subspan(decoder->offset()))) == Decoder::Step::records) {
            for (const Record& record : decoder->records()) {
                EXPECT_GE(record.stamp().value, last);
                last = record.stamp().value;
                result.push_back({record.code, record.par1, record.par2});
            }
        }
        EXPECT_EQ(step, Decoder::Step::end)
            << tracer::compact::fault_text(decoder->fault()) << " at " << decoder->offset();
        EXPECT_LE(last, __builtin_ia32_rdtsc());
        EXPECT_EQ(tracer::count_compact_records(bytes), result.size());
        return result;
    }

    // What is not written shows.
    static std::array<std::byte, 4096> not_zero() {
        std::array<std::byte, 4096> area{};
        area.fill(std::byte{0xA5});
        return area;
    }

    TracerFixture m_fixture;
    alignas(16) std::array<std::byte, 4096> m_area = not_zero();
    tracer::ChunkControl m_control;
    std::uint64_t m_begin = __builtin_ia32_rdtsc();
};

TEST_P(CompactChunk, HoldsWhatWasLogged) {
    std::vector<Logged> expected;
    for (std::uint32_t i = 0; i < 12; ++i) {
        for (const Logged& logged :
             {Logged{kWord, 1, i}, Logged{kNone, 0, 0}, Logged{kNone, 0, i + 1}, Logged{kWord, 0xFFFF, 0xFFFF},
              Logged{kWord, 2, 0x1'0000}, Logged{kRare, 3, 0xFFFF'FFFF}, Logged{0x8000 | kWord, 4, 5},
              Logged{kWord, 0, 0}, Logged{kWord, 0, i}, Logged{kNone, 1, 0}, Logged{kNone, 1, i}}) {
            log(logged);
            expected.push_back(logged);
        }
    }
    EXPECT_EQ(decoded(m_control, m_begin), expected);
}

TEST_P(CompactChunk, HoldsLongEvents) {
    std::vector<Logged> expected;
    for (const std::uint32_t count : {1U, 2U, 3U, 4U, 5U, 64U}) {
        log({kWord, 1, count});
        expected.push_back({kWord, 1, count});
        log_long(count, count * 1000);
        for (const Record& slot : long_slots(count, count * 1000)) {
            expected.push_back({slot.code, slot.par1, slot.par2});
        }
    }
    EXPECT_EQ(decoded(m_control, m_begin), expected);
}

TEST_P(CompactChunk, WritesAHeartbeatWhenTheTurnChanges) {
    std::vector<Logged> expected;
    for (std::uint32_t i = 0; i < 5; ++i) {
        log({kWord, 1, i});
        expected.push_back({kWord, 1, i});
        leave_the_turn();
    }
    const std::size_t before = stream(m_control).size();
    EXPECT_EQ(decoded(m_control, m_begin), expected);
    EXPECT_GT(before, 0U);
}

// Whatever its length is, a heartbeat before each event or not.
TEST_P(CompactChunk, EndsOnlyBeforeAnEventThatDoesNotFit) {
    constexpr std::uint32_t kEventBytesMax = 16;
    const auto small = static_cast<std::uint32_t>(tracer::compact_chunk_bytes_min(GetParam().layout));
    for (const std::uint32_t bytes : {small, small + 20, small + 100, 1000U}) {
        m_control = {};
        start(m_control, m_area, bytes);
        tracer::write_shared(m_fixture.tracer().cpu.active, &m_control);
        for (std::uint32_t i = 0; i < 200; ++i) {
            log({kWord, 1, i});
            leave_the_turn();
        }
        EXPECT_GT(stream(m_control).size() + TRACER_COMPACT_HEARTBEAT_MAX + kEventBytesMax, bytes);
        EXPECT_LE(stream(m_control).size(), bytes);
    }
}

TEST_P(CompactChunk, ContinuesInTheNextChunkWhenFull) {
    alignas(16) static std::array<std::byte, 2048> next_area;
    tracer::ChunkControl next;
    start(next, next_area, 2048);
    const auto small = static_cast<std::uint32_t>(tracer::compact_chunk_bytes_min(GetParam().layout));
    m_control = {};
    start(m_control, m_area, small);
    m_control.next = &next;
    std::vector<Logged> expected;
    for (std::uint32_t i = 0; i < 60; ++i) {
        log({kWord, 1, i});
        expected.push_back({kWord, 1, i});
    }
    EXPECT_LE(stream(m_control).size(), small);
    EXPECT_EQ(m_fixture.tracer().cpu.active, &next);
    auto all = decoded(m_control, m_begin);
    const auto rest = decoded(next, m_begin);
    EXPECT_FALSE(rest.empty());
    all.insert(all.end(), rest.begin(), rest.end());
    EXPECT_EQ(all, expected);
    EXPECT_EQ(m_fixture.tracer().cpu.dropped_bytes, 0U);
}

TEST_P(CompactChunk, DropsAndReportsTheLossWithoutASuccessor) {
    const auto small = static_cast<std::uint32_t>(tracer::compact_chunk_bytes_min(GetParam().layout));
    m_control = {};
    start(m_control, m_area, small);
    for (std::uint32_t i = 0; i < 100; ++i) {
        log({kWord, 1, i});
    }
    const std::uint64_t kept = tracer::count_compact_records(stream(m_control));
    std::uint64_t& dropped_bytes = m_fixture.tracer().cpu.dropped_bytes;
    EXPECT_EQ(dropped_bytes / 16, 100 - kept);
    alignas(16) static std::array<std::byte, 2048> next_area;
    for (const std::uint64_t lost : {100 - kept, std::uint64_t{0xFFFF'FFFF}, std::uint64_t{1} << 32}) {
        dropped_bytes = lost * 16;
        m_fixture.tracer().cpu.reported_bytes = 0;
        tracer::ChunkControl next;
        start(next, next_area, 2048);
        m_control.next = &next;
        tracer::write_shared(m_fixture.tracer().cpu.active, &m_control);
        log({kWord, 1, 100});
        const auto stated = static_cast<std::uint32_t>(std::min<std::uint64_t>(lost, 0xFFFF'FFFF));
        EXPECT_EQ(decoded(next, m_begin), (std::vector<Logged>{{kBlackoutEnd, 0, stated}, {kWord, 1, 100}}));
        EXPECT_EQ(next.ends, 1U);
    }
}

// One layout of each kind: the record path distinguishes no more.
class CompactChunkInterrupted : public CompactChunk {};

// An interrupter logs two events at each boundary of each kind of event.
TEST_P(CompactChunkInterrupted, IsWholeAtEveryInstructionBoundary) {
    enum class Outer { word, none, large, fast, long_event, turn, resume, full };
    for (const Outer outer : {Outer::word, Outer::none, Outer::large, Outer::fast, Outer::long_event, Outer::turn,
                              Outer::resume, Outer::full}) {
        bool met = true;
        for (int boundary = 0; met; ++boundary) {
            m_control = {};
            start(m_control, m_area, 4096);
            tracer::write_shared(m_fixture.tracer().cpu.active, &m_control);
            alignas(16) static std::array<std::byte, 4096> next_area;
            tracer::ChunkControl next;
            start(next, next_area, 4096);
            m_control.next = &next;
            m_fixture.tracer().cpu.reported_bytes = m_fixture.tracer().cpu.dropped_bytes;
            std::vector<Logged> expected;
            log({kWord, 7, 7});
            expected.push_back({kWord, 7, 7});
            if (outer == Outer::turn) {
                leave_the_turn();
            } else if (outer == Outer::resume) {
                m_control.word |= TRACER_WORD_RESUME;
                expected.push_back({kBlackoutEnd, 0, 0});
            } else if (outer == Outer::full) {
                m_control.compact_limit = static_cast<std::uint32_t>(stream(m_control).size()) + 40;
            }
            met = false;
            Stepper stepper({.boundary = boundary, .interrupter = [&](Stepper&) {
                                 met = true;
                                 log({kWord, 1, 1});
                                 log({kRare, 2, 0x12345678});
                             }});
            std::vector<Logged> last;
            if (outer == Outer::long_event) {
                const auto slots = long_slots(3, 99);
                stepper.record_long(slots);
                for (const Record& slot : slots) {
                    last.push_back({slot.code, slot.par1, slot.par2});
                }
            } else {
                const Logged logged = outer == Outer::none    ? Logged{kNone, 0, 0}
                                      : outer == Outer::large ? Logged{kRare, 9, 9}
                                      : outer == Outer::fast  ? Logged{0x8000 | kWord, 9, 9}
                                                              : Logged{kWord, 9, 9};
                stepper.record(logged.code, logged.par1, logged.par2);
                last.push_back(logged);
            }
            if (met) {
                expected.push_back({kWord, 1, 1});
                expected.push_back({kRare, 2, 0x12345678});
            }
            expected.insert(expected.end(), last.begin(), last.end());
            log({kWord, 8, 8});
            expected.push_back({kWord, 8, 8});
            auto all = decoded(m_control, m_begin);
            const auto rest = decoded(next, m_begin);
            all.insert(all.end(), rest.begin(), rest.end());
            ASSERT_EQ(all, expected) << "boundary " << boundary << " of kind " << static_cast<int>(outer);
            ASSERT_EQ(m_fixture.tracer().cpu.dropped_bytes, 0U);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, CompactChunk, testing::ValuesIn(tracer::compact::kLayoutRows),
                         [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(, CompactChunkInterrupted,
                         testing::Values(row_of(Layout::a), row_of(Layout::a2), row_of(Layout::large64),
                                         row_of(Layout::large96)),
                         [](const auto& row) { return std::string(row.param.name); });

} // namespace compact_chunk_test
