// SPDX-License-Identifier: MIT
// Has the statements about tables, and makes the rows of the tables that follow from a trace's metadata.
#include "host/sql/filler.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace host::sql {

namespace {

using tracer::Unit;

// A figure of 0 in task parameters means that the task's model has none.
Cell duration(std::uint64_t time_ns) {
    return time_ns != 0 ? Cell(time_ns) : Cell();
}

void task_rows(const trace::TraceFacts& facts, const RowSink& sink) {
    for (const auto& [context, task] : facts.names.tasks()) {
        const tracer::TaskParameters parameters = task.parameters.value_or(tracer::TaskParameters{});
        const std::string name = text::escaped(task.name);
        const std::string level =
            task.parameters ? trace::name_or_number(facts.names, Unit::level, parameters.level) : "";
        const std::array cells = {Cell(context),
                                  Cell::of(task.pid),
                                  Cell::named(name),
                                  Cell::named(level),
                                  duration(parameters.wcet_ns),
                                  duration(parameters.period_ns),
                                  duration(parameters.deadline_ns),
                                  duration(parameters.budget_ns),
                                  duration(parameters.offset_ns)};
        sink(Table::tasks, cells);
    }
}

void name_rows(const trace::TraceFacts& facts, const RowSink& sink) {
    for (const trace::NameEvent& row : trace::kNameEvents) {
        std::string_view kind = std::ranges::find(tracer::kEvents, row.code, &tracer::EventRow::code)->name;
        kind.remove_suffix(std::string_view("_name").size());
        for (const auto& [id, name] : trace::sorted_names(facts.names, row.unit)) {
            if (!name.empty()) {
                const std::string text = text::escaped(name);
                const std::array cells = {Cell(kind), Cell(id), Cell(std::string_view(text))};
                sink(Table::names, cells);
            }
        }
    }
}

void chunk_rows(const trace::TraceFacts& facts, const RowSink& sink) {
    for (const trace::ChunkReport& chunk : facts.chunks) {
        const std::string file = text::escaped(chunk.file);
        if (!chunk.described) {
            const std::array cells = {
                Cell(std::string_view(file)), Cell(), Cell(), Cell(), Cell("records"), Cell(chunk.records),
                Cell(chunk.events),           Cell(), Cell(), Cell()};
            sink(Table::chunks, cells);
            continue;
        }
        const tracer::ChunkBegin& description = chunk.description;
        const std::array cells = {Cell(std::string_view(file)),
                                  Cell(description.chunk),
                                  Cell(description.cpu),
                                  Cell(description.generation),
                                  Cell(chunk.compact() ? "compact" : "records"),
                                  Cell(description.records),
                                  Cell(chunk.compact() ? description.events : std::uint64_t{description.records}),
                                  Cell(description.dropped),
                                  Cell(description.refused),
                                  Cell(description.overwritten)};
        sink(Table::chunks, cells);
    }
}

void meta_rows(const trace::TraceFacts& facts, const RowSink& sink) {
    const auto add = [&](std::string_view key, const std::string& value) {
        const std::array cells = {Cell(key), Cell(std::string_view(value))};
        sink(Table::meta, cells);
    };
    if (facts.clock.khz != 0) {
        add("tsc_khz", fmt::format("{}", facts.clock.khz));
    }
    if (facts.boot_id) {
        add("boot_id", fmt::format("{:016x}", *facts.boot_id));
    }
    if (facts.build) {
        add("kernel", text::escaped(facts.build->kernel.view()));
        add("compiler", text::escaped(facts.build->compiler.view()));
        add("application", text::escaped(facts.build->application.view()));
        add("seed", fmt::format("{}", facts.build->seed));
    }
    if (facts.absent.parts != 0) {
        add(fmt::format("{}_missing", facts.absent.unit), fmt::format("{}", facts.absent.parts));
    }
    if (facts.export_end) {
        add("records_sent", fmt::format("{}", facts.export_end->records));
        add("records_dropped", fmt::format("{}", facts.export_end->dropped));
        add("records_refused", fmt::format("{}", facts.export_end->refused));
        add("records_overwritten", fmt::format("{}", facts.export_end->overwritten));
    }
}

} // namespace

void add_fact_rows(TableSet tables, const trace::TraceFacts& facts, const RowSink& sink) {
    const auto add = [&](Table table, void (*rows)(const trace::TraceFacts&, const RowSink&)) {
        if (tables[static_cast<std::size_t>(table)]) {
            rows(facts, sink);
        }
    };
    add(Table::tasks, task_rows);
    add(Table::names, name_rows);
    add(Table::chunks, chunk_rows);
    add(Table::meta, meta_rows);
}

std::string create_tables(TableSet tables) {
    std::string text;
    for (std::size_t i = 0; i < kTables; ++i) {
        if (tables[i]) {
            text += fmt::format("CREATE TABLE {}({});", kTableRows[i].name, kTableRows[i].columns);
        }
    }
    return text;
}

std::string create_indices(TableSet tables) {
    std::string text;
    for (const IndexRow& index : kIndexRows) {
        if (tables[static_cast<std::size_t>(index.table)]) {
            text += fmt::format("CREATE INDEX {};", index.definition);
        }
    }
    return text;
}

std::string create_views() {
    std::string text;
    for (const ViewRow& view : kViewRows) {
        text += fmt::format("CREATE VIEW {} AS {};", view.name, view.query);
    }
    return text;
}

int Insert::open(sqlite3* database, std::string_view table, std::size_t columns) {
    std::string text = fmt::format("INSERT INTO {} VALUES(?", table);
    for (std::size_t i = 1; i < columns; ++i) {
        text += ",?";
    }
    text += ')';
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(database, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    m_statement.reset(statement);
    return code;
}

int Insert::add(std::span<const Cell> cells) {
    int place = 0;
    for (const Cell& cell : cells) {
        cell.bind(m_statement.get(), ++place);
    }
    const int code = sqlite3_step(m_statement.get());
    sqlite3_reset(m_statement.get());
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

Filler::Filler(sqlite3* database, TableSet tables)
    : m_tables(tables) {
    for (std::size_t i = 0; i < kTables && m_code == SQLITE_OK; ++i) {
        if (tables[i]) {
            m_code = m_inserts[i].open(database, kTableRows[i].name,
                                       static_cast<std::size_t>(column_count(static_cast<Table>(i))));
        }
    }
    const bool accounts = fills(Table::jobs) || fills(Table::shares) || fills(Table::preemptions);
    if (accounts || fills(Table::intervals) || fills(Table::interrupts) || fills(Table::losses) ||
        fills(Table::holds)) {
        m_schedule.emplace(m_sink, accounts);
    }
    if (fills(Table::utilisation)) {
        m_utilisation.emplace();
    }
}

void Filler::insert(Table table, std::span<const Cell> cells) {
    if (m_code == SQLITE_OK && fills(table)) {
        m_code = m_inserts[static_cast<std::size_t>(table)].add(cells);
    }
}

void Filler::finish(const trace::TraceFacts& facts) {
    if (m_schedule) {
        m_schedule->finish(facts.names);
    }
    if (m_utilisation) {
        m_utilisation->finish(facts.clock.khz);
        for (std::size_t row = 0; row < m_utilisation->size(); ++row) {
            insert(Table::utilisation, m_utilisation->cells(row));
        }
    }
    add_fact_rows(m_tables, facts, m_sink);
}

} // namespace host::sql
