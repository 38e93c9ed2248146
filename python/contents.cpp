// SPDX-License-Identifier: MIT
#include "python/contents.hpp"

#include "host/formats/input_kind.hpp"
#include "host/sql/filler.hpp"
#include "host/sql/schedule_rows.hpp"
#include "host/text/list.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/filters.hpp"
#include "python/events.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace python {

namespace {

using host::sql::Cell;
using host::trace::Event;

// All tables of SQL, by their number.
class Tables {
  public:
    Tables() {
        for (std::size_t i = 0; i < host::sql::kTables; ++i) {
            m_tables[i] = Table::of(static_cast<host::sql::Table>(i));
        }
    }

    Tables(const Tables&) = delete; // the sink points to it
    Tables& operator=(const Tables&) = delete;

    [[nodiscard]] const host::sql::RowSink& sink() const { return m_sink; }

    void add_utilisation(const host::sql::UtilisationRows& rows) {
        for (std::size_t row = 0; row < rows.size(); ++row) {
            m_sink(host::sql::Table::utilisation, rows.cells(row));
        }
    }

    // Appends the tables to a list. schedule: also those that are made of the schedule.
    void give(std::vector<std::shared_ptr<Table>>& list, bool schedule) const {
        for (std::size_t i = 0; i < host::sql::kTables; ++i) {
            if (schedule || kOfFacts[i]) {
                m_tables[i]->finish();
                list.push_back(m_tables[i]);
            }
        }
    }

    // Those that follow from the metadata.
    static constexpr host::sql::TableSet kOfFacts{0b1111};

  private:
    std::array<std::shared_ptr<Table>, host::sql::kTables> m_tables;
    host::sql::RowSink m_sink = [this](host::sql::Table table, std::span<const Cell> cells) {
        m_tables[static_cast<std::size_t>(table)]->add(cells);
    };
};

static_assert(static_cast<std::size_t>(host::sql::Table::meta) == 3 &&
              static_cast<std::size_t>(host::sql::Table::jobs) == 4);

void read(host::formats::Trace& trace, bool schedule, Contents& contents) {
    const host::trace::TraceFacts& facts = trace.facts();
    EventRows events;
    Tables tables;
    host::trace::Filters filters;
    host::sql::ScheduleRows rows(tables.sink());
    host::sql::UtilisationRows utilisation;
    for (auto batch = trace.next_batch(); !batch.empty(); batch = trace.next_batch()) {
        events.add(batch);
        for (const Event& event : batch) {
            filters.take(event);
        }
        for (const Event& event : schedule ? batch : std::span<const Event>()) {
            rows.add(event, facts);
            utilisation.add(event, facts.clock.khz);
        }
    }
    contents.tables.push_back(events.finish());
    if (schedule) {
        rows.finish(facts.names);
        utilisation.finish(facts.clock.khz);
        tables.add_utilisation(utilisation);
    }
    host::sql::add_fact_rows(Tables::kOfFacts, facts, tables.sink());
    tables.give(contents.tables, schedule);
    contents.accounts = host::analyse::accounts_of(trace);
    const host::formats::dat::Manifest* const manifest = trace.manifest();
    contents.totals = manifest != nullptr && manifest->announced ? manifest->announced : facts.export_end;
    contents.hidden = host::trace::filters_text(filters.used() & host::trace::Filters::kStates);
}

// Returns whether all that was to be recorded is here; none if that is not known.
std::optional<bool> is_complete(const Contents& contents) {
    if (!contents.verdict.whole || contents.accounts.dropped != 0) {
        return false;
    }
    return contents.verdict.lossless ? std::optional(true) : std::nullopt;
}

} // namespace

std::shared_ptr<Table> Contents::find(std::string_view name) const {
    const auto found =
        std::ranges::find(tables, name, [](const auto& table) -> std::string_view { return table->name(); });
    return found != tables.end() ? *found : nullptr;
}

std::shared_ptr<const Contents> contents_of(const Wanted& wanted, const std::function<void()>& proceed) {
    auto contents = std::make_shared<Contents>();
    contents->path = wanted.path;
    std::vector<std::string>& problems = contents->problems;
    host::trace::Diagnostics diagnostics([&](std::string_view line) { problems.emplace_back(line); });
    const auto opened = host::formats::Trace::open(wanted.path, wanted.options, diagnostics);
    if (!opened) {
        throw Unusable(host::text::joined(problems, "\n"));
    }
    host::formats::Trace& trace = *opened.value();
    trace.report_to([&](std::uint64_t) { proceed(); });
    read(trace, wanted.schedule, *contents);
    diagnostics.finish();
    if (trace.facts().usable_events == 0) {
        diagnostics.report("E-NOTHING", {.file = wanted.path}, trace.nothing_text());
    }
    if (trace.facts().usable_events == 0 || (wanted.options.strict && diagnostics.damaged())) {
        throw Unusable(host::text::joined(problems, "\n"));
    }
    contents->kind = host::formats::kind_name(trace.kind());
    contents->facts = trace.facts();
    contents->verdict = host::analyse::verdict_of(trace, contents->accounts);
    contents->complete = is_complete(*contents);
    return contents;
}

} // namespace python
