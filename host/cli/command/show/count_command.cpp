// SPDX-License-Identifier: MIT
// remora count shows the number of each event, and how long each task had the processor. It is the fastest overview of
// a long trace.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/cli/event/event_text.hpp"

#include "host/analyse/summary.hpp"
#include "host/trace/names.hpp"

#include <memory>

namespace host::cli {

namespace {

struct Counted {
    analyse::Tally tally;
    std::uint32_t khz = 0; // 0: times are ticks
    trace::Names names;    // of the tasks

    [[nodiscard]] std::uint64_t time(lib::Ticks ticks) const {
        return khz != 0 ? lib::TickRate{khz}.to_nanoseconds(ticks).value : ticks.value;
    }

    [[nodiscard]] std::string_view time_unit() const { return khz != 0 ? "ns" : "ticks"; }
};

void print_counts(Output& out, const Counted& counted) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        if (const std::uint64_t count = counted.tally.counts()[row.code]; count != 0) {
            out.print("{:>14}  {}\n", count, row.name);
        }
    }
    out.print("{:>14}  events", counted.tally.events());
    const std::uint64_t length = counted.time(counted.tally.duration());
    out.print(" in {} {}", length, counted.time_unit());
    if (counted.khz != 0 && length != 0) {
        constexpr double kNanosecondsPerSecond = 1e9;
        out.print(", {:.0f} per second",
                  static_cast<double>(counted.tally.events()) * kNanosecondsPerSecond / static_cast<double>(length));
    }
    out.print("\n");
    for (const auto& [context, busy] : counted.tally.busy()) {
        const std::string_view name = counted.names.find(tracer::Unit::context, context);
        out.print("busy {:>14} {}  context {}", counted.time(busy), counted.time_unit(), context);
        if (!name.empty()) {
            out.print(" (");
            append_escaped(out.buffer(), name);
            out.print(")");
        }
        out.print("\n");
    }
}

void print_json(Output& out, const Counted& counted) {
    text::JsonText json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("events", counted.tally.events());
    json.member("time_unit", counted.time_unit());
    json.member("duration", counted.time(counted.tally.duration()));
    json.begin_object("counts");
    for (const tracer::EventRow& row : tracer::kEvents) {
        if (const std::uint64_t count = counted.tally.counts()[row.code]; count != 0) {
            json.member(row.name, count);
        }
    }
    json.end_object();
    json.begin_object("busy");
    for (const auto& [context, busy] : counted.tally.busy()) {
        json.member(fmt::format("{}", context), counted.time(busy));
    }
    json.end_object();
    json.end_object();
    json.blank("\n");
}

trace::ExitStatus count(const TraceInput& input, Context context) {
    return with_trace(input, context, "counting", [&](formats::Trace& trace) {
        Counted counted;
        trace.for_each([&](const trace::Event& event) { counted.tally.add(event); });
        counted.tally.finish();
        counted.khz = trace.facts().clock.khz;
        counted.names = trace.facts().names;
        input.json ? print_json(context.out, counted) : print_counts(context.out, counted);
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_count(CommandLine& line, Context context) {
    Command command = line.command("count", "count each event, and add up how long each task ran");
    const auto input = std::make_shared<TraceInput>();
    add_trace_options(command, *input);
    add_jobs_option(command, *input);
    command.flag("--json", input->json, "as one JSON object");
    command.footer(examples({"remora count out/udp", "remora count 0trace.dat --json"}));
    command.run([input, context] { return count(*input, context); });
}

} // namespace host::cli
