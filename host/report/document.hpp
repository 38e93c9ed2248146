// SPDX-License-Identifier: MIT
// A report as one HTML file: the page's template, style and scripts, d3, and the trace as one packed block. Scripts are
// named by their hashes in the page's Content-Security-Policy, which allows nothing else: no network, no other script.
// Text of the trace is only in the packed block, so none of it is ever parsed as HTML.
//
// The block is base64 of raw deflate of:   u32 bytes of the directory | the directory, JSON | the columns, one after
// another. The directory has the names, the facts of the trace, and for each table its rows and the bytes of its
// columns.
#pragma once

#include "host/analyse/latencies.hpp"
#include "host/analyse/tracing_share.hpp"
#include "host/report/event_tables.hpp"
#include "host/report/schedule_tables.hpp"
#include "host/trace/facts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace host::report {

// A violation that the schedule oracle found.
struct Violation {
    std::uint64_t at = 0; // ticks since the start of the trace
    std::size_t task = 0; // its row + 1, 0: none
    std::string rule;
    std::string text; // escaped
    std::string file; // likewise
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
    std::string trace;         // as the user named it; escaped, as all texts here
    std::string verdict;       // whether everything is here, in one sentence
    std::string verdict_style; // good, warning, bad
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

// The bytes of the block before they are packed.
[[nodiscard]] std::vector<std::byte> contents(const Trace& trace);

// The file.
[[nodiscard]] std::string page(std::span<const std::vector<std::byte>> contents);

} // namespace host::report
