// SPDX-License-Identifier: MIT
// remora convert writes a trace in the format of another tool.
#include "convert/command/full_program.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/cli/terminal/stop_signal.hpp"

#include "convert/convert.hpp"
#include "host/text/escape.hpp"

#include <memory>

namespace host::cli {

namespace {

struct ConvertOptions {
    TraceInput input;
    std::string format;
    std::string output;
    std::string output_argument;
};

trace::ExitStatus convert_trace(const ConvertOptions& options, Context context) {
    const convert::FormatRow* const format = convert::find_format(options.format);
    std::string output = options.output.empty() ? options.output_argument : options.output;
    if (!options.output.empty() && !options.output_argument.empty()) {
        context.err.print("remora convert: {} and --output {} both name the output: give one of them\n",
                          text::escaped(options.output_argument), text::escaped(options.output));
        return trace::ExitStatus::usage;
    }
    if (output.empty()) {
        output = "-";
    }
    const std::string contradiction =
        contradiction_in(options.input.selection, "--to-time must be later than --from-time");
    Selection selection(options.input.selection);
    if (!contradiction.empty() || (!selection.everything() && format->keeps_stamps)) {
        context.err.print("remora convert: {}\n",
                          !contradiction.empty() ? contradiction
                                                 : fmt::format("{} holds whole chunks, with the number of records that "
                                                               "the kernel wrote: cut in another format, such as csv",
                                                               format->name));
        return trace::ExitStatus::usage;
    }
    trace::Diagnostics diagnostics(diagnostics_to(context));
    ProgressLine line(context.err, "converting");
    catch_stop_signals();
    convert::Request request{.input = options.input.path,
                             .output = output,
                             .options = options.input.options,
                             .format = format,
                             .stopped = [] { return stop_requested() != 0; },
                             .ended =
                                 [&](const formats::Trace& trace) {
                                     line.clear();
                                     print_loss(trace, context);
                                 }};
    request.options.follow.stop = &stop_requested();
    if (!selection.everything()) {
        request.wanted = [&selection](const trace::Event& event) { return selection.contains_or_dispatches(event); };
        request.refusal = [&selection](const trace::Names& names) { return selection.missing(names); };
    }
    const auto outcome = convert::convert(request, diagnostics,
                                          [&](std::uint64_t done, std::uint64_t total) { line.show(done, total); });
    line.clear();
    if (!outcome.error.empty()) {
        context.err.print("remora convert: {}\n", outcome.error);
    }
    return outcome.status;
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const convert::FormatRow* const row : convert::all_formats()) {
        names.emplace_back(row->name);
    }
    return names;
}

std::string format_list() {
    std::string text = "Formats:\n";
    for (const convert::FormatRow* const row : convert::all_formats()) {
        text += fmt::format("  {:<12} {}\n", row->name, row->meaning);
    }
    return text;
}

} // namespace

void add_convert(CommandLine& line, Context context) {
    Command command = line.command("convert", "write a trace in the format of another tool");
    const auto options = std::make_shared<ConvertOptions>();
    add_trace_options(command, options->input, "--to-time");
    command.option("OUTPUT", options->output_argument, "same as --output");
    command.option("--to", options->format, "format of the output").required().one_of(format_names());
    command
        .option("-o,--output", options->output,
                "file, or directory where the format is one; default and -: standard output")
        .check([](const std::string& text) { return text.empty() ? "must be a name, or - for standard output" : ""; });
    command.footer(format_list() +
                   examples({"remora convert out/udp --to csv -o trace.csv",
                             "remora convert 0trace.dat trace.csv --to csv", "remora convert - --from kev --to csv",
                             "remora convert out/udp --to perfetto -o cut.pftrace --from-time 10ms --to-time 20ms"}));
    command.run([options, context] { return convert_trace(*options, context); });
}

} // namespace host::cli
