// SPDX-License-Identifier: MIT
// Tests the rows of a job's account, every column of them. The clock has 2 ticks per nanosecond.
#include "host/sql/schedule_rows.hpp"

#include "tests/support/sql_cells.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace host::sql {

namespace {

using schedule::By;
using schedule::Inversion;
using schedule::JobAccount;
using schedule::Moment;
using schedule::Outcome;
using schedule::Part;
using schedule::Share;
using schedule::Unaccounted;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Moment at(std::uint64_t ticks) {
    return {{ticks}, static_cast<std::int64_t>(ticks / 2)};
}

// A share of each kind; no two numbers of it are the same.
JobAccount known_job() {
    JobAccount account{.job = {.context = 3,
                               .number = 4,
                               .release = at(1000),
                               .start = at(1100),
                               .deadline = at(1800),
                               .end = at(2000),
                               .missed = true,
                               .outcome = Outcome::completed},
                       .cpu = 5,
                       .ready = at(1040),
                       .parts = {{{40}, {302}, {404}, {206}, {48}}},
                       .gross = {310},
                       .records = 17,
                       .dispatches = 6,
                       .preemptions = 7,
                       .migrations = 8,
                       .unaccounted = Unaccounted::no,
                       .residue = 9};
    const auto add = [&](Part part, By by, std::uint32_t who, std::uint64_t ticks) -> Share& {
        Share& share = account.shares.emplace_back();
        share.culprit.part = part;
        share.culprit.by = by;
        share.culprit.who = who;
        share.ticks = {ticks};
        share.records = ticks + 1;
        share.pieces = ticks + 2;
        share.longest = {ticks + 4};
        share.longest_begin = {ticks + 5};
        share.longest_place = {.cpu = 1, .chunk = 2, .record = ticks + 6};
        return share;
    };
    add(Part::jitter, By::backlog, schedule::kUnknownContext, 40);
    add(Part::execution, By::self, 3, 302);
    add(Part::interference, By::task, 2, 100);
    add(Part::interference, By::task, 0xFFFF, 20);
    add(Part::interference, By::interrupt, 32, 90);
    add(Part::interference, By::interrupt, schedule::kTimerHandler, 8);
    add(Part::interference, By::kernel, 2, 70);
    add(Part::interference, By::section, 2, 60);
    add(Part::interference, By::throttling, 6, 56);
    Share& bounded = add(Part::blocking, By::task, 2, 150);
    bounded.culprit.inversion = Inversion::bounded;
    bounded.culprit.object = 1;
    bounded.culprit.holder = 2;
    bounded.culprit.end_waits = 1U << 16 | 2;
    Share& unbounded = add(Part::blocking, By::task, schedule::kUnknownContext, 56);
    unbounded.culprit.inversion = Inversion::unbounded;
    unbounded.culprit.holder = schedule::kContexts;
    Share& suspension = add(Part::suspension, By::self, schedule::kUnknownContext, 48);
    suspension.culprit.object = 1U << 16 | 2;
    return account;
}

class AccountRowsTest : public testing::Test {
  protected:
    AccountRowsTest() {
        m_names.set(tracer::Unit::vector, 32, "disk");
        m_names.set(tracer::Unit::server, 6, "cbs");
        m_names.set(tracer::Unit::mutex, 1, "bus");
        m_names.set(tracer::Unit::semaphore, 2, "items");
    }

    [[nodiscard]] AccountRows rows() const {
        return {.names = m_names,
                .task = [](std::uint32_t context) { return "task " + std::to_string(context); },
                .khz = m_khz,
                .cost = m_cost};
    }

    std::string job_row(const JobAccount& account) {
        rows().add_job(account, m_kept.sink());
        return m_kept.rows.back();
    }

    trace::Names m_names;
    std::uint32_t m_khz = 2'000'000;
    std::optional<tracer::TraceCost> m_cost = tracer::TraceCost{.enabled_ticks_x256 = 4 * 256, .rounds = 1};
    support::KeptRows m_kept;
};

TEST_F(AccountRowsTest, AJobHasItsTimesDurationsCountsAndExactTicks) {
    EXPECT_EQ(job_row(known_job()),
              "jobs: task='task 3' context=3 job=4 release_ns=500 start_ns=550 end_ns=1000 deadline_ns=900 "
              "response_ns=500 missed=1 outcome='completed' cpu=5 ready_ns=520 jitter_ns=20 start_latency_ns=30 "
              "span_ns=450 lateness_ns=100 execution_ns=151 gross_ns=155 interference_ns=202 by_tasks_ns=60 "
              "by_interrupts_ns=49 by_kernel_ns=65 throttled_ns=28 blocking_ns=103 bounded_ns=75 unbounded_ns=28 "
              "suspension_ns=24 tracing_ns=34 records=17 dispatches=6 preemptions=7 migrations=8 release_ticks=1000 "
              "ready_ticks=1040 start_ticks=1100 end_ticks=2000 deadline_ticks=1800 response_ticks=1000 "
              "jitter_ticks=40 execution_ticks=302 gross_ticks=310 interference_ticks=404 blocking_ticks=206 "
              "suspension_ticks=48 residue_ticks=9");
}

TEST_F(AccountRowsTest, EachShareNamesItsCulprit) {
    rows().add_shares(known_job(), m_kept.sink());
    const std::string job = "shares: task='task 3' context=3 job=4 ";
    EXPECT_THAT(
        m_kept.rows,
        ElementsAre(job + "part='jitter' culprit='backlog' ticks=40 ns=20 records=41 pieces=42 longest_ticks=44 "
                          "longest_ns=22 longest_begin_ticks=45 longest_cpu=1 longest_chunk=2 longest_record=46",
                    job + "part='execution' culprit='self' ticks=302 ns=151 records=303 pieces=304 longest_ticks=306 "
                          "longest_ns=153 longest_begin_ticks=307 longest_cpu=1 longest_chunk=2 longest_record=308",
                    job + "part='interference' culprit='task' who='task 2' who_id=2 ticks=100 ns=50 records=101 "
                          "pieces=102 longest_ticks=104 longest_ns=52 longest_begin_ticks=105 longest_cpu=1 "
                          "longest_chunk=2 longest_record=106",
                    job + "part='interference' culprit='task' who='task 65535' who_id=65535 ticks=20 ns=10 records=21 "
                          "pieces=22 longest_ticks=24 longest_ns=12 longest_begin_ticks=25 longest_cpu=1 "
                          "longest_chunk=2 longest_record=26",
                    job + "part='interference' culprit='interrupt' who='disk' who_id=32 ticks=90 ns=45 records=91 "
                          "pieces=92 longest_ticks=94 longest_ns=47 longest_begin_ticks=95 longest_cpu=1 "
                          "longest_chunk=2 longest_record=96",
                    job + "part='interference' culprit='interrupt' who='timer' who_id=65536 ticks=8 ns=4 records=9 "
                          "pieces=10 longest_ticks=12 longest_ns=6 longest_begin_ticks=13 longest_cpu=1 "
                          "longest_chunk=2 longest_record=14",
                    job + "part='interference' culprit='kernel' who='task 2' who_id=2 ticks=70 ns=35 records=71 "
                          "pieces=72 longest_ticks=74 longest_ns=37 longest_begin_ticks=75 longest_cpu=1 "
                          "longest_chunk=2 longest_record=76",
                    job + "part='interference' culprit='section' who='task 2' who_id=2 ticks=60 ns=30 records=61 "
                          "pieces=62 longest_ticks=64 longest_ns=32 longest_begin_ticks=65 longest_cpu=1 "
                          "longest_chunk=2 longest_record=66",
                    job + "part='interference' culprit='throttling' who='cbs' who_id=6 ticks=56 ns=28 records=57 "
                          "pieces=58 longest_ticks=60 longest_ns=30 longest_begin_ticks=61 longest_cpu=1 "
                          "longest_chunk=2 longest_record=62",
                    job + "part='blocking' culprit='task' who='task 2' who_id=2 mutex='bus' mutex_id=1 "
                          "holder='task 2' holder_context=2 inversion='bounded' waits_for='semaphore items' ticks=150 "
                          "ns=75 records=151 pieces=152 longest_ticks=154 longest_ns=77 longest_begin_ticks=155 "
                          "longest_cpu=1 longest_chunk=2 longest_record=156",
                    job + "part='blocking' culprit='task' inversion='unbounded' ticks=56 ns=28 records=57 pieces=58 "
                          "longest_ticks=60 longest_ns=30 longest_begin_ticks=61 longest_cpu=1 longest_chunk=2 "
                          "longest_record=62",
                    job + "part='suspension' culprit='self' waits_for='semaphore items' ticks=48 ns=24 records=49 "
                          "pieces=50 longest_ticks=52 longest_ns=26 longest_begin_ticks=53 longest_cpu=1 "
                          "longest_chunk=2 longest_record=54"));
}

TEST_F(AccountRowsTest, WithoutARateThereAreOnlyTicks) {
    m_khz = 0;
    JobAccount account = known_job();
    account.shares.resize(1);
    EXPECT_EQ(job_row(account),
              "jobs: task='task 3' context=3 job=4 release_ns=500 start_ns=550 end_ns=1000 deadline_ns=900 missed=1 "
              "outcome='completed' cpu=5 ready_ns=520 records=17 dispatches=6 preemptions=7 migrations=8 "
              "release_ticks=1000 ready_ticks=1040 start_ticks=1100 end_ticks=2000 deadline_ticks=1800 "
              "response_ticks=1000 jitter_ticks=40 execution_ticks=302 gross_ticks=310 interference_ticks=404 "
              "blocking_ticks=206 suspension_ticks=48 residue_ticks=9");
}

TEST_F(AccountRowsTest, WhatIsNotAccountedForIsNullAndHasNoShares) {
    JobAccount account = known_job();
    account.job.start = std::nullopt;
    account.job.deadline = std::nullopt;
    account.job.end = std::nullopt;
    account.job.missed = false;
    account.job.outcome = Outcome::lost;
    account.unaccounted = Unaccounted::no_end;
    EXPECT_EQ(job_row(account), "jobs: task='task 3' context=3 job=4 release_ns=500 missed=0 outcome='lost' cpu=5 "
                                "ready_ns=520 release_ticks=1000 ready_ticks=1040");
    rows().add_shares(account, m_kept.sink());
    EXPECT_EQ(m_kept.rows.size(), 1U);
}

TEST_F(AccountRowsTest, OfAReleaseAfterItsRecordNoDistanceIsKnown) {
    JobAccount account = known_job();
    account.unaccounted = Unaccounted::early;
    EXPECT_EQ(job_row(account),
              "jobs: task='task 3' context=3 job=4 release_ns=500 start_ns=550 end_ns=1000 deadline_ns=900 missed=1 "
              "outcome='completed' cpu=5 ready_ns=520 release_ticks=1000 ready_ticks=1040 start_ticks=1100 "
              "end_ticks=2000 deadline_ticks=1800");
}

TEST_F(AccountRowsTest, ATraceThatDoesNotStateItsCostHasNoTracingTime) {
    m_cost.reset();
    EXPECT_THAT(job_row(known_job()), Not(HasSubstr("tracing_ns")));
}

TEST_F(AccountRowsTest, OutcomesHaveNames) {
    JobAccount account = known_job();
    std::vector<std::string> names;
    for (const Outcome outcome : {Outcome::completed, Outcome::aborted, Outcome::ended, Outcome::replaced,
                                  Outcome::lost, Outcome::unfinished}) {
        account.job.outcome = outcome;
        const std::string row = job_row(account);
        const std::size_t begin = row.find("outcome='") + 9;
        names.push_back(row.substr(begin, row.find('\'', begin) - begin));
    }
    EXPECT_THAT(names, ElementsAre("completed", "aborted", "ended", "replaced", "lost", "unfinished"));
}

TEST_F(AccountRowsTest, DistancesMayBeNegativeAndSaturate) {
    JobAccount account = known_job();
    account.job.deadline = at(2300);
    EXPECT_THAT(job_row(account), HasSubstr(" lateness_ns=-150 "));
    account.job.deadline = at(2000);
    EXPECT_THAT(job_row(account), HasSubstr(" lateness_ns=0 "));
    account.job.release = {{3000}, 1500};
    EXPECT_THAT(job_row(account), HasSubstr(" response_ticks=-1000 "));
    EXPECT_THAT(m_kept.rows.back(), HasSubstr(" response_ns=-500 "));
    account.job.release = {{0}, 0};
    account.job.end = Moment{{~std::uint64_t{0}}, std::nullopt};
    EXPECT_THAT(job_row(account), HasSubstr(" response_ticks=9223372036854775807 "));
    account.job.release = {{~std::uint64_t{0}}, 0};
    account.job.end = at(0);
    account.job.start = at(0);
    account.ready = at(0);
    EXPECT_THAT(job_row(account), HasSubstr(" response_ticks=-9223372036854775807 "));
}

} // namespace

} // namespace host::sql
