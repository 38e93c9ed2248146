// SPDX-License-Identifier: MIT
// ftrace is the text that Linux prints in /sys/kernel/tracing/trace, for every program that reads it, and for grep.
// Times are seconds since the start of the trace, with nine digits where Linux prints six. Source: the kernel's
// documentation (trace/ftrace, "Output format").
//
//           sensor-3     [000] d.h.     0.002009458: job_release: context=3 (sensor) release=41235439
//   task and thread  processor  flags  time          event
//
// Beside our events there are sched_switch, sched_waking, sched_pi_setprio, irq_handler_entry and irq_handler_exit.
#include "convert/rows.hpp"
#include "host/text/format.hpp"

#include "convert/losses.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"
#include "convert/writer/event_words.hpp"
#include "host/text/digits.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

namespace host::convert::linux {

namespace {

using text::put;

using trace::kCodeOf;

// The line is overwritten when the numbers are known.
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
// Readers of this text take events of these names for those of Linux, whatever their words are.
constexpr auto kReadByName = std::to_array<std::string_view>(
    {"sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_pi_setprio", "sched_process_exit",
     "sched_process_free", "sched_process_fork", "irq_handler_entry", "irq_handler_exit", "softirq_entry",
     "softirq_exit", "cpu_frequency", "cpu_idle", "print", "tracing_mark_write", "task_rename", "task_newtask"});

constexpr std::size_t kLineMax = 256; // a line without task, name and words

// Returns the letter for a task that leaves its processor.
char state_letter(TaskState state) {
    return "RSDX"[linux_state(state, 3)];
}

// Keeps the texts of tasks in lines, which are made once and used often.
class TaskTexts {
  public:
    struct Texts {
        std::string head;     // "          sensor-3     ["
        std::string previous; // "prev_comm=sensor prev_pid=3 prev_prio=1"
        std::string next;     // "next_comm=sensor next_pid=3 next_prio=1"
        std::string plain;    // "comm=sensor pid=3 prio=1"
    };

    TaskTexts()
        : m_entries(kEntries) {}

    // Returns the texts of a task, which are valid until the next call for another task.
    [[nodiscard]] const Texts& of(TaskLabels& labels, const trace::Event& event, std::uint32_t context) {
        const TaskLabel& label = labels.of(event, context);
        Entry& entry = m_entries[context % kEntries];
        if (entry.turn != label.turn || entry.context != context) {
            entry.turn = label.turn;
            entry.context = context;
            const auto task = [&](std::string_view prefix) {
                return fmt::format("{0}comm={1} {0}pid={2} {0}prio={3}", prefix, label.name, label.tid, label.priority);
            };
            entry.texts = {
                .head = fmt::format("{}{}-{:<7} [", std::string(blanks(label.name.size()), ' '), label.name, label.tid),
                .previous = task("prev_"),
                .next = task("next_"),
                .plain = task("")};
        }
        return entry.texts;
    }

  private:
    static constexpr std::size_t kEntries = 256;

    struct Entry {
        std::uint64_t turn = 0;
        std::uint32_t context = 0;
        Texts texts;
    };

    // Counts bytes, because fmt would count the columns of UTF-8.
    static std::size_t blanks(std::size_t size) { return size < kNameWidth ? kNameWidth - size : 0; }

    std::vector<Entry> m_entries;
};

class Ftrace final : public Writer, private ChangeHandler {
  public:
    explicit Ftrace(Destination& destination)
        : m_file(destination.file())
        , m_patchable(!destination.partial_path().empty())
        , m_titles(256) {
        for (const tracer::EventRow& row : tracer::kEvents) {
            m_titles[row.code] = fmt::format(": {}: ", row.name);
        }
    }

    lib::Result<void, Failure> begin(const Survey* /*survey*/) override {
        m_file.append("# tracer: nop\n#\n");
        if (m_patchable) {
            m_counts_at = m_file.position_bytes();
            m_file.append(fmt::format("{:{}}\n", "", kCountsBytes - 1));
        }
        m_file.append(kHead);
        return {};
    }

    void add(const trace::Event& event) override {
        m_event = &event;
        m_time_ns =
            !event.timed ? event.ticks.value : static_cast<std::uint64_t>(std::max<std::int64_t>(event.time_ns, 0));
        const std::uint32_t before = m_schedule.running(event.cpu);
        const std::uint32_t depth = m_schedule.interrupt_depth(event.cpu);
        const auto changes = m_schedule.take(event);
        m_context = event.is(kCodeOf<"task_epilogue">) ? m_schedule.running(event.cpu) : before;
        if (event.cpu != m_cpu) {
            m_cpu = event.cpu;
            m_cpu_text = fmt::format("{:03}", m_cpu);
        }
        m_interrupt = std::max(depth, m_schedule.interrupt_depth(event.cpu)) != 0;
        m_processors = std::max(m_processors, std::uint32_t{event.cpu} + 1);
        if (event.is(kCodeOf<"blackout_end">)) {
            lost(event.cpu, event.par2);
        }
        line(event_title(), m_event_words.of(event));
        for (const Change& change : changes) {
            apply(change);
        }
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
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
    // Returns the name of an event. In names of typed events, which come from the trace, characters that would end the
    // name are replaced, and a name of Linux is marked as ours. Valid until the next call.
    std::string_view event_title() {
        if (!m_event->is_sound()) {
            return ": damaged: ";
        }
        if (m_event->row != nullptr && m_event->payload.empty() && m_event->origin == trace::Origin::record) {
            return m_titles[m_event->code];
        }
        m_title = text::escaped(trace::event_name(*m_event));
        std::ranges::replace_if(
            m_title, [](char character) { return character == ':' || character == ' '; }, '_');
        const bool is_of_linux = std::ranges::find(kReadByName, m_title) != kReadByName.end();
        m_title = fmt::format(": {}{}: ", is_of_linux ? "remora_" : "", m_title);
        return m_title;
    }

    // Writes a line about lost records before the first line that follows, as the kernel does.
    void lost(std::uint16_t cpu, std::uint64_t records) {
        if (records == 0) {
            return;
        }
        m_file.append(fmt::format("CPU:{} [LOST {} EVENTS]\n", cpu, records));
        std::uint64_t& total = m_lost[cpu];
        total += std::min(records, ~std::uint64_t{0} - total);
        m_lost_total += std::min(records, ~std::uint64_t{0} - m_lost_total);
    }

    // title: with the characters before and after it.
    void line(std::string_view title, std::string_view words) {
        char* const begin = start_line(title.size() + words.size());
        finish_line(begin, put(put(put_head(begin), title), words));
    }

    // Returns room for a line with `bytes` bytes after its head.
    char* start_line(std::size_t bytes) {
        m_head = &m_texts.of(m_labels, *m_event, m_context).head;
        return m_file.room(kLineMax + m_head->size() + bytes);
    }

    void finish_line(const char* begin, char* at) {
        *at++ = '\n';
        m_file.used(static_cast<std::size_t>(at - begin));
        ++m_lines;
    }

    // Writes the line up to the time.
    char* put_head(char* at) {
        at = put(at, *m_head);
        at = put(put(at, m_cpu_text), m_interrupt ? "] d.h. " : "] .... ");
        constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
        const std::uint64_t second = m_time_ns / kNsPerSecond;
        if (second != m_second) {
            m_second = second;
            static_cast<void>(m_second_text.set(fmt::format("{:5}.", second)));
        }
        return text::put_nine_digits(m_second_text.put(at), m_time_ns - second * kNsPerSecond);
    }

    void on_wake(std::uint32_t context) override {
        if (m_labels.of(*m_event, context).is_idle()) {
            return;
        }
        m_words = texts(context).plain;
        m_words += " target_cpu=";
        m_words += m_cpu_text;
        line(": sched_waking: ", m_words);
    }

    void on_interrupt(std::uint32_t vector) override {
        add_interrupt(": irq_handler_entry: irq=", vector, " name=", m_vectors.of(*m_event, vector));
    }

    void on_interrupt_end(std::uint32_t vector) override {
        add_interrupt(": irq_handler_exit: irq=", vector, " ret=handled", "");
    }

    const TaskTexts::Texts& texts(std::uint32_t context) { return m_texts.of(m_labels, *m_event, context); }

    void on_switch(const Change& change) override {
        m_words = texts(change.other).previous; // only one context at a time has its texts
        m_words += " prev_state=";
        m_words += state_letter(change.state);
        m_words += " ==> ";
        m_words += texts(change.context).next;
        line(": sched_switch: ", m_words);
    }

    void add_interrupt(std::string_view title, std::uint32_t vector, std::string_view key, std::string_view value) {
        char* const begin = start_line(title.size() + text::kNumberMax + key.size() + value.size());
        char* const at = text::put_decimal(put(put_head(begin), title), vector);
        finish_line(begin, put(put(at, key), value));
    }

    void on_priority(std::uint32_t context, std::uint32_t from) override {
        const std::uint32_t to = m_labels.of(*m_event, from).priority;
        const TaskLabel& task = m_labels.of(*m_event, context);
        line(": sched_pi_setprio: ",
             fmt::format("comm={} pid={} oldprio={} newprio={}", task.name, task.tid, task.priority, to));
    }

    OutputFile& m_file;
    bool m_patchable;
    std::uint64_t m_counts_at = 0;
    std::uint64_t m_lines = 0;
    std::uint32_t m_processors = 0;
    std::map<std::uint16_t, std::uint64_t> m_lost;
    std::uint64_t m_lost_total = 0;
    Schedule m_schedule;
    TaskLabels m_labels;
    TaskTexts m_texts;
    EventWords m_event_words;
    VectorLabels m_vectors;
    std::vector<std::string> m_titles; // by code
    std::string m_words;
    std::string m_title;
    const trace::Event* m_event = nullptr;
    std::uint32_t m_context = kUnknownContext; // the task of the lines
    const std::string* m_head = nullptr;       // text of m_context
    std::string m_cpu_text = "000";
    std::uint16_t m_cpu = 0;
    text::TextOf<24> m_second_text;
    std::uint64_t m_second = ~std::uint64_t{0};
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
    .make = make_writer<Ftrace>,
};

} // namespace host::convert::linux
