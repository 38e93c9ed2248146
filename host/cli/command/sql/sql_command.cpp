// SPDX-License-Identifier: MIT
// remora sql runs one SQL statement over a trace, without importing the trace.
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/cli/terminal/stop_signal.hpp"
#include "host/sql/database.hpp"
#include "host/sql/tables.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/text/wrap.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

// --- rows as columns, CSV or JSON
// -------------------------------------------------------------------------------------

enum class SqlFormat : std::uint8_t {
    columns, // aligned, numbers to the right; many columns, wider than a terminal, are a block of lines for each row
    csv,     // RFC 4180, with a head
    json,    // an object with the array `rows`, one row to a line
};

class SqlOutput {
  public:
    SqlOutput(Output& out, SqlFormat format)
        : m_out(out)
        , m_json(out.buffer())
        , m_format(format) {}

    void begin(std::span<const std::string> names);

    // Returns false once the output cannot be written.
    [[nodiscard]] bool row(std::span<const sql::Value> values);

    void finish();

  private:
    // So many rows are kept to determine the widths of the columns, which later rows use.
    static constexpr std::size_t kRowsKept = 1000;
    static constexpr std::size_t kColumnsOfTable = 10; // so many are a table, however wide they are

    struct Field {
        std::string text;
        bool number = false;
    };

    void print_kept();
    void print_fields(std::span<const Field> fields);
    void print_block(std::span<const Field> fields);
    void print_csv(std::span<const sql::Value> values);
    void print_json(std::span<const sql::Value> values);

    Output& m_out;
    text::JsonText m_json;
    SqlFormat m_format;
    std::vector<std::string> m_names;
    std::vector<std::vector<Field>> m_kept;
    std::vector<std::size_t> m_widths;
    bool m_widths_known = false;
    bool m_blocks = false;
};

// Texts that a query makes may contain anything, so they are escaped for a terminal.
using Kind = sql::Value::Kind;

std::string hexadecimal(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
}

// Returns the columns of a terminal that a text takes. Names are nearly always ASCII; each other character counts as
// one column.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char character) { return (static_cast<unsigned char>(character) & 0xC0) != 0x80; }));
}

void SqlOutput::begin(std::span<const std::string> names) {
    m_names.assign(names.begin(), names.end());
    if (m_format == SqlFormat::csv) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            m_out.print("{}{}", i == 0 ? "" : ",", text::csv_field(names[i]));
        }
        m_out.print("\n");
    } else if (m_format == SqlFormat::json) {
        m_out.print("{{\"version\": {},\n\"rows\": ", kJsonVersion);
        m_json.begin_array();
    }
}

bool SqlOutput::row(std::span<const sql::Value> values) {
    switch (m_format) {
    case SqlFormat::csv:
        print_csv(values);
        break;
    case SqlFormat::json:
        print_json(values);
        break;
    case SqlFormat::columns: {
        std::vector<Field> fields;
        for (const sql::Value& value : values) {
            const bool number = value.kind == Kind::integer || value.kind == Kind::real;
            fields.push_back(
                {value.kind == Kind::blob ? hexadecimal(value.text) : text::made_printable(value.text), number});
        }
        if (m_widths_known) {
            print_fields(fields);
        } else {
            m_kept.push_back(std::move(fields));
            if (m_kept.size() == kRowsKept) {
                print_kept();
            }
        }
        break;
    }
    }
    return !m_out.failed();
}

void SqlOutput::finish() {
    if (m_format == SqlFormat::json) {
        m_json.end_lines();
        m_out.print("\n}}\n");
    } else if (m_format == SqlFormat::columns && !m_widths_known) {
        print_kept();
    }
}

void SqlOutput::print_kept() {
    m_widths_known = true;
    std::vector<Field> head;
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        std::size_t width = width_of(m_names[i]);
        bool number = false;
        for (const std::vector<Field>& fields : m_kept) {
            width = std::max(width, width_of(fields[i].text));
            number = number || fields[i].number;
        }
        m_widths.push_back(width);
        head.push_back({text::made_printable(m_names[i]), number});
    }
    const std::size_t width = std::accumulate(m_widths.begin(), m_widths.end(), 2 * m_widths.size());
    m_blocks = !m_kept.empty() && head.size() > kColumnsOfTable && width > text::kColumns + 2;
    if (m_blocks) {
        m_widths.assign(1, std::ranges::max(m_names, {}, &std::string::size).size());
    } else {
        print_fields(head);
    }
    for (const std::vector<Field>& fields : m_kept) {
        print_fields(fields);
    }
    m_kept.clear();
}

void SqlOutput::print_block(std::span<const Field> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        m_out.print("{:<{}}  {}\n", text::made_printable(m_names[i]), m_widths.front(), fields[i].text);
    }
    m_out.print("\n");
}

void SqlOutput::print_fields(std::span<const Field> fields) {
    if (m_blocks) {
        print_block(fields);
        return;
    }
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::size_t width = width_of(fields[i].text);
        const std::string gap(m_widths[i] - std::min(width, m_widths[i]), ' ');
        line += i == 0 ? "" : "  ";
        line += fields[i].number ? gap + fields[i].text : fields[i].text + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    m_out.print("{}\n", line);
}

void SqlOutput::print_csv(std::span<const sql::Value> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool blob = values[i].kind == Kind::blob;
        m_out.print("{}{}", i == 0 ? "" : ",", blob ? hexadecimal(values[i].text) : text::csv_field(values[i].text));
    }
    m_out.print("\n");
}

// Values are written as SQLite has them; invalid UTF-8 is replaced.
void SqlOutput::print_json(std::span<const sql::Value> values) {
    m_json.line();
    m_json.begin_object();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const sql::Value& value = values[i];
        m_json.key(m_names[i]);
        switch (value.kind) {
        case Kind::null:
            m_json.value(nullptr);
            break;
        case Kind::integer:
            m_json.plain(value.text);
            break;
        case Kind::real: // JSON has no infinity
            m_json.plain(value.text.find_first_of("In") == std::string_view::npos ? value.text : "null");
            break;
        case Kind::text:
            m_json.value(value.text);
            break;
        case Kind::blob:
            m_json.value(hexadecimal(value.text));
            break;
        }
    }
    m_json.end_object();
    m_out.flush_if_full();
}

// --- the command -----------------------------------------------------------------------------------------------------

struct SqlOptions {
    TraceInput input;
    std::string statement;
    bool csv = false;
    bool json = false;
    bool explain = false;
    bool whole = false;
    double timeout_s = 0; // 0: none
};

// Prints the line of the statement, and a mark below the place.
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

// Shows the progress of the query until its first row. Returns false once it has taken too long.
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

// While SQLite computes one value it does not call the watch.
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
                                           .watch = [&](std::uint64_t events) { return watch(events); },
                                           .ended =
                                               [&](const formats::Trace& trace) {
                                                   watch.clear();
                                                   print_loss(trace, context);
                                               }},
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
    options->input.options.whole_first = true; // damaged data must not make jobs late
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
