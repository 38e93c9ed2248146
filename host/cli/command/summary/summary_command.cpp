// SPDX-License-Identifier: MIT
// remora summary shows what ran, and its figures.
#include "host/cli/command/summary/summary_view.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/schedule/pass.hpp"
#include "host/text/escape.hpp"

#include <cstdint>
#include <memory>
#include <set>
#include <utility>

namespace host::cli {

namespace {

struct SummaryInput : TraceInput {
    std::string raises;
};

// Returns whether a chunk turned out to be damaged after its events had been used, as it does in a pipe: any job may be
// of wrong records then.
bool has_late_damage(const trace::TraceFacts& facts, const std::set<std::uint32_t>& doubtful) {
    for (std::uint32_t i = 0; i < facts.chunks.size(); ++i) {
        if (facts.chunks[i].damaged && facts.chunks[i].events != 0 && !doubtful.contains(i)) {
            return true;
        }
    }
    return false;
}

trace::ExitStatus summarise(const SummaryInput& input, Context context) {
    auto raises = observed(input.raises);
    if (!raises) {
        context.err.print("remora summary: {}: {}\n", text::escaped(input.raises), raises.error().text);
        return trace::ExitStatus::usage;
    }
    context.out.page();
    return with_trace(input, context, "summarising", [&](formats::Trace& trace) {
        analyse::Summary summary;
        analyse::Latencies latencies(std::move(raises.value()));
        analyse::TraceMetrics metrics;
        analyse::CrashWatch ends;
        schedule::Pass pass([&](const schedule::JobAccount& account) { metrics.add(account); });
        analyse::Summary shown;
        Selection selection(input.selection);
        const bool everything = selection.everything();
        std::set<std::uint32_t> doubtful; // the chunks of which the damage was known before their first event
        trace.for_each([&](const trace::Event& event) {
            if (event.doubtful) {
                doubtful.insert(event.source);
            }
            ends.take(event);
            if (everything || selection.in_span(event)) {
                summary.add(event);
                const auto changes = pass.take(event, trace.facts().clock.khz);
                latencies.add(event, changes, pass.schedule());
            }
            if (!everything && selection.contains(event)) {
                shown.add(event);
            }
        });
        summary.finish();
        latencies.finish();
        pass.finish();
        if (has_late_damage(trace.facts(), doubtful)) {
            metrics = {};
            ends = {};
            context.err.print("{}: no jobs are shown: a damaged chunk of a pipe is known only at its end; copy the "
                              "pipe to a file and name that\n",
                              text::escaped(input.path));
        }
        const Accounts accounts = accounts_of(trace);
        const Verdict verdict = verdict_of(trace, accounts);
        const std::vector<analyse::Crash> crashes = crashes_in(ends, trace);
        const SummaryView view{input.path, trace,    selection, summary, metrics, everything ? summary : shown,
                               latencies,  accounts, verdict,   crashes};
        input.json ? print_summary_json(context.out, view) : print_summary(context.out, view);
        return worse(status_of("summary", selection, trace, context),
                     verdict.whole ? trace::ExitStatus::clean : trace::ExitStatus::damaged);
    });
}

} // namespace

void add_summary(CommandLine& line, Context context) {
    Command command = line.command("summary", "print what ran and its figures per task and family");
    const auto input = std::make_shared<SummaryInput>();
    input->judges = true;
    add_trace_options(command, *input, "--to-time,--to");
    add_follow_options(command, *input);
    command.flag("--json", input->json, "as JSON");
    add_raises_option(command, input->raises);
    command.footer(
        examples({"remora summary out/udp", "remora summary out/udp --json",
                  "remora summary out/udp --from 100ms --to 200ms", "remora summary out/udp --raises out/raises.csv"}));
    command.run([input, context] { return summarise(*input, context); });
}

} // namespace host::cli
