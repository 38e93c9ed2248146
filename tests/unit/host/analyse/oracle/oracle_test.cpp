// SPDX-License-Identifier: MIT
// Tests the oracle with random events, by what holds of any trace; and that the tables that say which codes concern the
// model and the theories leave out none that does.
#include "host/analyse/oracle/oracle.hpp"

#include "host/text/format.hpp"
#include "tests/support/model_journal.hpp"
#include "tests/support/random_events.hpp"

#include <gtest/gtest.h>

namespace host::analyse::oracle::oracle_test {

namespace {

using support::RandomEvents;

constexpr std::uint64_t kSeeds = 8;
constexpr int kEvents = 1000;

std::string text_of(const Finding& finding) {
    return fmt::format("#{} {} {}: {}", finding.event->record, row_of(finding.rule).name, finding.task.value_or(0),
                       finding.text);
}

std::vector<std::string> tallies_of(const Verdicts& verdicts) {
    std::vector<std::string> texts = verdicts.relaxations();
    for (const RuleRow& row : kRules) {
        const Tally& tally = verdicts.of(row.rule);
        texts.push_back(fmt::format("{} {} {} {}", row.name, tally.checked, tally.undecided, tally.violations));
    }
    return texts;
}

trace::TraceFacts facts_of(const RandomEvents& events) {
    trace::TraceFacts facts;
    facts.clock.khz = RandomEvents::kKhz;
    facts.clock.mode = tracer::ClockMode::icount;
    facts.names = events.names();
    facts.chunks.resize(2);
    for (trace::ChunkReport& chunk : facts.chunks) {
        chunk.described = true;
    }
    return facts;
}

// Records are missing now and then, a filter is used or not, a checksum is wrong, a second processor appears.
TEST(Oracle, CountsWhatItJudgesAndJudgesNothingOfASecondProcessor) {
    std::uint64_t checked = 0;
    std::uint64_t undecided = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        trace::TraceFacts facts = facts_of(events);
        std::uint64_t findings = 0;
        std::uint64_t taken = 0;
        std::uint64_t decided = 0; // when the second processor appeared
        bool has_second = false;
        const std::optional<std::uint64_t> tolerance = seed % 4 == 0 ? std::nullopt : std::optional(seed);
        Oracle oracle([&](const Finding&) { ++findings; }, tolerance);
        for (int i = 0; i < 2 * kEvents; ++i) {
            facts.chunks[0].damaged = seed % 5 == 1 && i > kEvents;
            trace::Event event = events.event(seed % 5 == 2 && i > kEvents ? 2 : 1);
            event.after_hole = (seed % 5 == 0 && i % 100 == 0) || facts.chunks[event.source].damaged;
            if (trace::kSetsFilter[event.code] && (seed % 3 != 0 || i < kEvents)) {
                continue;
            }
            oracle.add(event, facts);
            taken += facts.chunks[event.source].damaged ? 0U : 1U;
            if (event.cpu != 0 && !has_second) {
                has_second = true;
                decided = oracle.verdicts().total().checked - oracle.verdicts().of(Rule::one_processor).checked;
            }
        }
        oracle.finish(facts);
        const Tally total = oracle.verdicts().total();
        EXPECT_EQ(oracle.events(), taken) << "seed " << seed;
        EXPECT_EQ(total.violations, findings) << "seed " << seed;
        EXPECT_LE(total.violations, total.checked) << "seed " << seed;
        EXPECT_EQ(has_second, seed % 5 == 2);
        if (has_second) {
            const std::uint64_t apart = oracle.verdicts().of(Rule::one_processor).checked;
            EXPECT_EQ(total.checked - apart, decided) << "seed " << seed;
        }
        checked += total.checked;
        undecided += total.undecided;
    }
    EXPECT_GT(checked, kSeeds * 10);
    EXPECT_GT(undecided, kSeeds * 10);
}

// --- the tables ------------------------------------------------------------------------------------------------------

std::string text_of(const Model& model) {
    std::string text = fmt::format("{} {} {}", model.complete(), model.jobs_recorded(), model.acquires_recorded());
    for (const auto& [context, task] : model.tasks()) {
        text += fmt::format("; {} {}", context, text_of(task));
    }
    for (const auto& [id, mutex] : model.mutexes()) {
        text += fmt::format("; {} {}", id, text_of(mutex));
    }
    for (const auto& [id, server] : model.servers()) {
        text += fmt::format("; {} {}", id, text_of(server));
    }
    const auto& running = model.running();
    return text + (running ? fmt::format("; {} {} {}", running->exec, running->shadow, running->since) : "");
}

TEST(OracleModel, ItsTableLeavesOutNoEventThatChangesIt) {
    std::uint64_t changes = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        Model by_table;
        Model all;
        for (Model* const model : {&by_table, &all}) {
            model->set_rate(RandomEvents::kKhz);
            model->set_names(events.names());
        }
        std::string before;
        for (int i = 0; i < kEvents; ++i) {
            const trace::Event event = events.event(1);
            by_table.restore(event);
            if (Model::kConcerns[event.code]) {
                by_table.apply(event);
            }
            all.restore(event);
            all.apply(event);
            const std::string text = text_of(all);
            ASSERT_EQ(text_of(by_table), text) << event.row->name;
            changes += text != before ? 1U : 0U;
            before = text;
        }
    }
    EXPECT_GT(changes, kSeeds * 10);
}

template <typename T>
class OracleTheory : public testing::Test {};

using Theories = testing::Types<Jobs, Mutexes, RoundRobin, WakeUps>;
TYPED_TEST_SUITE(OracleTheory, Theories);

TYPED_TEST(OracleTheory, ItsTableLeavesOutNoEventThatConcernsIt) {
    std::uint64_t checked = 0;
    for (std::uint64_t seed = 0; seed < 4 * kSeeds; ++seed) { // some of them meet rarely
        RandomEvents events(seed);
        Model model;
        model.set_rate(RandomEvents::kKhz);
        model.set_names(events.names());
        const Timing timing{.tolerance = seed};
        std::vector<std::string> expected;
        std::vector<std::string> found;
        Verdicts verdicts_by_table([&](const Finding& finding) { found.push_back(text_of(finding)); });
        Verdicts verdicts_of_all([&](const Finding& finding) { expected.push_back(text_of(finding)); });
        TypeParam by_table(model, verdicts_by_table, timing);
        TypeParam all(model, verdicts_of_all, timing);
        for (int i = 0; i < 4 * kEvents; ++i) {
            const trace::Event event = events.event(1);
            verdicts_by_table.at(event);
            verdicts_of_all.at(event);
            if constexpr (requires { by_table.ran(Interval{}); }) {
                if (const auto& running = model.running(); running && event.is(trace::kCodeOf<"task_epilogue">)) {
                    const Interval interval{running->exec, running->shadow, running->since, event.ticks.value};
                    by_table.ran(interval);
                    all.ran(interval);
                }
            }
            if (TypeParam::kConcerns[event.code]) {
                by_table.event(event);
            }
            all.event(event);
            model.restore(event);
            model.apply(event);
        }
        ASSERT_EQ(found, expected) << "seed " << seed;
        ASSERT_EQ(tallies_of(verdicts_by_table), tallies_of(verdicts_of_all)) << "seed " << seed;
        checked += verdicts_of_all.total().checked;
    }
    EXPECT_GT(checked, 0U);
}

} // namespace

} // namespace host::analyse::oracle::oracle_test
