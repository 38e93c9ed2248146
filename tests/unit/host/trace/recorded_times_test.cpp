// SPDX-License-Identifier: MIT
// Tests which 64-bit times releases and deadlines get, of which records have 32 bits: first the cases by themselves,
// then random runs with periods, deadlines and backlogs from a millisecond to a hundred days, whose true times are
// known. A time is the true one, or unknown after records were lost.
#include "host/trace/recorded_times.hpp"

#include "host/trace/names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <string>

namespace host::trace::recorded_times_test {

namespace {

constexpr std::uint32_t kKhz = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000; // in ticks of that rate, and in nanoseconds
constexpr std::uint16_t kTask = 3;
constexpr std::uint16_t kServer = 7;

// Writes events as the kernel does; times of records are cut to 32 bits.
class RecordedTimesTest : public testing::Test {
  protected:
    void parameters(const tracer::TaskParameters& parameters) { m_names.set_parameters(parameters); }

    void hard(std::uint64_t period_ns, std::uint64_t deadline_ns) {
        parameters({.context = kTask, .period_ns = period_ns, .deadline_ns = deadline_ns});
    }

    void soft(std::uint64_t budget_ns, std::uint64_t period_ns) {
        parameters({.context = kTask, .period_ns = period_ns, .budget_ns = budget_ns});
        event(0, kCodeOf<"server_create">, 0, kServer);
        event(0, kCodeOf<"server_period">, kServer, std::min<std::uint64_t>(period_ns, 0xFFFF'FFFF));
        event(0, kCodeOf<"server_kind">, static_cast<std::uint16_t>(lib::ServerKind::cbs), kServer);
        event(0, kCodeOf<"server_attach">, kServer, kTask);
    }

    void event(std::uint64_t stamp, std::uint8_t code, std::uint16_t par1, std::uint64_t par2 = 0) {
        Event event;
        event.ticks = {stamp};
        event.par1 = par1;
        event.par2 = static_cast<std::uint32_t>(par2);
        event.code = code;
        event.row = tracer::find_event(code);
        event.names = &m_names;
        m_times.take(event, m_khz);
    }

    void create() { event(0, kCodeOf<"task_create">, kTask, 5); }

    void timer(std::uint64_t stamp) { event(stamp, kCodeOf<"task_timer">, kTask); }

    void release(std::uint64_t stamp, std::uint64_t at) { event(stamp, kCodeOf<"job_release">, kTask, at); }

    void due(std::uint64_t stamp, std::uint64_t deadline) {
        event(stamp, kCodeOf<"job_deadline">, kTask, deadline);
        event(stamp, kCodeOf<"set_priority">, kTask, lib::TickRate{m_khz}.to_nanoseconds({deadline}).value / 1'000);
    }

    void end(std::uint64_t stamp) { event(stamp, kCodeOf<"task_end_cycle">, kTask); }

    void decide(std::uint64_t stamp) { event(stamp, kCodeOf<"task_schedule">, 1, 1); }

    void postpone(std::uint64_t stamp, std::uint64_t deadline) {
        event(stamp, kCodeOf<"server_exhaust">, 0, kServer);
        event(stamp, kCodeOf<"server_replenish">, 0, kServer);
        event(stamp, kCodeOf<"server_deadline">, kServer, deadline);
    }

    [[nodiscard]] std::optional<std::uint64_t> release() const { return m_times.release(kTask); }

    [[nodiscard]] std::optional<std::uint64_t> deadline() const { return m_times.deadline(kTask); }

    std::uint32_t m_khz = kKhz;
    Names m_names;
    RecordedTimes m_times;
};

TEST_F(RecordedTimesTest, AJobThatBeginsAtItsArrivalWasReleasedBeforeItsRecord) {
    for (const std::uint64_t late : {std::uint64_t{0}, std::uint64_t{1}, kSecond, 4 * kSecond}) {
        create();
        timer(100 * kSecond);
        release(100 * kSecond, 100 * kSecond - late);
        EXPECT_EQ(release(), 100 * kSecond - late);
    }
}

TEST_F(RecordedTimesTest, AReleaseMayBeALittleLaterThanItsRecord) {
    create();
    timer(10 * kSecond);
    release(10 * kSecond, 10 * kSecond + 1000); // a timer that fires early
    EXPECT_EQ(release(), 10 * kSecond + 1000);
}

TEST_F(RecordedTimesTest, AJobThatWaitedWasReleasedWhenItsArrivalIsRecorded) {
    create();
    timer(kSecond);
    release(kSecond, kSecond);
    timer(2 * kSecond); // without parameters nothing states that the task is periodic
    timer(3 * kSecond);
    end(500 * kSecond);
    release(500 * kSecond, 2 * kSecond);
    EXPECT_EQ(release(), 2 * kSecond);
    end(900 * kSecond);
    release(900 * kSecond, 3 * kSecond);
    EXPECT_EQ(release(), 3 * kSecond);
}

TEST_F(RecordedTimesTest, APendingActivationCountsFromItsRecordAndADroppedOneDoesNot) {
    create();
    const auto activate = [&](std::uint64_t stamp) { event(stamp, kCodeOf<"task_activate">, kTask); };
    activate(kSecond);
    release(kSecond, kSecond);
    activate(10 * kSecond);
    event(10 * kSecond, kCodeOf<"job_skipped">, kTask);
    activate(20 * kSecond);
    event(20 * kSecond, kCodeOf<"job_queued">, kTask, 1);
    timer(30 * kSecond);
    event(30 * kSecond, kCodeOf<"job_skipped">, kTask);
    end(100 * kSecond);
    release(100 * kSecond, 20 * kSecond);
    EXPECT_EQ(release(), 20 * kSecond);
}

TEST_F(RecordedTimesTest, APeriodicTaskIsReleasedOnePeriodAfterItsReleaseBefore) {
    hard(10 * kSecond, 10 * kSecond);
    create();
    timer(kSecond);
    release(kSecond, kSecond);
    timer(500 * kSecond); // the machine was stopped, and its counter was not
    end(600 * kSecond);
    release(600 * kSecond, 11 * kSecond);
    EXPECT_EQ(release(), 11 * kSecond);
}

TEST_F(RecordedTimesTest, AfterALossAReleaseIsUnknownUntilTheTaskHasNoJob) {
    create();
    timer(kSecond);
    release(kSecond, kSecond);
    m_times.forget();
    end(10 * kSecond);
    release(10 * kSecond, 5 * kSecond);
    EXPECT_EQ(release(), std::nullopt) << "releases that wait may be among what was lost";
    EXPECT_EQ(deadline(), std::nullopt);
    end(11 * kSecond);
    decide(11 * kSecond);
    timer(12 * kSecond);
    release(12 * kSecond, 12 * kSecond);
    EXPECT_EQ(release(), 12 * kSecond);
}

// The end that a release follows may be before the trace, and so may the arrival for which the job waited.
TEST_F(RecordedTimesTest, ATraceThatDoesNotBeginWithTheMachineBeginsAfterALoss) {
    hard(10 * kSecond, 10 * kSecond);
    release(100 * kSecond, 90 * kSecond);
    EXPECT_EQ(release(), std::nullopt);
    decide(101 * kSecond);
    timer(110 * kSecond);
    release(110 * kSecond, 110 * kSecond);
    EXPECT_EQ(release(), 110 * kSecond);
}

TEST_F(RecordedTimesTest, ATraceThatBeginsWithTheMachineLacksNothing) {
    hard(10 * kSecond, 10 * kSecond);
    event(0, kCodeOf<"trace_start">, 0);
    release(100 * kSecond, 97 * kSecond);
    EXPECT_EQ(release(), 97 * kSecond);
}

TEST_F(RecordedTimesTest, ALossThatTheTraceStatesIsOne) {
    for (const std::uint8_t code : {kCodeOf<"blackout_start">, kCodeOf<"blackout_end">, kCodeOf<"trace_start">,
                                    kCodeOf<"filter_task">, kCodeOf<"filter_job">}) {
        create();
        timer(kSecond);
        release(kSecond, kSecond);
        event(2 * kSecond, code, 1);
        end(10 * kSecond);
        release(10 * kSecond, 5 * kSecond);
        EXPECT_EQ(release(), std::nullopt) << tracer::find_event(code)->name;
    }
}

TEST_F(RecordedTimesTest, TheDeadlineFollowsTheRelease) {
    for (const std::uint64_t seconds : {1U, 4U, 5U, 100U, 86'400U, 8'640'000U}) {
        hard(seconds * kSecond, seconds * kSecond);
        create();
        timer(kSecond);
        release(kSecond, kSecond);
        due(kSecond, (seconds + 1) * kSecond);
        EXPECT_EQ(deadline(), (seconds + 1) * kSecond);
    }
}

TEST_F(RecordedTimesTest, ADeadlineThatWasChangedFollowsTheReleaseByTheChange) {
    hard(200 * kSecond, 100 * kSecond);
    create();
    timer(kSecond);
    release(kSecond, kSecond);
    event(kSecond, kCodeOf<"deadline_change">, kTask, 120'000'000); // in microseconds
    due(kSecond, 121 * kSecond);
    EXPECT_EQ(deadline(), 121 * kSecond);
    due(kSecond, 101 * kSecond);
    EXPECT_EQ(deadline(), 101 * kSecond) << "a shorter one holds from the next release on";
    event(kSecond, kCodeOf<"deadline_change">, kTask, 0xFFFF'FFFF);
    due(kSecond, 5'001 * kSecond);
    EXPECT_EQ(deadline(), std::nullopt) << "the record of the change saturates";
}

TEST_F(RecordedTimesTest, AChangeThatMayHaveBeenLostIsNotGuessed) {
    hard(200 * kSecond, 100 * kSecond);
    m_times.forget();
    timer(kSecond);
    release(kSecond, kSecond);
    due(kSecond, 101 * kSecond);
    EXPECT_EQ(deadline(), 101 * kSecond) << "no other D is needed";
    due(kSecond, 151 * kSecond);
    EXPECT_EQ(deadline(), std::nullopt);
}

TEST_F(RecordedTimesTest, WithoutParametersMicrosecondsDecide) {
    create();
    timer(kSecond);
    release(kSecond, kSecond);
    event(kSecond, kCodeOf<"job_deadline">, kTask, 50 * kSecond);
    event(kSecond, kCodeOf<"set_priority">, kTask, 50 * kSecond / 1'000);
    EXPECT_EQ(deadline(), 50 * kSecond);
}

TEST_F(RecordedTimesTest, WithoutARateADeadlineIsUnknown) {
    m_khz = 0;
    hard(kSecond, kSecond);
    create();
    timer(kSecond);
    release(kSecond, kSecond);
    event(kSecond, kCodeOf<"job_deadline">, kTask, 2 * kSecond);
    EXPECT_EQ(release(), kSecond);
    EXPECT_EQ(deadline(), std::nullopt);
}

TEST_F(RecordedTimesTest, AServerPostponesItsDeadlineByItsPeriod) {
    create();
    soft(kSecond, 60 * kSecond); // its period does not fit the record
    EXPECT_EQ(m_times.server_period_ns(kServer), 60 * kSecond);
    event(kSecond, kCodeOf<"server_active">, kTask, kServer);
    event(kSecond, kCodeOf<"server_replenish">, 0, kServer);
    event(kSecond, kCodeOf<"server_deadline">, kServer, 61 * kSecond);
    EXPECT_EQ(m_times.server_deadline(kServer), 61 * kSecond);
    release(kSecond, kSecond);
    due(kSecond, 61 * kSecond);
    EXPECT_EQ(deadline(), 61 * kSecond);
    postpone(2 * kSecond, 121 * kSecond);
    postpone(3 * kSecond, 181 * kSecond);
    EXPECT_EQ(m_times.server_deadline(kServer), 181 * kSecond);
    due(3 * kSecond, 181 * kSecond);
    EXPECT_EQ(deadline(), 181 * kSecond);
}

TEST_F(RecordedTimesTest, MicrosecondsDecideTheDeadlineOfAServerAfterALoss) {
    create();
    soft(kSecond, 60 * kSecond);
    m_times.forget();
    event(9 * kSecond, kCodeOf<"server_attach">, kServer, kTask);
    postpone(10 * kSecond, 300 * kSecond);
    EXPECT_EQ(m_times.server_deadline(kServer), std::nullopt);
    due(10 * kSecond, 300 * kSecond);
    EXPECT_EQ(m_times.server_deadline(kServer), 300 * kSecond);
    EXPECT_EQ(deadline(), 300 * kSecond);
}

TEST_F(RecordedTimesTest, APollingServerIsReplenishedWithinOnePeriod) {
    event(0, kCodeOf<"server_create">, 0, kServer);
    event(0, kCodeOf<"server_period">, kServer, 4 * kSecond);
    event(0, kCodeOf<"server_kind">, static_cast<std::uint16_t>(lib::ServerKind::polling), kServer);
    const auto replenish = [&](std::uint64_t stamp, std::uint64_t next) {
        event(stamp, kCodeOf<"server_replenish">, 0, kServer);
        event(stamp, kCodeOf<"server_deadline">, kServer, next);
        return m_times.server_deadline(kServer);
    };
    EXPECT_EQ(replenish(kSecond, 5 * kSecond), 5 * kSecond);
    EXPECT_EQ(replenish(5 * kSecond, 9 * kSecond), 9 * kSecond);
    EXPECT_EQ(replenish(31 * kSecond, 33 * kSecond), 33 * kSecond) << "periods are passed over";
    event(32 * kSecond, kCodeOf<"server_deadline">, kServer, 33 * kSecond);
    EXPECT_EQ(m_times.server_deadline(kServer), 33 * kSecond) << "work has come";
}

TEST_F(RecordedTimesTest, APeriodThatDoesNotFitItsRecordIsUnknown) {
    event(0, kCodeOf<"server_create">, 0, kServer);
    event(0, kCodeOf<"server_period">, kServer, 0xFFFF'FFFF);
    event(0, kCodeOf<"server_kind">, static_cast<std::uint16_t>(lib::ServerKind::polling), kServer);
    event(0, kCodeOf<"server_replenish">, 0, kServer);
    event(0, kCodeOf<"server_deadline">, kServer, 60 * kSecond);
    EXPECT_EQ(m_times.server_period_ns(kServer), std::nullopt);
    EXPECT_EQ(m_times.server_deadline(kServer), std::nullopt);
}

// --- random runs ---------------------------------------------------------------------------------------------------

// One task whose jobs take times from a fraction of its period to many of them; after each job records may be lost.
class RandomRun : public RecordedTimesTest {
  protected:
    void run(std::uint64_t seed, bool loses) {
        m_random.seed(seed);
        m_times = {};
        m_khz = std::array<std::uint32_t, 5>{100'000, 999'999, 2'394'451, 4'000'000, 5'000'000}[below(5)];
        const std::uint64_t shift = below(34); // a millisecond to a hundred days and more
        const std::uint64_t period_ns = (1'000'000 + below(1'000'000)) << shift;
        m_deadline_ns = below(2) == 0 ? period_ns : period_ns / 2 + below(period_ns / 2);
        hard(period_ns, m_deadline_ns);
        create();
        m_origin = ticks(1'000'000 + below(1'000'000'000));
        m_period_ns = period_ns;
        m_busy = false;
        m_arrived = m_done = 0;
        std::uint64_t end = 0;
        for (int step = 0; step < 60; ++step) {
            if (!m_busy || release_at(m_arrived) <= end) {
                arrive();
            } else {
                complete(end);
                if (loses && below(8) == 0) {
                    m_times.forget();
                }
            }
            if (m_busy && m_began == m_done) {
                end = std::max(now(), m_start) + ticks(below(below(3) == 0 ? 5 * period_ns : period_ns)) + 1;
                m_began = m_done + 1;
            }
        }
        EXPECT_GT(m_known, 0U);
        EXPECT_TRUE(loses || m_unknown == 0);
    }

    void arrive() {
        const std::uint64_t at = release_at(m_arrived++);
        m_now = std::max(m_now, at + below(1'000));
        timer(m_now);
        if (!m_busy) {
            m_busy = true;
            begin();
        }
    }

    void complete(std::uint64_t at) {
        m_now = std::max(m_now, at);
        end(m_now);
        ++m_done;
        m_busy = m_done < m_arrived;
        if (m_busy) {
            begin();
        }
        decide(m_now);
    }

    void begin() {
        const std::uint64_t at = release_at(m_done);
        const std::uint64_t wanted = m_origin + ticks(m_done * m_period_ns + m_deadline_ns);
        m_start = m_now;
        m_began = m_done;
        release(m_now, at);
        due(m_now, wanted);
        if (release()) {
            EXPECT_EQ(release(), at) << m_done;
        }
        if (deadline()) {
            EXPECT_EQ(deadline(), wanted) << m_done;
        }
        ++(release() && deadline() ? m_known : m_unknown);
    }

    [[nodiscard]] std::uint64_t release_at(std::uint64_t job) const { return m_origin + ticks(job * m_period_ns); }

    [[nodiscard]] std::uint64_t ticks(std::uint64_t ns) const { return lib::TickRate{m_khz}.to_ticks({ns}).value; }

    [[nodiscard]] std::uint64_t now() const { return m_now; }

    std::uint64_t below(std::uint64_t end) { return m_random() % end; }

    std::mt19937_64 m_random;
    std::uint64_t m_now = 0;
    std::uint64_t m_origin = 0;
    std::uint64_t m_period_ns = 0;
    std::uint64_t m_deadline_ns = 0;
    std::uint64_t m_arrived = 0;
    std::uint64_t m_done = 0;
    std::uint64_t m_began = ~std::uint64_t{0};
    std::uint64_t m_start = 0;
    bool m_busy = false;
    std::uint64_t m_known = 0;
    std::uint64_t m_unknown = 0;
};

TEST_F(RandomRun, HasItsTrueTimes) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        m_now = m_known = m_unknown = 0;
        run(seed, false);
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

TEST_F(RandomRun, WithLossesHasItsTrueTimesOrNone) {
    std::uint64_t unknown = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        m_now = m_known = m_unknown = 0;
        run(seed, true);
        unknown += m_unknown;
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    EXPECT_GT(unknown, 100U);
}

} // namespace

} // namespace host::trace::recorded_times_test
