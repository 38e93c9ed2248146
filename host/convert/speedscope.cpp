// SPDX-License-Identifier: MIT
// Call stacks of tasks in steps, for speedscope: one profile per task, frames opened and closed in time. A profile
// shows the task only while it has a processor; a handler that interrupts it is a frame on top of it.
// Source: speedscope's file format (file-format-spec.ts of the project): `evented` profiles, whose events do not fall
// in time, nest, and are all closed at the end.
#include "host/convert/call_stack.hpp"
#include "host/convert/json_text.hpp"
#include "host/convert/rows.hpp"
#include "host/convert/schedule_view.hpp"
#include "host/convert/time_axis.hpp"
#include "host/trace/escape.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/version.hpp"
#include "tracer/unit_words.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace host::convert {

namespace {

using trace::kCodeOf;

// Frames that stand for no function, apart from all addresses.
constexpr CallStack::Frame kInterrupts = CallStack::Frame{1} << 63;

class Speedscope final : public Writer {
  public:
    explicit Speedscope(Destination& destination)
        : m_file(destination.file()) {}

    lib::Result<void> begin(const Survey* survey, std::string& why) override {
        if (survey->per_code[kCodeOf<"instruction">] + survey->per_code[kCodeOf<"block">] == 0) {
            why = "no task of the trace ran in steps, so nothing tells which functions it was in: begin them with "
                  "FTrace_itrace_begin(), FTrace_itrace_task() or itrace=blocks on the kernel's command line";
            return lib::Error::unsupported;
        }
        m_time.emplace(*survey);
        m_title = survey->facts.build ? trace::escaped(survey->facts.build->application.view()) : "remora";
        return {};
    }

    void add(const trace::Event& event) override {
        const std::uint64_t time_ns = m_time->of(event);
        for (const Change& change : m_view.take(event)) {
            apply(time_ns, event, change);
        }
        if (event.is(kCodeOf<"instruction">)) {
            step(time_ns, event, event.par1);
        } else if (event.is(kCodeOf<"block">)) {
            step(time_ns, event, tracer::words_of(tracer::Unit::block).high_part(event.par1));
        } else if (event.is(kCodeOf<"instruction_trace_end">) || event.is(kCodeOf<"job_abort">)) {
            forget(time_ns, event.par1);
        } else if (event.is(kCodeOf<"blackout_start">)) {
            forget(time_ns, m_view.running(event.cpu));
        }
    }

    lib::Result<void> finish(const trace::TraceFacts& facts, std::string& /*why*/) override {
        const std::uint64_t end_ns = m_time->last_ns();
        for (auto& [context, task] : m_tasks) {
            note(task, end_ns, task.stack.suspend(true));
        }
        m_file.append(R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":")");
        m_file.append(fmt::format(R"(remora {}","name":")", lib::kVersion));
        append_json(m_title);
        m_file.append(R"(","shared":{"frames":[)");
        for (std::size_t i = 0; i < m_names.size(); ++i) {
            m_file.append(i == 0 ? "\n{\"name\":\"" : ",\n{\"name\":\"");
            append_json(m_names[i]);
            m_file.append("\"}");
        }
        m_file.append("\n]},\"profiles\":[");
        bool first = true;
        for (const auto& [context, task] : m_tasks) {
            m_file.append(first ? "\n" : ",\n");
            append_profile(trace::escaped(task_label(facts.names, context)), task);
            first = false;
        }
        m_file.append("\n]}\n");
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
        std::vector<Note> notes; // memory: 16 bytes for each call, each return
    };

    // Null: it was never seen in steps.
    [[nodiscard]] Task* find(std::uint32_t context) {
        const auto task = m_tasks.find(context);
        return task != m_tasks.end() ? &task->second : nullptr;
    }

    void apply(std::uint64_t time_ns, const trace::Event& event, const Change& change) {
        const bool switched = change.kind == Change::Kind::switched;
        Task* const running = find(switched ? change.other : m_view.running(event.cpu));
        if (running == nullptr || !running->stack.is_open()) {
            return;
        }
        if (switched) {
            note(*running, time_ns, running->stack.suspend(false));
        } else if (change.kind == Change::Kind::lost) {
            note(*running, time_ns, running->stack.suspend(true));
        } else if (change.kind == Change::Kind::interrupt_began) {
            const CallStack::Frame frame = kInterrupts | change.object;
            name(frame, [&] {
                const std::string_view known = event.names->find(tracer::Unit::vector, change.object);
                return "interrupt " + (known.empty() ? std::to_string(change.object) : trace::escaped(known));
            });
            note(*running, time_ns, running->stack.begin_interlude(frame));
        } else if (change.kind == Change::Kind::interrupt_ended) {
            note(*running, time_ns, running->stack.end_interlude());
        }
    }

    void step(std::uint64_t time_ns, const trace::Event& event, std::uint32_t flow) {
        Task& task = m_tasks[m_view.running(event.cpu)];
        const bool known = flow <= static_cast<std::uint32_t>(tracer::Flow::resumed);
        const tracer::Flow how = known ? static_cast<tracer::Flow>(flow) : tracer::Flow::resumed;
        const trace::Function* const function = event.image != nullptr ? event.image->function_at(event.par2) : nullptr;
        if (function != nullptr) {
            name(function->address, [&] { return trace::escaped(function->name); });
            note(task, time_ns, task.stack.step(how, function->address));
        } else {
            name(event.par2, [&] { return fmt::format("0x{:x}", event.par2); });
            note(task, time_ns, task.stack.step_unknown(how, event.par2));
        }
    }

    // make() is asked once for each frame.
    template <typename Make>
    void name(CallStack::Frame frame, Make make) {
        const auto [place, is_new] = m_frames.try_emplace(frame, static_cast<std::uint32_t>(m_names.size()));
        if (is_new) {
            m_names.push_back(make());
        }
    }

    // What happened meanwhile nobody knows.
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

    void append_profile(std::string_view title, const Task& task) {
        m_file.append(R"({"type":"evented","name":")");
        append_json(title);
        m_file.append(fmt::format(
            R"(","unit":"{}","startValue":{},"endValue":{},"events":[)", m_time->has_rate() ? "nanoseconds" : "none",
            task.notes.empty() ? 0 : task.notes.front().time_ns, task.notes.empty() ? 0 : task.notes.back().time_ns));
        for (std::size_t i = 0; i < task.notes.size(); ++i) {
            const Note& note = task.notes[i];
            m_file.append(fmt::format("{}{{\"type\":\"{}\",\"frame\":{},\"at\":{}}}", i == 0 ? "\n" : ",\n",
                                      note.opens ? 'O' : 'C', note.frame, note.time_ns));
        }
        m_file.append("\n]}");
    }

    void append_json(std::string_view text) {
        m_text.resize(2 * text.size() + 8);
        m_file.append(std::string_view(m_text.data(), put_json(m_text.data(), text)));
    }

    OutputFile& m_file;
    std::optional<TimeAxis> m_time;
    ScheduleView m_view;
    std::string m_title;
    std::string m_text;
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
    .make = [](Destination& destination) -> std::unique_ptr<Writer> {
        return std::make_unique<Speedscope>(destination);
    },
};

} // namespace host::convert
