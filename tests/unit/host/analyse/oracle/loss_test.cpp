// SPDX-License-Identifier: MIT
// Tests that nothing is concluded from what was forgotten: recorded traces of a right kernel lose each single record
// and windows of records, in every way in which a trace can lose them, and nothing is ever a violation. The environment
// variable TRACES names further traces, and EVERY_PLACE=1 takes each place instead of some (`make soak-loss`).
#include "tests/support/recorded_events.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace host::analyse::oracle::loss_test {

namespace {

using support::RecordedEvents;
using trace::Event;

class OracleLoss : public testing::Test {};

struct Window {
    std::size_t from = 0;
    std::size_t to = 0;
};

// Returns the violations in these events.
std::vector<std::string> violations(const std::vector<Event>& events, const trace::TraceFacts& facts) {
    std::vector<std::string> found;
    Oracle oracle(
        [&](const Finding& finding) {
            found.push_back(
                fmt::format("{} at {}: {}", row_of(finding.rule).name, finding.event->ticks.value, finding.text));
        },
        std::nullopt);
    for (const Event& event : events) {
        oracle.add(event, facts);
    }
    oracle.finish(facts);
    return found;
}

constexpr auto kFamilies = std::to_array<std::pair<tracer::Family, std::string_view>>({
    {tracer::Family::task, "filter_task"},
    {tracer::Family::interrupt, "filter_interrupt"},
    {tracer::Family::attribute, "filter_priority"},
    {tracer::Family::mutex, "filter_mutex"},
    {tracer::Family::signal, "filter_signal"},
    {tracer::Family::server, "filter_server"},
    {tracer::Family::timer, "filter_timer"},
    {tracer::Family::job, "filter_job"},
});

class Campaign {
  public:
    explicit Campaign(std::string path)
        : m_path(std::move(path))
        , m_recorded(support::events_of(m_path)) {
        const char* const records = std::getenv("RECORDS");
        const std::size_t most = records != nullptr ? std::stoul(records) : kRecordsMax;
        if (m_recorded.events.size() > most) {
            m_recorded.events.resize(most);
        }
        m_step = std::getenv("EVERY_PLACE") != nullptr ? 1 : std::max<std::size_t>(m_recorded.events.size() / 14, 1);
    }

    void run() {
        expect_none("nothing", {}, m_recorded.events, m_recorded.facts);
        for (std::size_t from = 0; from < m_recorded.events.size(); from += m_step) {
            for (const std::size_t length : {1U, 2U, 7U, 40U, 300U}) {
                lose({from, std::min(from + length, m_recorded.events.size())});
            }
            cut(from);
        }
    }

  private:
    static constexpr std::size_t kRecordsMax = 4'000;
    static constexpr std::size_t kFilteredMin = 40; // a filter of few records hides none of most families
    static constexpr int kShownMax = 10;

    void expect_none(std::string_view what, const Window& window, const std::vector<Event>& events,
                     const trace::TraceFacts& facts) {
        const auto found = violations(events, facts);
        if (!found.empty() && m_shown++ < kShownMax) {
            const Event& first = m_recorded.events[window.from];
            ADD_FAILURE() << m_path << ": without " << what << ", " << window.to - window.from << " from the "
                          << window.from << "th on, " << trace::event_name(first) << " at " << first.ticks.value
                          << ", there are " << found.size() << " violations, first:\n"
                          << found.front();
        }
    }

    // Returns the events with those of the window replaced.
    [[nodiscard]] std::vector<Event> without(const Window& window, const std::vector<Event>& instead) const {
        const auto at = [this](std::size_t place) {
            return m_recorded.events.begin() + static_cast<std::ptrdiff_t>(place);
        };
        std::vector<Event> events(at(0), at(window.from));
        events.insert(events.end(), instead.begin(), instead.end());
        events.insert(events.end(), at(window.to), m_recorded.events.end());
        return events;
    }

    void lose(const Window& window) {
        const Event& first = m_recorded.events[window.from];
        expect_none("records of a blackout", window,
                    without(window, {support::like(first, "blackout_start"), support::like(first, "blackout_end")}),
                    m_recorded.facts);
        for (const auto& [family, filter] : kFamilies) {
            if (window.to - window.from < kFilteredMin) {
                break;
            }
            std::vector<Event> rest{support::like(first, filter)};
            for (std::size_t i = window.from; i < window.to; ++i) {
                if (m_recorded.events[i].row == nullptr || m_recorded.events[i].row->family() != family) {
                    rest.push_back(m_recorded.events[i]);
                }
            }
            rest.push_back(support::like(rest.back(), filter));
            expect_none(filter, window, without(window, rest), m_recorded.facts);
        }
    }

    // The beginning is not there: it was overwritten, or the chunk with it is lost.
    void cut(std::size_t from) {
        trace::TraceFacts facts = m_recorded.facts;
        expect_none("lost chunks", {0, from}, without({0, from}, {}), facts);
        for (trace::ChunkReport& chunk : facts.chunks) {
            chunk.description.overwritten = from;
        }
        expect_none("overwritten records", {0, from}, without({0, from}, {}), facts);
    }

    std::string m_path;
    RecordedEvents m_recorded;
    std::size_t m_step = 1;
    int m_shown = 0;
};

TEST_F(OracleLoss, IsNeverAViolation) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator("tests/unit/host/analyse/oracle/recorded")) {
        paths.push_back(entry.path());
    }
    if (const char* const given = std::getenv("TRACES"); given != nullptr) {
        for (std::string_view rest = given; !rest.empty();) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            paths.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    for (const std::string& path : paths) {
        Campaign(path).run();
    }
}

} // namespace

} // namespace host::analyse::oracle::loss_test
