// SPDX-License-Identifier: MIT
// Tests that forgeries are found: a recorded trace of a right kernel is forged in one place, and the rule that this
// breaks is named at that record or at the next decisions. A kind of forgery that no record contradicts is listed in
// docs/schedule-oracle.md instead.
#include "tests/support/recorded_events.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>

namespace host::analyse::oracle::forgery_test {

namespace {

using support::RecordedEvents;
using trace::Event;

using Events = std::vector<Event>;

struct Forgery {
    std::string_view name;
    std::string_view about; // the record that is forged
    std::function<void(Events&, std::size_t)> make;
};

void erase(Events& events, std::size_t at) {
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(at));
}

void repeat(Events& events, std::size_t at) {
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(at), events[at]);
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

std::vector<Forgery> forgeries() {
    std::vector<Forgery> all;
    // Left out.
    for (const std::string_view record :
         {"task_dispatch",       "task_epilogue",      "context_switch",    "task_end_cycle",     "task_block",
          "task_unblock",        "job_release",        "job_deadline",      "set_priority",       "job_queued",
          "task_timer",          "slice_end",          "set_mutex_acquire", "set_mutex_unlock",   "set_mutex_block",
          "set_mutex_inherit",   "interrupt_start",    "interrupt_end",     "timer_wakeup_start", "timer_wakeup_end",
          "server_budget",       "server_deadline",    "server_exhaust",    "server_active",      "set_mutex_wait",
          "task_wcet_violation", "task_deadline_miss", "task_activate"}) {
        all.push_back({"left out", record, erase});
    }
    // Written twice.
    for (const std::string_view record :
         {"task_dispatch", "task_epilogue", "context_switch", "job_deadline", "set_priority", "set_mutex_acquire",
          "set_mutex_unlock", "interrupt_start", "interrupt_end", "timer_wakeup_start", "job_release",
          "task_wcet_violation"}) {
        all.push_back({"twice", record, repeat});
    }
    // Of another task or object.
    for (const std::string_view record : {"task_schedule", "task_dispatch", "task_epilogue", "context_switch",
                                          "set_priority", "set_mutex_acquire", "set_mutex_inherit", "interrupt_end"}) {
        all.push_back({"of another", record, add_to_par1(1)});
    }
    // Another value.
    all.push_back({"a millisecond more", "job_deadline", add_to_par2(kMillisecond)});
    all.push_back({"a millisecond less", "job_deadline", add_to_par2(-kMillisecond)});
    all.push_back({"a millisecond more", "job_release", add_to_par2(kMillisecond)});
    all.push_back({"another place", "task_schedule", add_to_par2(1)});
    all.push_back({"another mutex", "set_mutex_inherit", add_to_par2(1)});
    all.push_back({"another mutex", "set_mutex_unlock", add_to_par2(1)});
    all.push_back({"a millisecond more", "server_budget", add_to_par2(kMillisecond)});
    all.push_back({"a millisecond more", "server_deadline", add_to_par2(kMillisecond)});
    // In another order, or at another time.
    for (const std::string_view record : {"task_dispatch", "job_deadline", "set_mutex_block", "interrupt_end"}) {
        all.push_back({"after the next", record, swap_with_next});
    }
    all.push_back({"a clock that stops", "task_schedule",
                   [](Events& events, std::size_t at) { events[at].ticks = events[at - 1].ticks; }});
    all.push_back({"a clock that falls", "task_schedule",
                   [](Events& events, std::size_t at) { events[at].ticks.value -= 1000; }});
    all.push_back({"a slow machine", "slice_end", delay(kMillisecond)});
    return all;
}

class OracleForgery : public testing::Test {
  protected:
    static std::set<std::string> rules_of(const Events& events, const trace::TraceFacts& facts) {
        std::set<std::string> rules;
        Oracle oracle([&](const Finding& finding) { rules.emplace(row_of(finding.rule).name); }, std::nullopt);
        for (const Event& event : events) {
            oracle.add(event, facts);
        }
        oracle.finish(facts);
        return rules;
    }
};

// A forged record may be right by chance, so each forgery is made in several places.
TEST_F(OracleForgery, IsNamed) {
    constexpr std::size_t kPlacesMax = 5;
    std::deque<RecordedEvents> traces; // it does not move them
    for (const std::string_view name : {"sets_1", "sets_2", "sets_3", "sets_4"}) {
        traces.push_back(support::events_of(fmt::format("tests/unit/host/analyse/oracle/recorded/{}.rpk", name)));
        EXPECT_TRUE(rules_of(traces.back().events, traces.back().facts).empty()) << name;
    }
    std::size_t named = 0;
    for (const Forgery& forgery : forgeries()) {
        std::size_t made = 0;
        std::map<std::string, std::size_t> found;
        for (const RecordedEvents& trace : traces) {
            std::vector<std::size_t> places;
            for (std::size_t i = trace.events.size() / 4; i < trace.events.size() - 60; ++i) {
                if (trace.events[i].code == tracer::find_event(forgery.about)->code) {
                    places.push_back(i);
                }
            }
            for (std::size_t i = 0; i < std::min(places.size(), kPlacesMax); ++i) {
                Events forged = trace.events;
                forgery.make(forged, places[i * places.size() / std::min(places.size(), kPlacesMax)]);
                ++made;
                for (const std::string& rule : rules_of(forged, trace.facts)) {
                    ++found[rule];
                }
            }
        }
        EXPECT_FALSE(found.empty()) << forgery.about << " " << forgery.name << ": made " << made
                                    << " times, never named";
        named += found.empty() ? 0 : 1;
    }
    EXPECT_GE(named, 60U);
}

} // namespace

} // namespace host::analyse::oracle::forgery_test
