// SPDX-License-Identifier: MIT
// remora doctor: what is wrong with a port of the tracer to another kernel, by what it left in the trace. The exit
// status is 2 if anything is that does harm.
#include "host/analyse/doctor.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/text/json_writer.hpp"
#include "host/text/wrap.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace host::cli {

namespace {

using analyse::Symptom;

constexpr const char* kUnreadable =
    "remora doctor: if this is the memory of a machine with the tracer: remora_init() was not reached, its memory is "
    "not in this file, or virt_minus_phys is not the difference of its addresses (docs/porting.md, step 3)\n";

void print_text(Output& out, const std::vector<Symptom>& found) {
    for (const Symptom& symptom : found) {
        out.print("{}  {}\n", out.styled(symptom.harmless ? Style::warning : Style::bad, symptom.name),
                  text::wrapped(symptom.text));
        out.print("{}\n", text::wrapped(fmt::format("    {} (docs/porting.md, {})", symptom.remedy, symptom.step)));
    }
    const auto harmful = std::ranges::count(found, false, &Symptom::harmless);
    out.print("{}\n", harmful == 0
                          ? out.styled(Style::good, "nothing is wrong with the port that the trace shows")
                          : out.styled(Style::bad, fmt::format("{} of {} need a remedy", harmful, found.size())));
}

void print_json(Output& out, const std::vector<Symptom>& found) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.objects("symptoms", found, [&](const Symptom& symptom) {
        json.member("symptom", symptom.name);
        json.member("text", symptom.text);
        json.member("remedy", symptom.remedy);
        json.member("step", symptom.step);
        json.member("harmless", symptom.harmless);
    });
    json.end_object();
    json.blank("\n");
}

trace::ExitStatus examine(const TraceInput& input, Context context) {
    bool opened = false;
    const trace::ExitStatus status = with_trace(input, context, "examining", [&](formats::Trace& trace) {
        opened = true;
        analyse::Doctor doctor;
        trace.for_each([&](const trace::Event& event) { doctor.add(event); });
        const std::vector<Symptom> found = doctor.finish(trace.facts());
        input.json ? print_json(context.out, found) : print_text(context.out, found);
        return std::ranges::all_of(found, &Symptom::harmless) ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    });
    if (!opened) {
        context.err.print("{}", text::wrapped(kUnreadable));
    }
    return status;
}

} // namespace

void add_doctor(CommandLine& line, Context context) {
    Command command = line.command("doctor", "find the mistakes of a port of the tracer to a kernel of your own, with "
                                             "their remedies; exit status 2 if one does harm");
    const auto input = std::make_shared<TraceInput>();
    add_trace_options(command, *input);
    command.flag("--json", input->json, "as JSON");
    command.footer(examples({"remora doctor out/ram", "remora doctor trace.dat --json"}));
    command.run([input, context] { return examine(*input, context); });
}

} // namespace host::cli
