// SPDX-License-Identifier: MIT
// remora print shows one line, or one JSON object, for each event; remora attach does the same for a machine's memory.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/command/verdict.hpp"
#include "host/cli/event/disassembly.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/cli/event/run_printer.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

struct PrintOptions {
    TraceInput input;
    bool all = false;
    bool ticks = false;
    bool disassemble = false;
    std::string family;
    std::uint64_t limit = 0; // 0: none
};

// Appends to the last line of the output what objdump prints for the event's instruction.
void append_instruction(fmt::memory_buffer& out, std::string_view instruction) {
    if (instruction.empty()) {
        return;
    }
    out.resize(out.size() - 1); // the line break
    append(out, "  | ");
    append_escaped(out, instruction);
    out.push_back('\n');
}

// Returns nothing if it was not asked for.
lib::Result<std::optional<Disassembly>> disassembly_for(const PrintOptions& options, Context context) {
    if (!options.disassemble) {
        return std::optional<Disassembly>();
    }
    const std::string& image = options.input.options.kernel;
    if (image.empty()) {
        context.err.print("remora print: --disassemble needs --kernel kernel.elf: a session keeps the names of "
                          "functions, not their code\n");
        return lib::Error::invalid_argument;
    }
    auto disassembly = Disassembly::of_image(image);
    if (!disassembly) {
        context.err.print("remora print: {}: {}\n", text::escaped(image), disassembly.error().text);
        return lib::Error::io;
    }
    return std::optional(std::move(disassembly.value()));
}

bool is_of_kind(const PrintOptions& options, const trace::Event& event) {
    return (options.all || !event.metadata) &&
           (options.family.empty() || tracer::kFamilyNames[event.code & 0x0F] == options.family);
}

bool is_shown(const PrintOptions& options, Selection& selection, const trace::Event& event) {
    return (selection.everything() || selection.contains(event)) && is_of_kind(options, event);
}

// Prints with several threads. This is possible if each event is shown independently of those before.
void print_in_parallel(const PrintOptions& options, unsigned threads, formats::Trace& trace, Output& out) {
    RunPrinter printer(out, threads, options.ticks ? TimeUnit::ticks : TimeUnit::nanoseconds,
                       [&options](fmt::memory_buffer& text, RunPrinter::Writers& writers,
                                  std::span<const trace::Event> events, std::span<const trace::OptionalTask> tasks) {
                           for (std::size_t i = 0; i < events.size(); ++i) {
                               if (!is_of_kind(options, events[i])) {
                                   continue;
                               }
                               if (options.input.json) {
                                   writers.objects.append(text, events[i], "", tasks[i]);
                               } else {
                                   writers.lines.append(text, events[i], tasks[i]);
                               }
                           }
                       });
    printer.print(trace);
}

// Prints how the run ended badly. On a terminal it is a part of the text; elsewhere every line of the output is an
// event.
void print_end(const PrintOptions& options, analyse::CrashWatch& ends, const formats::Trace& trace, Context context) {
    print_crashes(context.out.is_terminal() && !options.input.json ? context.out : context.err,
                  crashes_in(ends, trace));
}

// Prints it from a pass of its own, because what ended the run is at the end of the trace.
void print_end_first(const PrintOptions& options, Context context) {
    trace::Diagnostics silent([](std::string_view) {});
    if (const auto opened = formats::Trace::open(options.input.path, options.input.options, silent)) {
        analyse::CrashWatch ends;
        opened.value()->for_each([&](const trace::Event& event) { ends.take(event); });
        print_end(options, ends, *opened.value(), context);
    }
}

// ends: receives the events, unless several threads print them.
trace::ExitStatus print_events(const PrintOptions& options, const std::optional<Disassembly>& disassembly,
                               formats::Trace& trace, analyse::CrashWatch& ends, Context context) {
    Selection selection(options.input.selection);
    const unsigned threads = threads_for(options.input);
    if (threads > 1 && options.limit == 0 && !disassembly && selection.everything()) {
        print_in_parallel(options, threads, trace, context.out);
        return status_of("print", selection, trace, context);
    }
    EventLines lines(options.ticks ? TimeUnit::ticks : TimeUnit::nanoseconds);
    JsonLines objects;
    std::uint64_t left = options.limit;
    // The lines of a pipe are written at once; those of a file fill whole buffers.
    const bool follows = options.input.options.follow.wanted;
    const bool live = options.input.path == "-" && context.out.is_terminal();
    // Returns false if no more is wanted.
    trace::RunningTasks running;
    const auto show = [&](const trace::Event& event) {
        ends.take(event);
        const trace::OptionalTask task = running.take(event);
        if (!is_shown(options, selection, event)) {
            return true;
        }
        const std::string_view instruction = disassembly ? disassembly->of(event) : "";
        if (options.input.json) {
            objects.append(context.out.buffer(), event, instruction, task);
        } else {
            lines.append(context.out.buffer(), event, task);
            append_instruction(context.out.buffer(), instruction);
        }
        context.out.flush_if_full();
        if (live) {
            context.out.flush();
        }
        return !context.out.failed() && (left == 0 || --left != 0);
    };
    for (auto batch = trace.next_batch(); !batch.empty(); batch = trace.next_batch()) {
        if (!std::ranges::all_of(batch, show)) {
            break;
        }
        if (follows) {
            context.out.flush();
        }
    }
    return status_of("print", selection, trace, context);
}

trace::ExitStatus print(const PrintOptions& options, Context context) {
    context.out.page();
    const auto disassembly = disassembly_for(options, context);
    if (!disassembly) {
        return trace::ExitStatus::usage;
    }
    return with_trace(options.input, context, "", [&](formats::Trace& trace) {
        // A pipe, and the memory of a machine that runs, can be read only once.
        const bool once = trace::ByteSource::is_stream(options.input.path) || options.input.options.follow.wanted;
        if (!once) {
            print_end_first(options, context);
        }
        analyse::CrashWatch ends;
        const trace::ExitStatus status = print_events(options, disassembly.value(), trace, ends, context);
        if (once && trace.exhausted()) {
            print_end(options, ends, trace, context);
        }
        return status;
    });
}

std::string check_limit(const std::string& text) {
    const bool fits = text::number_of<std::uint64_t>(text).value_or(0) != 0;
    return fits ? "" : "must be a whole number from 1 on; without --limit every line is shown";
}

void add_print_options(Command& command, PrintOptions& options) {
    add_trace_options(command, options.input, "--to-time,--to");
    add_follow_options(command, options.input);
    add_jobs_option(command, options.input);
    command.flag("--all", options.all, "show the metadata in front of each chunk, too");
    command.flag("--ticks", options.ticks, "raw time stamps instead of ns since the start");
    command.option("--family", options.family, "only events of this family (see: remora events)")
        .one_of(std::vector<std::string>(tracer::kFamilyNames.begin(), tracer::kFamilyNames.end()));
    command.option("--limit", options.limit, "stop after so many lines").check(check_limit);
    command.flag("--disassemble", options.disassemble,
                 "show the instruction at each address of a task in steps, with objdump's help; needs --kernel");
    command.flag("--json", options.input.json, "one JSON object per line");
}

} // namespace

void add_print(CommandLine& line, Context context) {
    Command command = line.command("print", "print one line per event, in time order");
    const auto options = std::make_shared<PrintOptions>();
    add_print_options(command, *options);
    command.footer(
        "Times are since the start of the trace. The values release, deadline and budget are ticks of the "
        "machine's counter, which --ticks shows of the records, too; priority is that of the task's level, "
        "of EDF the deadline in us of the counter.\n" +
        examples({"remora print out/udp --task control --limit 20", "remora print out/udp --family mutex --ticks",
                  "remora print out/udp --from 10ms --to 12ms", "remora print 0trace.dat --json",
                  "remora print out/udp --event block --kernel kernel.elf --disassemble",
                  "remora print - --from tlog"}));
    command.run([options, context] { return print(*options, context); });
}

void add_attach(CommandLine& line, Context context) {
    Command command =
        line.command("attach", "print the trace in a machine's memory: the file of a guest's RAM, pmemsave, ELF core");
    const auto options = std::make_shared<PrintOptions>();
    options->input.options.kind = trace::InputKind::memory;
    add_print_options(command, *options);
    command.footer(
        "FILE may be that of a machine that runs, and of one that has died; the machine does nothing for it. "
        "Every command that takes a TRACE takes it, too.\n" +
        examples({"remora attach out/ram --follow", "remora attach out/ram --task control --limit 20",
                  "remora attach guest.core --json"}));
    command.run([options, context] { return print(*options, context); });
}

} // namespace host::cli
