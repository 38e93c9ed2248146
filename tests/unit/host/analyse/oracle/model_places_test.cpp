// SPDX-License-Identifier: MIT
// Tests questions to the model: which place comes first, where a chain of owners ends, whom a stack mutex stops. Each
// answer may be yes, no, or unknown.
#include "tests/support/model_journal.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::model_places_test {

namespace {

constexpr std::uint32_t kSemaphore = (1U << 16) | 7U;

// Answers as text: "yes", "no", "?".
class Places : public Journal {
  public:
    Places() { at(0, "trace_start", 0, 1'000'000); }

    Places& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
        Journal::at(stamp, name, par1, par2);
        return *this;
    }

    Places& job(std::uint16_t context, std::uint32_t release, std::uint32_t deadline) {
        at(m_now++, "job_release", context, release);
        if (m_cbs && context >= 15) {
            at(m_now++, "server_active", context, 3).at(m_now++, "server_deadline", 3, deadline);
        }
        at(m_now++, "job_deadline", context, deadline);
        return *this;
    }

    [[nodiscard]] std::string_view before(std::uint16_t a, std::uint16_t b) const {
        return text_of(model().before(task(a), task(b)));
    }

    [[nodiscard]] std::string_view more_urgent(std::uint16_t a, std::uint16_t b) const {
        return text_of(model().more_urgent(task(a), task(b)));
    }

    [[nodiscard]] std::string_view queued(std::uint16_t context) const {
        return text_of(model().is_queued(task(context)));
    }

    [[nodiscard]] std::string_view front(std::uint16_t context) const {
        return text_of(model().is_front_of_server(task(context)));
    }

    [[nodiscard]] std::string_view budget(std::uint16_t context) const {
        return text_of(model().has_budget(task(context)));
    }

    [[nodiscard]] std::string_view stopped(std::uint16_t context) const {
        return text_of(model().stopped(task(context)));
    }

    [[nodiscard]] std::string_view owns(std::uint16_t context) const { return text_of(model().owns_any(context)); }

    [[nodiscard]] std::string end(std::uint16_t context) const {
        const auto found = model().chain_end(task(context));
        return found ? std::to_string(*found) : "?";
    }

    // Of a server with the tasks 15 and 16.
    Places& server(std::uint16_t kind) {
        at(1, "server_create", 0, 3).at(2, "server_period", 3, 1000).at(3, "server_kind", kind, 3);
        at(4, "server_attach", 3, 15).at(5, "server_attach", 3, 16);
        m_cbs = kind == 1;
        return *this;
    }

  private:
    std::uint64_t m_now = 100;
    bool m_cbs = false; // the server postpones its deadline
};

TEST(OraclePlaces, FollowsTheNumbersOfTheLevels) {
    Places places;
    places.job(12, 100, 500).job(13, 100, 500).job(14, 100, 500).at(300, "job_release", 1, 300);
    EXPECT_EQ(places.model().rank(places.task(13)), kRm);
    EXPECT_EQ(places.model().rank(places.task(12)), kEdf);
    EXPECT_EQ(places.model().rank(places.task(14)), kRr);
    EXPECT_EQ(places.model().rank(places.task(1)), 0x10000U) << "idle";
    EXPECT_EQ(places.before(13, 12), "yes");
    EXPECT_EQ(places.before(12, 13), "no");
    EXPECT_EQ(places.before(12, 14), "yes");
    EXPECT_EQ(places.before(1, 14), "no");
    EXPECT_EQ(places.more_urgent(13, 12), "yes");
    EXPECT_EQ(places.more_urgent(14, 12), "no");
}

TEST(OraclePlaces, PutsAGuestIntoTheQueueOfItsHost) {
    const auto rank = [](std::uint16_t kind) {
        Places places;
        places.server(kind);
        return places.model().rank(places.task(15));
    };
    EXPECT_EQ(rank(1), kEdf);
    EXPECT_EQ(rank(2), kEdf);
    EXPECT_EQ(rank(3), kRm);
    EXPECT_EQ(rank(4), kRm);
    EXPECT_EQ(rank(99), std::nullopt);
}

TEST(OraclePlaces, KnowsNoOrderOfALevelWithoutAPolicy) {
    Places places;
    places.job(12, 100, 500).at(200, "id", 16);
    EXPECT_EQ(places.before(12, 16), "?");
    EXPECT_EQ(places.before(16, 12), "?");
    EXPECT_EQ(places.more_urgent(12, 16), "?");
    EXPECT_EQ(places.more_urgent(16, 12), "?");
}

// 15 and 16 are of a CBS, in the queue of 12.
TEST(OraclePlaces, ComparesDeadlines) {
    Places places;
    places.server(1).job(12, 100, 500).job(15, 100, 501).job(16, 100, 501);
    EXPECT_EQ(places.before(12, 15), "yes");
    EXPECT_EQ(places.before(15, 12), "no");
    EXPECT_EQ(places.before(15, 16), "yes") << "the first of equal ones";
    EXPECT_EQ(places.before(16, 15), "no");
    EXPECT_EQ(places.more_urgent(12, 15), "yes");
    EXPECT_EQ(places.more_urgent(15, 16), "no");
    EXPECT_EQ(places.more_urgent(16, 15), "no");
    places.at(300, "job_release", 15, 300);
    EXPECT_EQ(places.before(15, 12), "?") << "without a deadline";
    EXPECT_EQ(places.before(12, 15), "?");
}

TEST(OraclePlaces, ComparesDeadlinesThatAreKnownToAMicrosecond) {
    Places places;
    places.server(1).at(100, "job_release", 12, 100).at(101, "set_priority", 12, 500); // up to 1001 later
    places.job(15, 100, 501'002).job(16, 100, 498'000);
    EXPECT_EQ(places.before(12, 15), "yes");
    EXPECT_EQ(places.before(15, 12), "no");
    EXPECT_EQ(places.before(16, 12), "yes");
    places.at(300, "job_deadline", 15, 501'001);
    EXPECT_EQ(places.before(12, 15), "?");
    EXPECT_EQ(places.before(15, 12), "?");
    places.at(301, "job_deadline", 15, 499'999);
    EXPECT_EQ(places.before(15, 12), "yes");
    places.at(302, "job_deadline", 15, 500'000);
    EXPECT_EQ(places.before(15, 12), "?");
}

TEST(OraclePlaces, ComparesRelativeDeadlinesOfFixedPriorities) {
    Places places;
    places.server(3).job(13, 100, 400'100).job(15, 100, 500);
    EXPECT_EQ(places.model().preemption_level(places.task(13)), 400'000U);
    EXPECT_EQ(places.model().preemption_level(places.task(15)), 1000U) << "the server's period";
    EXPECT_EQ(places.before(15, 13), "yes");
    EXPECT_EQ(places.before(13, 15), "no");
    EXPECT_EQ(places.more_urgent(15, 13), "yes");
    EXPECT_EQ(places.more_urgent(13, 15), "no");
}

TEST(OraclePlaces, DoesNotKnowWhenAServerCameIntoTheQueue) {
    Places places;
    places.at(1, "server_create", 0, 3).at(2, "server_period", 3, 400'000).at(3, "server_kind", 4, 3);
    places.at(4, "server_attach", 3, 15).at(4, "server_attach", 3, 16).job(13, 100, 400'100).job(15, 100, 500);
    EXPECT_EQ(places.before(13, 15), "?");
    EXPECT_EQ(places.before(15, 13), "?");
    places.job(16, 100, 500);
    EXPECT_EQ(places.before(15, 16), "yes") << "of one server";
}

TEST(OraclePlaces, TakesAPreemptionLevelFromADeadlineThatWasChanged) {
    const auto level = [](std::uint32_t deadline) {
        Places places;
        places.job(13, 100, deadline);
        return places.model().preemption_level(places.task(13));
    };
    EXPECT_EQ(level(400'100), 400'000U);
    EXPECT_EQ(level(400'102), 400'000U);
    EXPECT_EQ(level(400'103), 400'004U);
    EXPECT_EQ(level(400'098), 400'000U);
    EXPECT_EQ(level(400'097), 399'998U);
    Places other;
    other.at(100, "job_release", 13, 100).at(101, "set_priority", 13, 700).job(14, 100, 500);
    EXPECT_EQ(other.model().preemption_level(other.task(13)), std::nullopt) << "it may have been changed";
    other.at(102, "task_create", 13).at(103, "job_release", 13, 100).at(104, "set_priority", 13, 700);
    EXPECT_EQ(other.model().preemption_level(other.task(13)), 400'000U) << "not exact";
    EXPECT_EQ(other.model().preemption_level(other.task(14)), kLowestLevel);
}

TEST(OraclePlaces, TakesTheTurnOfTheRoundRobin) {
    Places places;
    places.at(100, "job_release", 14, 100).at(1, "server_create", 0, 3).at(2, "server_attach", 3, 17);
    EXPECT_EQ(places.more_urgent(14, 14), "no");
    EXPECT_EQ(places.before(14, 14), "no");
}

TEST(OraclePlaces, QueuesTheFrontTaskOfAServerWithBudget) {
    Places places;
    places.server(4);
    EXPECT_EQ(places.queued(15), "?") << "it may be ready";
    EXPECT_EQ(places.budget(15), "?");
    places.job(15, 100, 500).job(16, 100, 500);
    EXPECT_EQ(places.front(15), "yes");
    EXPECT_EQ(places.front(16), "no");
    EXPECT_EQ(places.queued(15), "?");
    EXPECT_EQ(places.queued(16), "no");
    places.at(200, "server_budget", 3, 10);
    EXPECT_EQ(places.queued(15), "yes");
    EXPECT_EQ(places.budget(15), "yes");
    places.at(201, "server_budget", 3, 0);
    EXPECT_EQ(places.queued(15), "no");
    EXPECT_EQ(places.budget(15), "no");
    places.at(202, "server_budget", 3, 1).at(203, "task_block", 15, kSemaphore);
    EXPECT_EQ(places.queued(15), "no");
    EXPECT_EQ(places.front(16), "yes");
    EXPECT_EQ(places.queued(16), "yes");
}

TEST(OraclePlaces, DoesNotKnowTheFrontBesideATaskOfWhichNothingIsKnown) {
    Places places;
    places.server(4).job(16, 100, 500).at(200, "server_budget", 3, 10);
    EXPECT_EQ(places.front(16), "?") << "15 may be ready";
    EXPECT_EQ(places.queued(16), "?");
    // Woken while it was suspended: its turn is not recorded.
    places.job(15, 100, 500).at(300, "task_block", 15, kSemaphore).at(301, "task_unblock", 15, 6U << 16);
    EXPECT_EQ(places.front(15), "?");
    EXPECT_EQ(places.front(16), "?");
    places.at(302, "server_budget", 3, 0);
    EXPECT_EQ(places.queued(16), "no");
}

TEST(OraclePlaces, LooksForBudgetOnlyWhereTheServerHasAPlace) {
    Places places;
    places.server(1).job(15, 100, 500).job(16, 100, 500).at(200, "server_budget", 3, 0);
    EXPECT_EQ(places.budget(15), "yes");
    EXPECT_EQ(places.queued(15), "yes");
    EXPECT_EQ(places.queued(16), "yes");
}

// 13 waits for the mutex 7 of 12, which waits for 8 of 14.
Places chain() {
    Places places;
    places.job(12, 100, 900).job(13, 100, 900).job(14, 100, 900);
    places.at(200, "set_mutex_create", 0, 7).at(201, "set_mutex_create", 0, 8);
    places.at(202, "set_mutex_acquire", 12, 7).at(203, "set_mutex_acquire", 14, 8).at(204, "set_mutex_block", 12, 8);
    places.at(205, "set_mutex_block", 13, 7);
    return places;
}

TEST(OraclePlaces, FollowsAChainToItsEnd) {
    Places places = chain();
    EXPECT_EQ(places.end(13), "14");
    EXPECT_EQ(places.end(12), "14");
    EXPECT_EQ(places.end(14), "14");
    EXPECT_TRUE(places.model().chain_passes(places.task(13), 12));
    EXPECT_TRUE(places.model().chain_passes(places.task(13), 14));
    EXPECT_FALSE(places.model().chain_passes(places.task(12), 13));
    EXPECT_FALSE(places.model().chain_passes(places.task(12), 12));
    EXPECT_EQ(places.owns(12), "yes");
    EXPECT_EQ(places.owns(13), "no");
    places.at(300, "set_mutex_unlock", 14, 8);
    EXPECT_EQ(places.end(13), "12") << "8 is free";
    places.at(301, "set_mutex_unlock", 12, 7).at(302, "set_mutex_acquire", 13, 7);
    EXPECT_EQ(places.end(13), "13");
}

TEST(OraclePlaces, EndsNoChainThatIsNotKnown) {
    Places cycle = chain();
    cycle.at(300, "set_mutex_block", 14, 7);
    EXPECT_EQ(cycle.end(13), "?");
    EXPECT_FALSE(cycle.model().chain_passes(cycle.task(12), 13));
    Places unknown = chain();
    unknown.at(300, "set_mutex_block", 14, 99);
    EXPECT_EQ(unknown.end(13), "?") << "a mutex that no record has shown";
    EXPECT_FALSE(unknown.model().chain_passes(unknown.task(14), 12));
    Places foreign = chain();
    foreign.at(300, "set_mutex_protocol", 1, 9).at(301, "set_mutex_block", 14, 9);
    EXPECT_EQ(foreign.end(14), "?") << "its owner is not known";
    EXPECT_EQ(foreign.owns(12), "yes");
    EXPECT_EQ(foreign.owns(13), "?");
    Places gone = chain();
    gone.at(250, "set_mutex_protocol", 1, 7).at(251, "set_mutex_protocol", 1, 8).at(252, "set_mutex_create", 0, 9);
    gone.at(253, "set_mutex_protocol", 0, 9).forget();
    gone.at(299, "task_block", 13);
    EXPECT_EQ(gone.end(13), "?") << "it may be blocked";
    gone.at(300, "set_mutex_acquire", 99, 7).at(301, "set_mutex_block", 13, 7);
    EXPECT_EQ(gone.end(13), "99");
    Places unrecorded = chain();
    unrecorded.forget();
    unrecorded.at(300, "set_mutex_acquire", 99, 7).at(301, "set_mutex_block", 13, 7);
    EXPECT_EQ(unrecorded.end(13), "?") << "a mutex may be one of the stack protocol";
}

// 14 holds the stack mutex 7.
Places stack(std::uint32_t ceiling_us) {
    Places places;
    places.job(12, 100, 300'100).job(13, 100, 400'100).job(14, 100, 900).at(200, "set_mutex_create", 0, 7);
    places.at(201, "set_mutex_protocol", 3, 7).at(202, "set_mutex_ceiling", 7, ceiling_us);
    places.at(203, "set_mutex_acquire", 14, 7).at(204, "job_release", 1, 204);
    return places;
}

TEST(OraclePlaces, StopsAJobThatIsNotAboveTheSystemCeiling) {
    const Places places = stack(400);
    EXPECT_EQ(places.stopped(13), "yes");
    EXPECT_EQ(places.end(13), "14");
    EXPECT_EQ(places.stopped(12), "no");
    EXPECT_EQ(places.end(12), "12");
    EXPECT_EQ(places.stopped(14), "no") << "it holds it itself";
    EXPECT_EQ(places.stopped(1), "no") << "idle";
    EXPECT_EQ(stack(300).stopped(12), "yes");
    EXPECT_EQ(stack(301).stopped(12), "no");
    bool unknown = false;
    EXPECT_EQ(places.model().highest_ceiling(Protocol::stack, 13, unknown)->owner, 14);
    EXPECT_EQ(places.model().highest_ceiling(Protocol::stack, 14, unknown), nullptr);
    EXPECT_EQ(places.model().highest_ceiling(Protocol::ceiling, 13, unknown), nullptr);
    EXPECT_FALSE(unknown);
}

TEST(OraclePlaces, TakesTheHighestOfSeveralCeilings) {
    Places places = stack(500);
    places.at(300, "set_mutex_create", 0, 8).at(301, "set_mutex_protocol", 3, 8).at(302, "set_mutex_ceiling", 8, 300);
    EXPECT_EQ(places.stopped(13), "no");
    places.at(303, "set_mutex_acquire", 12, 8);
    EXPECT_EQ(places.stopped(13), "yes");
    EXPECT_EQ(places.end(13), "12");
    bool unknown = false;
    EXPECT_EQ(places.model().highest_ceiling(Protocol::stack, 13, unknown)->ceiling_us, 300U);
    EXPECT_EQ(places.model().highest_ceiling(Protocol::stack, 12, unknown)->ceiling_us, 500U);
}

TEST(OraclePlaces, StopsNoJobThatHasBegunOrKeptAMutex) {
    Places begun = stack(300);
    begun.at(300, "task_begin_cycle", 13);
    EXPECT_EQ(begun.stopped(13), "no");
    Places owner = stack(300);
    owner.at(300, "set_mutex_create", 0, 8).at(301, "set_mutex_acquire", 13, 8);
    EXPECT_EQ(owner.stopped(13), "no");
}

TEST(OraclePlaces, DoesNotKnowWhomAnUnknownCeilingStops) {
    const Places undeclared = stack(kNoCeiling);
    EXPECT_EQ(undeclared.stopped(13), "?");
    EXPECT_EQ(undeclared.end(13), "?");
    Places unnamed = stack(300);
    unnamed.at(300, "id", 16);
    EXPECT_EQ(unnamed.stopped(16), "?");
    Places other = stack(300);
    other.at(300, "set_mutex_protocol", 3, 9);
    EXPECT_EQ(other.stopped(13), "?") << "the owner of 9 is not known";
    other.at(301, "set_mutex_acquire", 12, 9);
    EXPECT_EQ(other.stopped(13), "?") << "nor its ceiling";
    Places may_own = stack(300);
    may_own.at(300, "set_mutex_protocol", 1, 9);
    EXPECT_EQ(may_own.stopped(13), "?") << "it may own 9";
    Places may_have_begun;
    may_have_begun.at(100, "task_create", 13).at(200, "set_mutex_create", 0, 7).at(201, "set_mutex_protocol", 3, 7);
    may_have_begun.at(202, "set_mutex_ceiling", 7, 300).at(203, "set_mutex_acquire", 14, 7);
    EXPECT_EQ(may_have_begun.stopped(13), "?");
}

TEST(OraclePlaces, SaysWhereATaskHasItsPlace) {
    Places places;
    places.server(3).job(12, 100, 500).job(13, 100, 400'100).job(14, 100, 500).job(15, 100, 500);
    EXPECT_EQ(places.model().place_text(places.task(12)), "motor (12) with the deadline 500 ticks");
    EXPECT_EQ(places.model().place_text(places.task(13)), "context 13 with the relative deadline 400000 ns");
    EXPECT_EQ(places.model().place_text(places.task(14)), "context 14");
    EXPECT_EQ(places.model().place_text(places.task(15)), "context 15 with the period 1000 ns");
    places.at(300, "job_release", 12, 300);
    EXPECT_EQ(places.model().place_text(places.task(12)), "motor (12)");
}

// An older kernel recorded neither insertions nor the ends of slices.
TEST(OraclePlaces, KnowsNoTurnsOfAnOlderKernel) {
    Places places;
    places.at(1, "task_create", 12).at(1, "task_create", 14);
    places.at(100, "set_priority", 12, 300).at(101, "set_priority", 14, 300);
    EXPECT_EQ(places.before(14, 14), "?");
    EXPECT_EQ(places.before(12, 14), "yes");
}

} // namespace

} // namespace host::analyse::oracle::model_places_test
