// SPDX-License-Identifier: MIT
// A report as one HTML file: the page's template, style and scripts, d3, and the trace as one packed block. Scripts are
// named by their hashes in the page's Content-Security-Policy, which allows nothing else: no network, no other script.
// Text of the trace is only in the packed block, so none of it is ever parsed as HTML.
//
// The block is base64 of raw deflate of:   u32 bytes of the directory | the directory, JSON | the columns, one after
// another. The directory has the names, the facts of the trace, and for each table its rows and the bytes of its
// columns. A page that compares has the blocks of both traces, and one more: packed JSON of the differences.
#pragma once

#include "host/analyse/latencies.hpp"
#include "host/analyse/summary.hpp"
#include "host/report/event_tables.hpp"
#include "host/report/schedule_tables.hpp"
#include "host/trace/facts.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::report {

// A violation that the schedule oracle found.
struct Violation {
    std::uint64_t at = 0; // ticks since the start of the trace
    std::size_t task = 0; // its row + 1, 0: none
    std::string rule;
    std::string text; // escaped
    std::string file; // likewise
    std::uint16_t chunk = 0;
    std::uint64_t record = 0;
};

struct Judgement {
    std::uint64_t checked = 0;
    std::uint64_t undecided = 0;
    std::uint64_t violations = 0;
    std::vector<Violation> shown; // the first ones
    std::vector<std::string> relaxations;
};

// What the header of the page states.
struct Head {
    std::string trace;                // as the user named it; escaped, as all texts here
    std::vector<std::string> options; // with which it was opened: commands to copy have them, too
    std::string verdict;              // whether everything is here, in one sentence
    std::string verdict_style;        // good, warning, bad
    std::uint64_t events = 0;
    std::uint64_t lost = 0; // records
    Judgement judgement;
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

// How much of a trace there was at some time; at first nothing. Tables are named by their names and subjects.
struct Cut {
    std::map<std::pair<std::string, std::size_t>, Table::Mark> tables;
    std::size_t details = 0;
    std::size_t culprits = 0;
    std::size_t kinds = 0;
    std::size_t texts = 0;
    std::uint64_t events = 0;
};

[[nodiscard]] Cut cut_of(const Trace& trace);

// What the page of a run that continues has to know. A page asks for what came after the last cut that it has.
struct Live {
    std::string_view state; // waiting: for a kernel that starts; running; ended; reset
    std::uint64_t cut = 0;  // at which the block ends
    bool first = true;      // the block has everything from the beginning of the run
    std::uint64_t run = 1;  // of those that were followed
};

// The bytes of the block before they are packed: what came after the cut. Names, facts and the overview are always all
// there; of details, culprits, kinds and texts those that are new, the others keep their numbers.
[[nodiscard]] std::vector<std::byte> contents(const Trace& trace, const Cut& since = {},
                                              const std::optional<Live>& live = std::nullopt);

// Of a machine that has no trace yet.
[[nodiscard]] std::vector<std::byte> contents_without_trace(const Live& live);

// The file. contents: of each trace; comparison: JSON of what differs between them, or between phases of one; empty:
// nothing is compared.
[[nodiscard]] std::string page(std::span<const std::vector<std::byte>> contents,
                               std::span<const std::byte> comparison = {});

// The page that asks its server for the contents; and its policy, which allows that in addition.
struct LivePage {
    std::string html;
    std::string policy;
};

[[nodiscard]] LivePage live_page();

} // namespace host::report
