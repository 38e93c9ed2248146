// SPDX-License-Identifier: MIT
// remora summary: what ran, and its figures.
#include "host/cli/command/summary_view.hpp"
#include "host/cli/command/trace_input.hpp"

#include <memory>

namespace host::cli {

namespace {

trace::ExitStatus summarise(const TraceInput& input, Context context) {
    context.out.page();
    return with_trace(input, context, "summarising", [&](formats::Trace& trace) {
        analyse::Summary summary;
        trace::Event event;
        analyse::Summary shown;
        Selection selection(input.selection);
        while (trace.next(event)) {
            if (selection.in_span(event)) {
                summary.add(event);
            }
            if (selection.everything() || selection.contains(event)) {
                shown.add(event);
            }
        }
        summary.finish();
        const Accounts accounts = accounts_of(trace);
        const Verdict verdict = verdict_of(trace, accounts);
        const SummaryView view{input.path, trace, selection, summary, shown, accounts, verdict};
        input.json ? print_summary_json(context.out, view) : print_summary(context.out, view);
        return worse(status_of("summary", selection, trace, context),
                     verdict.whole ? trace::ExitStatus::clean : trace::ExitStatus::damaged);
    });
}

} // namespace

void add_summary(CommandLine& line, Context context) {
    Command command = line.command("summary", "print what ran and its figures per task and family");
    const auto input = std::make_shared<TraceInput>();
    add_trace_options(command, *input, "--to-time,--to");
    add_follow_options(command, *input);
    command.flag("--json", input->json, "as JSON");
    command.footer(examples(
        {"remora summary out/udp", "remora summary out/udp --json", "remora summary out/udp --from 100ms --to 200ms"}));
    command.run([input, context] { return summarise(*input, context); });
}

} // namespace host::cli
