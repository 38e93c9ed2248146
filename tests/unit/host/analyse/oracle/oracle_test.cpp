// SPDX-License-Identifier: MIT
// The tables that say which codes concern the model and the theories leave out none that does.
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
