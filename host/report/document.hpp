// SPDX-License-Identifier: MIT
// Writes a report as one HTML file: the page's template, style and scripts, d3, and the trace as one packed block. The
// page's Content-Security-Policy names scripts by their hashes and allows nothing else: no network, no other script.
// Text of the trace is only in the packed block, so it is never parsed as HTML.
//
// The block is base64 of raw deflate of:   u32 bytes of the directory | the directory, JSON | the columns, one after
// another. The directory has the names, the facts of the trace, and for each table its rows and the bytes of its
// columns. A page that compares has the blocks of both traces, and one more: packed JSON of the differences.
#pragma once

#include "host/analyse/latencies.hpp"
#include "host/analyse/summary.hpp"
#include "host/report/schedule_tables.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/value_text.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace host::report {

// The tables of what is drawn beside the schedule: single events as marks, the numbers of typed events as curves,
// budgets of servers.
//
//   table     about    times, and numbers
//   marks     -        at; kind; task + 1; par1; par2; text + 1, 0: none
//   plot      field    at; value: zigzag, since the one before (of a fraction: the bits of the double, high and low)
//   budget    server   at; ticks left

// Holds the values of one number of a typed event over time.
struct Plot {
    std::string event; // texts are escaped
    std::string field;
    std::string unit;
    unsigned fraction_bits = 0;
    bool is_floating = false;
    bool is_boolean = false;
    Table table;
    std::int64_t value = 0;
};

class EventTables {
  public:
    // The axis must outlive this object.
    explicit EventTables(const Axis& axis)
        : m_axis(axis) {}

    EventTables(const EventTables&) = delete;
    EventTables& operator=(const EventTables&) = delete;

    // Takes events in time order, each after the axis has taken it. task: the row of the task concerned + 1, 0: none.
    void add(const trace::Event& event, std::size_t task);

    // Returns whether the event becomes a mark or a part of a curve, or states which server serves a task.
    [[nodiscard]] static bool concerns(const trace::Event& event);

    [[nodiscard]] const Table& marks() const { return m_marks; }

    [[nodiscard]] const std::vector<std::string>& kinds() const { return m_kinds.values(); }

    [[nodiscard]] const std::vector<std::string>& texts() const { return m_texts.values(); }

    [[nodiscard]] const std::vector<Plot>& plots() const { return m_plots; }

    [[nodiscard]] const std::map<std::uint32_t, Table>& budgets() const { return m_budgets; }

    // Returns, by server, the rows of the tasks that it has ever served.
    [[nodiscard]] const std::map<std::uint32_t, std::set<std::size_t>>& served() const { return m_served; }

  private:
    void add_mark(const trace::Event& event, std::size_t task, const std::string& kind, const std::string& text);
    void add_typed(const trace::Event& event, std::size_t task);
    void add_formatted(const trace::Event& event, std::size_t task);
    void add_value(const trace::Event& event, const trace::TypedEventView& view, std::size_t field);
    void add_budget(const trace::Event& event);

    const Axis& m_axis;
    Table m_marks{"marks", 0, {"at"}, {"kind", "task", "par1", "par2", "text"}};
    Dictionary<std::string> m_kinds;
    Dictionary<std::string> m_texts;
    std::vector<Plot> m_plots;
    std::map<std::tuple<std::uint16_t, std::size_t, bool>, std::size_t> m_plot_of; // by event, field, is_floating
    std::map<std::uint32_t, Table> m_budgets;                                      // by server
    std::map<std::uint32_t, std::set<std::size_t>> m_served;
};

// Is a violation that the schedule oracle found.
struct Violation {
    std::uint64_t at = 0; // ticks since the start of the trace
    std::size_t task = 0; // row of the task + 1, 0: none
    std::string rule;
    std::string text; // escaped
    std::string file; // escaped
    std::uint16_t chunk = 0;
    std::uint64_t record = 0;
};

// Says why a job was late, in the sentences of `remora why`.
struct LateJob {
    std::uint16_t context = 0;
    std::uint64_t end = 0;              // on the axis; its number is another one if older records are overwritten
    std::vector<std::string> sentences; // escaped
};

struct Judgement {
    std::uint64_t checked = 0;
    std::uint64_t undecided = 0;
    std::uint64_t violations = 0;
    std::vector<Violation> shown; // the first ones
    std::vector<std::string> relaxations;
};

// Holds the contents of the page's header.
struct Head {
    std::string trace;                // as the user named it; escaped, as all texts here
    std::vector<std::string> options; // options with which the trace was opened; commands to copy have them, too
    std::string ended;                // how the run ended by its own account; empty: it is not known
    std::uint64_t started_s = 0;      // since 1970 (UTC); 0: not known
    std::string verdict;              // one sentence about whether everything is here
    std::string verdict_style;        // good, warning, bad
    std::uint64_t events = 0;
    std::uint64_t lost = 0; // records
    Judgement judgement;
    std::vector<LateJob> late;        // the first ones
    std::vector<std::string> crashes; // how the run ended badly, the worst first: each a JSON object
    std::optional<analyse::TracingShare> tracing;
};

struct Trace {
    const Head& head;
    const Axis& axis;
    ScheduleTables& schedule;
    const EventTables& events;
    const analyse::Latencies& latencies; // of the whole trace
    const trace::TraceFacts& facts;
};

// Is the size of all tables at some moment, initially nothing. Tables are identified by their names and subjects.
struct Cut {
    std::map<std::pair<std::string, std::size_t>, Table::Mark> tables;
    std::size_t details = 0;
    std::size_t culprits = 0;
    std::size_t kinds = 0;
    std::size_t texts = 0;
    std::uint64_t events = 0;
};

[[nodiscard]] Cut cut_of(const Trace& trace);

// Holds what the page of a continuing run needs to know. A page asks for what is new after the last cut that it has.
struct Live {
    std::string_view state; // waiting: for a kernel that starts; running; ended; reset
    std::uint64_t cut = 0;  // cut at which the block ends
    bool first = true;      // the block has everything from the beginning of the run
    std::uint64_t run = 1;  // number of the run among those that were followed
};

// Returns the bytes of the block before they are packed: what is new after the cut. Names, facts and the overview are
// always complete; of details, culprits, kinds and texts only new ones are sent, and the others keep their numbers.
[[nodiscard]] std::vector<std::byte> contents(const Trace& trace, const Cut& since = {},
                                              const std::optional<Live>& live = std::nullopt);

// Returns the block for a machine that has no trace yet.
[[nodiscard]] std::vector<std::byte> contents_without_trace(const Live& live);

// Returns the file. contents: that of each trace; comparison: JSON of the differences between them, or between phases
// of one; empty if nothing is compared.
[[nodiscard]] std::string page(std::span<const std::vector<std::byte>> contents,
                               std::span<const std::byte> comparison = {});

// The page that asks its server for the contents, and its policy, which also allows these requests.
struct LivePage {
    std::string html;
    std::string policy;
};

[[nodiscard]] LivePage live_page();

} // namespace host::report
