// SPDX-License-Identifier: MIT
#include "fleet/session_rows.hpp"

#include "host/analyse/crash.hpp"
#include "host/formats/trace.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace host::fleet {

namespace {

using formats::dat::Manifest;
using formats::dat::ManifestChunk;
using sql::Cell;

constexpr int kSignificantBits = 5;
constexpr std::string_view kCompleted = "completed"; // as host/sql/schedule_rows.cpp writes it
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

// Numbers the rows of each table, and puts the columns of the run in front.
class RunRows {
  public:
    RunRows(const Run& run, const RowSink& sink)
        : m_run(run)
        , m_boot(boot_text(run.boot_id))
        , m_sink(sink) {}

    // Adds a row of a table without part and row.
    void add(Table table, std::initializer_list<Cell> own) {
        begin();
        m_cells.insert(m_cells.end(), own);
        m_sink(table, m_cells);
    }

    void add(Table table, std::initializer_list<Cell> own, std::span<const Cell> more) {
        std::uint64_t& number = m_numbers[static_cast<std::size_t>(table)];
        begin();
        m_cells.insert(m_cells.end(), {Cell(number / kRowsPerPart), Cell(number % kRowsPerPart)});
        m_cells.insert(m_cells.end(), own);
        m_cells.insert(m_cells.end(), more.begin(), more.end());
        m_sink(table, m_cells);
        ++number;
    }

  private:
    void begin() {
        m_cells.assign({Cell(std::string_view(m_run.from.site)), Cell(std::string_view(m_run.from.node)),
                        Cell(std::string_view(m_boot)), Cell(m_run.started_s)});
    }

    const Run& m_run;
    std::string m_boot;
    const RowSink& m_sink;
    std::array<std::uint64_t, kTables> m_numbers{};
    std::vector<Cell> m_cells;
};

std::size_t place_of(std::string_view column, const std::vector<sql::Column>& columns) {
    return static_cast<std::size_t>(std::ranges::find(columns, column, &sql::Column::name) - columns.begin());
}

// Writes what follows from the schedule into the tables of the fleet.
class ScheduleSink {
  public:
    explicit ScheduleSink(RunRows& rows, std::int64_t started_s)
        : m_rows(rows)
        , m_started_s(started_s) {}

    void add(sql::Table table, std::span<const Cell> cells) {
        switch (table) {
        case sql::Table::jobs:
            add_job(cells);
            break;
        case sql::Table::intervals:
            m_rows.add(Table::intervals, {}, cells);
            break;
        case sql::Table::interrupts:
            m_rows.add(Table::interrupts, {}, cells);
            break;
        case sql::Table::losses:
            m_rows.add(Table::losses, {}, cells);
            break;
        case sql::Table::tasks:
        case sql::Table::names:
        case sql::Table::chunks:
        case sql::Table::meta:
        case sql::Table::holds:
        case sql::Table::shares:
        case sql::Table::preemptions:
        case sql::Table::utilisation:
            break; // of one run: `remora sql` has them
        }
    }

  private:
    void add_job(std::span<const Cell> cells) {
        const std::int64_t release_ns = std::max<std::int64_t>(cells[m_release].number().value_or(0), 0);
        // The response time of a job that was cut off is meaningless.
        const auto response_ns = cells[m_outcome].text() == kCompleted ? cells[m_response].number() : std::nullopt;
        m_rows.add(Table::jobs,
                   {Cell(m_started_s + release_ns / kNanosecondsPerSecond),
                    response_ns && *response_ns >= 0 ? Cell(response_class(static_cast<std::uint64_t>(*response_ns)))
                                                     : Cell()},
                   cells);
    }

    RunRows& m_rows;
    std::int64_t m_started_s;
    std::vector<sql::Column> m_columns = sql::columns_of(sql::Table::jobs);
    std::size_t m_release = place_of("release_ns", m_columns);
    std::size_t m_response = place_of("response_ns", m_columns);
    std::size_t m_outcome = place_of("outcome", m_columns);
};

struct Content {
    std::uint64_t events = 0;
    std::optional<std::uint64_t> duration_ns;
    std::vector<analyse::Crash> crashes; // the worst first
};

// Returns how the run ended: as the machine's totals state it or, if it did not announce its result, as its records
// show it. Empty: there are no totals, and no record of a bad end.
std::string_view result_of(const Manifest& manifest, const std::vector<analyse::Crash>& crashes) {
    const auto& totals = manifest.announced;
    tracer::RunResult result = totals ? totals->result : tracer::RunResult::unknown;
    if (result == tracer::RunResult::unknown && analyse::ended_badly(crashes)) {
        result = crashes.front().kind == analyse::Crash::Kind::failed ? tracer::RunResult::failed
                                                                      : tracer::RunResult::panicked;
    } else if (!totals) {
        return {};
    }
    return formats::dat::run_result_name(result);
}

void add_listed(const Manifest& manifest, RunRows& rows) {
    for (std::size_t i = 0; i < manifest.chunks.size(); ++i) {
        const ManifestChunk& chunk = manifest.chunks[i];
        const tracer::ChunkBegin description = chunk.described ? chunk.description : tracer::ChunkBegin{};
        rows.add(Table::listed, {Cell(i), Cell(std::string_view(chunk.file)), Cell(chunk.described ? 1 : 0),
                                 Cell(description.cpu), Cell(description.chunk), Cell(description.generation),
                                 Cell(chunk.records), Cell(chunk.missing), Cell(chunk.bytes), Cell(chunk.crc32c)});
    }
}

void add_node(const Manifest& manifest, const Content& content, RunRows& rows) {
    std::uint64_t records = 0;
    std::uint64_t missing = 0;
    for (const ManifestChunk& chunk : manifest.chunks) {
        records += chunk.records;
        missing += chunk.missing;
    }
    const tracer::Build build = manifest.build.value_or(tracer::Build{});
    const std::string application = text::escaped(build.application.view());
    const std::string kernel = text::escaped(build.kernel.view());
    const std::string compiler = text::escaped(build.compiler.view());
    const std::string image = manifest.build ? boot_text(build.image_id) : std::string();
    const auto& totals = manifest.announced;
    const auto total = [&totals](auto tracer::ExportEnd::*member) { return totals ? Cell((*totals).*member) : Cell(); };
    const bool counted = totals && totals->committed != 0;
    rows.add(Table::nodes, {Cell(std::string_view(application)),
                            Cell(std::string_view(kernel)),
                            Cell(std::string_view(compiler)),
                            Cell(std::string_view(image)),
                            Cell(manifest.tsc_khz),
                            Cell(formats::dat::clock_mode_name(manifest.clock_mode)),
                            Cell(manifest.complete ? 1 : 0),
                            Cell(std::string_view(manifest.reason)),
                            Cell(result_of(manifest, content.crashes)),
                            Cell(manifest.chunks.size()),
                            Cell(records),
                            Cell(missing),
                            Cell(manifest.transfer ? manifest.transfer->lost : 0),
                            total(&tracer::ExportEnd::chunks),
                            total(&tracer::ExportEnd::records),
                            counted ? total(&tracer::ExportEnd::committed) : Cell(),
                            counted ? total(&tracer::ExportEnd::tracer_made) : Cell(),
                            total(&tracer::ExportEnd::dropped),
                            total(&tracer::ExportEnd::refused),
                            total(&tracer::ExportEnd::overwritten),
                            Cell(content.events),
                            Cell::of(content.duration_ns)});
}

} // namespace

std::uint64_t response_class(std::uint64_t response_ns) {
    const int shift = std::max(64 - std::countl_zero(response_ns) - kSignificantBits, 0);
    const std::uint64_t below = (std::uint64_t{1} << shift) - 1;
    return response_ns > ~below ? response_ns : (response_ns + below) & ~below;
}

std::string condition_of(const Run& run) {
    return fmt::format("site = '{}' AND node = '{}' AND boot = '{}'", run.from.site, run.from.node,
                       boot_text(run.boot_id));
}

std::vector<StoredChunk> stored_chunks(const Run& run, const Answer& answer) {
    std::vector<StoredChunk> chunks;
    for (const std::vector<Value>& row : answer.rows) {
        Cells cells(row);
        StoredChunk& chunk = chunks.emplace_back();
        chunk.key.boot_id = run.boot_id;
        chunk.key.cpu = static_cast<std::uint16_t>(cells.count());
        chunk.key.chunk = static_cast<std::uint16_t>(cells.count());
        chunk.key.generation = static_cast<std::uint32_t>(cells.count());
        chunk.sequence = cells.count();
        chunk.crc32c = static_cast<std::uint32_t>(cells.count());
    }
    return chunks;
}

void write_chunk(const ReadChunk& chunk, const RowSink& sink) {
    const tracer::ChunkBegin& begin = chunk.description;
    const std::string encoding = formats::dat::encoding_name(begin);
    RunRows(chunk.run, sink)
        .add(Table::chunks,
             {Cell(chunk.key.cpu), Cell(chunk.key.chunk), Cell(chunk.key.generation), Cell(std::string_view(encoding)),
              Cell(begin.records), Cell(chunk.events), Cell(chunk.message->body.size()), Cell(chunk.crc32c),
              Cell::of(chunk.first_ticks), Cell::of(chunk.last_ticks), Cell(begin.dropped), Cell(begin.refused),
              Cell(begin.overwritten), Cell(chunk.message->sequence)});
}

lib::Result<void, trace::Refusal> SessionRows::write(const RowSink& sink) const {
    constexpr std::uint64_t kEventsPerCall = 1 << 16;
    RunRows rows(run, sink);
    add_listed(manifest, rows);
    trace::Diagnostics diagnostics([](std::string_view /*line*/) {}); // verify reports damage of the chunks
    ScheduleSink schedule(rows, run.started_s);
    const sql::RowSink schedule_sink = [&schedule](sql::Table table, std::span<const Cell> cells) {
        schedule.add(table, cells);
    };
    Content content;
    // A run without any chunk has a manifest, too.
    if (const auto trace = formats::Trace::open(directory, {.find_kernel = false}, diagnostics)) {
        sql::ScheduleRows model(schedule_sink);
        analyse::CrashWatch crashes;
        trace.value()->for_each([&](const trace::Event& event) {
            if (event.metadata) {
                return;
            }
            model.add(event, trace.value()->facts());
            crashes.take(event);
            ++content.events;
            if (event.timed && event.time_ns >= 0) {
                content.duration_ns =
                    std::max(content.duration_ns.value_or(0), static_cast<std::uint64_t>(event.time_ns));
            }
            if (content.events % kEventsPerCall == 0 && working) {
                working();
            }
        });
        model.finish(trace.value()->facts().names);
        content.crashes = crashes.finish(manifest.announced, nullptr);
    }
    add_node(manifest, content, rows);
    return {};
}

} // namespace host::fleet
