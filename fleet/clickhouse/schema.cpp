// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/schema.hpp"

#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace host::fleet::clickhouse {

namespace {

constexpr Version kCodecs{19, 11};
constexpr Version kFlushes{21, 1};

// DateTime ranges from 1970 to 2106. The time zone is fixed, because that of the server would move runs between
// partitions.
constexpr std::string_view kPartition = "toYYYYMMDD(toDateTime(started_s, 'UTC'))";

// False for columns with bytes of any kind and length, for which a dictionary would only cost time.
bool has_few_values(std::string_view column) {
    return column != "payload" && column != "file";
}

constexpr std::string_view kTicks = "ticks";

std::string high_of(std::string_view column) {
    return fmt::format("{}_high", column);
}

std::string low_of(std::string_view column) {
    return fmt::format("{}_low", column);
}

// True for numbers that rise from row to row in the order of the rows.
bool rises(std::string_view stored) {
    return stored.ends_with("_high") || stored == "row" || stored == "position" || stored == "sequence";
}

// Returns an enumeration of all 256 codes, so that events of a later program are stored and read, too.
const std::string& event_type() {
    static const std::string type = [] {
        std::array<std::uint8_t, 256> codes{};
        std::iota(codes.begin(), codes.end(), std::uint8_t{0});
        return fmt::format("Enum8({})", text::joined(codes, ", ", [](std::uint8_t code) {
                               const tracer::EventRow* const row = tracer::find_event(code);
                               return fmt::format("{} = {}",
                                                  quoted_text(row != nullptr ? std::string(row->name)
                                                                             : fmt::format("code_0x{:02X}", code)),
                                                  static_cast<std::int8_t>(code));
                           }));
    }();
    return type;
}

struct Part {
    std::string name;
    std::string_view type;
};

// Returns the stored columns of a column of the table.
std::vector<Part> parts_of(Table table, const Column& column) {
    switch (storage_of(table, column)) {
    case Storage::computed:
        return {};
    case Storage::split:
        return {{high_of(column.name), row_of(column.type).clickhouse}, {low_of(column.name), "UInt16"}};
    case Storage::plain:
        break;
    }
    return {{std::string(column.type == ColumnType::event ? "code" : column.name), row_of(column.type).clickhouse}};
}

// Returns the expression with which the view selects the column.
std::string shown(Table table, const Column& column) {
    switch (storage_of(table, column)) {
    case Storage::computed:
        return fmt::format("begin_ns + duration_ns AS {}", column.name);
    case Storage::split:
        return fmt::format("{} * 65536 + {} AS {}", high_of(column.name), low_of(column.name), column.name);
    case Storage::plain:
        break;
    }
    return column.type == ColumnType::event
               ? fmt::format("CAST(toInt8(code), {}) AS {}", quoted_text(event_type()), column.name)
               : std::string(column.name);
}

std::string sorting_key(Table table) {
    return text::joined(text::split(key_of(table), ", "), ", ", [](std::string_view word) {
        return word == kTicks ? fmt::format("{}, {}", high_of(kTicks), low_of(kTicks)) : std::string(word);
    });
}

// Returns the query that derives the rows of a table from those of jobs. It has no subquery, because 18.16 does not
// feed the new rows to one. In WHERE, the name of a result means the result, so each condition uses another column: a
// job has a class if it was completed and its release is known.
std::string_view derivation_of(Table table) {
    switch (table) {
    case Table::task_minutes:
        return "SELECT site, node, boot, started_s, part, task, toUInt32(intDiv(time_s, 60) * 60) AS minute_s, "
               "count() AS jobs, toUInt64(sum(ifNull(missed, 0))) AS missed, "
               "max(if(isNull(class_ns), NULL, response_ns)) AS worst_ns "
               "FROM {} GROUP BY site, node, boot, started_s, part, task, minute_s";
    case Table::response_classes:
        return "SELECT site, node, boot, started_s, part, task, toUInt64(assumeNotNull(class_ns)) AS class_ns, "
               "count() AS jobs FROM {} WHERE outcome = 'completed' AND isNotNull(response_ns) "
               "GROUP BY site, node, boot, started_s, part, task, class_ns";
    case Table::worst_jobs:
        return "SELECT site, node, boot, started_s, part, task, toUInt64(ifNull(job, 0)) AS job, time_s, release_ns, "
               "end_ns, deadline_ns, toUInt64(assumeNotNull(response_ns)) AS response_ns, lateness_ns, "
               "toUInt8(ifNull(missed, 0)) AS missed, outcome FROM {} "
               "WHERE isNotNull(class_ns) "
               "ORDER BY response_ns DESC, job, row LIMIT {} BY site, node, boot, part, task";
    case Table::nodes:
    case Table::listed:
    case Table::chunks:
    case Table::events:
    case Table::jobs:
    case Table::intervals:
    case Table::interrupts:
    case Table::losses:
        break;
    }
    return {};
}

Object materialised_view(const Place& place, Table table) {
    const std::string name = fmt::format("{}_of_jobs", row_of(table).name);
    const std::string select =
        fmt::format(fmt::runtime(derivation_of(table)), full_name(place, rows_name(Table::jobs)), kWorstPerPart);
    return {.name = name,
            .engine = "MaterializedView",
            .create = fmt::format("CREATE MATERIALIZED VIEW IF NOT EXISTS {} TO {} AS {}", full_name(place, name),
                                  full_name(place, rows_name(table)), select)};
}

Object view(const Place& place, Table table, const std::string& name) {
    const std::string columns =
        text::joined(columns_of(table), ", ", [table](const Column& column) { return shown(table, column); });
    return {.name = name,
            .engine = "View",
            .create = fmt::format("CREATE VIEW IF NOT EXISTS {} AS SELECT {} FROM {} FINAL", full_name(place, name),
                                  columns, full_name(place, rows_name(table)))};
}

Object distributed(const Place& place, Table table, const std::string& over) {
    const std::string name(row_of(table).name);
    const std::string columns = text::joined(columns_of(table), ", ", [](const Column& column) {
        return fmt::format("{} {}", column.name,
                           column.type == ColumnType::event ? event_type() : row_of(column.type).clickhouse);
    });
    return {.name = name,
            .engine = "Distributed",
            .create = fmt::format("CREATE TABLE IF NOT EXISTS {} ({}) ENGINE = Distributed({}, {}, {})",
                                  full_name(place, name), columns, quoted_text(place.cluster),
                                  quoted_text(place.database), quoted_text(over))};
}

} // namespace

Version version_of(std::string_view text) {
    const auto next = [&text] { return text::number_of<unsigned>(text::take_until(text, ".")).value_or(0); };
    const unsigned major = next();
    return {.major = major, .minor = next()};
}

std::string_view plain_type(std::string_view type) {
    constexpr std::string_view kWrap = "LowCardinality(";
    return type.starts_with(kWrap) ? type.substr(kWrap.size(), type.size() - kWrap.size() - 1) : type;
}

Storage storage_of(Table table, const Column& column) {
    const bool has_span = table == Table::intervals || table == Table::interrupts;
    if (has_span && column.name == "end_ns") {
        return Storage::computed;
    }
    const bool is_time = (table == Table::events && column.name == kTicks) || (has_span && column.name == "begin_ns");
    return is_time ? Storage::split : Storage::plain;
}

std::vector<StoredColumn> stored_columns(Table table, Version version) {
    const std::string key = key_of(table);
    const std::vector<std::string_view> in_key = text::split(key, ", ");
    const bool codecs = version >= kCodecs;
    std::vector<StoredColumn> stored;
    for (const Column& column : columns_of(table)) {
        const bool dictionary = codecs && column.type == ColumnType::text && has_few_values(column.name);
        for (const Part& part : parts_of(table, column)) {
            stored.push_back(
                {.name = part.name,
                 .type = dictionary ? fmt::format("LowCardinality({})", part.type) : std::string(part.type),
                 .codec = !codecs            ? ""
                          : rises(part.name) ? "CODEC(Delta, ZSTD(1))"
                                             : "CODEC(ZSTD(1))",
                 .in_key = column.name == "started_s" || std::ranges::find(in_key, column.name) != in_key.end()});
        }
    }
    return stored;
}

std::string declaration_of(const StoredColumn& column) {
    return fmt::format("{} {}{}{}", column.name, column.type, column.codec.empty() ? "" : " ", column.codec);
}

std::string full_name(const Place& place, std::string_view name) {
    return fmt::format("`{}`.`{}`", place.database, name);
}

std::string rows_name(Table table) {
    return fmt::format("{}_rows", row_of(table).name);
}

std::string insert_statement(const Place& place, Table table) {
    const std::string names = text::joined(stored_columns(table, place.version), ", ", &StoredColumn::name);
    return fmt::format("INSERT INTO {} ({}) FORMAT RowBinary", full_name(place, rows_name(table)), names);
}

std::string create_database(const Place& place) {
    return fmt::format("CREATE DATABASE IF NOT EXISTS `{}`", place.database);
}

std::string create_rows(const Place& place, Table table) {
    const std::string columns = text::joined(stored_columns(table, place.version), ", ", declaration_of);
    return fmt::format("CREATE TABLE IF NOT EXISTS {} ({}) ENGINE = ReplacingMergeTree PARTITION BY {} ORDER BY ({}){}",
                       full_name(place, rows_name(table)), columns, kPartition, sorting_key(table),
                       // An acknowledged row is on the disk, not only in the memory of a machine that may lose power.
                       place.version >= kFlushes ? " SETTINGS fsync_after_insert = 1, fsync_part_directory = 1" : "");
}

std::vector<Object> derived_objects(const Place& place) {
    std::vector<Object> objects;
    for (std::size_t i = 0; i < kTables; ++i) {
        const auto table = static_cast<Table>(i);
        const std::string name(row_of(table).name);
        if (row_of(table).derived) {
            objects.push_back(materialised_view(place, table));
        }
        if (place.cluster.empty()) {
            objects.push_back(view(place, table, name));
        } else {
            objects.push_back(view(place, table, name + "_here"));
            objects.push_back(distributed(place, table, name + "_here"));
        }
    }
    return objects;
}

} // namespace host::fleet::clickhouse
