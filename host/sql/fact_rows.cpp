// SPDX-License-Identifier: MIT
// Rows out of TraceFacts. A figure of 0 in task parameters means that the task's model has none: NULL.
#include "host/sql/fact_rows.hpp"

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

void fact_rows(Table table, const trace::TraceFacts& facts, const RowSink& sink) {
    switch (table) {
    case Table::tasks:
        task_rows(facts, sink);
        break;
    case Table::names:
        name_rows(facts, sink);
        break;
    case Table::chunks:
        chunk_rows(facts, sink);
        break;
    case Table::meta:
        meta_rows(facts, sink);
        break;
    case Table::jobs:
    case Table::intervals:
    case Table::interrupts:
    case Table::losses:
    case Table::holds:
    case Table::shares:
    case Table::preemptions:
    case Table::utilisation:
        break;
    }
}

} // namespace host::sql
