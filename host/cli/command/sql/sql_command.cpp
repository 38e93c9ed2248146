// SPDX-License-Identifier: MIT
// remora sql: one SQL statement over a trace, without importing it.
#include "host/cli/command/seconds.hpp"
#include "host/cli/command/sql/sql_output.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/terminal/last_resort.hpp"

#include "host/sql/database.hpp"
#include "host/sql/tables.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

struct SqlOptions {
    TraceInput input;
    std::string statement;
    bool csv = false;
    bool json = false;
    bool explain = false;
    bool whole = false;
    double timeout_s = 0; // 0: none
};

// The line of the statement, and a mark under the place.
void print_failure(Output& err, std::string_view statement, const sql::Database::Failure& failure) {
    err.print("remora sql: {}\n", text::escaped(failure.text));
    if (failure.offset < 0 || static_cast<std::size_t>(failure.offset) > statement.size()) {
        return;
    }
    const auto offset = static_cast<std::size_t>(failure.offset);
    const std::size_t newline = statement.substr(0, offset).rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const std::string before = text::escaped(statement.substr(begin, offset - begin));
    const std::size_t end = std::min(statement.find('\n', offset), statement.size());
    err.print("  {}{}\n  {}^ here\n", before, text::escaped(statement.substr(offset, end - offset)),
              std::string(before.size(), ' '));
}

// Shows how far the query has come until its first row; false once it has taken too long.
class Watch {
  public:
    Watch(const SqlOptions& options, Context context)
        : m_progress(context.err, "reading")
        , m_timeout(duration(options.timeout_s)) {}

    [[nodiscard]] bool operator()(std::uint64_t events) {
        if (!m_has_rows) {
            m_progress.show(events, 0);
        }
        return !m_timeout || std::chrono::steady_clock::now() - m_begin < *m_timeout;
    }

    void clear() { m_progress.clear(); }

    void row() {
        m_progress.clear();
        m_has_rows = true;
    }

  private:
    ProgressLine m_progress;
    std::optional<std::chrono::milliseconds> m_timeout;
    std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
    bool m_has_rows = false;
};

// While SQLite computes one value it does not ask the watch.
constexpr std::chrono::milliseconds kGrace{1000};

std::unique_ptr<LastResort> last_resort(const SqlOptions& options) {
    const auto timeout = duration(options.timeout_s);
    if (!timeout) {
        return nullptr;
    }
    return std::make_unique<LastResort>(
        *timeout + kGrace,
        fmt::format("remora sql: stopped after {} s (--timeout) in the middle of a value: rows are missing; ask for "
                    "smaller values, or allow more time\n",
                    options.timeout_s),
        static_cast<int>(trace::ExitStatus::timeout));
}

trace::ExitStatus query(const SqlOptions& options, Context context) {
    auto limit = last_resort(options);
    Watch watch(options, context);
    const auto source = sql::Source::open({.path = options.input.path,
                                           .open = options.input.options,
                                           .watch = [&](std::uint64_t events) { return watch(events); }},
                                          [&, say = diagnostics_to(context)](std::string_view line) {
                                              watch.clear();
                                              say(line);
                                          });
    if (!source) {
        return trace::ExitStatus::usage;
    }
    const auto database = sql::Database::open(*source.value());
    if (!database) {
        context.err.print("remora sql: {}\n", error_name(database.error()));
        return trace::ExitStatus::no_space;
    }
    SqlOutput output(context.out, options.json ? SqlFormat::json : options.csv ? SqlFormat::csv : SqlFormat::columns);
    const auto failure = database.value()->run(
        options.statement, {.begin = [&](std::span<const std::string> names) { output.begin(names); },
                            .row =
                                [&](std::span<const sql::Value> values) {
                                    watch.row();
                                    return output.row(values);
                                }});
    limit.reset();
    watch.clear();
    if (failure) {
        if (failure->stopped) {
            output.finish();
        }
        context.out.flush();
        if (failure->stopped) {
            context.err.print(
                "remora sql: stopped after {} s (--timeout): rows may be missing; ask for less, such as a "
                "range of time_ns, or allow more time\n",
                options.timeout_s);
            return trace::ExitStatus::timeout;
        }
        print_failure(context.err, options.statement, *failure);
        return trace::ExitStatus::usage;
    }
    output.finish();
    if (options.explain) {
        const sql::Statistics& done = source.value()->statistics();
        context.err.print("remora sql: visited {} of about {} records; chunks read {}\n", done.visited,
                          source.value()->records_estimate(), done.chunks);
    }
    return source.value()->status();
}

} // namespace

void add_sql(CommandLine& line, Context context) {
    Command command = line.command("sql", "ask a trace in SQL");
    const auto options = std::make_shared<SqlOptions>();
    add_trace_options(command, options->input);
    options->input.options.machine_clock = true; // times are those of the stamps
    command.option("STATEMENT", options->statement, "one SELECT, in SQLite's dialect").required();
    Option csv = command.flag("--csv", options->csv, "as CSV");
    command.flag("--json", options->json, "as JSON").excludes(csv);
    command.flag("--explain", options->explain, "say at the end how much of the trace was read");
    command.flag("--whole", options->whole, "without effect: whatever is read is read whole");
    command
        .option("--timeout", options->timeout_s,
                "end the query after so many seconds, with exit status 5; rows that were found until then are shown")
        .check(check_seconds);
    std::string tables = "Tables: events";
    for (const sql::TableRow& table : sql::kTableRows) {
        tables += fmt::format(", {}", table.name);
    }
    tables += "; views:";
    for (const sql::ViewRow& view : sql::kViewRows) {
        tables += fmt::format("{} {}", &view == sql::kViewRows.data() ? "" : ",", view.name);
    }
    command.footer(tables +
                   ".\n"
                   "Their columns: select name, type from pragma_table_info('events')\n" +
                   examples({"remora sql out/udp 'select event, count(*) from events group by event order by 2 desc'",
                             "remora sql out/udp 'select * from responses' --csv",
                             "remora sql out/udp 'select * from events where time_ns between 5000000 and 6000000'"}));
    command.run([options, context] {
        context.out.page();
        return query(*options, context);
    });
}

} // namespace host::cli
