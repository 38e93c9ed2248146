// SPDX-License-Identifier: MIT
// Tests that forgeries are found: a recorded trace of a right kernel is forged in one place, and a rule that this
// breaks is named at that record or at the next decision. The kinds that a later record contradicts are named there;
// they are listed in docs/schedule-oracle.md, as those are that no record contradicts.
#include "tests/support/recorded_events.hpp"

#include <algorithm>
#include <deque>
#include <functional>

namespace host::analyse::oracle::forgery_test {

namespace {

using support::RecordedEvents;
using trace::Event;

using Events = std::vector<Event>;

using Where = std::function<bool(const Events&, std::size_t)>;

struct Forgery {
    std::string_view name;
    std::string_view about; // the record that is forged
    std::function<void(Events&, std::size_t)> make;
    std::string_view rules; // one of these must be named; none: any, also after the next decision
    Where where{};          // the places; none: all
    std::size_t first = 0;  // so many of these records must come before
};

bool is(const Event& event, std::string_view name) {
    return event.code == tracer::find_event(name)->code;
}

Where after(std::string_view one, std::string_view other = {}) {
    return [one, other](const Events& events, std::size_t at) {
        return is(events[at - 1], one) || (!other.empty() && is(events[at - 1], other));
    };
}

Where before(std::string_view next) {
    return [next](const Events& events, std::size_t at) { return is(events[at + 1], next); };
}

// Returns whether a task acquires a mutex when it asks for it, and is not preempted then.
bool is_at_once(const Events& events, std::size_t at) {
    return is(events[at - 1], "set_mutex_lock") && !is(events[at + 1], "interrupt_start");
}

// Returns whether this is a job_release by the timer of its task, and not the first since an activation.
bool is_periodic(const Events& events, std::size_t at) {
    const auto is_of_task = [&](const Event& event, std::string_view name) {
        return is(event, name) && event.par1 == events[at].par1;
    };
    bool by_timer = false;
    for (std::size_t i = at; i-- != 0;) {
        if (is_of_task(events[i], "job_release")) {
            return by_timer;
        }
        if (is_of_task(events[i], "task_activate")) {
            return false;
        }
        by_timer = by_timer || (is_of_task(events[i], "task_timer") && at - i < 8);
    }
    return false;
}

void erase(Events& events, std::size_t at) {
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(at));
}

// The record comes again, a tick later.
void repeat(Events& events, std::size_t at) {
    Event again = events[at];
    ++again.ticks.value;
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(at) + 1, again);
}

std::function<void(Events&, std::size_t)> add_to_par1(int more) {
    return [more](Events& events, std::size_t at) {
        events[at].par1 = static_cast<std::uint16_t>(events[at].par1 + more);
    };
}

std::function<void(Events&, std::size_t)> add_to_par2(int more) {
    return [more](Events& events, std::size_t at) { events[at].par2 += static_cast<std::uint32_t>(more); };
}

// The records from here on have stamps that are greater by this.
std::function<void(Events&, std::size_t)> delay(std::uint64_t ticks) {
    return [ticks](Events& events, std::size_t at) {
        for (std::size_t i = at; i < events.size(); ++i) {
            events[i].ticks.value += ticks;
        }
    };
}

void swap_with_next(Events& events, std::size_t at) {
    if (at + 1 < events.size()) {
        std::swap(events[at].ticks, events[at + 1].ticks);
        std::swap(events[at], events[at + 1]);
    }
}

constexpr int kMillisecond = 1'000'000;
constexpr std::size_t kHabit = 9; // a relation of records must have held that often

void add_left_out(std::vector<Forgery>& all) {
    for (const std::string_view record :
         {"task_dispatch", "task_epilogue", "context_switch", "job_deadline", "set_priority", "interrupt_start",
          "interrupt_end", "timer_wakeup_start", "timer_wakeup_end", "server_deadline", "server_active"}) {
        all.push_back({"left out", record, erase, "record-order"});
    }
    const std::string_view orders = "level-order edf-order rm-order rr-order fifo-order pi-inheritance semaphore-count "
                                    "record-order";
    all.push_back({"left out", "task_block", erase, orders});
    all.push_back({"left out", "set_mutex_block", erase, orders});
    all.push_back({"left out", "task_timer", erase, "record-order release-cause"});
    all.push_back({"left out", "job_queued", erase, "record-order", {}, kHabit});
    all.push_back({"left out", "job_release", erase, "release-cause block-state", is_periodic, kHabit});
    all.push_back({"left out", "set_mutex_acquire", erase, "record-order", is_at_once, kHabit});
    all.push_back({"left out", "set_mutex_inherit", erase, "record-order", after("set_mutex_block"), kHabit / 2});
    all.push_back({"left out", "server_budget", erase, "record-order", after("server_active", "server_replenish")});
    all.push_back({"left out", "server_exhaust", erase, "record-order", before("server_replenish")});
    all.push_back({"left out", "task_exception", erase, "record-order", {}, kHabit / 2});
    for (const std::string_view record :
         {"task_end_cycle", "task_unblock", "slice_end", "set_mutex_unlock", "set_mutex_wait", "task_wcet_violation",
          "task_deadline_miss", "task_activate"}) {
        all.push_back({"left out", record, erase, ""});
    }
}

void add_twice(std::vector<Forgery>& all) {
    for (const std::string_view record : {"task_dispatch", "task_epilogue", "context_switch", "job_deadline",
                                          "set_priority", "interrupt_start", "interrupt_end", "timer_wakeup_start"}) {
        all.push_back({"twice", record, repeat, "record-order"});
    }
    all.push_back({"twice", "set_mutex_acquire", repeat, "mutex-owner"});
    all.push_back({"twice", "set_mutex_unlock", repeat, "mutex-owner"});
    all.push_back({"twice", "job_release", repeat, "release-cause release-period"});
    all.push_back({"twice", "task_wcet_violation", repeat, "wcet-violation record-order"});
}

void add_of_another(std::vector<Forgery>& all) {
    for (const std::string_view record :
         {"task_dispatch", "task_epilogue", "context_switch", "set_priority", "interrupt_end"}) {
        all.push_back({"of another", record, add_to_par1(1), "record-order"});
    }
    all.push_back({"of another", "task_exception", add_to_par1(1), "record-order", {}, kHabit / 2});
    const std::string_view places = "block-state level-order edf-order rm-order rr-order fifo-order pi-return "
                                    "pi-inheritance shadow-chain server-budget record-order";
    all.push_back({"of another", "task_schedule", add_to_par1(1), places});
    all.push_back({"another place", "task_schedule", add_to_par2(1), places});
    const std::string_view owners = "mutex-owner record-order";
    all.push_back({"of another", "set_mutex_acquire", add_to_par1(1), owners, is_at_once, kHabit});
    all.push_back({"of another", "set_mutex_inherit", add_to_par1(1), owners});
    all.push_back({"another mutex", "set_mutex_inherit", add_to_par2(1), owners});
    all.push_back({"another mutex", "set_mutex_unlock", add_to_par2(1), ""});
}

void add_values(std::vector<Forgery>& all) {
    const std::string_view deadlines = "edf-deadline rm-deadline";
    const std::string_view servers = "cbs-arrival cbs-budget cbs-exhaust grub-budget server-budget server-replenish";
    all.push_back({"a millisecond more", "job_deadline", add_to_par2(kMillisecond), deadlines});
    all.push_back({"a millisecond less", "job_deadline", add_to_par2(-kMillisecond), deadlines});
    all.push_back({"a millisecond more", "job_release", add_to_par2(kMillisecond), "release-period"});
    all.push_back({"a millisecond less", "job_release", add_to_par2(-kMillisecond), "release-period", is_periodic});
    all.push_back({"a millisecond more", "set_priority", add_to_par2(1'000), "record-order"}); // it has microseconds
    all.push_back({"a millisecond more", "server_budget", add_to_par2(kMillisecond), servers});
    all.push_back({"a millisecond more", "server_deadline", add_to_par2(kMillisecond), servers});
}

// In another order, or at another time.
void add_moved(std::vector<Forgery>& all) {
    all.push_back({"after the next", "job_deadline", swap_with_next, "record-order"});
    all.push_back({"after the next", "task_dispatch", swap_with_next, "record-order", before("context_switch")});
    all.push_back({"after the next", "interrupt_end", swap_with_next, "record-order", before("task_schedule")});
    all.push_back({"after the next", "set_mutex_block", swap_with_next, ""});
    all.push_back({"a clock that stops", "task_schedule",
                   [](Events& events, std::size_t at) { events[at].ticks = events[at - 1].ticks; }, "clock-advance"});
    all.push_back({"a clock that falls", "task_schedule",
                   [](Events& events, std::size_t at) { events[at].ticks.value -= 1000; }, "clock-advance"});
    all.push_back({"a slow machine", "slice_end", delay(kMillisecond), "rr-slice"});
}

std::vector<Forgery> forgeries() {
    std::vector<Forgery> all;
    for (const auto add : {add_left_out, add_twice, add_of_another, add_values, add_moved}) {
        add(all);
    }
    return all;
}

constexpr const auto& kOfDecision =
    trace::kAnyOf<"task_begin_cycle", "task_dispatch", "inheritance", "context_switch", "timer_post", "timer_delete">;

// Returns the position of the last record of the first decision after this one.
std::size_t end_of_decision(const Events& events, std::size_t at) {
    ++at;
    while (at + 1 < events.size() && !is(events[at], "task_schedule")) {
        ++at;
    }
    while (at + 1 < events.size() && kOfDecision[events[at + 1].code]) {
        ++at;
    }
    return at;
}

class OracleForgery : public testing::Test {
  protected:
    struct Found {
        std::string_view rule;
        std::size_t at = 0; // the position of the event at which it was found
    };

    static std::vector<Found> found_in(const Events& events, const trace::TraceFacts& facts) {
        std::vector<Found> found;
        std::size_t at = 0;
        Oracle oracle([&](const Finding& finding) { found.push_back({row_of(finding.rule).name, at}); }, std::nullopt);
        for (; at < events.size(); ++at) {
            oracle.add(events[at], facts);
        }
        oracle.finish(facts);
        return found;
    }

    // Returns some places of a forgery. A relation of records holds only after some of them.
    static std::vector<std::size_t> places_of(const Forgery& forgery, const Events& events) {
        constexpr std::size_t kPlacesMax = 3;
        const std::size_t begin = forgery.rules.empty() ? events.size() / 4 : events.size() / 2;
        std::vector<std::size_t> all;
        std::size_t before = 0;
        for (std::size_t i = 1; i < events.size() - 60; ++i) {
            const bool is_one = is(events[i], forgery.about) && before++ >= forgery.first;
            if (is_one && i >= begin && (!forgery.where || forgery.where(events, i))) {
                all.push_back(i);
            }
        }
        std::vector<std::size_t> some;
        for (std::size_t i = 0; i < std::min(all.size(), kPlacesMax); ++i) {
            some.push_back(all[i * all.size() / std::min(all.size(), kPlacesMax)]);
        }
        return some;
    }

    // Returns whether the forgery is named where it must be.
    static bool is_named(const Forgery& forgery, const RecordedEvents& trace, std::size_t at) {
        Events forged = trace.events;
        forgery.make(forged, at);
        const auto found = found_in(forged, trace.facts);
        if (forgery.rules.empty() || found.empty()) {
            return !found.empty() && found.front().at >= at;
        }
        const Found& first = found.front();
        return first.at >= at && first.at <= end_of_decision(forged, at) &&
               forgery.rules.find(first.rule) != std::string_view::npos;
    }
};

TEST_F(OracleForgery, IsNamedAtTheRecordOrTheNextDecision) {
    std::deque<RecordedEvents> traces; // it does not move them
    for (const std::string_view name : {"sets_1", "sets_2", "sets_3", "sets_4"}) {
        traces.push_back(support::events_of(fmt::format("tests/unit/host/analyse/oracle/recorded/{}.rpk", name)));
        EXPECT_TRUE(found_in(traces.back().events, traces.back().facts).empty()) << name;
    }
    for (const Forgery& forgery : forgeries()) {
        std::size_t made = 0;
        std::size_t named = 0;
        std::string missed;
        for (std::size_t trace = 0; trace < traces.size(); ++trace) {
            for (const std::size_t at : places_of(forgery, traces[trace].events)) {
                const bool is_right = is_named(forgery, traces[trace], at);
                ++made;
                named += is_right ? 1 : 0;
                missed += is_right ? "" : fmt::format(" {} of trace {},", at, trace + 1);
            }
        }
        EXPECT_NE(named, 0U) << forgery.about << " " << forgery.name << ", made " << made << " times";
        EXPECT_TRUE(forgery.rules.empty() || named == made)
            << forgery.about << " " << forgery.name << " is not named at" << missed << " of " << made;
    }
}

} // namespace

} // namespace host::analyse::oracle::forgery_test
