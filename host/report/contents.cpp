// SPDX-License-Identifier: MIT
// Writes the directory of a report, and the columns after it.
#include "host/report/document.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/value_text.hpp"
#include "lib/endian.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>

namespace host::report {

namespace {

using Json = text::JsonText;
using tracer::Unit;

void add_texts(Json& json, std::string_view name, std::span<const std::string> texts, std::size_t after = 0) {
    json.array(name, texts.subspan(after), [&](const std::string& text) { json.value(text); });
}

void add_judgement(Json& json, const Judgement& judgement) {
    json.begin_object("oracle");
    json.member("checked", judgement.checked);
    json.member("undecided", judgement.undecided);
    json.member("violations", judgement.violations);
    json.objects("shown", judgement.shown, [&](const Violation& violation) {
        json.member("at", violation.at);
        json.member("task", violation.task);
        json.member("rule", violation.rule);
        json.member("text", violation.text);
        json.member("file", violation.file);
        json.member("chunk", violation.chunk);
        json.member("record", violation.record);
    });
    add_texts(json, "relaxed", judgement.relaxations);
    json.end_object();
}

void add_late(Json& json, std::span<const LateJob> jobs) {
    json.objects("late", jobs, [&](const LateJob& job) {
        json.member("context", job.context);
        json.member("end", job.end);
        add_texts(json, "sentences", job.sentences);
    });
}

void add_clock(Json& json, const trace::Clock& clock) {
    json.begin_object("clock");
    json.member("khz", clock.khz);
    json.member("mode", formats::dat::clock_mode_name(clock.mode));
    json.member("exact", clock.mode == tracer::ClockMode::icount);
    json.member("host", clock.mode == tracer::ClockMode::emulated);
    json.end_object();
}

void add_head(Json& json, const Trace& trace) {
    const Head& head = trace.head;
    const trace::TraceFacts& facts = trace.facts;
    json.member("trace", head.trace);
    add_texts(json, "options", head.options);
    if (facts.build) {
        json.member("application", text::escaped(facts.build->application.view()));
        json.member("kernel", text::escaped(facts.build->kernel.view()));
        json.member("compiler", text::escaped(facts.build->compiler.view()));
        json.member("seed", facts.build->seed);
    }
    json.member("ended", head.ended.empty() ? std::nullopt : std::optional(head.ended));
    json.member("started_s", head.started_s);
    json.member("verdict", head.verdict);
    json.member("verdict_style", head.verdict_style);
    json.member("events", head.events);
    json.member("lost", head.lost);
    add_clock(json, facts.clock);
    add_judgement(json, head.judgement);
    add_late(json, head.late);
    json.array("crashes", head.crashes, [&](const std::string& crash) { json.plain(crash); });
    if (head.tracing) {
        json.begin_object("tracing");
        json.member("records", head.tracing->records);
        json.member("ticks_per_record", head.tracing->ticks_per_record);
        json.member("ticks", head.tracing->time.value);
        json.member("share", head.tracing->share);
        json.end_object();
    }
    const Axis::Window& window = trace.axis.window();
    json.begin_object("span");
    json.member("last", trace.axis.last());
    json.member("cut", trace.axis.last() == kTicksMax);
    json.member("from_ns", window.from_ns);
    json.member("to_ns", window.to_ns);
    json.member("full", trace.schedule.is_full());
    json.member("intervals", trace.schedule.intervals());
    json.member("bucket", trace.schedule.overview().bucket_ticks());
    json.end_object();
}

void add_tasks(Json& json, const Trace& trace) {
    json.objects("tasks", trace.schedule.tasks().rows(), [&](const TaskRow& row) {
        json.member("context", row.context);
        json.member("name", row.name.empty() ? fmt::format("#{}", row.context) : row.name);
        if (row.parameters) {
            json.member("level", row.parameters->level);
            json.member("wcet_ns", row.parameters->wcet_ns);
            json.member("period_ns", row.parameters->period_ns);
            json.member("deadline_ns", row.parameters->deadline_ns);
            json.member("budget_ns", row.parameters->budget_ns);
        }
        json.member("misses", row.misses);
        json.member("jobs_before", row.jobs_before);
    });
}

// Writes all names of a kind in the trace: pairs of number and name.
void add_names(Json& json, std::string_view key, const trace::Names& names, Unit unit) {
    json.begin_array(key);
    if (const trace::Names::Table* const table = names.entries(unit)) {
        const std::map<std::uint16_t, std::string> sorted(table->begin(), table->end());
        for (const auto& [number, name] : sorted) {
            json.begin_array();
            json.value(number);
            json.value(text::escaped(name));
            json.end_array();
        }
    }
    json.end_array();
}

void add_details(Json& json, const Trace& trace, std::size_t after) {
    json.begin_array("details");
    for (const auto& [wait, other] : trace.schedule.details().subspan(after)) {
        const auto kind = tracer::wait_kind(wait);
        json.begin_object();
        json.member("wait", wait != 0 ? trace::wait_text(trace.facts.names, wait) : std::string());
        json.member("mutex", kind == lib::WaitKind::mutex ? std::optional(wait & 0xFFFF) : std::nullopt);
        json.member("other", other);
        json.end_object();
    }
    json.end_array();
}

void add_culprits(Json& json, const Trace& trace, std::size_t after) {
    json.array("culprits", trace.schedule.culprits().subspan(after), [&](const CulpritRow& culprit) {
        const bool suspends = culprit.part == schedule::Part::suspension;
        const std::uint32_t wait = suspends ? culprit.object : culprit.end_waits;
        json.begin_object();
        json.member("part", schedule::part_name(culprit.part));
        json.member("by", schedule::by_name(culprit.by));
        json.member("inversion", schedule::inversion_name(culprit.inversion));
        json.member("task", culprit.task);
        json.member("who", culprit.who);
        json.member("object", culprit.object);
        json.member("wait", wait != 0 ? trace::wait_text(trace.facts.names, wait) : std::string());
        json.member("holder", culprit.holder);
        json.member("chain_end", culprit.chain_end);
        json.end_object();
    });
}

// Writes, by vector and task, the legs of which something is known.
void add_latencies(Json& json, const Trace& trace) {
    const std::string_view missing = analyse::raises_missing(trace.latencies);
    json.begin_object("latencies");
    json.member("missing", missing.empty() ? std::nullopt : std::optional(missing));
    json.begin_array("pairs");
    for (const auto& [pair, legs] : trace.latencies.pairs()) {
        json.begin_object();
        json.member("vector", pair.vector);
        json.member("context", pair.context);
        json.begin_array("legs");
        for (const analyse::LegName& name : analyse::kLegs) {
            const analyse::Leg& leg = legs.*name.leg;
            if (!leg.greatest) {
                continue;
            }
            json.begin_object();
            json.member("name", name.text);
            json.member("count", leg.durations.count());
            json.member("least", leg.durations.least().value);
            json.member("mean", leg.durations.mean().value);
            json.member("greatest", leg.durations.greatest().value);
            json.member("at", trace.axis.at(leg.greatest->at.ticks));
            json.end_object();
        }
        json.end_array();
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

// Writes pairs of a server and the rows of its tasks.
void add_served(Json& json, const EventTables& events) {
    json.begin_array("served");
    for (const auto& [server, tasks] : events.served()) {
        json.begin_array();
        json.value(server);
        json.begin_array();
        for (const std::size_t task : tasks) {
            json.value(task);
        }
        json.end_array();
        json.end_array();
    }
    json.end_array();
}

void add_plots(Json& json, std::span<const Plot> plots) {
    json.objects("plots", plots, [&](const Plot& plot) {
        json.member("event", plot.event);
        json.member("field", plot.field);
        json.member("unit", plot.unit);
        json.member("fraction_bits", plot.fraction_bits);
        json.member("boolean", plot.is_boolean);
    });
}

// The columns of a table as they are in the block: the part after a mark.
struct Stored {
    const Table* table;
    Table::Mark after;
    std::vector<Column> times;

    [[nodiscard]] std::size_t rows() const { return table->rows() - after.rows; }

    // Calls use(name, bytes) for each column.
    void each(const auto& use) const {
        for (const Column& column : times) {
            use(column.name(), column.bytes());
        }
        std::size_t number = 0;
        for (const Column& column : table->numbers()) {
            use(column.name(), column.bytes().subspan(after.bytes.empty() ? 0 : after.bytes[number]));
            ++number;
        }
    }
};

void add_directory(Json& json, std::span<const Stored> tables) {
    json.objects("tables", tables, [&](const Stored& stored) {
        json.member("name", stored.table->name());
        json.member("of", stored.table->subject());
        json.member("rows", stored.rows());
        json.begin_object("columns");
        stored.each(
            [&](const std::string& name, std::span<const std::byte> bytes) { json.member(name, bytes.size()); });
        json.end_object();
    });
}

// Returns all tables except those of the overview.
std::vector<const Table*> tables_of(const Trace& trace) {
    std::vector<const Table*> tables;
    const auto add = [&tables](const Table& table) { tables.push_back(&table); };
    for (const TaskRow& row : trace.schedule.tasks().rows()) {
        add(row.intervals);
        add(row.jobs);
        add(row.shares);
    }
    const auto add_all = [&add](const auto& map) {
        for (const auto& [number, table] : map) {
            add(table);
        }
    };
    add_all(trace.schedule.handlers());
    add_all(trace.schedule.losses());
    add_all(trace.schedule.holds());
    add_all(trace.events.budgets());
    add(trace.events.marks());
    std::ranges::for_each(trace.events.plots(), add, &Plot::table);
    return tables;
}

// Returns what is new in the tables, and all of the overview.
std::vector<Stored> stored_of(const Trace& trace, const Cut& since, std::span<const Table> overview) {
    std::vector<Stored> stored;
    for (const Table* const table : tables_of(trace)) {
        const auto known = since.tables.find({table->name(), table->subject()});
        Stored one{.table = table, .after = known != since.tables.end() ? known->second : Table::Mark{}, .times = {}};
        if (one.rows() != 0) {
            stored.push_back(std::move(one));
        }
    }
    for (const Table& table : overview) {
        if (table.rows() != 0) {
            stored.push_back({.table = &table, .after = {}, .times = {}});
        }
    }
    return stored;
}

void add_live(Json& json, const Live& live) {
    json.begin_object("live");
    json.member("state", live.state);
    json.member("cut", live.cut);
    json.member("first", live.first);
    json.member("run", live.run);
    json.end_object();
}

void add_facts(Json& json, const Trace& trace, const Cut& since) {
    add_head(json, trace);
    add_tasks(json, trace);
    const trace::Names& names = trace.facts.names;
    add_names(json, "levels", names, Unit::level);
    add_names(json, "vectors", names, Unit::vector);
    add_names(json, "mutexes", names, Unit::mutex);
    add_names(json, "servers", names, Unit::server);
    add_details(json, trace, since.details);
    add_culprits(json, trace, since.culprits);
    add_latencies(json, trace);
    add_served(json, trace.events);
    add_plots(json, trace.events.plots());
    add_texts(json, "kinds", trace.events.kinds(), since.kinds);
    add_texts(json, "texts", trace.events.texts(), since.texts);
}

// Returns the directory, preceded by its size.
std::vector<std::byte> block_of(const fmt::memory_buffer& directory) {
    std::vector<std::byte> bytes(sizeof(std::uint32_t));
    lib::store_le(std::span(bytes), static_cast<std::uint32_t>(directory.size()));
    const auto text = std::as_bytes(std::span(directory.data(), directory.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
    return bytes;
}

} // namespace

Cut cut_of(const Trace& trace) {
    Cut cut{.tables = {},
            .details = trace.schedule.details().size(),
            .culprits = trace.schedule.culprits().size(),
            .kinds = trace.events.kinds().size(),
            .texts = trace.events.texts().size(),
            .events = trace.head.events};
    for (const Table* const table : tables_of(trace)) {
        cut.tables.insert_or_assign({table->name(), table->subject()}, table->mark());
    }
    return cut;
}

std::vector<std::byte> contents(const Trace& trace, const Cut& since, const std::optional<Live>& live) {
    const std::vector<Table> overview = trace.schedule.overview().tables(trace.axis.last());
    std::vector<Stored> stored = stored_of(trace, since, overview);
    std::vector<std::span<const std::uint64_t>> lists;
    lists.reserve(stored.size());
    for (const Stored& one : stored) {
        lists.push_back(one.table->times(one.after.rows));
    }
    const Times times = times_of(lists);
    Table distances("times", 0, {}, {"distance"});
    for (std::size_t i = 0; i < times.size(); ++i) {
        distances.add({}, {times[i] - (i > 0 ? times[i - 1] : 0)});
    }
    for (Stored& one : stored) {
        one.times = one.table->references(times, one.after.rows);
    }
    stored.insert(stored.begin(), {.table = &distances, .after = {}, .times = {}});
    fmt::memory_buffer buffer;
    Json json(buffer);
    json.begin_object();
    json.member("version", 1);
    if (live) {
        add_live(json, *live);
    }
    add_facts(json, trace, since);
    add_directory(json, stored);
    json.end_object();
    std::vector<std::byte> bytes = block_of(buffer);
    for (const Stored& one : stored) {
        one.each([&bytes](const std::string& /*name*/, std::span<const std::byte> more) {
            bytes.insert(bytes.end(), more.begin(), more.end());
        });
    }
    return bytes;
}

std::vector<std::byte> contents_without_trace(const Live& live) {
    fmt::memory_buffer buffer;
    Json json(buffer);
    json.begin_object();
    json.member("version", 1);
    add_live(json, live);
    add_directory(json, {});
    json.end_object();
    return block_of(buffer);
}

} // namespace host::report
