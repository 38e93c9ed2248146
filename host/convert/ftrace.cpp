// SPDX-License-Identifier: MIT
// ftrace: text as Linux prints it in /sys/kernel/tracing/trace, for every program that reads that, and for grep. Times
// are seconds since the start of the trace, with all nine digits where Linux prints six. Source: the kernel's
// documentation (trace/ftrace, "Output format").
//
//           sensor-3     [000] d.h.     0.002009458: job_release: context=3 (sensor) release=41235439
//   task and thread  processor  flags  time          event
//
// Beside our events stand sched_switch, sched_waking, sched_pi_setprio, irq_handler_entry and irq_handler_exit.
#include "host/convert/rows.hpp"

#include "host/convert/event_words.hpp"
#include "host/convert/losses.hpp"
#include "host/convert/task_labels.hpp"
#include "host/convert/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace host::convert {

namespace {

using trace::kCodeOf;

// The line is filled in when the numbers are known.
constexpr std::size_t kCountsBytes = 92;

constexpr std::string_view kHead = "#\n"
                                   "#                                _-----=> irqs-off\n"
                                   "#                               / _----=> need-resched\n"
                                   "#                              | / _---=> hardirq/softirq\n"
                                   "#                              || / _--=> preempt-depth\n"
                                   "#                              ||| /     delay\n"
                                   "#           TASK-PID     CPU#  ||||   TIMESTAMP      FUNCTION\n"
                                   "#              | |         |   ||||      |              |\n";

constexpr std::size_t kNameWidth = 16;
constexpr std::size_t kLineHeadMax = 1200; // an escaped name of 48 bytes, and everything else in front of the event

char linux_state(TaskState state) {
    if (state == TaskState::mutex) {
        return 'D';
    }
    return state == TaskState::ended ? 'X' : is_waiting(state) ? 'S' : 'R';
}

char* put_padded(char* at, std::string_view text, std::size_t width) {
    for (std::size_t i = text.size(); i < width; ++i) {
        *at++ = ' ';
    }
    return put(at, text);
}

// At least `width` digits, filled with `fill`.
char* put_padded(char* at, std::uint64_t value, std::size_t width, char fill) {
    char digits[kNumberCharsMax]; // NOLINT(modernize-avoid-c-arrays)
    const std::size_t size = static_cast<std::size_t>(put_number(digits, value) - digits);
    for (std::size_t i = size; i < width; ++i) {
        *at++ = fill;
    }
    return put(at, {digits, size});
}

class Ftrace final : public Writer {
  public:
    explicit Ftrace(Destination& destination)
        : m_file(destination.file())
        , m_patchable(!destination.partial_path().empty()) {}

    lib::Result<void> begin(const Survey* /*survey*/, std::string& /*why*/) override {
        m_file.append("# tracer: nop\n#\n");
        if (m_patchable) {
            m_counts_at = m_file.position_bytes();
            m_file.append(std::string(kCountsBytes - 1, ' ') + "\n");
        }
        m_file.append(kHead);
        return {};
    }

    void add(const trace::Event& event) override {
        m_event = &event;
        m_time_ns =
            !event.timed ? event.ticks.value : static_cast<std::uint64_t>(std::max<std::int64_t>(event.time_ns, 0));
        const std::uint32_t before = m_view.running(event.cpu);
        const std::uint32_t depth = m_view.interrupt_depth(event.cpu);
        const auto changes = m_view.take(event);
        m_task = &m_labels.of(event, event.is(kCodeOf<"task_epilogue">) ? m_view.running(event.cpu) : before);
        m_interrupt = std::max(depth, m_view.interrupt_depth(event.cpu)) != 0;
        m_processors = std::max(m_processors, std::uint32_t{event.cpu} + 1);
        if (event.is(kCodeOf<"blackout_end">)) {
            lost(event.cpu, event.par2);
        }
        m_words.clear();
        m_event_words.append(m_words, event);
        line(event_title(), std::string_view(m_words.data(), m_words.size()));
        for (const Change& change : changes) {
            tell(change);
        }
    }

    lib::Result<void> finish(const trace::TraceFacts& facts, std::string& /*why*/) override {
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            lost(cpu, losses.without(m_lost[cpu]));
        }
        if (m_patchable) {
            std::string counts = fmt::format("# entries-in-buffer/entries-written: {}/{}   #P:{}", m_lines,
                                             m_lines + m_lost_total, std::max(m_processors, std::uint32_t{1}));
            counts.resize(kCountsBytes - 1, ' ');
            m_file.patch(m_counts_at, std::as_bytes(std::span(counts)));
        }
        return {};
    }

  private:
    // Names of typed events come from the trace: what would end the name is replaced. Valid until the next call.
    std::string_view event_title() {
        if (!m_event->is_sound()) {
            return "damaged";
        }
        if (m_event->row != nullptr && m_event->payload.empty() && m_event->origin == trace::Origin::record) {
            return m_event->row->name;
        }
        m_title = trace::escaped(trace::event_name(*m_event));
        std::ranges::replace_if(
            m_title, [](char character) { return character == ':' || character == ' '; }, '_');
        return m_title;
    }

    // Where the kernel has it: in front of the first line that it kept.
    void lost(std::uint16_t cpu, std::uint64_t records) {
        if (records == 0) {
            return;
        }
        m_file.append(fmt::format("CPU:{} [LOST {} EVENTS]\n", cpu, records));
        std::uint64_t& total = m_lost[cpu];
        total += std::min(records, ~std::uint64_t{0} - total);
        m_lost_total += std::min(records, ~std::uint64_t{0} - m_lost_total);
    }

    void line(std::string_view name, std::string_view words) {
        char* const begin = m_file.room(kLineHeadMax + m_task->name.size() + name.size() + words.size());
        char* at = put_padded(begin, m_task->name, kNameWidth);
        *at++ = '-';
        char* const tid = at;
        at = put_number(at, m_task->tid);
        while (at < tid + 7) {
            *at++ = ' ';
        }
        at = put(at, " [");
        at = put_padded(at, m_event->cpu, 3, '0');
        at = put(at, m_interrupt ? "] d.h. " : "] .... ");
        constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
        at = put_padded(at, m_time_ns / kNsPerSecond, 5, ' ');
        *at++ = '.';
        at = put_padded(at, m_time_ns % kNsPerSecond, 9, '0');
        at = put(put(at, ": "), name);
        at = put(put(at, ": "), words);
        *at++ = '\n';
        m_file.used(static_cast<std::size_t>(at - begin));
        ++m_lines;
    }

    void tell(const Change& change) {
        m_words.clear();
        const auto out = std::back_inserter(m_words);
        switch (change.kind) {
        case Change::Kind::switched: {
            const TaskLabel& from = m_labels.of(*m_event, change.other);
            const TaskLabel& to = m_labels.of(*m_event, change.context);
            add_task("prev_", from);
            add(" prev_state=");
            m_words.push_back(linux_state(change.state));
            add(" ==> ");
            add_task("next_", to);
            made("sched_switch");
            break;
        }
        case Change::Kind::woken: {
            const TaskLabel& task = m_labels.of(*m_event, change.context);
            add_task("", task);
            fmt::format_to(out, " target_cpu={:03}", m_event->cpu);
            made("sched_waking");
            break;
        }
        case Change::Kind::interrupt_began:
            fmt::format_to(out, "irq={} name={}", change.object,
                           trace::escaped(vector_label(*m_event->names, change.object)));
            made("irq_handler_entry");
            break;
        case Change::Kind::interrupt_ended:
            fmt::format_to(out, "irq={} ret=handled", change.object);
            made("irq_handler_exit");
            break;
        case Change::Kind::inherits:
            inherit(change.context, change.other);
            break;
        case Change::Kind::returns:
            inherit(change.context, change.context);
            break;
        case Change::Kind::waits: // sched_switch tells
        case Change::Kind::created:
        case Change::Kind::ended:
        case Change::Kind::lost: // told already
            break;
        }
    }

    void add(std::string_view text) { m_words.append(text.data(), text.data() + text.size()); }

    void add(std::uint32_t value) {
        std::array<char, kNumberCharsMax> digits{};
        m_words.append(digits.data(), put_number(digits.data(), value));
    }

    void add_task(std::string_view prefix, const TaskLabel& task) {
        add(prefix);
        add("comm=");
        add(task.name);
        add(" ");
        add(prefix);
        add("pid=");
        add(task.tid);
        add(" ");
        add(prefix);
        add("prio=");
        add(task.priority);
    }

    void inherit(std::uint32_t context, std::uint32_t from) {
        const std::uint32_t to = m_labels.of(*m_event, from).priority;
        const TaskLabel& task = m_labels.of(*m_event, context);
        fmt::format_to(std::back_inserter(m_words), "comm={} pid={} oldprio={} newprio={}", task.name, task.tid,
                       task.priority, to);
        made("sched_pi_setprio");
    }

    void made(std::string_view name) { line(name, std::string_view(m_words.data(), m_words.size())); }

    OutputFile& m_file;
    bool m_patchable;
    std::uint64_t m_counts_at = 0;
    std::uint64_t m_lines = 0;
    std::uint32_t m_processors = 0;
    std::map<std::uint16_t, std::uint64_t> m_lost;
    std::uint64_t m_lost_total = 0;
    ScheduleView m_view;
    TaskLabels m_labels;
    EventWords m_event_words;
    fmt::memory_buffer m_words;
    std::string m_title;
    const trace::Event* m_event = nullptr;
    const TaskLabel* m_task = nullptr;
    std::uint64_t m_time_ns = 0;
    bool m_interrupt = false;
};

} // namespace

const FormatRow kFtraceRow = {
    .name = "ftrace",
    .suffix = ".txt",
    .meaning = "text as Linux prints it in /sys/kernel/tracing/trace: Perfetto, Trace Compass, grep",
    .shape = Destination::Shape::file,
    .needs_survey = false,
    .make = [](Destination& destination) -> std::unique_ptr<Writer> { return std::make_unique<Ftrace>(destination); },
};

} // namespace host::convert
