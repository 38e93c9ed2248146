// SPDX-License-Identifier: MIT
// The kernel records the instructions that led to a panic after the record of the panic itself (docs/events.md).
#include "host/analyse/crash.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::analyse {

namespace {

using trace::kCodeOf;

constexpr std::string_view kWatchdog = "watchdog: ";
constexpr std::string_view kPageFault = "page fault";
constexpr std::string_view kDivideError = "divide error"; // its number is 0, as that of a call of panic()

std::string name_of(const trace::Event& event, tracer::Unit unit, std::uint16_t number) {
    return event.names != nullptr ? std::string(event.names->find(unit, number)) : std::string();
}

// The functions of the kernel that report what others did wrong.
bool only_reports(std::string_view function) {
    constexpr auto kReporters = std::to_array<std::string_view>(
        {"lib::assert_failed(", "kernel::panic(", "kernel::(anonymous namespace)::give_up_the_system("});
    return std::ranges::any_of(kReporters, [&](std::string_view name) { return function.starts_with(name); });
}

// An address that a call pushed is that of the instruction after the call, which may be in another function. exact: the
// innermost address is none of these.
void resolve(Crash& crash, bool exact, const trace::KernelImage* symbols) {
    if (symbols == nullptr || crash.stack.empty()) {
        return;
    }
    std::vector<std::uint64_t> instructions;
    for (const CrashFrame& frame : crash.stack) {
        const bool is_return = (!exact || !instructions.empty()) && frame.address != 0;
        instructions.push_back(frame.address - (is_return ? 1 : 0));
    }
    std::vector<std::string> lines = symbols->lines_at(instructions);
    for (std::size_t i = 0; i < crash.stack.size(); ++i) {
        CrashFrame& frame = crash.stack[i];
        if (const trace::Function* const function = symbols->function_at(instructions[i])) {
            frame.function = fmt::format("{}+0x{:x}", function->name, frame.address - function->address);
        }
        frame.line = std::move(lines[i]);
    }
}

} // namespace

const CrashFrame* Crash::where() const {
    const auto found =
        std::ranges::find_if(stack, [](const CrashFrame& frame) { return !only_reports(frame.function); });
    return found != stack.end() ? &*found : nullptr;
}

bool ended_badly(std::span<const Crash> crashes) {
    return std::ranges::any_of(crashes, &Crash::ended_the_run);
}

std::string_view kind_name(Crash::Kind kind) {
    constexpr std::array<std::string_view, 4> kNames = {"panic", "hang", "killed", "failed"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string sentence(const Crash& crash) {
    const std::string what = text::escaped(crash.what);
    const std::string task = !crash.task.empty() ? text::escaped(crash.task)
                             : crash.context     ? fmt::format("context {}", *crash.context)
                                                 : std::string();
    switch (crash.kind) {
    case Crash::Kind::panic:
    case Crash::Kind::hang:
        return fmt::format("{}{}: {}", kind_name(crash.kind), task.empty() ? "" : " in task " + task, what);
    case Crash::Kind::killed:
        return fmt::format("task {} was killed: {}", task, what);
    case Crash::Kind::failed:
        break;
    }
    return "the application failed" + (what.empty() ? "" : ": " + what);
}

std::string text_of(const CrashFrame& frame) {
    const std::string line = frame.line.empty() ? "" : fmt::format(" ({})", text::escaped(frame.line));
    return (frame.function.empty() ? fmt::format("0x{:x}", frame.address) : text::escaped(frame.function)) + line;
}

namespace {

std::string milliseconds(std::int64_t ns) {
    return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
}

std::string who_ran(const CrashRun& run) {
    const std::string name = text::escaped(run.name);
    return run.interrupt  ? fmt::format("interrupt {}{}", run.number, name.empty() ? "" : fmt::format(" ({})", name))
            : name.empty() ? fmt::format("context {}", run.number)
                          : name;
}

} // namespace

std::vector<std::string> lines_of(const Crash& crash) {
    std::vector<std::string> lines = {sentence(crash)};
    if (crash.time_ns) {
        lines.front() += fmt::format(" (at {}, record {} of chunk {})", milliseconds(*crash.time_ns),
                                     crash.place.record, crash.place.chunk);
    }
    const CrashFrame* const where = crash.where();
    if (where != nullptr) {
        lines.push_back("  where        " + text_of(*where));
    }
    for (const CrashFrame& frame : crash.stack) {
        if (where != nullptr && &frame > where) {
            lines.push_back("  called from  " + text_of(frame));
        }
    }
    for (const CrashRun& run : crash.before) {
        lines.push_back(fmt::format("  {} {:>13} {:>12}  {}", &run == &crash.before.front() ? "before" : "      ",
                                    milliseconds(run.begin_ns), milliseconds(run.length_ns), who_ran(run)));
    }
    return lines;
}

void write_json(text::JsonDocument& json, const Crash& crash) {
    json.begin_object();
    json.member("kind", kind_name(crash.kind));
    json.member("text", sentence(crash));
    json.member("what", text::escaped(crash.what));
    json.member("task", text::escaped(crash.task));
    json.member("context", crash.context);
    json.member("time_ns", crash.time_ns);
    json.member("cpu", crash.place.cpu);
    json.member("chunk", crash.place.chunk);
    json.member("record", crash.place.record);
    const CrashFrame* const where = crash.where();
    json.member("where", where != nullptr ? std::optional(text_of(*where)) : std::nullopt);
    json.objects("stack", crash.stack, [&json](const CrashFrame& frame) {
        json.member("address", frame.address);
        json.member("function", text::escaped(frame.function));
        json.member("line", text::escaped(frame.line));
    });
    json.objects("before", crash.before, [&json](const CrashRun& run) {
        json.member("begin_ns", run.begin_ns);
        json.member("length_ns", run.length_ns);
        json.member("interrupt", run.interrupt);
        json.member("number", run.number);
        json.member("name", text::escaped(run.name));
    });
    json.end_object();
}

void CrashWatch::begin_run(Processor& processor, const trace::Event& event, bool interrupt, std::uint16_t number) {
    if (!processor.runs.empty()) {
        processor.runs.back().length_ns = event.time_ns - processor.runs.back().begin_ns;
    }
    processor.runs.push_back(
        {.begin_ns = event.time_ns,
         .interrupt = interrupt,
         .number = number,
         .name = name_of(event, interrupt ? tracer::Unit::vector : tracer::Unit::context, number)});
    if (processor.runs.size() > kRunsMax) {
        processor.runs.pop_front();
    }
}

void CrashWatch::begin_crash(const trace::Event& event, Crash::Kind kind) {
    Processor& processor = m_processors[event.cpu];
    Crash crash{.kind = kind, .context = event.par1, .task = name_of(event, tracer::Unit::context, event.par1)};
    crash.time_ns = event.timed ? std::optional(event.time_ns) : std::nullopt;
    crash.place = schedule::RecordPlace::of(event);
    crash.before.assign(processor.runs.begin(), processor.runs.end());
    if (!crash.before.empty()) {
        crash.before.back().length_ns = event.time_ns - crash.before.back().begin_ns;
    }
    if (kind != Crash::Kind::killed) {
        m_panic_cpu = event.cpu;
        m_panic = std::move(crash);
        return;
    }
    if (m_killed.size() < kKilledMax) {
        m_killed.push_back(std::move(crash));
    }
}

void CrashWatch::follow(const trace::Event& event) {
    Processor& processor = m_processors[event.cpu];
    const std::uint64_t address = std::uint64_t{event.par1} << 32 | event.par2; // if it is that of an address
    switch (event.code) {
    case kCodeOf<"context_switch">:
        processor.interrupted.clear();
        begin_run(processor, event, false, event.par1);
        break;
    case kCodeOf<"interrupt_start">:
        if (!processor.runs.empty() && processor.interrupted.size() < kNestedMax) {
            processor.interrupted.push_back(processor.runs.back());
        }
        begin_run(processor, event, true, event.par1);
        break;
    case kCodeOf<"interrupt_end">:
        if (!processor.interrupted.empty()) {
            const CrashRun before = processor.interrupted.back();
            processor.interrupted.pop_back();
            begin_run(processor, event, before.interrupt, before.number);
        }
        break;
    case kCodeOf<"blackout_end">:
        processor = {};
        break;
    case kCodeOf<"task_fault">:
        processor.fault = event.par2;
        break;
    case kCodeOf<"fault_address">:
        processor.fault_address = address;
        break;
    case kCodeOf<"fault_instruction">:
        if (m_panic && m_panic_cpu == event.cpu && m_panic->stack.size() < kFramesMax) {
            m_panic->stack.push_back({.address = address});
        } else {
            processor.fault_instruction = address;
        }
        break;
    case kCodeOf<"task_exception">:
        take_exception(event);
        break;
    case kCodeOf<"panic">:
        begin_crash(event, Crash::Kind::panic);
        m_reason = event.par2;
        m_exact = m_reason != 0;
        break;
    case kCodeOf<"typed_event">:
        take_text(event);
        break;
    default:
        break;
    }
}

void CrashWatch::take_exception(const trace::Event& event) {
    const auto exception = lib::number_from<lib::TaskException>(event.par2 >> 16);
    const auto reaction = lib::number_from<lib::Reaction>(event.par2 & 0xFFFF);
    const Processor& processor = m_processors[event.cpu];
    if (reaction != lib::Reaction::kill || !exception) {
        return;
    }
    const std::size_t before = m_killed.size();
    begin_crash(event, Crash::Kind::killed);
    if (m_killed.size() > before) {
        m_killed.back().what = lib::word(*exception);
        if (processor.fault && *exception == lib::TaskException::fault) {
            m_killed.back().what +=
                fmt::format(" (exception {}, address 0x{:x})", *processor.fault, processor.fault_address);
            m_killed.back().stack.push_back({.address = processor.fault_instruction});
        }
    }
}

// The kernel states the reason of a panic, and an application what its verdict found.
void CrashWatch::take_text(const trace::Event& event) {
    const auto view = trace::view_typed(event);
    if (!view || view->declaration == nullptr) {
        return;
    }
    const auto fields = view->fields.values();
    if (view->declaration->name.view() == "panic_reason" && m_panic && m_panic->what.empty() && !fields.empty()) {
        m_panic->what = fields.front().text;
        if (const Processor& processor = m_processors[event.cpu]; processor.fault && m_panic->what == kPageFault) {
            m_panic->what += fmt::format(" at address 0x{:x}", processor.fault_address);
        }
        m_exact = m_exact || m_panic->what == kDivideError;
        const bool is_hang = std::string_view(m_panic->what).starts_with(kWatchdog);
        m_panic->kind = is_hang ? Crash::Kind::hang : Crash::Kind::panic;
    } else if (view->declaration->name.view() == "verdict_failed" && m_failed.empty() && fields.size() == 2) {
        m_failed = fmt::format("{}: {}", fields[0].text, fields[1].text);
    }
}

std::vector<Crash> CrashWatch::finish(const std::optional<tracer::ExportEnd>& end, const trace::KernelImage* symbols) {
    std::vector<Crash> crashes;
    // A machine that ended its run did not panic: the record is the application's.
    const bool has_ended =
        end && (end->result == tracer::RunResult::completed || end->result == tracer::RunResult::failed);
    if (m_panic && !has_ended) {
        if (m_panic->what.empty()) {
            m_panic->what =
                m_reason != 0 ? fmt::format("exception {}", m_reason) : std::string("its reason is not recorded");
        }
        resolve(*m_panic, m_exact, symbols);
        crashes.push_back(*m_panic);
    } else if (end && end->result == tracer::RunResult::panicked) {
        crashes.push_back({.kind = Crash::Kind::panic, .what = "its record is not in the trace"});
    }
    if (!m_failed.empty() || (end && end->result == tracer::RunResult::failed)) {
        crashes.push_back({.kind = Crash::Kind::failed, .what = m_failed});
    }
    for (Crash& killed : m_killed) {
        resolve(killed, true, symbols);
        crashes.push_back(killed);
    }
    return crashes;
}

std::vector<Crash> crashes_in(CrashWatch& watch, const formats::Trace& trace) {
    const formats::dat::Manifest* const manifest = trace.manifest();
    const auto& end = manifest != nullptr && manifest->announced ? manifest->announced : trace.facts().export_end;
    return watch.finish(end, watch.has_stack() ? trace.symbols() : nullptr);
}

namespace {

constexpr std::string_view kMark = "REMORA: panic: ";

// Returns the number that follows the word in the line.
std::optional<std::uint64_t> hexadecimal_after(std::string_view line, std::string_view word) {
    const std::size_t at = line.find(word);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view digits = line.substr(at + word.size());
    return text::number_of<std::uint64_t>(digits.substr(0, digits.find_first_not_of("0123456789abcdef")), 16);
}

} // namespace

std::optional<Crash> crash_of_console(std::string_view console_untrusted, const trace::KernelImage* symbols) {
    const std::size_t begin = console_untrusted.find(kMark);
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    Crash crash{.kind = Crash::Kind::panic};
    bool exact = false;
    std::string_view rest = console_untrusted.substr(begin + kMark.size());
    for (bool first = true; !rest.empty(); first = false) {
        std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        line = line.substr(0, line.find('\r'));
        if (first) {
            crash.what = line;
            crash.kind = line.starts_with(kWatchdog) ? Crash::Kind::hang : Crash::Kind::panic;
        } else if (const auto instruction = hexadecimal_after(line, "  rip 0x")) {
            exact = true;
            crash.stack.push_back({.address = *instruction});
        } else if (const auto caller = hexadecimal_after(line, "  called from 0x")) {
            crash.stack.push_back({.address = *caller});
        } else if (line.starts_with("  task ")) {
            crash.task = line.substr(7, line.find(" pid ") == std::string_view::npos ? 0 : line.find(" pid ") - 7);
        } else if (!line.starts_with("  ")) {
            break;
        }
    }
    resolve(crash, exact, symbols);
    return crash;
}

} // namespace host::analyse
