// SPDX-License-Identifier: MIT
// The tables of a fleet, in both stores: the only declaration of their columns. Each begins with the columns that say
// of which run a row is. `jobs`, `intervals`, `interrupts` and `losses` continue with the columns of the tables of the
// same names in host/sql/tables.hpp. Every row can be written again without effect: the key identifies it, and what it
// holds follows from the chunks alone, so a chunk that is delivered twice changes nothing.
//
// started_s, when the session began, is the same in all rows of a run: it decides the day by which a store is divided,
// so a run is never in two parts of it. part and row number the rows of one run in one table, kRowsPerPart in a part: a
// part is inserted at once, which is why what a view derives from it can be written again, too.
#pragma once

#include "host/sql/tables.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

inline constexpr std::uint32_t kSchemaVersion = 1;

inline constexpr std::uint32_t kRowsPerPart = 65'536; // row has 16 bits

inline constexpr std::uint32_t kWorstPerPart = 5; // of each task

enum class Table : std::uint8_t {
    nodes,            // a row for each run of a node: its manifest
    listed,           // the chunks that the manifest lists
    chunks,           // the chunks that are stored
    events,           // only in ClickHouse; a directory has them in its packed files
    jobs,             // the schedule, once the run has ended
    intervals,        // likewise
    interrupts,       // likewise
    losses,           // likewise: where the tracer had no space
    task_minutes,     // from jobs: how many of each task in each minute, how many of them missed
    response_classes, // from jobs: how many of each task responded within which time
    worst_jobs,       // from jobs: the kWorstPerPart longest responses of each task in each part
};

inline constexpr std::size_t kTables = 11;

enum class ColumnType : std::uint8_t {
    u8,
    u16,
    u32,
    u64,          // up to 2^63-1, the greatest integer of SQLite
    optional_u8,  // or NULL; likewise the next two
    optional_u16, //
    optional_i64, //
    text,         // NULL is the empty text
    event,        // code of an event, 0..255; reads as its name
};

struct Column {
    std::string_view name;
    ColumnType type = ColumnType::u64;
};

struct TableRow {
    std::string_view name;
    std::string_view columns;         // after those of the run: "name TYPE, ..."
    std::string_view key;             // after site, node, boot
    std::optional<sql::Table> more{}; // whose columns follow
    bool derived = false;             // a materialised view makes its rows
};

// Of every table, before its own.
inline constexpr std::string_view kRunColumns = "site TEXT, node TEXT, boot TEXT, started_s U32";

// In the order of the enumeration. events.turn: 0, 1, ... among events of one chunk with equal ticks. time_s: seconds
// since 1970, started_s and the release of the job. class_ns: response_class() of session_rows.hpp, of a job that was
// completed; worst_ns and worst_jobs are of such jobs, too.
inline constexpr std::array<TableRow, kTables> kTableRows = {{
    {"nodes",
     "application TEXT, kernel TEXT, compiler TEXT, image TEXT, tsc_khz U32, clock_mode TEXT, complete U8, "
     "reason TEXT, result TEXT, listed_chunks U64, listed_records U64, missing_records U64, lost_packets U64, "
     "announced_chunks OPTIONAL, announced_records OPTIONAL, committed OPTIONAL, tracer_made OPTIONAL, "
     "dropped OPTIONAL, refused OPTIONAL, overwritten OPTIONAL, events U64, duration_ns OPTIONAL",
     ""},
    {"listed",
     "position U32, file TEXT, described U8, cpu U16, chunk U16, generation U32, records U64, missing U64, bytes U64, "
     "crc32c U32",
     "position"},
    {"chunks",
     "cpu U16, chunk U16, generation U32, encoding TEXT, records U64, events U64, bytes U64, crc32c U32, "
     "first_ticks OPTIONAL, last_ticks OPTIONAL, dropped U64, refused U64, overwritten U64, sequence U64",
     "cpu, chunk, generation"},
    {"events", "cpu U16, chunk U16, generation U32, ticks U64, turn U16, event EVENT, par1 U16, par2 U32, payload TEXT",
     "cpu, ticks, chunk, generation, turn"},
    {"jobs", "part U32, row U16, time_s U32, class_ns OPTIONAL", "part, row", sql::Table::jobs},
    {"intervals", "part U32, row U16", "part, row", sql::Table::intervals},
    {"interrupts", "part U32, row U16", "part, row", sql::Table::interrupts},
    {"losses", "part U32, row U16", "part, row", sql::Table::losses},
    {"task_minutes",
     "part U32, task TEXT, minute_s U32, jobs U64, missed U64, worst_ns OPTIONAL",
     "part, task, minute_s",
     {},
     true},
    {"response_classes", "part U32, task TEXT, class_ns U64, jobs U64", "part, task, class_ns", {}, true},
    {"worst_jobs",
     "part U32, task TEXT, job U64, time_s U32, release_ns OPTIONAL, end_ns OPTIONAL, deadline_ns OPTIONAL, "
     "response_ns U64, lateness_ns OPTIONAL, missed U8, outcome TEXT",
     "part, task, job",
     {},
     true},
}};

[[nodiscard]] constexpr const TableRow& row_of(Table table) {
    return kTableRows[static_cast<std::size_t>(table)];
}

// All of them, those of the run first. The names are static texts.
[[nodiscard]] std::vector<Column> columns_of(Table table);

// Of a table's key: site, node, boot, and its own.
[[nodiscard]] std::string key_of(Table table);

} // namespace host::fleet
