// SPDX-License-Identifier: MIT
// A batch is judged as its events one by one, whatever their codes; and the tables that say which codes concern the
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
constexpr int kBatches = 60;

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

TEST(Oracle, JudgesABatchAsItsEventsOneByOne) {
    std::uint64_t checked = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        trace::TraceFacts facts = facts_of(events);
        std::vector<std::string> expected;
        std::vector<std::string> found;
        const std::optional<std::uint64_t> tolerance = seed % 4 == 0 ? std::nullopt : std::optional(seed % 4);
        Oracle one_by_one([&](const Finding& finding) { expected.push_back(text_of(finding)); }, tolerance);
        Oracle in_batches([&](const Finding& finding) { found.push_back(text_of(finding)); }, tolerance);
        for (int i = 0; i < kBatches; ++i) {
            facts.chunks[0].missing += seed % 5 == 0 && i % 10 == 0 ? 1U : 0U;
            // A second processor ends all judgements, and filters those of their families.
            std::vector<trace::Event> batch = events.batch(64, seed % 10 == 9 && i > kBatches / 2 ? 2 : 1);
            std::erase_if(batch, [&](const trace::Event& event) {
                return trace::kSetsFilter[event.code] && (seed % 3 != 0 || i < kBatches / 2);
            });
            if (batch.empty()) {
                continue;
            }
            std::ranges::for_each(batch, [&](const trace::Event& event) { one_by_one.add(event, facts); });
            in_batches.add(batch, facts);
            ASSERT_EQ(in_batches.timing().tolerance, one_by_one.timing().tolerance);
        }
        one_by_one.finish(facts);
        in_batches.finish(facts);
        ASSERT_EQ(found, expected) << "seed " << seed;
        ASSERT_EQ(tallies_of(in_batches.verdicts()), tallies_of(one_by_one.verdicts())) << "seed " << seed;
        EXPECT_EQ(in_batches.events(), one_by_one.events());
        checked += one_by_one.verdicts().total().checked;
    }
    EXPECT_GT(checked, kSeeds * 10);
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
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        Model by_table;
        Model all;
        for (Model* const model : {&by_table, &all}) {
            model->set_rate(RandomEvents::kKhz);
            model->set_names(events.names());
        }
        for (int i = 0; i < kBatches; ++i) {
            for (const trace::Event& event : events.batch(64, 1)) {
                if (Model::kConcerns[event.code]) {
                    by_table.apply(event);
                }
                all.apply(event);
                ASSERT_EQ(text_of(by_table), text_of(all)) << event.row->name;
            }
        }
    }
}

template <typename T>
class OracleTheory : public testing::Test {};

using Theories = testing::Types<Jobs, Mutexes, RoundRobin, WakeUps>;
TYPED_TEST_SUITE(OracleTheory, Theories);

TYPED_TEST(OracleTheory, ItsTableLeavesOutNoEventThatConcernsIt) {
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
        for (int i = 0; i < 4 * kBatches; ++i) {
            for (const trace::Event& event : events.batch(64, 1)) {
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
                model.apply(event);
            }
        }
        ASSERT_EQ(found, expected) << "seed " << seed;
        ASSERT_EQ(tallies_of(verdicts_by_table), tallies_of(verdicts_of_all)) << "seed " << seed;
    }
}

} // namespace

} // namespace host::analyse::oracle::oracle_test
