// SPDX-License-Identifier: MIT
#include "fleet/questions/gaps.hpp"

#include "fleet/questions/cells.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/format.hpp"

namespace host::fleet::questions {

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
        (void)cells.count(); // its place in the list
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
