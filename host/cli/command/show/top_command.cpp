// SPDX-License-Identifier: MIT
// remora top shows tasks, load, misses and losses of a running machine, from its memory, and refreshes them in the
// terminal.
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/event_lines.hpp"

#include "host/analyse/load.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/text/wrap.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace host::cli {

namespace {

struct TopOptions {
    TraceInput input;
    double interval_s = 1;
    bool once = false;
};

// Holds the losses of the machine, from the latest chunk.
struct Losses {
    std::uint64_t dropped = 0;
    std::uint64_t refused = 0;
    std::uint64_t overwritten = 0; // overwritten before they could be read
};

Losses losses_of(const trace::TraceFacts& facts) {
    Losses losses;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        losses.dropped = std::max(losses.dropped, chunk.description.dropped);
        losses.refused = std::max(losses.refused, chunk.description.refused);
        losses.overwritten += chunk.description.overwritten + chunk.missing;
    }
    return losses;
}

// The idle task has the number 0: its share of a processor is free.
bool is_idle(const trace::Names& names, std::uint16_t context) {
    const trace::TaskNames* const task = names.task(context);
    return task != nullptr && task->pid == 0U;
}

double share(lib::Ticks part, lib::Ticks whole) {
    return whole.value != 0 ? 100.0 * static_cast<double>(part.value) / static_cast<double>(whole.value) : 0.0;
}

class Screen {
  public:
    Screen(const TopOptions& options, Output& out)
        : m_options(options)
        , m_out(out) {}

    void show(const analyse::Load& load, const trace::TraceFacts& facts) {
        const lib::Ticks capacity{load.elapsed.value * std::max<std::size_t>(load.processors, 1)};
        lib::Ticks idle;
        for (const analyse::TaskLoad& task : load.tasks) {
            idle.value += is_idle(facts.names, task.context) ? task.cpu_time.value : 0;
        }
        const double busy = capacity.value != 0 ? 100.0 - share(idle, capacity) : 0.0;
        if (m_options.input.json) {
            show_json(load, facts, capacity, busy);
        } else {
            show_text(load, facts, capacity, busy);
        }
        m_out.flush();
    }

  private:
    [[nodiscard]] static std::uint64_t ns(lib::Ticks ticks, const trace::TraceFacts& facts) {
        return facts.clock.khz != 0 ? lib::TickRate{facts.clock.khz}.to_nanoseconds(ticks).value : ticks.value;
    }

    void show_text(const analyse::Load& load, const trace::TraceFacts& facts, lib::Ticks capacity, double busy) {
        if (m_out.is_terminal() && !m_options.once) {
            m_out.print("\x1B[H\x1B[J"); // clears the screen and begins at its first line
        }
        const Losses losses = losses_of(facts);
        constexpr double kNsPerMs = 1e6;
        m_out.print("{}   load {:.1f} %, interrupts {:.1f} %   {} cpu, {:.3f} ms\n",
                    m_out.styled(Style::strong,
                                 facts.build ? text::escaped(facts.build->application.view()) : std::string("?")),
                    busy, share(load.interrupts, capacity), load.processors,
                    static_cast<double>(ns(load.elapsed, facts)) / kNsPerMs);
        m_out.print("{}\n\n", text::wrapped(fmt::format("{} records, {} in all; lost: dropped {}, refused {}, "
                                                        "overwritten {}",
                                                        load.events, load.events_total, losses.dropped, losses.refused,
                                                        losses.overwritten)));
        m_out.print("{:<14} {:<10} {:>6} {:>13} {:>10} {:>7} {:>7} {:>5}\n", "task", "state", "cpu %", "cpu ms in all",
                    "dispatched", "jobs", "missed", "new");
        for (const analyse::TaskLoad& task : load.tasks) {
            const std::string_view name = facts.names.find(tracer::Unit::context, task.context);
            m_out.print(
                "{:<14} {:<10} {:>6.1f} {:>13.3f} {:>10} {:>7} {:>7} {:>5}\n",
                text::shortened(name.empty() ? fmt::format("context {}", task.context) : text::escaped(name), 14),
                task.runs ? "running" : schedule::state_name(task.state), share(task.cpu_time, capacity),
                static_cast<double>(ns(task.cpu_time_total, facts)) / kNsPerMs, task.dispatches, task.jobs, task.missed,
                task.missed_since);
        }
    }

    void show_json(const analyse::Load& load, const trace::TraceFacts& facts, lib::Ticks capacity, double busy) {
        const Losses losses = losses_of(facts);
        text::JsonText json{m_out.buffer()};
        json.begin_object();
        json.member("version", kJsonVersion);
        json.member("load_percent", busy);
        json.member("interrupt_percent", share(load.interrupts, capacity));
        json.member("elapsed_ns", ns(load.elapsed, facts));
        json.member("cpus", load.processors);
        json.member("events", load.events);
        json.member("events_total", load.events_total);
        json.member("dropped", losses.dropped);
        json.member("refused", losses.refused);
        json.member("overwritten", losses.overwritten);
        json.objects("tasks", load.tasks, [&](const analyse::TaskLoad& task) {
            json.member("context", task.context);
            json.member("name", facts.names.find(tracer::Unit::context, task.context));
            json.member("state", task.runs ? "running" : schedule::state_name(task.state));
            json.member("cpu_percent", share(task.cpu_time, capacity));
            json.member("cpu_time_ns", ns(task.cpu_time_total, facts));
            json.member("dispatches", task.dispatches);
            json.member("jobs", task.jobs);
            json.member("missed", task.missed);
            json.member("deadline_misses", task.deadline_misses);
        });
        json.end_object();
        json.blank("\n");
    }

    const TopOptions& m_options;
    Output& m_out;
};

trace::ExitStatus top(const TopOptions& options, Context context) {
    return with_trace(options.input, context, "", [&](formats::Trace& trace) {
        analyse::LoadMeter meter;
        Screen screen(options, context.out);
        const auto interval = duration(options.interval_s).value_or(std::chrono::seconds(1));
        auto next_look = std::chrono::steady_clock::now() + interval;
        // Parts of the trace arrive at each interval; they are empty if the machine records nothing.
        for (auto batch = trace.next_batch(); !batch.empty() && !context.out.failed(); batch = trace.next_batch()) {
            std::ranges::for_each(batch, [&meter](const trace::Event& event) { meter.add(event); });
            if (const auto now = std::chrono::steady_clock::now(); !options.once && now >= next_look) {
                screen.show(meter.look(), trace.facts());
                next_look = now + interval;
            }
        }
        screen.show(meter.look(), trace.facts());
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_top(CommandLine& line, Context context) {
    Command command =
        line.command("top", "show tasks, load, misses and losses of a machine that runs, out of its memory");
    const auto options = std::make_shared<TopOptions>();
    options->input.options.kind = trace::InputKind::memory;
    command
        .option("FILE", options->input.path,
                "the machine's memory: the file of a guest's RAM; with --once also pmemsave or an ELF core")
        .required();
    command.flag("--once", options->once, "show what the memory holds now, and end");
    command.flag("--json", options->input.json, "one JSON object for each look, on a line of its own");
    command.option("--interval", options->interval_s, "seconds between two looks (default 1)").check(check_seconds);
    add_idle_timeout(command, options->input);
    command.footer("The machine does nothing for it. It ends with the machine's run, or with Ctrl-C.\n" +
                   examples({"remora top out/ram", "remora top out/ram --once --json"}));
    command.run([options, context] {
        options->input.options.follow.wanted = !options->once;
        options->input.options.follow.wake = duration(options->interval_s).value_or(std::chrono::seconds(1));
        return top(*options, context);
    });
}

} // namespace host::cli
