// SPDX-License-Identifier: MIT
// The JSON of Chrome's trace viewer ("Trace Event Format"), which Perfetto, speedscope and many tools open. Tracks are
// processes and threads there, so each kind of ours is a process:
//
//   1 processors   thread = cpu    X   who runs; i   events that belong to no task
//   2 interrupts   thread = cpu    B/E handlers, nested
//   3 tasks        thread = task   i   every other event, with its parameters as words
//   4 jobs         thread = task   B/E from release to completion
//   5 waits        thread = task   B/E for what
//   6 servers      C budgets in nanoseconds
//
// ts is in microseconds with three digits behind the point, that is exact to the nanosecond.
#include "host/convert/event_words.hpp"
#include "host/convert/losses.hpp"
#include "host/convert/rows.hpp"
#include "host/convert/task_labels.hpp"
#include "host/convert/task_slices.hpp"
#include "host/convert/text.hpp"
#include "host/convert/time_axis.hpp"
#include "host/trace/user_event.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace host::convert {

namespace {

using trace::kCodeOf;

enum class Group : std::uint8_t { processors = 1, interrupts, tasks, jobs, waits, servers };

constexpr std::array<std::string_view, 7> kGroupNames = {"",     "processors", "interrupts", "tasks",
                                                         "jobs", "waits",      "servers"};

// Escaped text needs no more than this; without quotes.
void append_json(std::string& out, std::string_view text) {
    for (const char character : text) {
        if (character == '"' || character == '\\') {
            out += '\\';
        }
        out += static_cast<unsigned char>(character) < 0x20 ? ' ' : character;
    }
}

class ChromeJson final : public Writer {
  public:
    explicit ChromeJson(Destination& destination)
        : m_file(destination.file()) {}

    lib::Result<void> begin(const Survey* survey, std::string& /*why*/) override {
        m_time.emplace(*survey);
        const auto& build = survey->facts.build;
        m_line = R"({"displayTimeUnit":"ns","otherData":{"application":")";
        append_json(m_line, build ? trace::escaped(build->application.view()) : "");
        m_line += R"(","kernel":")";
        append_json(m_line, build ? trace::escaped(build->kernel.view()) : "");
        m_line += fmt::format(R"(","first_tick":"{}","clock_khz":{}}},"traceEvents":[)", survey->first.value,
                              survey->facts.clock.khz);
        m_line += '\n';
        m_file.append(m_line);
        for (std::size_t group = 1; group < kGroupNames.size(); ++group) {
            start_metadata(static_cast<Group>(group), "process_name", 0);
            m_line += kGroupNames[group];
            m_line += "\"}";
            end();
        }
        return {};
    }

    void add(const trace::Event& event) override {
        const std::uint64_t time_ns = m_time->of(event);
        const auto changes = m_view.take(event);
        for (const Change& change : changes) {
            apply(time_ns, event, change);
        }
        for (const SliceChange& change : m_slices.take(event, changes)) {
            apply(time_ns, event, change);
        }
        if (event.is(kCodeOf<"server_budget">)) {
            start('C', Group::servers, 0, time_ns);
            add_server_name(event);
            m_line += fmt::format(R"(,"args":{{"ns":{}}})", m_time->nanoseconds(event.par2));
            end();
        } else if (!is_drawn(event, changes)) {
            add_instant(time_ns, event);
        }
        if (event.is(kCodeOf<"blackout_start">)) {
            run(time_ns, processor(event.cpu), event.cpu, "unknown");
        }
    }

    lib::Result<void> finish(const trace::TraceFacts& facts, std::string& /*why*/) override {
        const std::uint64_t end_ns = m_time->last_ns();
        for (const SliceChange& change : m_slices.finish()) {
            start('E', group_of(change), tid_used(change.context), end_ns);
            end();
        }
        for (auto& [cpu, here] : m_processors) {
            run(end_ns, here, cpu, {});
            for (; here.interrupts != 0; --here.interrupts) {
                start('E', Group::interrupts, cpu, end_ns);
                end();
            }
        }
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            if (const std::uint64_t rest = losses.without(processor(cpu).lost); rest != 0) {
                add_loss(end_ns, cpu, losses.text(rest));
            }
        }
        m_file.append("\n]}\n");
        return {};
    }

  private:
    struct Processor {
        std::string running; // escaped; empty: nothing known yet
        std::uint64_t since_ns = 0;
        std::uint32_t interrupts = 0; // nested
        std::uint64_t lost = 0;       // told by gaps
    };

    Processor& processor(std::uint16_t cpu) {
        const auto [place, is_new] = m_processors.try_emplace(cpu);
        if (is_new) {
            for (const Group group : {Group::processors, Group::interrupts}) {
                start_metadata(group, "thread_name", cpu);
                m_line += fmt::format("cpu {}\"}}", cpu);
                end();
            }
        }
        return place->second;
    }

    static Group group_of(const SliceChange& change) {
        const bool job = change.kind == SliceChange::Kind::job_began || change.kind == SliceChange::Kind::job_ended;
        return job ? Group::jobs : Group::waits;
    }

    [[nodiscard]] std::uint32_t tid_used(std::uint32_t context) const {
        const auto found = m_tids.find(context);
        return found != m_tids.end() ? found->second : context;
    }

    static bool is_drawn(const trace::Event& event, std::span<const Change> changes) {
        if (!event.is_sound()) {
            return false;
        }
        const auto has = [&](Change::Kind kind) {
            return std::ranges::find(changes, kind, &Change::kind) != changes.end();
        };
        switch (event.code) {
        case kCodeOf<"context_switch">:
            return has(Change::Kind::switched);
        case kCodeOf<"interrupt_start">:
            return has(Change::Kind::interrupt_began);
        case kCodeOf<"interrupt_end">:
            return has(Change::Kind::interrupt_ended);
        default:
            return false;
        }
    }

    // A slice of the processor's track goes out when it ends.
    void run(std::uint64_t time_ns, Processor& here, std::uint16_t cpu, std::string_view next) {
        if (!here.running.empty()) {
            start('X', Group::processors, cpu, here.since_ns);
            m_line += R"(,"dur":)";
            append_time(time_ns - here.since_ns);
            add_name(here.running);
            end();
        }
        here.running = next;
        here.since_ns = time_ns;
    }

    void apply(std::uint64_t time_ns, const trace::Event& event, const Change& change) {
        Processor& here = processor(event.cpu);
        switch (change.kind) {
        case Change::Kind::switched:
            run(time_ns, here, event.cpu, m_labels.of(event, change.context).name);
            break;
        case Change::Kind::interrupt_began:
            ++here.interrupts;
            start('B', Group::interrupts, event.cpu, time_ns);
            add_name(trace::escaped(vector_label(*event.names, change.object)));
            end();
            break;
        case Change::Kind::interrupt_ended:
            --here.interrupts;
            start('E', Group::interrupts, event.cpu, time_ns);
            end();
            break;
        case Change::Kind::lost:
            run(time_ns, here, event.cpu, "unknown");
            here.lost += change.object;
            add_loss(time_ns, event.cpu, fmt::format("lost {} records", change.object));
            break;
        case Change::Kind::woken:
        case Change::Kind::waits:
        case Change::Kind::created:
        case Change::Kind::ended:
        case Change::Kind::inherits:
        case Change::Kind::returns:
            break;
        }
    }

    void apply(std::uint64_t time_ns, const trace::Event& event, const SliceChange& change) {
        const Group group = group_of(change);
        switch (change.kind) {
        case SliceChange::Kind::job_began:
        case SliceChange::Kind::wait_began: {
            const std::uint32_t tid = name_thread(event, group, change.context);
            start('B', group, tid, time_ns);
            add_name(group == Group::jobs ? "job" : wait_label(*event.names, change.state, change.object));
            end();
            break;
        }
        case SliceChange::Kind::job_ended:
        case SliceChange::Kind::wait_ended:
            start('E', group, tid_used(change.context), time_ns);
            end();
            break;
        }
    }

    // The thread of a task in this group, whose name is told first, and again when the context is another task's. Its
    // number stays that of the first task, so that slices end on the track on which they began.
    std::uint32_t name_thread(const trace::Event& event, Group group, std::uint32_t context) {
        const TaskLabel& label = m_labels.of(event, context);
        const std::uint32_t tid = m_tids.try_emplace(context, label.tid).first->second;
        std::string& told = m_told[static_cast<std::uint64_t>(group) << 32 | context];
        if (told != label.name) {
            told = label.name;
            start_metadata(group, "thread_name", tid);
            append_json(m_line, label.name);
            m_line += "\"}";
            end();
        }
        return tid;
    }

    void add_instant(std::uint64_t time_ns, const trace::Event& event) {
        const std::uint32_t context = task_of(event, m_view);
        if (context <= 0xFFFF) {
            const std::uint32_t tid = name_thread(event, Group::tasks, context);
            start('i', Group::tasks, tid, time_ns);
        } else {
            static_cast<void>(processor(event.cpu)); // its name stands before its events
            start('i', Group::processors, event.cpu, time_ns);
        }
        m_line += R"(,"s":"t")";
        const bool in_table = event.row != nullptr && event.row->shape != tracer::Shape::combined;
        if (in_table) {
            m_line += R"(,"name":")";
            m_line += event.row->name;
            m_line += '"';
        } else {
            add_name(trace::escaped(trace::event_name(event)));
        }
        m_words.clear();
        m_event_words.append(m_words, event);
        if (m_words.size() != 0) {
            m_line += R"(,"args":{"text":")";
            append_json(m_line, {m_words.data(), m_words.size()});
            m_line += "\"}";
        }
        end();
    }

    void add_loss(std::uint64_t time_ns, std::uint16_t cpu, std::string_view text) {
        start('i', Group::processors, cpu, time_ns);
        m_line += R"(,"s":"g")";
        add_name(text);
        end();
    }

    void add_server_name(const trace::Event& event) {
        const std::string_view name = event.names->find(tracer::Unit::server, event.par1);
        add_name(name.empty() ? fmt::format("budget of server {}", event.par1)
                              : fmt::format("budget of {}", trace::escaped(name)));
    }

    void start(char phase, Group group, std::uint32_t thread, std::uint64_t time_ns) {
        m_line = R"({"ph":")";
        m_line += phase;
        append_place(group, thread);
        m_line += R"(,"ts":)";
        append_time(time_ns);
    }

    void append_place(Group group, std::uint32_t thread) {
        std::array<char, 2 * kNumberCharsMax + 32> text;
        char* at = put(text.data(), R"(","pid":)");
        at = put_number(at, static_cast<unsigned>(group));
        at = put(at, R"(,"tid":)");
        at = put_number(at, thread);
        m_line.append(text.data(), at);
    }

    void start_metadata(Group group, std::string_view what, std::uint32_t thread) {
        m_line = R"({"ph":"M)";
        append_place(group, thread);
        m_line += R"(,"name":")";
        m_line += what;
        m_line += R"(","args":{"name":")";
    }

    void append_time(std::uint64_t time_ns) {
        std::array<char, kNumberCharsMax + 4> text;
        char* at = put_number(text.data(), time_ns / 1000);
        const std::uint64_t rest = time_ns % 1000;
        *at++ = '.';
        *at++ = static_cast<char>('0' + rest / 100);
        *at++ = static_cast<char>('0' + rest / 10 % 10);
        *at++ = static_cast<char>('0' + rest % 10);
        m_line.append(text.data(), at);
    }

    void add_name(std::string_view escaped_name) {
        m_line += R"(,"name":")";
        append_json(m_line, escaped_name);
        m_line += '"';
    }

    void end() {
        m_line += '}';
        if (m_any) {
            m_file.append(",\n");
        }
        m_any = true;
        m_file.append(m_line);
    }

    OutputFile& m_file;
    std::optional<TimeAxis> m_time;
    ScheduleView m_view;
    TaskSlices m_slices;
    TaskLabels m_labels;
    std::map<std::uint16_t, Processor> m_processors;
    std::unordered_map<std::uint32_t, std::uint32_t> m_tids; // of contexts, as they were first told
    std::unordered_map<std::uint64_t, std::string> m_told;   // names, by group and context
    std::string m_line;                                      // the event that is being written
    EventWords m_event_words;
    fmt::memory_buffer m_words;
    bool m_any = false;
};

} // namespace

const FormatRow kChromeJsonRow = {
    .name = "chrome-json",
    .suffix = ".json",
    .meaning = "JSON of Chrome's trace viewer, for ui.perfetto.dev, speedscope and others; large",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .make = [](Destination& destination) -> std::unique_ptr<Writer> {
        return std::make_unique<ChromeJson>(destination);
    },
};

} // namespace host::convert
