// SPDX-License-Identifier: MIT
#include "fleet/questions/runs.hpp"

#include "fleet/questions/findings.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/format.hpp"

#include <array>
#include <string_view>

namespace host::fleet::questions {

namespace {

// A column: how it is selected from a row of `nodes`, from a group of `chunks` of one processor, and from both
// together.
struct Part {
    std::string_view name;
    std::string_view of_nodes;
    std::string_view of_chunks;
    std::string_view together;
};

constexpr auto kParts = std::to_array<Part>({
    {"started_s", "started_s", "max(started_s)", "max"},
    {"ended", "1 AS ended", "0", "max"},
    {"application", "application", "''", "max"},
    {"kernel", "kernel", "''", "max"},
    {"complete", "complete", "0", "max"},
    {"reason", "reason", "''", "max"},
    {"result", "result", "''", "max"},
    {"listed_chunks", "listed_chunks", "0", "max"},
    {"listed_records", "listed_records", "0", "max"},
    {"missing_records", "missing_records", "0", "max"},
    {"lost_packets", "lost_packets", "0", "max"},
    {"announced_chunks", "announced_chunks", "NULL", "max"},
    {"announced_records", "announced_records", "NULL", "max"},
    {"committed", "committed", "NULL", "max"},
    {"tracer_made", "tracer_made", "NULL", "max"},
    {"dropped", "dropped", "NULL", "max"},
    {"refused", "refused", "NULL", "max"},
    {"overwritten", "overwritten", "NULL", "max"},
    {"derived_events", "events AS derived_events", "0", "max"},
    {"stored_chunks", "0 AS stored_chunks", "count(*)", "sum"},
    {"stored_records", "0 AS stored_records", "sum(records)", "sum"},
    {"stored_events", "0 AS stored_events", "sum(events)", "sum"},
    {"compact_chunks", "0 AS compact_chunks", "sum(CASE WHEN encoding = 'records' THEN 0 ELSE 1 END)", "sum"},
    {"chunk_dropped", "0 AS chunk_dropped", "max(dropped)", "sum"},
    {"chunk_refused", "0 AS chunk_refused", "max(refused)", "sum"},
    {"chunk_overwritten", "0 AS chunk_overwritten", "sum(overwritten)", "sum"},
});

std::optional<std::uint64_t> optional_count(Cells& cells) {
    const auto number = cells.optional();
    return number && *number >= 0 ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

RunRow run_of(Cells cells) {
    RunRow run;
    run.name = run_name(cells);
    run.started_s = cells.number();
    run.ended = cells.number() != 0;
    run.application = cells.text();
    run.kernel = cells.text();
    run.complete = cells.number() != 0;
    run.reason = cells.text();
    run.result = cells.text();
    for (std::uint64_t* const count :
         {&run.listed_chunks, &run.listed_records, &run.missing_records, &run.lost_packets}) {
        *count = cells.count();
    }
    for (std::optional<std::uint64_t>* const count : {&run.announced_chunks, &run.announced_records, &run.committed,
                                                      &run.tracer_made, &run.dropped, &run.refused, &run.overwritten}) {
        *count = optional_count(cells);
    }
    for (std::uint64_t* const count :
         {&run.derived_events, &run.stored_chunks, &run.stored_records, &run.stored_events, &run.compact_chunks,
          &run.chunk_dropped, &run.chunk_refused, &run.chunk_overwritten}) {
        *count = cells.count();
    }
    return run;
}

} // namespace

RunName run_name(Cells& cells) {
    RunName name;
    name.site = cells.text();
    name.node = cells.text();
    name.boot = cells.text();
    return name;
}

std::string runs_statement(const Selection& selection, const Database& database) {
    std::string together;
    std::string nodes;
    std::string chunks;
    for (const Part& part : kParts) {
        together += fmt::format(", {0}({1}) AS run_{1}", part.together, part.name);
        nodes += fmt::format(", {}", part.of_nodes);
        chunks += fmt::format(", {}", part.of_chunks);
    }
    return fmt::format("SELECT site, node, boot{} FROM (SELECT site, node, boot{} FROM nodes{} UNION ALL SELECT site, "
                       "node, boot{} FROM chunks{} GROUP BY site, node, boot, cpu) GROUP BY site, node, boot ORDER BY "
                       "site, node, boot",
                       together, nodes, where(selection, database, {.has_application = true}), chunks,
                       where(selection, database, {}));
}

std::vector<RunRow> runs_of(const Answer& answer) {
    std::vector<RunRow> runs;
    runs.reserve(answer.rows.size());
    for (const std::vector<Value>& row : answer.rows) {
        runs.push_back(run_of(Cells(row)));
    }
    return runs;
}

std::string gaps_statement(const Selection& selection, const Database& database) {
    return fmt::format(
        "SELECT site, node, boot, cpu, chunk, generation, max(place) AS at, max(name) AS first_file, max(stored) AS "
        "is_stored, max(listed_records) AS n_records FROM (SELECT site, node, boot, cpu, chunk, generation, position "
        "AS place, file AS name, 1 AS listed, 0 AS stored, crc32c AS listed_sum, 0 AS stored_sum, records AS "
        "listed_records, 0 AS stored_records FROM listed{} UNION ALL SELECT site, node, boot, cpu, chunk, generation, "
        "0, '', 0, 1, 0, crc32c, 0, records FROM chunks{}) GROUP BY site, node, boot, cpu, chunk, generation HAVING "
        "max(listed) = 1 AND (max(stored) = 0 OR max(listed_sum) <> max(stored_sum) OR max(listed_records) <> "
        "max(stored_records)) ORDER BY site, node, boot, at",
        where(selection, database, {.more = "described = 1"}), where(selection, database, {}));
}

std::string nameless_statement(const Selection& selection, const Database& database) {
    return fmt::format("SELECT site, node, boot, count(*) AS files FROM listed{} GROUP BY site, node, boot",
                       where(selection, database, {.more = "described = 0"}));
}

GapsByRun gaps_of(const Answer& gaps, const Answer& nameless) {
    GapsByRun runs;
    for (const std::vector<Value>& row : gaps.rows) {
        Cells cells(row);
        Gaps& of = runs[run_name(cells)];
        const std::uint64_t cpu = cells.count();
        const std::uint64_t chunk = cells.count();
        const std::uint64_t generation = cells.count();
        (void)cells.count(); // position in the list
        const std::string file = cells.text();
        const bool stored = cells.number() != 0;
        if (of.file.empty()) {
            of.file = file;
            of.cpu = cpu;
            of.chunk = chunk;
            of.generation = generation;
            of.first_is_other = stored;
        }
        of.other += stored ? 1 : 0;
        of.chunks += stored ? 0 : 1;
        of.records += stored ? 0 : cells.count();
    }
    for (const std::vector<Value>& row : nameless.rows) {
        Cells cells(row);
        Gaps& of = runs[run_name(cells)];
        of.nameless = cells.count();
    }
    return runs;
}

} // namespace host::fleet::questions
