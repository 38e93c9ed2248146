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
#include "host/convert/json_text.hpp"
#include "host/convert/losses.hpp"
#include "host/convert/per_processor.hpp"
#include "host/convert/rows.hpp"
#include "host/convert/task_labels.hpp"
#include "host/convert/task_slices.hpp"
#include "host/convert/text.hpp"
#include "host/convert/time_axis.hpp"
#include "host/convert/vector_labels.hpp"
#include "host/trace/digits.hpp"
#include "host/trace/user_event.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace host::convert {

namespace {

using trace::kCodeOf;

enum class Group : std::uint8_t { processors = 1, interrupts, tasks, jobs, waits, servers };

constexpr std::array<std::string_view, 7> kGroupNames = {"",     "processors", "interrupts", "tasks",
                                                         "jobs", "waits",      "servers"};

constexpr std::size_t kLineMax = 256; // everything in an event but texts

class ChromeJson final : public Writer {
  public:
    explicit ChromeJson(Destination& destination)
        : m_file(destination.file()) {}

    lib::Result<void> begin(const Survey* survey, std::string& /*why*/) override {
        m_time.emplace(*survey);
        const auto& build = survey->facts.build;
        m_file.append(R"({"displayTimeUnit":"ns","otherData":{"application":")");
        append_json(build ? trace::escaped(build->application.view()) : "");
        m_file.append(R"(","kernel":")");
        append_json(build ? trace::escaped(build->kernel.view()) : "");
        m_file.append(fmt::format(R"(","first_tick":"{}","clock_khz":{}}},"traceEvents":[)", survey->first.value,
                                  survey->facts.clock.khz));
        m_file.append("\n");
        for (std::size_t group = 1; group < kGroupNames.size(); ++group) {
            add_metadata(static_cast<Group>(group), "process_name", 0, kGroupNames[group]);
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
            const std::string name = server_name(event);
            start('C', Group::servers, 0, time_ns, name.size());
            add_name(name);
            m_at = put(m_at, R"(,"args":{"ns":)");
            m_at = trace::put_decimal(m_at, m_time->nanoseconds(event.par2));
            *m_at++ = '}';
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
        m_processors.for_each([&](std::uint16_t cpu, Processor& here) {
            run(end_ns, here, cpu, {});
            for (; here.interrupts != 0; --here.interrupts) {
                start('E', Group::interrupts, cpu, end_ns);
                end();
            }
        });
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
        if (Processor* const known = m_processors.find(cpu); known != nullptr) {
            return *known;
        }
        for (const Group group : {Group::processors, Group::interrupts}) {
            add_metadata(group, "thread_name", cpu, fmt::format("cpu {}", cpu));
        }
        return m_processors.add(cpu);
    }

    static Group group_of(const SliceChange& change) {
        const bool job = change.kind == SliceChange::Kind::job_began || change.kind == SliceChange::Kind::job_ended;
        return job ? Group::jobs : Group::waits;
    }

    [[nodiscard]] std::uint32_t tid_used(std::uint32_t context) const {
        return m_tids[context] != kNoTid ? m_tids[context] : context;
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
            start('X', Group::processors, cpu, here.since_ns, here.running.size());
            m_at = put(m_at, R"(,"dur":)");
            put_time(time_ns - here.since_ns);
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
        case Change::Kind::interrupt_began: {
            ++here.interrupts;
            const std::string& name = m_vectors.of(event, change.object);
            start('B', Group::interrupts, event.cpu, time_ns, name.size());
            add_name(name);
            end();
            break;
        }
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
            const std::string name =
                group == Group::jobs ? "job" : wait_label(*event.names, change.state, change.object);
            start('B', group, tid, time_ns, name.size());
            add_name(name);
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
        Told& told = m_told[static_cast<std::size_t>(group) - static_cast<std::size_t>(Group::tasks)][context];
        if (told.turn == label.turn) {
            return m_tids[context];
        }
        told.turn = label.turn;
        if (m_tids[context] == kNoTid) {
            m_tids[context] = label.tid;
        }
        if (told.name != label.name) {
            told.name = label.name;
            add_metadata(group, "thread_name", m_tids[context], label.name);
        }
        return m_tids[context];
    }

    void add_instant(std::uint64_t time_ns, const trace::Event& event) {
        const std::uint32_t context = task_of(event, m_view);
        const bool of_task = context <= 0xFFFF;
        const std::uint32_t thread = of_task ? name_thread(event, Group::tasks, context) : event.cpu;
        if (!of_task) {
            static_cast<void>(processor(event.cpu)); // its name stands before its events
        }
        const bool in_table = event.row != nullptr && event.row->shape != tracer::Shape::combined;
        const std::string name = in_table ? std::string() : trace::escaped(trace::event_name(event));
        const std::string_view words = m_event_words.of(event);
        start('i', of_task ? Group::tasks : Group::processors, thread, time_ns, name.size() + words.size());
        m_at = put(m_at, R"(,"s":"t")");
        add_name(in_table ? event.row->name : std::string_view(name));
        if (!words.empty()) {
            m_at = put(m_at, R"(,"args":{"text":")");
            m_at = put_json(m_at, words);
            m_at = put(m_at, "\"}");
        }
        end();
    }

    void add_loss(std::uint64_t time_ns, std::uint16_t cpu, std::string_view text) {
        start('i', Group::processors, cpu, time_ns, text.size());
        m_at = put(m_at, R"(,"s":"g")");
        add_name(text);
        end();
    }

    static std::string server_name(const trace::Event& event) {
        const std::string_view name = event.names->find(tracer::Unit::server, event.par1);
        return name.empty() ? fmt::format("budget of server {}", event.par1)
                            : fmt::format("budget of {}", trace::escaped(name));
    }

    void add_metadata(Group group, std::string_view what, std::uint32_t thread, std::string_view name) {
        open('M', group, thread, name.size());
        m_at = put(put(put(m_at, R"(,"name":")"), what), R"(","args":{"name":")");
        m_at = put(put_json(m_at, name), "\"}");
        end();
    }

    // text_bytes: of all texts that follow.
    void start(char phase, Group group, std::uint32_t thread, std::uint64_t time_ns, std::size_t text_bytes = 0) {
        open(phase, group, thread, text_bytes);
        m_at = put(m_at, R"(,"ts":)");
        put_time(time_ns);
    }

    void open(char phase, Group group, std::uint32_t thread, std::size_t text_bytes) {
        m_begin = m_file.room(kLineMax + 2 * text_bytes);
        m_at = put(m_begin, std::exchange(m_any, true) ? ",\n" : "");
        m_at = put(m_at, R"({"ph":")");
        *m_at++ = phase;
        m_at = put(m_at, R"(","pid":)");
        *m_at++ = static_cast<char>('0' + static_cast<unsigned>(group));
        m_at = put(m_at, R"(,"tid":)");
        m_at = trace::put_decimal(m_at, thread);
    }

    void put_time(std::uint64_t time_ns) {
        const std::uint64_t whole = time_ns / 1000;
        const std::uint64_t rest = time_ns - whole * 1000;
        m_at = trace::put_decimal(m_at, whole);
        *m_at++ = '.';
        *m_at++ = static_cast<char>('0' + rest / 100);
        *m_at++ = static_cast<char>('0' + rest / 10 % 10);
        *m_at++ = static_cast<char>('0' + rest % 10);
    }

    void add_name(std::string_view escaped_name) {
        m_at = put_json(put(m_at, R"(,"name":")"), escaped_name);
        *m_at++ = '"';
    }

    void end() {
        *m_at++ = '}';
        m_file.used(static_cast<std::size_t>(m_at - m_begin));
    }

    void append_json(std::string_view text) {
        char* const begin = m_file.room(2 * text.size() + sizeof(std::uint64_t));
        m_file.used(static_cast<std::size_t>(put_json(begin, text) - begin));
    }

    // The name under which a track of a task is known.
    struct Told {
        std::uint64_t turn = 0; // of TaskLabels
        std::string name;
    };

    static constexpr std::size_t kContexts = 0x1'0000;
    static constexpr std::uint32_t kNoTid = ~std::uint32_t{0};

    OutputFile& m_file;
    std::optional<TimeAxis> m_time;
    ScheduleView m_view;
    TaskSlices m_slices;
    TaskLabels m_labels;
    VectorLabels m_vectors;
    EventWords m_event_words;
    PerProcessor<Processor> m_processors;
    std::vector<std::uint32_t> m_tids = std::vector<std::uint32_t>(kContexts, kNoTid); // as they were first told
    std::array<std::vector<Told>, 3> m_told{std::vector<Told>(kContexts), std::vector<Told>(kContexts),
                                            std::vector<Told>(kContexts)}; // tasks, jobs, waits; by context
    char* m_begin = nullptr;                                               // of the event that is being written
    char* m_at = nullptr;
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
