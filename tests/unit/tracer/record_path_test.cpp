// SPDX-License-Identifier: MIT
// Tests the record path's object code, interrupted at every instruction boundary in every situation, by a logger that
// may itself be interrupted. The same without the stub's rewind, or with a region that is one instruction too short:
// then it must fail, otherwise these tests prove nothing.
#include "tracer/record/record_path.hpp"

#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/stepper.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

namespace record_path_test {

using tests::emergency_records;
using tests::main_records;
using tests::Stepper;
using tests::TracerFixture;
using tracer::Chunk;
using tracer::Record;

constexpr std::uint16_t kOrdinary = tracer::event_code("ipoint");
constexpr std::uint16_t kEmergency = tracer::event_code("task_deadline_miss");
constexpr std::uint16_t kLong = tracer::event_code("task_name");
constexpr std::uint16_t kBlackoutStart = tracer::event_code("blackout_start");
constexpr std::uint16_t kBlackoutEnd = tracer::event_code("blackout_end");

// Both parameters follow from the serial number, so a record that mixes two events is detected.
constexpr std::uint16_t par1_of(std::uint32_t serial) {
    return static_cast<std::uint16_t>(serial * 40'503U + 1);
}

constexpr tracer::ChunkFlags kCyclic = tracer::kFlagCyclic;
constexpr tracer::ChunkFlags kJump = tracer::kFlagJumpToNext;
constexpr tracer::ChunkFlags kStop = tracer::kFlagStop;

// Describes the chunk in which the interrupted event begins.
struct Start {
    const char* name; // of the situation
    tracer::ChunkFlags mode;
    std::uint32_t slots;
    std::uint32_t emergency_slots;
    int logged_before;
};

// Describes the state of the tracer when the interrupted event is logged.
struct Situation {
    Start start;
    bool has_next = false;
    tracer::ChunkFlags next_mode = kJump;
    std::uint32_t next_slots = 8;
    bool link_late = false;        // only after the records before: the blackout ends with the jump
    bool close = false;            // next_chunk before the interrupted event
    bool suspended_resume = false; // select() while dropping: blackout_end is due in the next chunk
    std::uint16_t code = kOrdinary;
    std::uint16_t nested_code = kOrdinary;
    bool breaks_without_rewind = true;
    std::uint32_t long_slots = 0;        // of the interrupted event; 0: a single record
    std::uint32_t nested_long_slots = 0; // of the last event of the interrupter
    int long_before = 0;                 // after the records: so many events of three slots

    friend std::ostream& operator<<(std::ostream& out, const Situation& situation) {
        return out << situation.start.name;
    }
};

const Situation kSituations[] = {
    {.start = {"room", kCyclic, 16, 0, 3}},
    {.start = {"last_slot_cyclic", kCyclic, 4, 0, 3}},
    {.start = {"full_cyclic", kCyclic, 4, 2, 4}},
    {.start = {"one_slot_cyclic", kCyclic, 1, 0, 5}},
    {.start = {"second_lap", kCyclic, 8, 0, 11}},
    {.start = {"last_slot_jump", kJump, 4, 0, 3}, .has_next = true},
    {.start = {"full_jump", kJump, 4, 0, 4}, .has_next = true},
    {.start = {"full_jump_into_small", kJump, 4, 2, 4}, .has_next = true, .next_slots = 2},
    {.start = {"full_jump_into_cyclic", kJump, 4, 0, 4}, .has_next = true, .next_mode = kCyclic, .next_slots = 3},
    {.start = {"closed_cyclic", kCyclic, 8, 0, 3}, .has_next = true, .close = true},
    {.start = {"full_jump_nowhere", kJump, 4, 4, 4}, .nested_code = kEmergency},
    {.start = {"last_slot_stop_with_emergency", kStop, 4, 4, 3}},
    {.start = {"full_stop_with_emergency", kStop, 4, 4, 4}, .nested_code = kEmergency},
    {.start = {"full_stop_without_emergency", kStop, 4, 0, 4}, .breaks_without_rewind = false},
    {.start = {"dropping_already", kStop, 4, 4, 7},
     .breaks_without_rewind = false}, // a lone increment needs no restart
    {.start = {"emergency_event", kStop, 4, 8, 4}, .code = kEmergency, .nested_code = kEmergency},
    {.start = {"emergency_event_while_dropping", kStop, 4, 8, 6}, .code = kEmergency, .nested_code = kEmergency},
    {.start = {"last_emergency_slot", kStop, 4, 2, 6}, .code = kEmergency, .nested_code = kEmergency},
    {.start = {"resume_after_late_link", kJump, 4, 4, 9}, .has_next = true, .link_late = true},
    {.start = {"resume_into_one_slot", kJump, 4, 4, 9}, .has_next = true, .next_slots = 1, .link_late = true},
    {.start = {"resume_into_small_cyclic", kJump, 4, 4, 9},
     .has_next = true,
     .next_mode = kCyclic,
     .next_slots = 2,
     .link_late = true},
    {.start = {"resume_after_select", kStop, 4, 4, 9}, .has_next = true, .suspended_resume = true},
    {.start = {"long_room", kCyclic, 16, 0, 3}, .long_slots = 3},
    {.start = {"long_single_slot", kCyclic, 8, 0, 3}, .long_slots = 1},
    {.start = {"long_fits_exactly", kCyclic, 8, 0, 5}, .long_slots = 3},
    {.start = {"long_short_lap", kCyclic, 8, 0, 6}, .long_slots = 3},
    {.start = {"long_second_lap", kCyclic, 16, 0, 18}, .long_slots = 4},
    {.start = {"long_over_long", kCyclic, 13, 0, 1}, .long_slots = 2, .nested_long_slots = 5, .long_before = 4},
    {.start = {"long_met_by_long", kCyclic, 16, 0, 20}, .long_slots = 5, .nested_long_slots = 3},
    {.start = {"long_too_large_for_cyclic", kCyclic, 4, 4, 2}, .breaks_without_rewind = false, .long_slots = 5},
    {.start = {"long_ends_chunk", kJump, 6, 0, 4}, .has_next = true, .long_slots = 3},
    {.start = {"long_ends_chunk_met_by_long", kJump, 6, 0, 3},
     .has_next = true,
     .long_slots = 3,
     .nested_long_slots = 2},
    {.start = {"long_into_small_next", kJump, 6, 3, 5}, .has_next = true, .next_slots = 4, .long_slots = 3},
    {.start = {"long_nowhere", kJump, 6, 3, 5}, .breaks_without_rewind = false, .long_slots = 3},
    {.start = {"long_ends_stop", kStop, 6, 3, 4}, .nested_code = kEmergency, .long_slots = 3},
    {.start = {"long_resume", kStop, 4, 4, 9}, .has_next = true, .suspended_resume = true, .long_slots = 3},
};

// One run: the situation is set up, one event is logged in steps and interrupted once, one more follows undisturbed.
class Trial {
  public:
    Trial(const Situation& situation, Stepper::Options options)
        : m_situation(situation)
        , m_first(m_fixture.chunk(situation.start.slots, situation.start.emergency_slots, situation.start.mode)) {
        if (!options.rewind || options.region_shortened_by != 0) {
            m_fixture.expect_miscounts();
        }
        if (situation.has_next) {
            m_next = &m_fixture.chunk(situation.next_slots, 0, situation.next_mode);
        }
        if (m_next != nullptr && !situation.link_late && !situation.suspended_resume) {
            m_fixture.link(m_first, *m_next);
        }
        m_fixture.select_and_enable(m_first);
        for (int i = 0; i < situation.start.logged_before; ++i) {
            log(kOrdinary);
        }
        for (int i = 0; i < situation.long_before; ++i) {
            log_long(3);
        }
        if (situation.link_late) {
            m_fixture.link(m_first, *m_next);
        }
        if (situation.suspended_resume) {
            EXPECT_TRUE(m_fixture.tracer().control.select(*m_next).ok());
        }
        if (situation.close) {
            EXPECT_TRUE(m_fixture.tracer().control.close_active().ok());
        }
        step(std::move(options));
        log(kOrdinary);
    }

    [[nodiscard]] int boundaries() const { return m_boundaries; }

    // Empty if all conditions hold.
    [[nodiscard]] std::string violation() {
        const tracer::Totals totals = m_fixture.tracer().control.totals();
        if (totals.committed + totals.dropped + totals.refused != m_attempts) {
            return "attempts are not committed + dropped + refused";
        }
        std::vector<Record> order = main_records(m_first);
        if (m_next != nullptr) {
            const auto next = main_records(*m_next);
            order.insert(order.end(), next.begin(), next.end());
        }
        const std::vector<Record> emergency = emergency_records(m_first);
        if (order.size() + emergency.size() != totals.committed + totals.tracer_made - totals.overwritten) {
            return "the areas do not hold as many records as were counted";
        }
        std::map<std::uint32_t, int> seen;
        for (const std::vector<Record>* area : std::array<const std::vector<Record>*, 2>{&order, &emergency}) {
            if (const std::string fault = area_violation(*area, seen); !fault.empty()) {
                return fault;
            }
        }
        return blackout_violation(order, totals);
    }

  private:
    void log(std::uint16_t code) {
        ++m_attempts;
        const std::uint32_t serial = m_next_serial++;
        m_rank[serial] = m_next_rank++;
        m_code[serial] = code;
        tracer::detail::record(code, par1_of(serial), serial);
    }

    // The slots of an event: the serial in each, the number of the slot in par1.
    [[nodiscard]] static std::vector<Record> slots_of(std::uint32_t serial, std::uint32_t count) {
        std::vector<Record> slots;
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto combine = tracer::combine_of(i, count);
            slots.push_back({.code = static_cast<std::uint16_t>(kLong | static_cast<std::uint16_t>(combine)),
                             .par1 = static_cast<std::uint16_t>(par1_of(serial) + i),
                             .par2 = serial});
        }
        return slots;
    }

    std::uint32_t new_long(std::uint32_t count) {
        m_attempts += count;
        const std::uint32_t serial = m_next_serial++;
        m_code[serial] = kLong;
        m_slots[serial] = count;
        return serial;
    }

    void log_long(std::uint32_t count) {
        const std::uint32_t serial = new_long(count);
        m_rank[serial] = m_next_rank++;
        tracer::detail::record_long(slots_of(serial, count).data(), count);
    }

    void step(Stepper::Options options) {
        if (m_situation.long_slots != 0) {
            const std::uint32_t outer = new_long(m_situation.long_slots);
            const auto slots = slots_of(outer, m_situation.long_slots);
            options.interrupter = [this](Stepper& inner) { interrupt(inner); };
            Stepper stepper(std::move(options));
            stepper.record_long(slots);
            m_boundaries = stepper.boundaries();
            m_rank[outer] = m_next_rank++;
            return;
        }
        const std::uint32_t outer = m_next_serial++;
        m_code[outer] = m_situation.code;
        ++m_attempts;
        options.interrupter = [this](Stepper& inner) { interrupt(inner); };
        Stepper stepper(std::move(options));
        stepper.record(m_situation.code, par1_of(outer), outer);
        m_boundaries = stepper.boundaries();
        m_rank[outer] = m_next_rank++; // an event that interrupted it committed first
    }

    // Two events. The first may be interrupted itself, by a single one.
    void interrupt(Stepper& stepper) {
        ++m_depth;
        if (m_depth == 1) {
            ++m_attempts;
            const std::uint32_t serial = m_next_serial++;
            m_code[serial] = kOrdinary;
            stepper.record(kOrdinary, par1_of(serial), serial);
            m_rank[serial] = m_next_rank++;
        }
        if (m_situation.nested_long_slots != 0) {
            log_long(m_situation.nested_long_slots);
        } else {
            log(m_situation.nested_code);
        }
        --m_depth;
    }

    // Whole records, each event once, in the order in which they committed, stamps never decreasing.
    [[nodiscard]] std::string area_violation(const std::vector<Record>& area,
                                             std::map<std::uint32_t, int>& seen) const {
        std::uint64_t last_stamp = 0;
        int last_rank = -1;
        for (auto at = area.begin(); at != area.end(); ++at) {
            const Record& record = *at;
            if (record.stamp().value < last_stamp || record.stamp().value >> 60 != 0) {
                return "a stamp decreases";
            }
            last_stamp = record.stamp().value;
            if (record.code == kBlackoutStart || record.code == kBlackoutEnd) {
                continue;
            }
            const auto rank = m_rank.find(record.par2);
            if (rank == m_rank.end() || record.par1 != par1_of(record.par2) ||
                record.event_code() != m_code.at(record.par2)) {
                return "a record is torn";
            }
            if (record.event_code() == kLong) {
                const std::uint32_t slots = m_slots.at(record.par2);
                if (area.end() - at < slots || !whole(std::span(at, slots))) {
                    return "a long event is torn";
                }
                at += slots - 1;
            }
            if (seen[record.par2]++ != 0) {
                return "a record occurs twice";
            }
            if (rank->second <= last_rank) {
                return "records are out of order";
            }
            last_rank = rank->second;
        }
        return {};
    }

    // All slots of one event, in order, with one stamp.
    [[nodiscard]] static bool whole(std::span<const Record> slots) {
        std::vector<Record> expected = slots_of(slots[0].par2, static_cast<std::uint32_t>(slots.size()));
        for (Record& slot : expected) {
            slot.tsc_high = slots[0].tsc_high;
            slot.tsc_low = slots[0].tsc_low;
        }
        return std::ranges::equal(slots, expected);
    }

    [[nodiscard]] std::string blackout_violation(const std::vector<Record>& order, const tracer::Totals& totals) const {
        const auto is_end = [](const Record& record) { return record.code == kBlackoutEnd; };
        const auto ends = std::ranges::count_if(order, is_end);
        const bool due = m_situation.link_late || m_situation.suspended_resume;
        const bool overwritten = m_situation.next_mode == kCyclic;
        if (m_situation.long_slots != 0 && !due) {
            return reported_violation(order, totals);
        }
        if (ends > (due ? 1 : 0) || (due && !overwritten && ends != 1)) {
            return "blackout_end occurs " + std::to_string(ends) + " times";
        }
        if (ends == 1 && std::ranges::find_if(order, is_end)->par2 != 9U - m_situation.start.slots) {
            return "blackout_end has the wrong number";
        }
        if (due && totals.dropped < 9 - m_situation.start.slots) {
            return "drops are lost";
        }
        return {};
    }

    // A long event may not fit where a record does: blackout_end never reports more than was dropped.
    [[nodiscard]] static std::string reported_violation(const std::vector<Record>& order,
                                                        const tracer::Totals& totals) {
        std::uint64_t reported = 0;
        for (const Record& record : order) {
            reported += record.code == kBlackoutEnd ? record.par2 : 0;
        }
        return reported <= totals.dropped ? "" : "more losses are reported than there were";
    }

    const Situation& m_situation;
    TracerFixture m_fixture{1U << 12};
    Chunk& m_first;
    Chunk* m_next = nullptr;
    std::map<std::uint32_t, int> m_rank; // by serial: order of commitment
    std::map<std::uint32_t, std::uint16_t> m_code;
    std::map<std::uint32_t, std::uint32_t> m_slots; // of long events
    std::uint32_t m_next_serial = 100;
    int m_next_rank = 0;
    std::uint64_t m_attempts = 0;
    int m_boundaries = 0;
    int m_depth = 0;
};

class RecordPathInterrupted : public testing::TestWithParam<Situation> {};

TEST_P(RecordPathInterrupted, KeepsEveryRecordWholeAtEveryBoundary) {
    const int boundaries = Trial(GetParam(), {}).boundaries();
    ASSERT_GE(boundaries, 6);
    for (int boundary = 0; boundary < boundaries; ++boundary) {
        EXPECT_EQ(Trial(GetParam(), {.boundary = boundary}).violation(), "") << "boundary " << boundary;
    }
}

// Every pair of boundaries would take minutes: a single step costs two switches into the host's kernel.
TEST_P(RecordPathInterrupted, KeepsEveryRecordWholeWhenTheInterrupterIsInterrupted) {
    constexpr int kInnerStride = 31;
    const int boundaries = Trial(GetParam(), {}).boundaries();
    for (int boundary = 0; boundary < boundaries; ++boundary) {
        for (int inner = boundary % kInnerStride; inner < boundaries; inner += kInnerStride) {
            EXPECT_EQ(Trial(GetParam(), {.boundary = boundary, .inner_boundary = inner}).violation(), "")
                << "boundaries " << boundary << ", " << inner;
        }
    }
}

TEST_P(RecordPathInterrupted, GoesWrongWithoutTheRewind) {
    const int boundaries = Trial(GetParam(), {}).boundaries();
    int failures = 0;
    for (int boundary = 0; boundary < boundaries; ++boundary) {
        failures += Trial(GetParam(), {.rewind = false, .boundary = boundary}).violation().empty() ? 0 : 1;
    }
    RecordProperty("boundaries", boundaries);
    RecordProperty("failures", failures);
    if (GetParam().breaks_without_rewind) {
        EXPECT_GT(failures, 0) << "of " << boundaries << " boundaries";
    } else {
        EXPECT_EQ(failures, 0) << "of " << boundaries << " boundaries";
    }
}

INSTANTIATE_TEST_SUITE_P(, RecordPathInterrupted, testing::ValuesIn(kSituations),
                         [](const auto& situation) { return std::string(situation.param.start.name); });

TEST(RecordPath, GoesWrongAtMostBoundariesWithoutTheRewind) {
    const int boundaries = Trial(kSituations[0], {}).boundaries();
    int failures = 0;
    for (int boundary = 0; boundary < boundaries; ++boundary) {
        failures += Trial(kSituations[0], {.rewind = false, .boundary = boundary}).violation().empty() ? 0 : 1;
    }
    EXPECT_EQ(boundaries, 11);
    EXPECT_EQ(failures, 9); // all but the first two: before the position is read nothing is stale
}

TEST(RecordPath, GoesWrongIfTheRegionEndsBeforeTheCommit) {
    const int commit = Trial(kSituations[0], {}).boundaries() - 1;
    EXPECT_EQ(Trial(kSituations[0], {.boundary = commit}).violation(), "");
    EXPECT_NE(Trial(kSituations[0], {.region_shortened_by = 4, .boundary = commit}).violation(), "");
}

} // namespace record_path_test
