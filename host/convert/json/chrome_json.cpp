// SPDX-License-Identifier: MIT
// The JSON of Chrome's trace viewer ("Trace Event Format"), which Perfetto, speedscope and many tools open. Tracks are
// processes and threads there, so each kind of ours is a process:
//
//   1 processors   thread = cpu    B/E who runs; i   events that belong to no task
//   2 interrupts   thread = cpu    B/E handlers, nested
//   3 tasks        thread = task   i   every other event, with its parameters as words
//   4 jobs         thread = task   B/E from release to completion
//   5 waits        thread = task   B/E for what
//   6 servers      C budgets in nanoseconds
//
// ts is in microseconds with three digits after the point, that is exact to the nanosecond. Readers take it as a
// double, in which begin plus duration (X) can exceed the next begin: only B and E let neighbours meet. An end
// repeats the name of its begin, because speedscope passes over an end without it.
#include "host/convert/event_words.hpp"
#include "host/convert/losses.hpp"
#include "host/convert/per_processor.hpp"
#include "host/convert/rows.hpp"
#include "host/convert/task_labels.hpp"
#include "host/convert/track_writer.hpp"
#include "host/convert/vector_labels.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/foreign.hpp"
#include "host/trace/user_event.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace host::convert::json {

namespace {

using trace::kCodeOf;

enum class Group : std::uint8_t { processors = 1, interrupts, tasks, jobs, waits, servers };

constexpr std::array<std::string_view, 7> kGroupNames = {"",     "processors", "interrupts", "tasks",
                                                         "jobs", "waits",      "servers"};

constexpr std::size_t kEventMax = 256; // everything in an event but texts

class ChromeJson final : public TrackWriter {
  public:
    explicit ChromeJson(Destination& destination)
        : m_json(destination.file())
        , m_instants(256) {
        for (const tracer::EventRow& row : tracer::kEvents) {
            fmt::memory_buffer members;
            add_instant_members(text::JsonText(members), row.name);
            const bool fits = m_instants[row.code].set({members.data(), members.size()});
            ASSERT(fits);
        }
    }

  private:
    using InstantMembers = text::TextOf<64>;

    template <typename Json>
    static void add_instant_members(Json&& json, std::string_view name) {
        json.member("s", "t");
        json.member("name", name);
    }

    // A track of a task.
    struct Thread {
        std::uint64_t turn = 0; // of TaskLabels
        std::string name;       // under which it is known
        std::string slice;      // the last one that began
    };

    struct Processor {
        std::string running;               // escaped; empty: nothing known yet
        std::vector<std::string> handlers; // names of those that are open, outermost first
        std::uint64_t lost = 0;            // as gaps record
    };

    void begin_tracks(const Survey& survey) override {
        const auto& build = survey.facts.build;
        m_json.begin_object();
        m_json.member("displayTimeUnit", "ns");
        m_json.begin_object("otherData");
        m_json.member("application", build ? text::escaped(build->application.view()) : "");
        m_json.member("kernel", build ? text::escaped(build->kernel.view()) : "");
        m_json.member("first_tick", fmt::format("{}", survey.first.value));
        m_json.member("clock_khz", survey.facts.clock.khz);
        m_json.end_object();
        m_json.begin_array("traceEvents");
        for (std::size_t group = 1; group < kGroupNames.size(); ++group) {
            add_metadata(static_cast<Group>(group), "process_name", 0, kGroupNames[group]);
        }
    }

    void end_tracks(const trace::TraceFacts& facts) override {
        m_processors.for_each([&](std::uint16_t cpu, Processor& here) {
            run(here, cpu, {});
            while (!here.handlers.empty()) {
                end_handler(here, cpu);
            }
        });
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            if (const std::uint64_t rest = losses.without(processor(cpu).lost); rest != 0) {
                add_loss(cpu, losses.text(rest));
            }
        }
        m_json.end_lines();
        m_json.end_object();
        m_json.blank("\n");
    }

    Processor& processor(std::uint16_t cpu) {
        if (Processor* const known = m_processors.find(cpu); known != nullptr) {
            return *known;
        }
        for (const Group group : {Group::processors, Group::interrupts}) {
            add_metadata(group, "thread_name", cpu, fmt::format("cpu {}", cpu));
        }
        return m_processors.add(cpu);
    }

    [[nodiscard]] std::uint32_t tid_used(std::uint32_t context) const {
        return m_tids[context] != kNoTid ? m_tids[context] : context;
    }

    void run(Processor& here, std::uint16_t cpu, std::string_view next) {
        if (!here.running.empty()) {
            put_end(Group::processors, cpu, here.running);
        }
        here.running = next;
        if (!next.empty()) {
            put_begin(Group::processors, cpu, next);
        }
    }

    void end_handler(Processor& here, std::uint16_t cpu) {
        put_end(Group::interrupts, cpu, here.handlers.back());
        here.handlers.pop_back();
    }

    void select_processor(std::uint16_t cpu) override { m_here = &processor(cpu); }

    void on_switch(const Change& change) override {
        run(*m_here, event().cpu, m_labels.of(event(), change.context).name);
    }

    void on_interrupt(std::uint32_t vector) override {
        m_here->handlers.emplace_back(m_vectors.of(event(), vector));
        put_begin(Group::interrupts, event().cpu, m_here->handlers.back());
    }

    void on_interrupt_end(std::uint32_t /*vector*/) override { end_handler(*m_here, event().cpu); }

    void on_gap() override { run(*m_here, event().cpu, "unknown"); }

    void on_loss(std::uint32_t records) override {
        m_here->lost += records;
        add_loss(event().cpu, fmt::format("lost {} records", records));
    }

    static Group group_of(Slice slice) { return slice == Slice::job ? Group::jobs : Group::waits; }

    void begin_slice(Slice slice, std::uint32_t context, std::string_view name) override {
        const Group group = group_of(slice);
        put_begin(group, name_thread(group, context), name);
        thread_of(group, context).slice = name;
    }

    void end_slice(Slice slice, std::uint32_t context) override {
        const Group group = group_of(slice);
        put_end(group, tid_used(context), thread_of(group, context).slice);
    }

    // The thread of a task in this group, whose name is written first, and again when the context is another task's.
    // Its number stays that of the first task, so that slices end on the track on which they began.
    std::uint32_t name_thread(Group group, std::uint32_t context) {
        const TaskLabel& label = m_labels.of(event(), context);
        Thread& known = thread_of(group, context);
        if (known.turn == label.turn) {
            return m_tids[context];
        }
        known.turn = label.turn;
        if (m_tids[context] == kNoTid) {
            m_tids[context] = label.tid;
        }
        if (known.name != label.name) {
            known.name = label.name;
            add_metadata(group, "thread_name", m_tids[context], label.name);
        }
        return m_tids[context];
    }

    Thread& thread_of(Group group, std::uint32_t context) {
        return m_threads[static_cast<std::size_t>(group) - static_cast<std::size_t>(Group::tasks)][context];
    }

    [[gnu::flatten]] void add_instant() override {
        const trace::Event& event = this->event();
        const std::uint32_t context = task_of(event, schedule());
        const bool of_task = context <= 0xFFFF;
        const std::uint32_t thread = of_task ? name_thread(Group::tasks, context) : event.cpu;
        if (!of_task) {
            static_cast<void>(processor(event.cpu)); // its name comes before its events
        }
        const bool in_table =
            event.row != nullptr && event.row->shape != tracer::Shape::combined && !trace::is_foreign(event);
        const std::string name = in_table ? std::string() : text::escaped(trace::event_name(event));
        const std::string_view words = m_event_words.of(event);
        put_event('i', of_task ? Group::tasks : Group::processors, thread, name.size() + words.size(), [&](auto& json) {
            add_time(json, time_ns());
            if (in_table) {
                json.plain(m_instants[event.code]);
            } else {
                add_instant_members(json, name);
            }
            if (!words.empty()) {
                json.begin_object("args");
                json.key("text");
                json.encoded(words);
                json.end_object();
            }
        });
    }

    void add_loss(std::uint16_t cpu, std::string_view text) {
        put_event('i', Group::processors, cpu, text.size(), [&](auto& json) {
            add_time(json, time_ns());
            json.member("s", "g");
            json.member("name", text);
        });
    }

    void add_budget(std::uint64_t left_ns) override {
        const std::string name = server_name(event());
        put_event('C', Group::servers, 0, name.size(), [&](auto& json) {
            add_time(json, time_ns());
            json.member("name", name);
            json.begin_object("args");
            json.member("ns", left_ns);
            json.end_object();
        });
    }

    static std::string server_name(const trace::Event& event) {
        const std::string_view name = event.names->find(tracer::Unit::server, event.par1);
        return name.empty() ? fmt::format("budget of server {}", event.par1)
                            : fmt::format("budget of {}", text::escaped(name));
    }

    void add_metadata(Group group, std::string_view what, std::uint32_t thread, std::string_view name) {
        put_event('M', group, thread, what.size() + name.size(), [&](auto& json) {
            json.member("name", what);
            json.begin_object("args");
            json.member("name", name);
            json.end_object();
        });
    }

    void put_begin(Group group, std::uint32_t thread, std::string_view name) { put_edge('B', group, thread, name); }

    void put_end(Group group, std::uint32_t thread, std::string_view name) { put_edge('E', group, thread, name); }

    [[gnu::flatten]] void put_edge(char phase, Group group, std::uint32_t thread, std::string_view name) {
        put_event(phase, group, thread, name.size(), [&](auto& json) {
            add_time(json, time_ns());
            json.member("name", name);
        });
    }

    // members(json) adds what follows phase, process and thread. text_bytes: of all texts in it.
    template <typename Members>
    void put_event(char phase, Group group, std::uint32_t thread, std::size_t text_bytes, Members members) {
        m_json.line();
        m_json.object(kEventMax + text::json_room(text_bytes), [&](auto& json) {
            json.member("ph", phase);
            json.key("pid");
            json.place(1, [group](char* at) {
                *at = static_cast<char>('0' + static_cast<unsigned>(group));
                return at + 1;
            });
            json.member("tid", thread);
            members(json);
        });
    }

    // Microseconds with three digits after the point.
    template <typename Json>
    static void add_time(Json& json, std::uint64_t time_ns) {
        json.key("ts");
        json.place(text::kNumberMax + 4, [time_ns](char* at) {
            const std::uint64_t whole = time_ns / 1000;
            const std::uint64_t rest = time_ns - whole * 1000;
            at = text::put_decimal(at, whole);
            *at++ = '.';
            *at++ = static_cast<char>('0' + rest / 100);
            *at++ = static_cast<char>('0' + rest / 10 % 10);
            *at++ = static_cast<char>('0' + rest % 10);
            return at;
        });
    }

    static constexpr std::size_t kContexts = 0x1'0000;
    static constexpr std::uint32_t kNoTid = ~std::uint32_t{0};

    text::JsonWriter<OutputFile&> m_json;
    TaskLabels m_labels;
    VectorLabels m_vectors;
    EventWords m_event_words{EventWords::Encoding::json};
    std::vector<InstantMembers> m_instants; // of events in the table; by code
    PerProcessor<Processor> m_processors;
    Processor* m_here = nullptr;                                                       // of the event
    std::vector<std::uint32_t> m_tids = std::vector<std::uint32_t>(kContexts, kNoTid); // as they were first written
    std::array<std::vector<Thread>, 3> m_threads{std::vector<Thread>(kContexts), std::vector<Thread>(kContexts),
                                                 std::vector<Thread>(kContexts)}; // tasks, jobs, waits; by context
};

} // namespace

const FormatRow kChromeJsonRow = {
    .name = "chrome-json",
    .suffix = ".json",
    .meaning = "JSON of Chrome's trace viewer, for ui.perfetto.dev, speedscope and others; large",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .make = make_writer<ChromeJson>,
};

} // namespace host::convert::json
