// SPDX-License-Identifier: MIT
// This is the only declaration of the tables of a fleet and their columns, in both stores. Each begins with the columns
// that identify the run of a row. `jobs`, `intervals`, `interrupts` and `losses` continue with the columns of the
// tables of the same names in host/sql/tables.hpp. Every row can be written again without effect: the key identifies
// it, and its contents follow from the chunks alone, so a chunk that is delivered twice changes nothing.
//
// started_s, when the session began, is the same in all rows of a run. A store is divided by its day, so a run is never
// in two partitions. part and row number the rows of one run in one table, kRowsPerPart in a part. A part is inserted
// at once, so what a view derives from it can be written again, too.
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

inline constexpr std::uint32_t kWorstPerPart = 5; // for each task

enum class Table : std::uint8_t {
    nodes,            // one row for each run of a node, from its manifest
    listed,           // the chunks that the manifest lists
    chunks,           // the chunks that are stored
    events,           // only in ClickHouse; in a directory they are in the packed files
    jobs,             // of the schedule, once the run has ended
    intervals,        // of the schedule
    interrupts,       // of the schedule
    losses,           // of the schedule: where the tracer had no space
    task_minutes,     // from jobs: how many jobs each task had in each minute, and how many of them missed
    response_classes, // from jobs: how many jobs of each task have a response time of each class
    worst_jobs,       // from jobs: the kWorstPerPart longest responses of each task in each part
};

inline constexpr std::size_t kTables = 11;

enum class ColumnType : std::uint8_t {
    u8,
    u16,
    u32,
    u64,          // up to 2^63-1, the greatest integer of SQLite
    optional_u8,  // or NULL, as the next two
    optional_u16, //
    optional_i64, //
    text,         // NULL is the empty text
    event,        // code of an event, 0..255; reads as its name
};

// States how the declarations below and the stores call a type.
struct TypeRow {
    std::string_view word;
    std::string_view clickhouse;
    std::size_t bytes = 0; // of the number in ClickHouse; 0: a text
    bool optional = false; // may be NULL

    [[nodiscard]] constexpr bool is_text() const { return bytes == 0; }
};

// Rows are in the order of the enumeration.
inline constexpr std::array<TypeRow, 9> kTypeRows = {{
    {"U8", "UInt8", 1},
    {"U16", "UInt16", 2},
    {"U32", "UInt32", 4},
    {"U64", "UInt64", 8},
    {"OPTIONAL8", "Nullable(UInt8)", 1, true},
    {"OPTIONAL16", "Nullable(UInt16)", 2, true},
    {"OPTIONAL", "Nullable(Int64)", 8, true},
    {"TEXT", "String"},
    {"EVENT", "UInt8", 1},
}};

[[nodiscard]] constexpr const TypeRow& row_of(ColumnType type) {
    return kTypeRows[static_cast<std::size_t>(type)];
}

struct Column {
    std::string_view name;
    ColumnType type = ColumnType::u64;
};

struct TableRow {
    std::string_view name;
    std::string_view columns;         // "name TYPE, ...", after those of the run
    std::string_view key;             // after site, node, boot
    std::optional<sql::Table> more{}; // the columns of this table follow
    bool derived = false;             // a materialised view makes its rows
};

// Every table begins with these columns.
inline constexpr std::string_view kRunColumns = "site TEXT, node TEXT, boot TEXT, started_s U32";

// Rows are in the order of the enumeration. events.turn numbers the events of one chunk with equal ticks from 0. time_s
// is the release of the job in seconds since 1970: started_s plus its time in the trace. class_ns is response_class()
// of session_rows.hpp. Only completed jobs have it, and only they count in worst_ns and worst_jobs.
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

// Returns all columns, those of the run first. The names are static texts.
[[nodiscard]] std::vector<Column> columns_of(Table table);

// Returns the columns of a table's key: site, node, boot, and its own.
[[nodiscard]] std::string key_of(Table table);

} // namespace host::fleet
