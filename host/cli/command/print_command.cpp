// SPDX-License-Identifier: MIT
// remora print: one line, or one JSON object, per event.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/disassembly.hpp"
#include "host/cli/event/event_lines.hpp"

#include "host/text/escape.hpp"
#include "host/trace/names.hpp"
#include "host/trace/user_event.hpp"

#include <algorithm>
#include <charconv>
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
    std::string event;
    std::string task;
    std::uint64_t limit = 0; // 0: none
};

// Which events are shown.
class Selection {
  public:
    explicit Selection(const PrintOptions& options)
        : m_options(options)
        , m_row(tracer::find_event(options.event))
        , m_unrestricted(options.family.empty() && options.event.empty() && options.task.empty()) {
        std::uint16_t context = 0;
        const char* const end = options.task.data() + options.task.size();
        const auto [parsed, error] = std::from_chars(options.task.data(), end, context);
        if (error == std::errc{} && parsed == end) {
            m_context = context;
        }
    }

    // Takes note of whether the event concerns the task asked for, shown or not.
    [[nodiscard]] bool contains(const trace::Event& event) {
        if (m_unrestricted) {
            m_task_seen = true;
            return m_options.all || !event.metadata;
        }
        const bool of_task = m_options.task.empty() || concerns_task(event);
        m_task_seen = m_task_seen || of_task;
        return (m_options.all || !event.metadata) &&
               (m_options.family.empty() || tracer::kFamilyNames[event.code & 0x0F] == m_options.family) &&
               is_event_asked_for(event) && of_task;
    }

    // The name asked for is neither in the event table nor declared by the trace.
    [[nodiscard]] bool event_unknown(const trace::Names& names) const {
        return !m_options.event.empty() && m_row == nullptr &&
               std::ranges::none_of(names.declarations(), [this](const auto& declared) {
                   return declared.second->name.view() == m_options.event;
               });
    }

    // No event and no name of the whole trace is of the task asked for.
    [[nodiscard]] bool task_unknown(const trace::Names& names) const {
        return !m_task_seen && !m_options.task.empty() && std::ranges::none_of(names.tasks(), [this](const auto& task) {
            return m_context == std::int64_t{task.first} || task.second.name == m_options.task;
        });
    }

  private:
    [[nodiscard]] bool is_event_asked_for(const trace::Event& event) const {
        if (m_options.event.empty() || m_row != nullptr) {
            return m_row == nullptr || event.code == m_row->code;
        }
        return event.is(trace::kCodeOf<"typed_event">) && trace::user_event_name(event) == m_options.event;
    }

    [[nodiscard]] bool concerns_task(const trace::Event& event) const {
        return event.row != nullptr &&
               (is_task(event, event.row->par1, event.par1) || is_task(event, event.row->par2, event.par2));
    }

    [[nodiscard]] bool is_task(const trace::Event& event, const tracer::Parameter& parameter,
                               std::uint32_t value) const {
        return parameter.unit == tracer::Unit::context &&
               (m_context == std::int64_t{value} || event.names->find(parameter.unit, value) == m_options.task);
    }

    const PrintOptions& m_options;
    const tracer::EventRow* m_row;
    bool m_unrestricted;
    std::int64_t m_context = -1; // if --task is a number
    bool m_task_seen = false;
};

// After the text of the line that ends the output: what objdump says of the event's instruction.
void append_instruction(fmt::memory_buffer& out, std::string_view instruction) {
    if (instruction.empty()) {
        return;
    }
    out.resize(out.size() - 1); // the line break
    append(out, "  | ");
    append_escaped(out, instruction);
    out.push_back('\n');
}

// Nothing if it was not asked for.
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

trace::ExitStatus print(const PrintOptions& options, Context context) {
    context.out.page();
    const auto disassembly = disassembly_for(options, context);
    if (!disassembly) {
        return trace::ExitStatus::usage;
    }
    return with_trace(options.input, context, [&](formats::Trace& trace) {
        Selection selection(options);
        EventLines lines(options.ticks ? TimeUnit::ticks : TimeUnit::nanoseconds);
        std::uint64_t left = options.limit;
        // A pipe is followed live; a file is worth whole buffers.
        const bool live = options.input.path == "-" && context.out.is_terminal();
        // False: no more is wanted.
        const auto show = [&](const trace::Event& event) {
            if (!selection.contains(event)) {
                return true;
            }
            const std::string_view instruction = disassembly.value() ? disassembly.value()->of(event) : "";
            if (options.input.json) {
                append_json(context.out.buffer(), event, instruction);
            } else {
                lines.append(context.out.buffer(), event);
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
        }
        if (trace.exhausted() && selection.task_unknown(trace.facts().names)) {
            context.err.print("remora print: the trace names no task {}\n", text::escaped(options.task));
            return trace::ExitStatus::usage;
        }
        if (trace.exhausted() && selection.event_unknown(trace.facts().names)) {
            context.err.print("remora print: no event is called {}: `remora events` lists the table, `remora events "
                              "TRACE` the typed events of a trace\n",
                              text::escaped(options.event));
            return trace::ExitStatus::usage;
        }
        return trace::ExitStatus::clean;
    });
}

std::string check_limit(const std::string& text) {
    std::uint64_t lines = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, lines);
    const bool fits = error == std::errc{} && parsed == end && lines != 0;
    return fits ? "" : "must be a whole number from 1 on; without --limit every line is shown";
}

} // namespace

void add_print(CommandLine& line, Context context) {
    Command command = line.command("print", "print one line per event, in time order");
    const auto options = std::make_shared<PrintOptions>();
    add_trace_options(command, options->input);
    command.flag("--all", options->all, "show the metadata in front of each chunk, too");
    command.flag("--ticks", options->ticks, "raw time stamps instead of ns since the start");
    command.option("--family", options->family, "only events of this family (see: remora events)")
        .one_of(std::vector<std::string>(tracer::kFamilyNames.begin(), tracer::kFamilyNames.end()));
    command.option("--event", options->event,
                   "only this event: one of the table, or one that the trace declares (see: remora events)");
    command.option("--task", options->task, "only events that concern this task: its name or its context");
    command.option("--limit", options->limit, "stop after so many lines").check(check_limit);
    command.flag("--disassemble", options->disassemble,
                 "show the instruction at each address of a task in steps, with objdump's help; needs --kernel");
    command.flag("--json", options->input.json, "one JSON object per line");
    command.footer(examples({"remora print out/udp --task control --limit 20",
                             "remora print out/udp --family mutex --ticks", "remora print 0trace.dat --json",
                             "remora print out/udp --event block --kernel kernel.elf --disassemble",
                             "remora print - --from tlog"}));
    command.run([options, context] { return print(*options, context); });
}

} // namespace host::cli
