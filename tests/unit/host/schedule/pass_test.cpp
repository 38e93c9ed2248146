// SPDX-License-Identifier: MIT
// Tests the pass with random events, by what holds of any trace; and that the tables that say which codes concern whom
// leave out none that does.
#include "host/schedule/pass.hpp"

#include "tests/support/accounting_scene.hpp"
#include "tests/support/random_events.hpp"

#include <gtest/gtest.h>
#include <map>
#include <utility>
#include <vector>

namespace host::schedule::pass_test {

namespace {

using support::RandomEvents;

constexpr std::uint64_t kSeeds = 8;
constexpr int kEvents = 1000;
constexpr std::uint16_t kProcessors = 2;

// Collects the pieces of the open jobs, and checks each job that ends by them and by its own figures.
class Checked {
  public:
    void take(trace::Event event) {
        event.after_hole = event.code == trace::kCodeOf<"trace_stop">;
        static_cast<void>(m_pass.take(event, kKhz));
    }

    void finish() { m_pass.finish(); }

    [[nodiscard]] std::uint64_t jobs() const { return m_jobs; }

    [[nodiscard]] std::uint64_t known() const { return m_known; }

  private:
    void add(const JobAccount& account) {
        ++m_jobs;
        const std::vector<Piece> pieces = std::exchange(m_pieces[account.job.context], {});
        if (!account.is_known()) {
            return;
        }
        ++m_known;
        lib::Ticks sum;
        for (const lib::Ticks part : account.parts) {
            sum = sum + part;
        }
        EXPECT_EQ(account.residue, 0);
        EXPECT_EQ(sum, account.response());
        lib::Ticks shared;
        for (const Share& share : account.shares) {
            shared = shared + share.ticks;
        }
        EXPECT_EQ(shared, sum);
        EXPECT_GE(account.gross, account.part(Part::execution));
        lib::Ticks reached = account.job.release->ticks;
        for (const Piece& piece : pieces) {
            EXPECT_EQ(piece.job, account.job.number);
            EXPECT_EQ(piece.begin, reached);
            reached = piece.end;
        }
        EXPECT_EQ(reached, account.job.end->ticks);
    }

    std::uint64_t m_jobs = 0;
    std::uint64_t m_known = 0;
    std::map<std::uint16_t, std::vector<Piece>> m_pieces; // by context
    Pass m_pass{[this](const JobAccount& account) { add(account); },
                [this](const Piece& piece) { m_pieces[piece.context].push_back(piece); }};
};

// Half of the runs have neither gaps nor stamps that fall, after which the parts of a job are not known.
TEST(Pass, DividesEachResponseTimeWithoutARemainder) {
    constexpr const auto& kGaps = trace::kAnyOf<"blackout_start", "blackout_end", "trace_start", "trace_stop">;
    std::uint64_t known = 0;
    std::uint64_t unknown = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE(seed);
        const bool is_sound = seed % 2 == 1;
        RandomEvents events(seed, is_sound ? 0 : 500);
        Checked pass;
        for (int i = 0; i < 4 * kEvents; ++i) {
            const trace::Event event = events.event(kProcessors);
            if (!is_sound || (!kGaps[event.code] && !trace::kSetsFilter[event.code])) {
                pass.take(event);
            }
        }
        pass.finish();
        known += pass.known();
        unknown += pass.jobs() - pass.known();
    }
    EXPECT_GT(known, kSeeds);
    EXPECT_GT(unknown, kSeeds);
}

// --- the tables ------------------------------------------------------------------------------------------------------

std::string text_of(const Change& change) {
    return fmt::format("{} {} {} {} {} {}", static_cast<unsigned>(change.kind), static_cast<unsigned>(change.state),
                       static_cast<unsigned>(change.before), change.context, change.other, change.object);
}

std::string text_of(const Schedule& schedule) {
    std::string text;
    for (std::uint16_t cpu = 0; cpu < kProcessors; ++cpu) {
        const Schedule::Processor& here = schedule.processor(cpu);
        text += fmt::format("{} {} {} {} {} {} {};", here.running, here.switched_to, here.place, here.chosen,
                            here.chosen_place, here.dispatched, here.depth);
    }
    for (std::uint32_t number = 0; number <= RandomEvents::kTasks; ++number) {
        text += fmt::format(" {}/{}", static_cast<unsigned>(schedule.state(number)), schedule.holder(number));
    }
    return text;
}

TEST(Schedule, ItsTableLeavesOutNoEventThatChangesIt) {
    std::size_t changes = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        Schedule by_table;
        Schedule all;
        for (int i = 0; i < kEvents; ++i) {
            const trace::Event event = events.event(kProcessors);
            std::string taken;
            std::string followed;
            std::ranges::for_each(by_table.take(event), [&](const Change& change) { taken += text_of(change); });
            std::ranges::for_each(all.follow(event), [&](const Change& change) { followed += text_of(change); });
            ASSERT_EQ(taken, followed) << event.row->name;
            ASSERT_EQ(text_of(by_table), text_of(all)) << event.row->name;
            changes += followed.empty() ? 0U : 1U;
        }
    }
    EXPECT_GT(changes, kSeeds * 10);
}

TEST(BasePriorities, ItsTableLeavesOutNoEventThatChangesThem) {
    const auto text_of = [](const BasePriorities& priorities) {
        std::string text;
        for (std::uint32_t a = 0; a <= RandomEvents::kTasks; ++a) {
            text += fmt::format(" {}:", priorities.throttled_by(a).value_or(0));
            for (std::uint32_t b = 0; b <= RandomEvents::kTasks; ++b) {
                text += fmt::format("{}", static_cast<unsigned>(priorities.order(a, b)));
            }
        }
        return text;
    };
    std::size_t changes = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        trace::RecordedTimes times;
        BasePriorities by_table;
        BasePriorities all;
        std::string before;
        for (int i = 0; i < kEvents; ++i) {
            const trace::Event event = events.event(kProcessors);
            times.take(event, kKhz);
            by_table.take(event, times);
            i == 0 ? all.take(event, times) : all.follow(event, times); // the names are known after the first
            const std::string text = text_of(all);
            ASSERT_EQ(text_of(by_table), text) << "seed " << seed << ", " << event.row->name;
            changes += text != before ? 1U : 0U;
            before = text;
        }
    }
    EXPECT_GT(changes, kSeeds);
}

// The first event of a processor is looked at whatever its code is. If a history that begins with an event continues as
// one that begins before it, the event either is in the table or has no effect.
TEST(ExecutorHistory, ItsTableLeavesOutNoEventThatChangesWhatExecutes) {
    const auto step = [](ExecutorHistory& history, Schedule& schedule, std::uint8_t code, std::uint64_t stamp) {
        trace::Event event;
        trace::set_meaning(event, {.code = code, .par1 = 3, .par2 = 3});
        event.ticks = {stamp};
        static_cast<void>(schedule.take(event));
        static_cast<void>(history.take(event, schedule, event.ticks));
        return history.now();
    };
    constexpr auto kNext =
        std::to_array<std::uint8_t>({trace::kCodeOf<"task_dispatch">, trace::kCodeOf<"STI">,
                                     trace::kCodeOf<"timer_wakeup_end">, trace::kCodeOf<"context_switch">});
    for (const tracer::EventRow& row : tracer::kEvents) {
        for (const std::uint8_t next : kNext) {
            ExecutorHistory with;
            ExecutorHistory without;
            Schedule schedule_with;
            Schedule schedule_without;
            for (Schedule* const schedule : {&schedule_with, &schedule_without}) {
                trace::Event event;
                trace::set_meaning(event, {.code = trace::kCodeOf<"context_switch">, .par1 = 3});
                static_cast<void>(schedule->take(event));
            }
            static_cast<void>(step(without, schedule_without, trace::kCodeOf<"user_event_0">, 10));
            const Executor now = step(with, schedule_with, row.code, 20);
            EXPECT_EQ(step(without, schedule_without, row.code, 20), now) << row.name;
            const Executor then = step(with, schedule_with, next, 30);
            EXPECT_EQ(step(without, schedule_without, next, 30), then) << row.name << ", " << unsigned{next};
        }
    }
}

} // namespace

} // namespace host::schedule::pass_test
