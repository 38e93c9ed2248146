// SPDX-License-Identifier: MIT
// `remora schedule`: what the scheduler did, as a person would tell it: one line for each release, each change of the
// task that runs, each lock, wait, budget and miss. Times are cut to a resolution (100 us unless said otherwise), so
// that under an instruction clock the text changes when the schedule does, not when the kernel becomes an instruction
// longer: the golden files under tests/golden/ are this text.
#include "host/cli/trace_input.hpp"

#include "host/trace/escape.hpp"
#include "host/trace/names.hpp"
#include "tracer/unit_words.hpp"

#include <map>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

constexpr std::uint64_t kResolutionDefaultUs = 100;
constexpr std::int64_t kNsPerUs = 1'000;

struct ScheduleOptions {
    TraceInput input;
    std::uint64_t resolution_us = kResolutionDefaultUs;
    std::string task;
};

// Tells one event; remembers who runs, so that only changes are told.
class Narrator {
  public:
    Narrator(const ScheduleOptions& options, Output& out)
        : m_options(options)
        , m_out(out) {}

    void add(const trace::Event& event);

  private:
    using Teller = void (Narrator::*)(const trace::Event&);

    struct Row {
        std::uint8_t code;
        Teller tell;
    };

    static const Row kRows[];

    [[nodiscard]] static std::string name(const trace::Event& event, tracer::Unit unit, std::uint32_t value);
    [[nodiscard]] static std::string task(const trace::Event& event, std::uint32_t context);
    [[nodiscard]] static std::string server(const trace::Event& event, std::uint32_t id);
    void line(const trace::Event& event, std::uint32_t context, std::string_view text);

    void created(const trace::Event& event) { line(event, event.par1, "is created"); }

    void ended(const trace::Event& event) { line(event, event.par1, "ends"); }

    void released(const trace::Event& event) { line(event, event.par1, "is released"); }

    void completed(const trace::Event& event) { line(event, event.par1, "completes its job"); }

    void slept(const trace::Event& event) { line(event, event.par1, "sleeps until it is activated"); }

    void missed(const trace::Event& event) { line(event, event.par1, "MISSES ITS DEADLINE"); }

    void exceeded(const trace::Event& event) { line(event, event.par1, "exceeds its worst-case execution time"); }

    void aborted(const trace::Event& event) { line(event, event.par1, "has its job aborted"); }

    void skipped(const trace::Event& event) { line(event, event.par1, "is busy: the activation is dropped"); }

    void queued(const trace::Event& event) { line(event, event.par1, "is busy: the activation waits"); }

    void too_early(const trace::Event& event) { line(event, event.par1, "is activated too early"); }

    void slice_over(const trace::Event& event) { line(event, event.par1, "has used up its slice"); }

    void scheduled(const trace::Event& event) { m_place = event.par2; }

    void dispatched(const trace::Event& event);
    void blocked(const trace::Event& event);
    void unblocked(const trace::Event& event);
    void acquired(const trace::Event& event);
    void unlocked(const trace::Event& event);
    void held_up(const trace::Event& event);
    void deadlocked(const trace::Event& event);
    void timed_out(const trace::Event& event);
    void owner_died(const trace::Event& event);
    void signalled(const trace::Event& event);
    void exhausted(const trace::Event& event);
    void replenished(const trace::Event& event);
    void reclaimed(const trace::Event& event);
    void attached(const trace::Event& event);

    const ScheduleOptions& m_options;
    Output& m_out;
    std::optional<std::uint32_t> m_place;   // whose place the latest choice uses
    std::optional<std::uint32_t> m_running; // the task dispatched last
    std::optional<std::uint32_t> m_running_for;
    std::map<std::uint32_t, std::uint32_t> m_served; // server -> the task it serves, if it serves one
};

std::string Narrator::name(const trace::Event& event, tracer::Unit unit, std::uint32_t value) {
    const std::string_view found = event.names->find(unit, value);
    return found.empty() ? fmt::format("#{}", value) : trace::escaped(found);
}

std::string Narrator::task(const trace::Event& event, std::uint32_t context) {
    return name(event, tracer::Unit::context, context);
}

std::string Narrator::server(const trace::Event& event, std::uint32_t id) {
    const std::string_view found = event.names->find(tracer::Unit::server, id);
    return found.empty() ? fmt::format("server {}", id) : fmt::format("server {}", trace::escaped(found));
}

void Narrator::line(const trace::Event& event, std::uint32_t context, std::string_view text) {
    const std::string who = context == 0 ? std::string("-") : task(event, context);
    if (!m_options.task.empty() && who != m_options.task) {
        return;
    }
    const auto resolution = static_cast<std::int64_t>(m_options.resolution_us) * kNsPerUs;
    const std::int64_t cut_us = event.time_ns / resolution * resolution / kNsPerUs;
    m_out.print("{:>8}.{:03} ms  {:<12} {}\n", cut_us / 1'000, cut_us % 1'000, who, text);
}

void Narrator::dispatched(const trace::Event& event) {
    const std::uint32_t place = m_place.value_or(event.par1);
    if (m_running == event.par1 && m_running_for == place) {
        return; // back after an interrupt, or chosen again
    }
    m_running = event.par1;
    m_running_for = place;
    if (place == event.par1) {
        line(event, event.par1, "runs");
    } else {
        line(event, event.par1, fmt::format("runs in the place of {}", task(event, place)));
    }
}

void Narrator::blocked(const trace::Event& event) {
    const std::uint32_t kind = event.par2 >> 16;
    const std::uint32_t id = event.par2 & 0xFFFF;
    const std::string_view word = kind < tracer::kWaitNames.size() ? tracer::kWaitNames[kind] : std::string_view{};
    if (word == "semaphore" || word == "mutex") {
        const auto unit = word == "mutex" ? tracer::Unit::mutex : tracer::Unit::semaphore;
        line(event, event.par1, fmt::format("waits for {} {}", word, name(event, unit, id)));
    } else if (id != 0) {
        line(event, event.par1, fmt::format("waits: {} {}", word, id));
    } else {
        line(event, event.par1, fmt::format("waits: {}", word));
    }
}

void Narrator::unblocked(const trace::Event& event) {
    line(event, event.par1, "is ready again");
}

void Narrator::acquired(const trace::Event& event) {
    line(event, event.par1, fmt::format("locks {}", name(event, tracer::Unit::mutex, event.par2)));
}

void Narrator::unlocked(const trace::Event& event) {
    line(event, event.par1, fmt::format("unlocks {}", name(event, tracer::Unit::mutex, event.par2)));
}

void Narrator::held_up(const trace::Event& event) {
    line(event, event.par1, fmt::format("is held up by {}", name(event, tracer::Unit::mutex, event.par2)));
}

void Narrator::deadlocked(const trace::Event& event) {
    line(event, event.par1, fmt::format("is refused {}: a deadlock", name(event, tracer::Unit::mutex, event.par2)));
}

void Narrator::timed_out(const trace::Event& event) {
    line(event, event.par1, fmt::format("gives up waiting for {}", name(event, tracer::Unit::mutex, event.par2)));
}

void Narrator::owner_died(const trace::Event& event) {
    line(event, event.par1, fmt::format("ends as the owner of {}", name(event, tracer::Unit::mutex, event.par2)));
}

void Narrator::signalled(const trace::Event& event) {
    line(event, event.par1, fmt::format("takes signal {}", event.par2));
}

void Narrator::exhausted(const trace::Event& event) {
    const auto served = m_served.find(event.par2);
    line(event, served != m_served.end() ? served->second : 0,
         fmt::format("has exhausted {}", server(event, event.par2)));
}

void Narrator::replenished(const trace::Event& event) {
    const auto served = m_served.find(event.par2);
    line(event, served != m_served.end() ? served->second : 0,
         fmt::format("has a new budget in {}", server(event, event.par2)));
}

void Narrator::reclaimed(const trace::Event& event) {
    const auto served = m_served.find(event.par2);
    line(event, served != m_served.end() ? served->second : 0,
         fmt::format("leaves the bandwidth of {} to others", server(event, event.par2)));
}

void Narrator::attached(const trace::Event& event) {
    m_served[event.par1] = event.par2;
}

// NOLINTNEXTLINE(modernize-avoid-c-arrays): declared without a length so that a row can be added in one place
const Narrator::Row Narrator::kRows[] = {
    {trace::kCodeOf<"task_create">, &Narrator::created},
    {trace::kCodeOf<"task_end">, &Narrator::ended},
    {trace::kCodeOf<"job_release">, &Narrator::released},
    {trace::kCodeOf<"task_end_cycle">, &Narrator::completed},
    {trace::kCodeOf<"task_disable">, &Narrator::slept},
    {trace::kCodeOf<"task_deadline_miss">, &Narrator::missed},
    {trace::kCodeOf<"task_wcet_violation">, &Narrator::exceeded},
    {trace::kCodeOf<"job_abort">, &Narrator::aborted},
    {trace::kCodeOf<"job_skipped">, &Narrator::skipped},
    {trace::kCodeOf<"job_queued">, &Narrator::queued},
    {trace::kCodeOf<"activation_violation">, &Narrator::too_early},
    {trace::kCodeOf<"slice_end">, &Narrator::slice_over},
    {trace::kCodeOf<"task_schedule">, &Narrator::scheduled},
    {trace::kCodeOf<"task_dispatch">, &Narrator::dispatched},
    {trace::kCodeOf<"task_block">, &Narrator::blocked},
    {trace::kCodeOf<"task_unblock">, &Narrator::unblocked},
    {trace::kCodeOf<"set_mutex_acquire">, &Narrator::acquired},
    {trace::kCodeOf<"set_mutex_unlock">, &Narrator::unlocked},
    {trace::kCodeOf<"set_mutex_block">, &Narrator::held_up},
    {trace::kCodeOf<"set_mutex_deadlock">, &Narrator::deadlocked},
    {trace::kCodeOf<"set_mutex_timeout">, &Narrator::timed_out},
    {trace::kCodeOf<"set_mutex_owner_died">, &Narrator::owner_died},
    {trace::kCodeOf<"signal">, &Narrator::signalled},
    {trace::kCodeOf<"server_exhaust">, &Narrator::exhausted},
    {trace::kCodeOf<"server_replenish">, &Narrator::replenished},
    {trace::kCodeOf<"server_reclaiming">, &Narrator::reclaimed},
    {trace::kCodeOf<"server_attach">, &Narrator::attached},
};

void Narrator::add(const trace::Event& event) {
    for (const Row& row : kRows) {
        if (event.is(row.code)) {
            (this->*row.tell)(event);
            return;
        }
    }
}

trace::ExitStatus schedule(const ScheduleOptions& options, Context context) {
    return with_trace(options.input, context, [&](trace::Trace& trace) {
        Narrator narrator(options, context.out);
        trace::Event event;
        while (trace.next(event) && !context.out.failed()) {
            if (!event.metadata) {
                narrator.add(event);
            }
        }
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_schedule(CommandLine& line, Context context) {
    Command command = line.command("schedule", "tell what the scheduler did, one line per decision");
    const auto options = std::make_shared<ScheduleOptions>();
    add_trace_options(command, options->input);
    command.option("--resolution", options->resolution_us, "times are cut to so many microseconds (default 100)")
        .range(std::uint64_t{1}, std::uint64_t{1'000'000});
    command.option("--task", options->task, "only lines about the task of this name");
    command.footer(examples({"remora schedule out/udp"}));
    command.run([options, context] {
        context.out.page();
        return schedule(*options, context);
    });
}

} // namespace host::cli
