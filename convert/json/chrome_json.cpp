// SPDX-License-Identifier: MIT
// Writes the JSON of Chrome's trace viewer ("Trace Event Format"), which Perfetto, speedscope and many tools open.
// Tracks are processes and threads there, so each of our kinds is a process:
//
//   1 processors   thread = cpu    B/E who runs; i   events that belong to no task
//   2 interrupts   thread = cpu    B/E handlers, nested
//   3 tasks        thread = task   i   every other event, with its parameters as words
//   4 jobs         thread = task   B/E from release to completion
//   5 waits        thread = task   B/E for what
//   6 servers      C budgets in nanoseconds
//
// ts is in microseconds with three digits after the point, which is exact to the nanosecond. Readers use a double, in
// which begin plus duration (X) can exceed the next begin; only B and E let neighbours meet. An end repeats the name of
// its begin, because speedscope ignores an end without it.
#include "convert/losses.hpp"
#include "convert/rows.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"
#include "convert/writer/event_words.hpp"
#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/value_text.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace host::convert::json {

namespace {

using trace::kCodeOf;

enum class Group : std::uint8_t { processors = 1, interrupts, tasks, jobs, waits, servers };

constexpr std::array<std::string_view, 7> kGroupNames = {"",     "processors", "interrupts", "tasks",
                                                         "jobs", "waits",      "servers"};

constexpr std::size_t kEventMax = 256; // an event without its texts

class ChromeJson final : public TrackWriter {
  public:
    explicit ChromeJson(Destination& destination)
        : m_file(destination.file())
        , m_json(m_file)
        , m_instants(256) {
        for (const tracer::EventRow& row : tracer::kEvents) {
            const bool fits = m_instants[row.code].set(fmt::format(R"(,"s":"t","name":"{}")", row.name));
            ASSERT(fits);
        }
    }

  private:
    using InstantMembers = text::TextOf<64>;
    using Track = text::TextOf<32>; // the members with the track of an event, and the key of its time

    // A thread is one track of a task.
    struct Thread {
        std::uint64_t turn = 0; // of TaskLabels
        Track track;            // empty if not announced yet
        std::string name;       // under which it was announced
        std::string slice;      // the last one that began
    };

    struct Processor {
        Track track;
        Track interrupts;
        std::string running;               // escaped; empty if unknown
        std::vector<std::string> handlers; // names of the open ones, outermost first
        std::uint64_t lost = 0;            // as gaps state
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
        m_processors.for_each([&](std::uint16_t /*cpu*/, Processor& here) {
            run(here, {});
            while (!here.handlers.empty()) {
                end_handler(here);
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
        Processor& added = m_processors.add(cpu);
        added.track = track_of(Group::processors, cpu);
        added.interrupts = track_of(Group::interrupts, cpu);
        return added;
    }

    static Track track_of(Group group, std::uint32_t thread) {
        Track track;
        const bool fits = track.set(fmt::format(R"(,"pid":{},"tid":{},"ts":)", static_cast<unsigned>(group), thread));
        ASSERT(fits);
        return track;
    }

    [[nodiscard]] std::uint32_t tid_used(std::uint32_t context) const {
        return m_tids[context] != kNoTid ? m_tids[context] : context;
    }

    void run(Processor& here, std::string_view next) {
        if (!here.running.empty()) {
            put_end(here.track, here.running);
        }
        here.running = next;
        if (!next.empty()) {
            put_begin(here.track, next);
        }
    }

    void end_handler(Processor& here) {
        put_end(here.interrupts, here.handlers.back());
        here.handlers.pop_back();
    }

    void select_processor(std::uint16_t cpu) override { m_here = &processor(cpu); }

    void on_switch(const Change& change) override { run(*m_here, m_labels.of(event(), change.context).name); }

    void on_interrupt(std::uint32_t vector) override {
        m_here->handlers.emplace_back(m_vectors.of(event(), vector));
        put_begin(m_here->interrupts, m_here->handlers.back());
    }

    void on_interrupt_end(std::uint32_t /*vector*/) override { end_handler(*m_here); }

    void on_gap() override { run(*m_here, "unknown"); }

    void on_loss(std::uint32_t records) override {
        m_here->lost += records;
        add_loss(event().cpu, fmt::format("lost {} records", records));
    }

    static Group group_of(Slice slice) { return slice == Slice::job ? Group::jobs : Group::waits; }

    void begin_slice(Slice slice, std::uint32_t context, std::string_view name) override {
        Thread& thread = name_thread(group_of(slice), context);
        put_begin(thread.track, name);
        thread.slice = name;
    }

    void end_slice(Slice slice, std::uint32_t context) override {
        const Group group = group_of(slice);
        Thread& thread = thread_of(group, context);
        put_end(thread.track.size != 0 ? thread.track : track_of(group, tid_used(context)), thread.slice);
    }

    // Returns the thread of a task in this group. Its name is written first, and again when another task has the
    // context. Its number stays that of the first task, so that slices end on the track on which they began.
    Thread& name_thread(Group group, std::uint32_t context) {
        const TaskLabel& label = m_labels.of(event(), context);
        Thread& known = thread_of(group, context);
        if (known.turn == label.turn) [[likely]] {
            return known;
        }
        known.turn = label.turn;
        if (m_tids[context] == kNoTid) {
            m_tids[context] = label.tid;
        }
        known.track = track_of(group, m_tids[context]);
        if (known.name != label.name) {
            known.name = label.name;
            add_metadata(group, "thread_name", m_tids[context], label.name);
        }
        return known;
    }

    Thread& thread_of(Group group, std::uint32_t context) {
        auto& thread = m_threads[static_cast<std::size_t>(group) - static_cast<std::size_t>(Group::tasks)][context];
        if (thread == nullptr) [[unlikely]] {
            thread = std::make_unique<Thread>();
        }
        return *thread;
    }

    void add_instant() override {
        const trace::Event& event = this->event();
        const std::uint32_t context = task_of(event, schedule());
        // The name of a processor must precede its events, too.
        const Track& track = context <= 0xFFFF ? name_thread(Group::tasks, context).track : processor(event.cpu).track;
        const InstantMembers& members = m_instants[event.code];
        const bool is_short = put_event('i', track, EventWords::kShortMax, [&](char* at) {
            at = members.put(at);
            char* const words = text::put(at, kTextMember);
            char* const end = m_event_words.put_short(words, event);
            return end == nullptr ? nullptr : end == words ? at : text::put(end, kTextEnd);
        });
        if (!is_short) {
            add_long_instant(track);
        }
    }

    void add_long_instant(const Track& track) {
        const std::string name = text::escaped(trace::event_name(event()));
        const std::string_view words = m_event_words.of(event());
        put_event('i', track, text::json_room(name.size()) + words.size(), [&](char* at) {
            at = put_name(text::put(at, R"(,"s":"t")"), name);
            return words.empty() ? at : text::put(text::put(text::put(at, kTextMember), words), kTextEnd);
        });
    }

    void add_loss(std::uint16_t cpu, std::string_view text) {
        put_event('i', processor(cpu).track, text::json_room(text.size()),
                  [&](char* at) { return put_name(text::put(at, R"(,"s":"g")"), text); });
    }

    void add_budget(std::uint64_t left_ns) override {
        const std::string name = server_name(event());
        put_event('C', m_servers, text::json_room(name.size()), [&](char* at) {
            at = text::put(put_name(at, name), R"(,"args":{"ns":)");
            at = text::put_number(at, left_ns);
            *at++ = '}';
            return at;
        });
    }

    static std::string server_name(const trace::Event& event) {
        const std::string_view name = event.names->find(tracer::Unit::server, event.par1);
        return name.empty() ? fmt::format("budget of server {}", event.par1)
                            : fmt::format("budget of {}", text::escaped(name));
    }

    void add_metadata(Group group, std::string_view what, std::uint32_t thread, std::string_view name) {
        m_json.line();
        m_json.object(kEventMax + text::json_room(what.size() + name.size()), [&](auto& json) {
            json.member("ph", 'M');
            json.member("pid", static_cast<unsigned>(group));
            json.member("tid", thread);
            json.member("name", what);
            json.begin_object("args");
            json.member("name", name);
            json.end_object();
        });
    }

    void put_begin(const Track& track, std::string_view name) { put_edge('B', track, name); }

    void put_end(const Track& track, std::string_view name) { put_edge('E', track, name); }

    void put_edge(char phase, const Track& track, std::string_view name) {
        put_event(phase, track, text::json_room(name.size()), [&](char* at) { return put_name(at, name); });
    }

    // Appends an element to the array, which is not empty. rest(char*) writes what follows the time in at most `room`
    // bytes; it returns null if nothing is to be written. Returns whether the element was written.
    template <typename Rest>
    bool put_event(char phase, const Track& track, std::size_t room, Rest rest) {
        char* const begin = m_file.room(kEventMax + room);
        char* at = text::put(begin, ",\n{\"ph\":\"");
        *at++ = phase;
        *at++ = '"';
        at = rest(m_stamp.put_thousandth(track.put(at), time_ns()));
        if (at == nullptr) {
            return false;
        }
        *at++ = '}';
        m_file.used(static_cast<std::size_t>(at - begin));
        return true;
    }

    static char* put_name(char* at, std::string_view name) {
        at = text::put_json(text::put(at, R"(,"name":")"), name);
        *at++ = '"';
        return at;
    }

    static constexpr std::string_view kTextMember = R"(,"args":{"text":")";
    static constexpr std::string_view kTextEnd = R"("})";
    static constexpr std::size_t kContexts = 0x1'0000;
    static constexpr std::uint32_t kNoTid = ~std::uint32_t{0};

    OutputFile& m_file;
    text::JsonWriter<OutputFile&> m_json; // for everything but events
    text::RisingNumber m_stamp;
    Track m_servers = track_of(Group::servers, 0);
    TaskLabels m_labels;
    VectorLabels m_vectors;
    EventWords m_event_words{EventWords::Encoding::json};
    std::vector<InstantMembers> m_instants; // by code, for events in the table
    PerProcessor<Processor> m_processors;
    Processor* m_here = nullptr;                                                                  // that of the event
    std::vector<std::uint32_t> m_tids = std::vector<std::uint32_t>(kContexts, kNoTid);            // as first written
    using Threads = std::vector<std::unique_ptr<Thread>>;                                         // by context
    std::array<Threads, 3> m_threads{Threads(kContexts), Threads(kContexts), Threads(kContexts)}; // tasks, jobs, waits
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
