// SPDX-License-Identifier: MIT
// A batch is what its events are one by one, whatever their codes; and the tables that say which codes concern whom
// leave out none that does.
#include "host/schedule/pass.hpp"

#include "tests/support/accounting_scene.hpp"
#include "tests/support/random_events.hpp"

#include <gtest/gtest.h>

namespace host::schedule::pass_test {

namespace {

using support::RandomEvents;

constexpr std::uint64_t kSeeds = 8;
constexpr int kBatches = 60;
constexpr std::uint16_t kProcessors = 2;

std::string text_of(const std::optional<Moment>& moment) {
    return moment ? fmt::format("{}", moment->ticks.value) : "?";
}

std::string text_of(const JobAccount& account) {
    const Job& job = account.job;
    std::string text =
        fmt::format("job {}/{} {} {} {} {} {} {} cpu{} ready {} gross {} records {} runs {}/{}/{} {} {}", job.context,
                    job.number, job.release.ticks.value, text_of(job.start), text_of(job.deadline), text_of(job.end),
                    job.missed, static_cast<unsigned>(job.outcome), account.cpu, account.ready.ticks.value,
                    account.gross.value, account.records, account.dispatches, account.preemptions, account.migrations,
                    static_cast<unsigned>(account.unaccounted), account.residue);
    for (const Share& share : account.shares) {
        text += fmt::format("; {} in {}, {} records, longest {} from {} at #{}", text_of(share), share.pieces,
                            share.records, share.longest.value, share.longest_begin.value, share.longest_place.record);
    }
    return text;
}

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

// Everything that a pass shows to its user, as lines. The user makes it forget at trace_stop, as `remora verify` does.
class Shown {
  public:
    void take_one(const trace::Event& event) {
        before(event, event.code);
        if (const auto changes = m_pass.take(event, kKhz); !changes.empty()) {
            after(event, event.code, changes);
        }
    }

    void take(std::span<const trace::Event> batch) { m_pass.take(batch, kKhz, *this); }

    void before(const trace::Event& event, std::uint8_t code) {
        EXPECT_EQ(code, event.code);
        m_lines.push_back(fmt::format("#{} {}", event.record, text_of(m_pass.schedule())));
        if (event.code == trace::kCodeOf<"trace_stop">) {
            m_pass.forget(event.cpu);
        }
    }

    void after(const trace::Event& event, std::uint8_t /*code*/, std::span<const Change> changes) {
        std::string line = fmt::format("#{}:", event.record);
        for (const Change& change : changes) {
            line += " (" + text_of(change) + ")";
        }
        m_lines.push_back(line + " " + text_of(m_pass.schedule()));
    }

    std::vector<std::string> finish() {
        m_pass.finish();
        return m_lines;
    }

  private:
    void add(const JobAccount& account) {
        const trace::Event* const event = m_pass.accounting().event();
        m_lines.push_back(fmt::format("#{} {}", event != nullptr ? event->record : 0, text_of(account)));
    }

    std::vector<std::string> m_lines;
    Pass m_pass{[this](const JobAccount& account) { add(account); },
                [this](const Piece& piece) {
                    m_lines.push_back(fmt::format("piece {} {} {}..{} {} #{}", piece.context, piece.job,
                                                  piece.begin.value, piece.end.value, piece.records,
                                                  piece.place.record));
                }};
};

TEST(Pass, TakesABatchAsItsEventsOneByOne) {
    std::size_t jobs = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        Shown one_by_one;
        Shown in_batches;
        for (int i = 0; i < kBatches; ++i) {
            const std::vector<trace::Event> batch = events.batch(64, kProcessors);
            std::ranges::for_each(batch, [&](const trace::Event& event) { one_by_one.take_one(event); });
            in_batches.take(batch);
        }
        const std::vector<std::string> expected = one_by_one.finish();
        const std::vector<std::string> shown = in_batches.finish();
        for (std::size_t i = 0; i < std::max(expected.size(), shown.size()); ++i) {
            ASSERT_EQ(i < shown.size() ? shown[i] : "nothing", i < expected.size() ? expected[i] : "nothing")
                << "seed " << seed;
        }
        jobs += static_cast<std::size_t>(std::ranges::count_if(
            expected, [](const std::string& line) { return line.find(" job ") != std::string::npos; }));
    }
    EXPECT_GT(jobs, kSeeds * 10);
}

// --- the tables ------------------------------------------------------------------------------------------------------

TEST(Schedule, ItsTableLeavesOutNoEventThatChangesIt) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        Schedule by_table;
        Schedule all;
        for (int i = 0; i < kBatches; ++i) {
            for (const trace::Event& event : events.batch(64, kProcessors)) {
                std::string taken;
                std::string followed;
                std::ranges::for_each(by_table.take(event), [&](const Change& change) { taken += text_of(change); });
                std::ranges::for_each(all.follow(event), [&](const Change& change) { followed += text_of(change); });
                ASSERT_EQ(taken, followed) << event.row->name;
                ASSERT_EQ(text_of(by_table), text_of(all)) << event.row->name;
            }
        }
    }
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
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        BasePriorities by_table;
        BasePriorities all;
        for (int i = 0; i < 20 * kBatches; ++i) {
            for (const trace::Event& event : events.batch(4, kProcessors)) {
                by_table.take(event);
                i == 0 ? all.take(event) : all.follow(event); // the names are known after the first
            }
            ASSERT_EQ(text_of(by_table), text_of(all)) << "seed " << seed;
        }
    }
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

// Accounting::take of a batch follows each event that it is given; the pass gives it those of the tables.
TEST(Accounting, ItsTableLeavesOutNoEventThatMatters) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        std::vector<std::string> lines;
        std::vector<std::string> lines_of_all;
        Pass pass([&](const JobAccount& account) { lines.push_back(text_of(account)); });
        Schedule schedule;
        Accounting all([&](const JobAccount& account) { lines_of_all.push_back(text_of(account)); });
        const auto take_one = [&](const trace::Event& event) {
            all.take(event, schedule.follow(event), schedule, kKhz);
        };
        for (int i = 0; i < kBatches; ++i) {
            const std::vector<trace::Event> batch = events.batch(64, kProcessors);
            for (const trace::Event& event : batch) {
                static_cast<void>(pass.take(event, kKhz));
            }
            take_one(batch.front());
            const auto rest = std::span(batch).subspan(1);
            if (rest.empty()) {
                continue;
            }
            if (!all.begin_batch(rest)) {
                std::ranges::for_each(rest, take_one);
                continue;
            }
            for (std::size_t position = 0; position < rest.size(); ++position) {
                const trace::Event& event = rest[position];
                all.take(position, event.code, schedule.follow(event), schedule, kKhz);
            }
            all.end_batch();
        }
        pass.finish();
        all.finish();
        ASSERT_EQ(lines, lines_of_all) << "seed " << seed;
    }
}

} // namespace

} // namespace host::schedule::pass_test
