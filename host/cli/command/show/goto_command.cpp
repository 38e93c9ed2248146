// SPDX-License-Identifier: MIT
// remora goto shows one place of a trace, a record or a time, with the events before and after it. The places are those
// that `remora why`, `check`, `verify` and the page of `remora report` name.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/event_lines.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

constexpr std::uint64_t kContextMax = 1'000'000;
constexpr std::string_view kPlaceRule =
    "must be RECORD, CHUNK:RECORD, FILE:RECORD, FILE:CHUNK:RECORD, or a time with its unit, like 20us";

// Identifies a record by the numbers that are given; without any, the first event at the time or later.
struct Place {
    std::string file{};
    std::optional<std::uint16_t> chunk{};
    std::optional<std::uint64_t> record{};
    std::int64_t time_ns = 0;

    [[nodiscard]] bool is_at(const trace::Event& event, const trace::TraceFacts& facts) const {
        if (!record) {
            return !event.metadata && event.timed && event.time_ns >= time_ns;
        }
        return event.record == *record && (!chunk || event.chunk == *chunk) && is_of(facts.chunks[event.source].file);
    }

  private:
    // Returns whether no file was named, or the name is the file's path or the end of it.
    [[nodiscard]] bool is_of(std::string_view path) const {
        return file.empty() || path == file || (path.ends_with(file) && path[path.size() - file.size() - 1] == '/');
    }
};

// A number without a unit is a record, because times have a unit here.
std::optional<Place> place_of(const std::string& text) {
    if (const auto record = text::number_of<std::uint64_t>(text)) {
        return Place{.file = {}, .chunk = {}, .record = record, .time_ns = 0};
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) {
        const auto time = time_of(text);
        return time ? std::optional(Place{.file = {}, .chunk = {}, .record = {}, .time_ns = *time}) : std::nullopt;
    }
    const auto record = text::number_of<std::uint64_t>(std::string_view(text).substr(colon + 1));
    std::string carrier = text.substr(0, colon);
    if (!record || carrier.empty()) {
        return std::nullopt;
    }
    const std::size_t before = carrier.rfind(':');
    const auto chunk = text::number_of<std::uint16_t>(std::string_view(carrier).substr(before + 1)); // npos + 1 is 0
    if (chunk) {
        carrier.resize(before == std::string::npos ? 0 : before);
    }
    return Place{.file = carrier, .chunk = chunk, .record = record, .time_ns = 0};
}

struct GotoOptions {
    TraceInput input;
    std::string place;
    std::uint64_t context = 10;
    bool ticks = false;
};

// Reads up to the place and the lines after it, and keeps only the lines around it.
class Surroundings {
  public:
    Surroundings(const GotoOptions& options, Place place)
        : m_place(std::move(place))
        , m_size(options.context)
        , m_lines(options.ticks ? TimeUnit::ticks : TimeUnit::nanoseconds) {}

    // Returns false if no more is wanted.
    bool take(const trace::Event& event, const trace::TraceFacts& facts) {
        const bool is_here = !m_found && m_place.is_at(event, facts);
        const trace::OptionalTask task = m_running.take(event);
        if (event.metadata && !is_here) {
            return true;
        }
        m_last = {event.chunk, event.record, event.time_ns};
        m_kept.push_back(line_of(event, is_here, task));
        if (is_here) {
            m_found = true;
        } else if (!m_found && m_kept.size() > m_size) {
            m_kept.pop_front();
        } else if (m_found) {
            ++m_after;
        }
        return !m_found || m_after < m_size;
    }

    [[nodiscard]] bool found() const { return m_found; }

    // Returns the place of the last event that was read.
    [[nodiscard]] std::string last() const {
        return fmt::format("{}:{} at {} ns", m_last.chunk, m_last.record, m_last.time_ns);
    }

    void print(Output& out) const {
        for (const std::string& line : m_kept) {
            out.print("{}", line);
        }
    }

  private:
    std::string line_of(const trace::Event& event, bool is_here, trace::OptionalTask task) {
        fmt::memory_buffer line;
        append(line, fmt::format("{} {:>10}  ", is_here ? '>' : ' ', fmt::format("{}:{}", event.chunk, event.record)));
        m_lines.append(line, event, task);
        return fmt::to_string(line);
    }

    Place m_place;
    std::uint64_t m_size;
    EventLines m_lines;
    trace::RunningTasks m_running;
    std::deque<std::string> m_kept;

    struct {
        std::uint16_t chunk = 0;
        std::uint64_t record = 0;
        std::int64_t time_ns = 0;
    } m_last;

    bool m_found = false;
    std::uint64_t m_after = 0;
};

trace::ExitStatus go_to(const GotoOptions& options, Context context) {
    return with_trace(options.input, context, "", [&](formats::Trace& trace) {
        Surroundings surroundings(options, *place_of(options.place));
        const auto take = [&](const trace::Event& event) { return surroundings.take(event, trace.facts()); };
        for (auto batch = trace.next_batch(); !batch.empty() && std::ranges::all_of(batch, take);
             batch = trace.next_batch()) {
        }
        if (!surroundings.found()) {
            if (trace.facts().usable_events != 0) {
                context.err.print("remora goto: no event of the trace is at {}; the last one is {}\n",
                                  text::escaped(options.place), surroundings.last());
            }
            return trace::ExitStatus::usage;
        }
        surroundings.print(context.out);
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_goto(CommandLine& line, Context context) {
    Command command = line.command("goto", "show a place of the trace: a record or a time, with the events around it");
    const auto options = std::make_shared<GotoOptions>();
    add_trace_options(command, options->input);
    command
        .option(
            "PLACE", options->place,
            "RECORD, CHUNK:RECORD (as `remora why` names it), FILE:RECORD (as `remora check` does): the first event "
            "of these numbers; or a time with its unit, like 1500ns, 20us, 1.5ms, 2s: the first event at this time "
            "or later")
        .required()
        .check([](const std::string& text) { return place_of(text) ? "" : std::string(kPlaceRule); });
    command.option("--context", options->context, "so many events before it and after it")
        .range(std::uint64_t{0}, kContextMax)
        .show_default();
    command.flag("--ticks", options->ticks, "raw time stamps instead of ns since the start");
    command.footer("Each line begins with its place, as CHUNK:RECORD.\n" +
                   examples({"remora goto out/udp 650", "remora goto out/udp 0:650 --context 3",
                             "remora goto out/udp 22.009461ms"}));
    command.run([options, context] { return go_to(*options, context); });
}

} // namespace host::cli
