// SPDX-License-Identifier: MIT
// Tests what counts as checked, undecided and violated, rule by rule and in sums, and the arithmetic of the theories.
#include "host/analyse/oracle/servers.hpp"
#include "host/analyse/oracle/verdicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::oracle::verdicts_test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class VerdictsTest : public testing::Test {
  protected:
    VerdictsTest() { m_verdicts.at(m_event); }

    // checked/undecided/violated
    static std::string text(const Tally& tally) {
        return std::to_string(tally.checked) + '/' + std::to_string(tally.undecided) + '/' +
               std::to_string(tally.violations);
    }

    trace::Event m_event;
    std::vector<std::string> m_found;
    Verdicts m_verdicts{[this](const Finding& finding) {
        EXPECT_EQ(finding.event, &m_event);
        m_found.push_back(std::string(row_of(finding.rule).name) + ' ' + std::to_string(finding.task.value_or(0)) +
                          ' ' + finding.text);
    }};
};

TEST_F(VerdictsTest, AddUpByRuleAndSubject) {
    m_verdicts.pass(Rule::edf_order);
    m_verdicts.pass(Rule::edf_order);
    m_verdicts.undecided(Rule::edf_order);
    m_verdicts.fail(Rule::rm_order, 12, "is late");
    m_verdicts.judge(Rule::cbs_budget, true, std::nullopt, [] { return std::string("never"); });
    m_verdicts.judge(Rule::cbs_budget, false, std::nullopt, [] { return std::string("is charged"); });
    EXPECT_THAT(m_found, ElementsAre("rm-order 12 is late", "cbs-budget 0 is charged"));
    EXPECT_EQ(text(m_verdicts.of(Rule::edf_order)), "2/1/0");
    EXPECT_EQ(text(m_verdicts.of(Rule::rm_order)), "1/0/1");
    EXPECT_EQ(text(m_verdicts.of(Subject::dispatch)), "3/1/1");
    EXPECT_EQ(text(m_verdicts.of(Subject::budget)), "2/0/1");
    EXPECT_EQ(text(m_verdicts.of(Subject::wakeup)), "0/0/0");
    EXPECT_EQ(text(m_verdicts.total()), "5/1/2");
}

TEST_F(VerdictsTest, AreUndecidedWhereEventsMayBeMissing) {
    EXPECT_FALSE(m_verdicts.blind(Rule::cbs_budget));
    m_verdicts.lose(tracer::Family::server);
    EXPECT_TRUE(m_verdicts.blind(Rule::cbs_budget));
    EXPECT_FALSE(m_verdicts.blind(Rule::release_period)) << "it needs none of them";
    m_verdicts.pass(Rule::cbs_budget);
    m_verdicts.fail(Rule::cbs_budget, 12, "is charged");
    m_verdicts.pass(Rule::release_period);
    EXPECT_THAT(m_found, IsEmpty());
    EXPECT_EQ(text(m_verdicts.of(Rule::cbs_budget)), "0/2/0");
    EXPECT_EQ(text(m_verdicts.of(Rule::release_period)), "1/0/0");
    m_verdicts.lose(tracer::Family::job);
    EXPECT_TRUE(m_verdicts.blind(Rule::release_period));
    EXPECT_TRUE(m_verdicts.blind(Rule::lost_wakeup)) << "an aborted job waits no longer";
}

TEST_F(VerdictsTest, RelaxForEachReasonOnce) {
    m_verdicts.relax("a");
    m_verdicts.relax("b");
    m_verdicts.relax("a");
    EXPECT_THAT(m_verdicts.relaxations(), ElementsAre("a", "b"));
}

TEST(SameButRounding, IsOneTickEitherWay) {
    EXPECT_TRUE(same_but_rounding(100, 100));
    EXPECT_TRUE(same_but_rounding(100, 101));
    EXPECT_TRUE(same_but_rounding(101, 100));
    EXPECT_FALSE(same_but_rounding(100, 102));
    EXPECT_FALSE(same_but_rounding(102, 100));
    EXPECT_TRUE(same_but_rounding(0, 1));
    EXPECT_FALSE(same_but_rounding(0, ~std::uint64_t{0}));
}

TEST(ScaledUp, RoundsUpAndDoesNotOverflow) {
    EXPECT_EQ(scaled_up(10, 1, 2), 5U);
    EXPECT_EQ(scaled_up(11, 1, 2), 6U);
    EXPECT_EQ(scaled_up(9, 2, 3), 6U);
    EXPECT_EQ(scaled_up(10, 2, 3), 7U);
    EXPECT_EQ(scaled_up(0, 5, 3), 0U);
    constexpr std::uint64_t kMost = ~std::uint64_t{0};
    EXPECT_EQ(scaled_up(kMost, kMost, kMost), kMost);
}

} // namespace

} // namespace host::analyse::oracle::verdicts_test
