// SPDX-License-Identifier: MIT
// Tests control calls (link, select, disable, next_chunk) that interrupt a writer, at every instruction boundary of the
// record path: nothing is lost without being counted, and every loss is reported once.
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/stepper.hpp"

#include <initializer_list>
#include <string>

namespace record_path_meetings_test {

using tests::emergency_records;
using tests::main_records;
using tests::Stepper;
using tests::TracerFixture;
using tracer::Chunk;
using tracer::Record;

constexpr std::uint16_t kOrdinary = tracer::event_code("ipoint");
constexpr std::uint16_t kBlackoutStart = tracer::event_code("blackout_start");
constexpr std::uint16_t kBlackoutEnd = tracer::event_code("blackout_end");

// Every blackout that begins in a chunk has an end, and the reported losses equal the losses.
std::string reported_losses_violation(TracerFixture& fixture, std::initializer_list<const Chunk*> chunks) {
    std::uint64_t starts = 0;
    std::uint64_t ends = 0;
    std::uint64_t reported = 0;
    for (const Chunk* chunk : chunks) {
        for (const Record& record : emergency_records(*chunk)) {
            starts += record.code == kBlackoutStart ? 1 : 0;
        }
        for (const Record& record : main_records(*chunk)) {
            ends += record.code == kBlackoutEnd ? 1 : 0;
            reported += record.code == kBlackoutEnd ? record.par2 : 0;
        }
    }
    const tracer::Totals totals = fixture.tracer().control.totals();
    if (starts != ends || totals.tracer_made != starts + ends) {
        return "blackouts begin and end unequally often";
    }
    return reported == totals.dropped ? "" : "the reported losses are not the losses";
}

// Three chunks, of which the first is full, and the effect of a control call on them while a writer is interrupted.
struct Meeting {
    using Call = void (*)(Meeting&);

    explicit Meeting(tracer::ChunkFlags mode)
        : a(fixture.chunk(1, 1, mode))
        , b(fixture.chunk(4, 0, tracer::kFlagJumpToNext))
        , c(fixture.chunk(4, 0, tracer::kFlagJumpToNext)) {
        fixture.select_and_enable(a);
        log();
    }

    void log() { tracer::detail::record(kOrdinary, 1, serial++); }

    void select(Chunk& chunk) { EXPECT_TRUE(fixture.tracer().control.select(chunk).ok()); }

    // One record, interrupted by the call at this boundary; then another one. False if there is no such boundary.
    bool step(int boundary, Call call) {
        bool met = false;
        Stepper({.boundary = boundary,
                 .interrupter =
                     [&](Stepper&) {
                         call(*this);
                         met = true;
                     }})
            .record(kOrdinary, 1, serial++);
        log();
        return met;
    }

    TracerFixture fixture{4096};
    Chunk& a;
    Chunk& b;
    Chunk& c;
    std::uint32_t serial = 1;
};

TEST(RecordPath, EndsABlackoutThatAControlCallCutsShort) {
    const Meeting::Call calls[] = {
        [](Meeting& m) { m.fixture.link(m.a, m.b); }, // the writer found no next chunk, and now there is one
        [](Meeting& m) { m.select(m.b); },
        [](Meeting& m) {
            m.select(m.b);
            m.select(m.c);
        },
        [](Meeting& m) {
            m.select(m.b);
            m.fixture.link(m.b, m.c);
            EXPECT_TRUE(m.fixture.tracer().control.close_active().ok());
        },
    };
    for (std::size_t i = 0; i < std::size(calls); ++i) {
        bool met = true;
        for (int boundary = 0; met; ++boundary) {
            Meeting meeting(tracer::kFlagJumpToNext);
            met = meeting.step(boundary, calls[i]);
            if (met) {
                EXPECT_EQ(reported_losses_violation(meeting.fixture, {&meeting.a, &meeting.b, &meeting.c}), "")
                    << "call " << i << ", boundary " << boundary;
            }
        }
    }
}

TEST(RecordPath, ReportsALossOnceThoughAControlCallInterruptsTheReport) {
    const Meeting::Call calls[] = {
        [](Meeting& m) { m.select(m.c); },
        [](Meeting& m) {
            m.fixture.tracer().control.disable();
            m.select(m.c);
            EXPECT_TRUE(m.fixture.tracer().control.enable().ok());
        },
    };
    for (std::size_t i = 0; i < std::size(calls); ++i) {
        bool met = true;
        for (int boundary = 0; met; ++boundary) {
            Meeting meeting(tracer::kFlagStop);
            for (int lost = 0; lost < 4; ++lost) {
                meeting.log();
            }
            meeting.select(meeting.b);
            met = meeting.step(boundary, calls[i]);
            if (met) {
                EXPECT_EQ(reported_losses_violation(meeting.fixture, {&meeting.a, &meeting.b, &meeting.c}), "")
                    << "call " << i << ", boundary " << boundary;
            }
        }
    }
}

TEST(RecordPath, LosesNothingToADisableHalfWay) {
    bool met = true;
    for (int boundary = 0; met; ++boundary) {
        TracerFixture fixture(4096);
        Chunk& chunk = fixture.chunk(4, 0, tracer::kFlagStop);
        fixture.select_and_enable(chunk);
        met = false;
        Stepper({.boundary = boundary,
                 .interrupter =
                     [&](Stepper&) {
                         fixture.tracer().control.disable();
                         met = true;
                     }})
            .record(kOrdinary, 1, 1);
        if (met) {
            EXPECT_EQ(fixture.tracer().control.totals(), (tracer::Totals{.refused = 1})) << "boundary " << boundary;
            EXPECT_TRUE(main_records(chunk).empty());
        }
    }
}

} // namespace record_path_meetings_test
