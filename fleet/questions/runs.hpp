// SPDX-License-Identifier: MIT
// A row for each run: what its manifest says, if it has ended, and what is stored of its chunks. And its gaps: chunks
// that a manifest lists, against those that are stored.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/selection.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace host::fleet::questions {

struct RunName {
    std::string site;
    std::string node;
    std::string boot;

    friend auto operator<=>(const RunName&, const RunName&) = default;
};

struct RunRow {
    RunName name;
    std::int64_t started_s = 0;
    bool ended = false; // its session is stored; what follows is known then
    std::string application;
    std::string kernel;
    bool complete = false;
    std::string reason; // why not
    std::uint64_t listed_chunks = 0;
    std::uint64_t listed_records = 0;
    std::uint64_t missing_records = 0;
    std::uint64_t lost_packets = 0;
    std::optional<std::uint64_t> announced_chunks; // of the machine's totals
    std::optional<std::uint64_t> announced_records;
    std::optional<std::uint64_t> committed;
    std::optional<std::uint64_t> tracer_made;
    std::optional<std::uint64_t> dropped;
    std::optional<std::uint64_t> refused;
    std::optional<std::uint64_t> overwritten;
    std::uint64_t derived_events = 0; // of which jobs and the other rows of the session were made
    // Of the stored chunks.
    std::uint64_t stored_chunks = 0;
    std::uint64_t stored_records = 0;
    std::uint64_t stored_events = 0;
    std::uint64_t compact_chunks = 0;
    std::uint64_t chunk_dropped = 0; // as the latest chunk of each processor counts
    std::uint64_t chunk_refused = 0;
    std::uint64_t chunk_overwritten = 0;

    // By the machine's totals if they are known, else by its chunks.
    [[nodiscard]] std::uint64_t lost_dropped() const { return dropped.value_or(chunk_dropped); }

    [[nodiscard]] std::uint64_t lost_refused() const { return refused.value_or(chunk_refused); }

    [[nodiscard]] std::uint64_t lost_overwritten() const { return overwritten.value_or(chunk_overwritten); }

    [[nodiscard]] std::uint64_t lost() const { return lost_dropped() + lost_refused() + lost_overwritten(); }
};

// In the order of their names. An application is known of runs that have ended: if one is asked for, the others are
// left out.
[[nodiscard]] std::string runs_statement(const Selection& selection, const Database& database);

[[nodiscard]] std::vector<RunRow> runs_of(const Answer& answer);

// The name of the run to which a row belongs that begins with it.
class Cells;
[[nodiscard]] RunName run_name(Cells& cells);

// The gaps of one run.
struct Gaps {
    std::uint64_t chunks = 0;   // listed, and not stored
    std::uint64_t records = 0;  // in them, as the manifest says
    std::uint64_t other = 0;    // stored with other bytes, or another number of records
    std::uint64_t nameless = 0; // files in the list whose chunk does not say which one it is: they are not published

    // The first that is not stored as it is listed. Empty: all are.
    std::string file;
    std::uint64_t cpu = 0;
    std::uint64_t chunk = 0;
    std::uint64_t generation = 0;
    bool first_is_other = false;
};

using GapsByRun = std::map<RunName, Gaps>;

// A row for each listed chunk that is not stored as it is listed, in the order of the lists.
[[nodiscard]] std::string gaps_statement(const Selection& selection, const Database& database);

// How many files of each run's list are nameless.
[[nodiscard]] std::string nameless_statement(const Selection& selection, const Database& database);

[[nodiscard]] GapsByRun gaps_of(const Answer& gaps, const Answer& nameless);

} // namespace host::fleet::questions
