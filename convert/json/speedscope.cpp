// SPDX-License-Identifier: MIT
// Writes call stacks of tasks in steps for speedscope: one profile for each task, with frames that open and close in
// time. A profile shows the task only while it has a processor; a handler that interrupts it is a frame on top. Source:
// speedscope's file format (file-format-spec.ts of the project): in `evented` profiles, times never fall, events nest,
// and all are closed at the end.
#include "convert/json/call_stack.hpp"
#include "convert/rows.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/version.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace host::convert::json {

namespace {

using trace::kCodeOf;

// These frames are no functions, and their values are no addresses.
constexpr CallStack::Frame kInterrupts = CallStack::Frame{1} << 63;

class Speedscope final : public Writer {
  public:
    explicit Speedscope(Destination& destination)
        : m_json(destination.file()) {}

    lib::Result<void, Failure> begin(const Survey* survey) override {
        if (survey->per_code[kCodeOf<"instruction">] + survey->per_code[kCodeOf<"block">] == 0) {
            return Failure{
                Fault::unusable,
                "no task of the trace ran in steps, so it is unknown which functions it was in: begin them with "
                "FTrace_itrace_begin(), FTrace_itrace_task() or itrace=blocks on the kernel's command line"};
        }
        m_time.emplace(*survey);
        m_title = survey->facts.build ? text::escaped(survey->facts.build->application.view()) : "remora";
        return {};
    }

    void add(const trace::Event& event) override {
        const std::uint64_t time_ns = m_time->of(event);
        for (const Change& change : m_schedule.take(event)) {
            apply(time_ns, event, change);
        }
        if (event.is(kCodeOf<"instruction">)) {
            step(time_ns, event, event.par1);
        } else if (event.is(kCodeOf<"block">)) {
            step(time_ns, event, tracer::words_of(tracer::Unit::block).high_part(event.par1));
        } else if (event.is(kCodeOf<"instruction_trace_end">) || event.is(kCodeOf<"job_abort">)) {
            forget(time_ns, event.par1);
        }
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        const std::uint64_t end_ns = m_time->last_ns();
        for (auto& [context, task] : m_tasks) {
            note(task, end_ns, task.stack.suspend(true));
        }
        m_json.begin_object();
        m_json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
        m_json.member("exporter", fmt::format("remora {}", lib::kVersion));
        m_json.member("name", m_title);
        m_json.begin_object("shared");
        m_json.begin_array("frames");
        for (const std::string& name : m_names) {
            m_json.line();
            m_json.begin_object();
            m_json.member("name", name);
            m_json.end_object();
        }
        m_json.end_lines();
        m_json.end_object();
        m_json.begin_array("profiles");
        for (const auto& [context, task] : m_tasks) {
            m_json.line();
            add_profile(text::escaped(task_label(facts.names, context)), task);
        }
        m_json.end_lines();
        m_json.end_object();
        m_json.blank("\n");
        return {};
    }

  private:
    struct Note {
        std::uint64_t time_ns;
        std::uint32_t frame; // index of its name
        bool opens;
    };

    struct Task {
        CallStack stack;
        std::vector<Note> notes; // 16 bytes for each call and each return
    };

    // Returns null if the task was never in steps.
    [[nodiscard]] Task* find(std::uint32_t context) {
        const auto task = m_tasks.find(context);
        return task != m_tasks.end() ? &task->second : nullptr;
    }

    void apply(std::uint64_t time_ns, const trace::Event& event, const Change& change) {
        if (change.kind == Change::Kind::gap) {
            forget(time_ns, change.other);
            return;
        }
        const bool switched = change.kind == Change::Kind::switched;
        Task* const running = find(switched ? change.other : m_schedule.running(event.cpu));
        if (running == nullptr || !running->stack.is_open()) {
            return;
        }
        if (switched) {
            note(*running, time_ns, running->stack.suspend(false));
        } else if (change.kind == Change::Kind::interrupt_began) {
            const CallStack::Frame frame = kInterrupts | change.object;
            name(frame, [&] {
                const std::string_view known = event.names->find(tracer::Unit::vector, change.object);
                return "interrupt " + (known.empty() ? std::to_string(change.object) : text::escaped(known));
            });
            note(*running, time_ns, running->stack.begin_interlude(frame));
        } else if (change.kind == Change::Kind::interrupt_ended) {
            note(*running, time_ns, running->stack.end_interlude());
        }
    }

    void step(std::uint64_t time_ns, const trace::Event& event, std::uint32_t flow) {
        Task& task = m_tasks[m_schedule.running(event.cpu)];
        const tracer::Flow how = lib::number_from<tracer::Flow>(flow).value_or(tracer::Flow::resumed);
        const trace::Function* const function = event.image != nullptr ? event.image->function_at(event.par2) : nullptr;
        if (function != nullptr) {
            name(function->address, [&] { return text::escaped(function->name); });
            note(task, time_ns, task.stack.step(how, function->address));
        } else {
            name(event.par2, [&] { return fmt::format("0x{:x}", event.par2); });
            note(task, time_ns, task.stack.step_unknown(how, event.par2));
        }
    }

    // make() is called once for each frame.
    template <typename Make>
    void name(CallStack::Frame frame, Make make) {
        const auto [place, is_new] = m_frames.try_emplace(frame, static_cast<std::uint32_t>(m_names.size()));
        if (is_new) {
            m_names.push_back(make());
        }
    }

    // Closes the frames, because what happens next is unknown.
    void forget(std::uint64_t time_ns, std::uint32_t context) {
        if (Task* const task = find(context)) {
            note(*task, time_ns, task->stack.suspend(true));
        }
    }

    void note(Task& task, std::uint64_t time_ns, std::span<const CallStack::Change> changes) {
        for (const CallStack::Change& change : changes) {
            task.notes.push_back({time_ns, m_frames.at(change.frame), change.opens});
        }
    }

    void add_profile(std::string_view title, const Task& task) {
        m_json.begin_object();
        m_json.member("type", "evented");
        m_json.member("name", title);
        m_json.member("unit", m_time->has_rate() ? "nanoseconds" : "none");
        m_json.member("startValue", task.notes.empty() ? 0 : task.notes.front().time_ns);
        m_json.member("endValue", task.notes.empty() ? 0 : task.notes.back().time_ns);
        m_json.begin_array("events");
        for (const Note& note : task.notes) {
            m_json.line();
            m_json.begin_object();
            m_json.member("type", note.opens ? "O" : "C");
            m_json.member("frame", note.frame);
            m_json.member("at", note.time_ns);
            m_json.end_object();
        }
        m_json.end_lines();
        m_json.end_object();
    }

    text::JsonWriter<OutputFile&> m_json;
    std::optional<TimeAxis> m_time;
    Schedule m_schedule;
    std::string m_title;
    std::map<std::uint32_t, Task> m_tasks; // by context
    std::unordered_map<CallStack::Frame, std::uint32_t> m_frames;
    std::vector<std::string> m_names; // of frames, escaped
};

} // namespace

const FormatRow kSpeedscopeRow = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .meaning = "speedscope: call stacks of tasks that ran in steps",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .make = make_writer<Speedscope>,
};

} // namespace host::convert::json
