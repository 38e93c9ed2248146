// SPDX-License-Identifier: MIT
// Tests that the schedule and the accounts claim nothing that they forgot: recorded traces lose each single record and
// windows of records, and what is still said of a job is what the whole trace says of it.
#include "host/schedule/pass.hpp"
#include "tests/support/recorded_events.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

namespace host::schedule::hole_test {

namespace {

using trace::Event;
using Key = std::pair<std::uint16_t, std::uint64_t>; // the context, and the stamp of the end

using Accounts = std::map<Key, JobAccount>;

Accounts accounts_of(const std::vector<Event>& events, std::uint32_t khz) {
    Accounts accounts;
    Pass pass([&](const JobAccount& account) {
        if (account.job.end) {
            accounts.insert({{account.job.context, account.job.end->ticks.value}, account});
        } else {
            EXPECT_FALSE(account.job.is_late() && !account.job.missed);
        }
    });
    for (const Event& event : events) {
        static_cast<void>(pass.take(event, khz));
    }
    pass.finish();
    return accounts;
}

std::string text_of(const JobAccount& account) {
    return fmt::format("release {}, ready {}, start {}, response {}: jitter {}, execution {}, interference {}, "
                       "blocking {}, suspension {}",
                       account.job.release->ticks.value, account.ready.ticks.value,
                       account.job.start ? account.job.start->ticks.value : 0, account.response().value,
                       account.part(Part::jitter).value, account.part(Part::execution).value,
                       account.part(Part::interference).value, account.part(Part::blocking).value,
                       account.part(Part::suspension).value);
}

class Holes : public testing::Test {
  protected:
    void lose(std::size_t from, std::size_t to) {
        std::vector<Event> rest(m_recorded.events.cbegin(), at(from));
        rest.insert(rest.end(), at(to), m_recorded.events.cend());
        if (from < rest.size()) {
            rest[from].after_hole = true;
        }
        judge(rest, from, to);
    }

    // The records of a family are filtered, from one place to another.
    void filter(std::uint8_t code, std::size_t from, std::size_t to) {
        std::vector<Event> rest(m_recorded.events.cbegin(), at(from));
        const auto set = [&](std::size_t place, std::uint16_t status) {
            Event event = m_recorded.events[place];
            event.code = code;
            event.row = tracer::find_event(code);
            event.par1 = status;
            rest.push_back(event);
        };
        set(from, 1);
        std::copy_if(at(from), at(to), std::back_inserter(rest),
                     [&](const Event& event) { return (event.code & 0x0F) != (code & 0x0F); });
        if (to != m_recorded.events.size()) {
            set(to, 0);
        }
        rest.insert(rest.end(), at(to), m_recorded.events.cend());
        judge(rest, from, to);
    }

    void judge(const std::vector<Event>& rest, std::size_t from, std::size_t to) {
        for (const auto& [key, account] : accounts_of(rest, m_recorded.facts.clock.khz)) {
            const auto whole = m_whole.find(key);
            ASSERT_NE(whole, m_whole.end());
            const JobAccount& truth = whole->second;
            m_late += account.job.is_late() ? 1U : 0U;
            EXPECT_LE(account.job.is_late(), truth.job.is_late()) << describe(key, from, to);
            if (account.job.deadline && truth.job.deadline) {
                EXPECT_EQ(account.job.deadline->ticks, truth.job.deadline->ticks) << describe(key, from, to);
            }
            EXPECT_LE(account.job.deadline.has_value(), truth.job.deadline.has_value()) << describe(key, from, to);
            if (account.job.release && truth.job.release) {
                EXPECT_EQ(account.job.release->ticks, truth.job.release->ticks) << describe(key, from, to);
            }
            if (account.is_known()) {
                ++m_known;
                EXPECT_EQ(text_of(account), text_of(truth)) << describe(key, from, to);
            }
        }
    }

    [[nodiscard]] std::string describe(const Key& key, std::size_t from, std::size_t to) const {
        return fmt::format("{}: the job of context {} that ends at {}, without {} records from {} at {} on", m_path,
                           key.first, key.second, to - from, trace::event_name(m_recorded.events[from]),
                           m_recorded.events[from].ticks.value);
    }

    [[nodiscard]] std::vector<Event>::const_iterator at(std::size_t place) const {
        return m_recorded.events.begin() + static_cast<std::ptrdiff_t>(place);
    }

    std::string m_path;
    support::RecordedEvents m_recorded;
    Accounts m_whole;
    std::size_t m_late = 0;
    std::size_t m_known = 0;
};

TEST_F(Holes, LeaveNoClaimThatTheWholeTraceDoesNotMake) {
    for (const auto& entry : std::filesystem::directory_iterator("tests/unit/host/analyse/oracle/recorded")) {
        m_path = entry.path();
        m_recorded = support::events_of(m_path);
        m_whole = accounts_of(m_recorded.events, m_recorded.facts.clock.khz);
        const std::size_t records = m_recorded.events.size();
        for (std::size_t from = 0; from < records && !HasFailure(); from += std::max<std::size_t>(records / 60, 1)) {
            for (const std::size_t length : {1U, 2U, 7U, 40U, 300U}) {
                lose(from, std::min(from + length, records));
            }
            judge({at(from), at(records)}, 0, from);
        }
    }
    EXPECT_GT(m_late, 0U);
    EXPECT_GT(m_known, 0U);
}

TEST_F(Holes, OfAFilterLeaveNoneEither) {
    for (const auto& entry : std::filesystem::directory_iterator("tests/unit/host/analyse/oracle/recorded")) {
        m_path = entry.path();
        m_recorded = support::events_of(m_path);
        m_whole = accounts_of(m_recorded.events, m_recorded.facts.clock.khz);
        const std::size_t records = m_recorded.events.size();
        for (const std::uint8_t code : std::to_array<std::uint8_t>({0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF8, 0xFB, 0xFD})) {
            for (std::size_t from = 0; from < records && !HasFailure(); from += std::max<std::size_t>(records / 9, 1)) {
                for (const std::size_t length : {1U, 7U, 40U, 300U}) {
                    filter(code, from, std::min(from + length, records));
                }
                filter(code, from, records);
            }
        }
    }
    EXPECT_GT(m_known, 0U);
}

} // namespace

} // namespace host::schedule::hole_test
