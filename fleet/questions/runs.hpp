// SPDX-License-Identifier: MIT
// Each run has a row with its manifest, if it has ended, and what is stored of its chunks; and it may have gaps: chunks
// that its manifest lists and that are not stored.
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
    bool ended = false; // its session is stored, so that the next members are known
    std::string application;
    std::string kernel;
    bool complete = false;
    std::string reason; // why it is not complete
    std::string
        result; // as run_result_name() of the machine's totals, else of a bad end in its records; empty: neither
    std::uint64_t listed_chunks = 0;
    std::uint64_t listed_records = 0;
    std::uint64_t missing_records = 0;
    std::uint64_t lost_packets = 0;
    std::optional<std::uint64_t> announced_chunks; // in the machine's totals, as the next six
    std::optional<std::uint64_t> announced_records;
    std::optional<std::uint64_t> committed;
    std::optional<std::uint64_t> tracer_made;
    std::optional<std::uint64_t> dropped;
    std::optional<std::uint64_t> refused;
    std::optional<std::uint64_t> overwritten;
    std::uint64_t derived_events = 0; // from which jobs and the other rows of the session were made
    // These are about the stored chunks.
    std::uint64_t stored_chunks = 0;
    std::uint64_t stored_records = 0;
    std::uint64_t stored_events = 0;
    std::uint64_t compact_chunks = 0;
    std::uint64_t chunk_dropped = 0; // as the latest chunk of each processor counts
    std::uint64_t chunk_refused = 0;
    std::uint64_t chunk_overwritten = 0;

    // Returns the machine's total if it is known, else the count in its chunks. The next two do the same.
    [[nodiscard]] std::uint64_t lost_dropped() const { return dropped.value_or(chunk_dropped); }

    [[nodiscard]] std::uint64_t lost_refused() const { return refused.value_or(chunk_refused); }

    [[nodiscard]] std::uint64_t lost_overwritten() const { return overwritten.value_or(chunk_overwritten); }

    [[nodiscard]] bool ended_badly() const { return result == "failed" || result == "panicked"; }

    [[nodiscard]] std::uint64_t lost() const { return lost_dropped() + lost_refused() + lost_overwritten(); }
};

// The rows are in the order of their names. Only runs that have ended have a known application: if the selection has
// one, the others are left out.
[[nodiscard]] std::string runs_statement(const Selection& selection, const Database& database);

[[nodiscard]] std::vector<RunRow> runs_of(const Answer& answer);

// Reads the name of the run from the beginning of a row.
[[nodiscard]] RunName run_name(Cells& cells);

// These are the gaps of one run.
struct Gaps {
    std::uint64_t chunks = 0;   // listed and not stored
    std::uint64_t records = 0;  // in these chunks, as the manifest states
    std::uint64_t other = 0;    // stored with other bytes, or another number of records
    std::uint64_t nameless = 0; // listed files whose chunk has no description, which are not published

    // These members are about the first chunk that is not stored as it is listed; file is empty if there is none.
    std::string file;
    std::uint64_t cpu = 0;
    std::uint64_t chunk = 0;
    std::uint64_t generation = 0;
    bool first_is_other = false;
};

using GapsByRun = std::map<RunName, Gaps>;

// Asks for a row for each listed chunk that is not stored as it is listed, in the order of the lists.
[[nodiscard]] std::string gaps_statement(const Selection& selection, const Database& database);

// Asks how many files of each run's list are nameless.
[[nodiscard]] std::string nameless_statement(const Selection& selection, const Database& database);

[[nodiscard]] GapsByRun gaps_of(const Answer& gaps, const Answer& nameless);

} // namespace host::fleet::questions
