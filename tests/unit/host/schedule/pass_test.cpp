// SPDX-License-Identifier: MIT
// The tables that say which codes concern whom leave out none that does.
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

} // namespace

} // namespace host::schedule::pass_test
