// SPDX-License-Identifier: MIT
// remora schedule shows in words what the scheduler did. Times are cut to a resolution (100 us by default), so that
// under an instruction clock the text changes if the schedule changes, not if the kernel becomes an instruction longer.
// The golden files under tests/golden/ have this text.
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/trace_input.hpp"

#include "host/analyse/narrator.hpp"

#include <memory>

namespace host::cli {

namespace {

struct ScheduleOptions {
    TraceInput input;
    std::uint64_t resolution_us = kResolutionDefaultUs;
};

trace::ExitStatus schedule(const ScheduleOptions& options, Context context) {
    context.out.page();
    return with_trace(options.input, context, "", [&](formats::Trace& trace) {
        Selection selection(options.input.selection);
        const auto resolution_ns = static_cast<std::int64_t>(options.resolution_us) * kNsPerUs;
        analyse::Narrator narrator([&](const analyse::Decision& decision) {
            if (selection.everything() || selection.is_about(decision.event, decision.context)) {
                context.out.print("{}\n", analyse::schedule_line(decision.event.time_ns, resolution_ns, decision.text));
            }
        });
        for (auto batch = trace.next_batch(); !batch.empty() && !context.out.failed(); batch = trace.next_batch()) {
            for (const trace::Event& event : batch) {
                if (!event.metadata) {
                    if (event.is_sound()) {
                        selection.take_note(event);
                    }
                    narrator.add(event);
                }
            }
            if (options.input.options.follow.wanted) {
                context.out.flush();
            }
        }
        return status_of("schedule", selection, trace, context);
    });
}

} // namespace

void add_schedule(CommandLine& line, Context context) {
    Command command = line.command("schedule", "list what the scheduler did, one line per decision");
    const auto options = std::make_shared<ScheduleOptions>();
    add_trace_options(command, options->input, "--to-time,--to");
    add_follow_options(command, options->input);
    command.option("--resolution", options->resolution_us, "times are cut to so many microseconds (default 100)")
        .range(std::uint64_t{1}, std::uint64_t{1'000'000});
    command.footer(
        examples({"remora schedule out/udp", "remora schedule out/udp --task control --from 10ms --to 50ms"}));
    command.run([options, context] { return schedule(*options, context); });
}

} // namespace host::cli
