// SPDX-License-Identifier: MIT
// Writes a value change dump, for GTKWave and other viewers of waves. Time is in nanoseconds since the start of the
// trace.
//
//   trace.cpuN          cpuN_running, cpuN_interrupt, cpuN_event: texts; cpuN_lost: a count
//   trace.tasks.NAME    NAME_running, NAME_job: wires; NAME_state: text
//   trace.irqs.NAME     a wire
//   trace.servers.NAME  budget in nanoseconds
//
// Viewers label a wave with the last part of its path only, so that part has the name of the task or processor. Names
// are those at the end of the trace. An event that no wave shows is in `event` of its processor.
#include "convert/losses.hpp"
#include "convert/rows.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"
#include "convert/vcd/vcd_signals.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace host::convert::vcd {

namespace {

using trace::kCodeOf;

class Vcd final : public Writer {
  public:
    explicit Vcd(Destination& destination)
        : m_file(destination.file())
        , m_signals(m_file) {}

    lib::Result<void, Failure> begin(const Survey* survey) override {
        m_time.emplace(*survey);
        m_file.append(fmt::format("$version remora $end\n$comment first tick {}, clock {} kHz $end\n"
                                  "$timescale 1 ns $end\n",
                                  survey->first.value, survey->facts.clock.khz));
        m_signals.open_scope("trace");
        for (const std::uint16_t cpu : survey->processors) {
            declare_processor(cpu);
        }
        if (survey->processors.empty()) {
            declare_processor(0); // viewers refuse a dump without any signal
        }
        declare_tasks(*survey);
        declare_interrupts(*survey);
        declare_servers(*survey);
        m_signals.close_scope();
        m_signals.end_declarations();
        return {};
    }

    void add(const trace::Event& event) override {
        m_signals.at(m_time->of(event));
        Processor* const found = m_processors.find(event.cpu);
        if (found == nullptr) {
            return; // the input has changed since the survey
        }
        Processor& here = *found;
        for (const Change& change : m_schedule.take(event)) {
            apply(here, event, change);
        }
        if (event.is(kCodeOf<"server_budget">)) {
            if (const auto server = m_servers.find(event.par1); server != m_servers.end()) {
                m_signals.set(server->second, m_time->nanoseconds(event.par2));
            }
        }
        m_signals.set(here.event, name_of(event));
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            const Processor* const found = m_processors.find(cpu);
            const std::uint64_t shown = found != nullptr ? found->lost_records : 0;
            if (const std::uint64_t rest = losses.without(shown); rest != 0) {
                m_signals.comment(fmt::format("cpu {}: {}", cpu, losses.text(rest)));
                if (found != nullptr) {
                    m_signals.set(found->lost, shown + rest);
                }
            }
        }
        m_signals.finish();
        return {};
    }

  private:
    using Id = VcdSignals::Id;

    struct Processor {
        Id running = 0;
        Id interrupt = 0;
        Id event = 0;
        Id lost = 0;
        std::uint64_t lost_records = 0;
        std::uint32_t context = kUnknownContext;
        std::vector<std::uint32_t> interrupts; // nested; Schedule limits their number
    };

    struct Task {
        std::uint64_t turn = 0; // of TaskLabels
        VcdSignals::TextId label = 0;
        bool declared = false;
        Id running = 0;
        Id state = 0;
        Id job = 0;
    };

    struct Vector {
        std::uint64_t version = ~std::uint64_t{0}; // of the names of the label; initially a version that no names have
        VcdSignals::TextId label = 0;
        bool declared = false;
        Id active = 0;
        std::uint32_t handlers = 0; // on all processors
    };

    void declare_processor(std::uint16_t cpu) {
        Processor& here = m_processors.add(cpu);
        const std::string name = m_signals.open_scope(fmt::format("cpu{}", cpu));
        here.running = m_signals.add_text(name + "_running");
        here.interrupt = m_signals.add_text(name + "_interrupt");
        here.event = m_signals.add_text(name + "_event");
        here.lost = m_signals.add_number(name + "_lost");
        m_signals.set(here.lost, std::uint64_t{0});
        m_signals.close_scope();
    }

    void declare_tasks(const Survey& survey) {
        m_signals.open_scope("tasks");
        for (std::uint32_t context = 0; context < survey.contexts.size(); ++context) {
            if (!survey.contexts[context]) {
                continue;
            }
            Task& task = m_tasks[context];
            task.declared = true;
            const std::string name = m_signals.open_scope(task_label(survey.facts.names, context));
            task.running = m_signals.add_wire(name + "_running");
            task.state = m_signals.add_text(name + "_state");
            task.job = m_signals.add_wire(name + "_job");
            m_signals.close_scope();
        }
        m_signals.close_scope();
    }

    void declare_interrupts(const Survey& survey) {
        m_signals.open_scope("irqs");
        for (std::uint32_t vector = 0; vector < survey.vectors.size(); ++vector) {
            if (survey.vectors[vector]) {
                m_vectors[vector].declared = true;
                m_vectors[vector].active = m_signals.add_wire(vector_label(survey.facts.names, vector));
            }
        }
        m_signals.close_scope();
    }

    void declare_servers(const Survey& survey) {
        if (survey.per_code[kCodeOf<"server_budget">] == 0) {
            return;
        }
        std::map<std::uint16_t, std::string> sorted;
        for (const auto& [id, name] : *survey.facts.names.entries(tracer::Unit::server)) {
            sorted[id] = name;
        }
        m_signals.open_scope("servers");
        for (const auto& [id, name] : sorted) {
            m_servers[id] = m_signals.add_number(name);
        }
        m_signals.close_scope();
    }

    void apply(Processor& here, const trace::Event& event, const Change& change) {
        switch (change.kind) {
        case Change::Kind::switched:
            leave(here, change.state);
            here.context = change.context;
            m_signals.set(here.running, task_text(event, change.context));
            if (Task* const task = find_task(change.context)) {
                m_signals.set(task->running, 1);
                m_signals.set(task->state, m_running);
            }
            break;
        case Change::Kind::woken:
            set_state(change.context, m_ready);
            break;
        case Change::Kind::waits:
            set_state(change.context, m_signals.text(wait_label(*event.names, change.state, change.object)));
            break;
        case Change::Kind::created:
            set_state(change.context, m_signals.text("created"));
            break;
        case Change::Kind::ended:
            set_state(change.context, m_signals.text("ended"));
            break;
        case Change::Kind::forgotten:
            set_state(change.context, m_signals.text("unknown"));
            break;
        case Change::Kind::job_began:
        case Change::Kind::job_ended:
            set_job(change.context, change.kind == Change::Kind::job_began);
            break;
        case Change::Kind::interrupt_began:
            here.interrupts.push_back(change.object);
            change_handlers(change.object, +1);
            show_interrupt(here, event);
            break;
        case Change::Kind::interrupt_ended:
            here.interrupts.pop_back();
            change_handlers(change.object, -1);
            show_interrupt(here, event);
            break;
        case Change::Kind::gap:
            leave(here, TaskState::ready);
            m_signals.set(here.running, "unknown");
            break;
        case Change::Kind::lost:
            here.lost_records += change.object;
            m_signals.set(here.lost, here.lost_records);
            m_signals.comment(fmt::format("cpu {}: lost {} records", event.cpu, change.object));
            break;
        case Change::Kind::inherits:
        case Change::Kind::returns:
            break;
        }
    }

    void leave(Processor& here, TaskState state) {
        if (Task* const task = find_task(here.context)) {
            m_signals.set(task->running, std::uint64_t{0});
            if (state == TaskState::ready) {
                m_signals.set(task->state, m_ready); // else the state shows what it waits for
            }
        }
        here.context = kUnknownContext;
    }

    void show_interrupt(Processor& here, const trace::Event& event) {
        m_signals.set(here.interrupt, here.interrupts.empty() ? m_none : vector_text(event, here.interrupts.back()));
    }

    // Texts are looked up once for each set of names.
    VcdSignals::TextId task_text(const trace::Event& event, std::uint32_t context) {
        const TaskLabel& label = m_labels.of(event, context);
        if (context >= m_tasks.size()) {
            return m_signals.text(label.name);
        }
        Task& task = m_tasks[context];
        if (task.turn != label.turn) {
            task.turn = label.turn;
            task.label = m_signals.text(label.name);
        }
        return task.label;
    }

    VcdSignals::TextId vector_text(const trace::Event& event, std::uint32_t number) {
        const std::uint64_t version = event.names->version();
        Vector& vector = m_vectors[number & 0xFFFF];
        if (vector.version != version) {
            vector.version = version;
            vector.label = m_signals.text(text::escaped(vector_label(*event.names, number)));
        }
        return vector.label;
    }

    void change_handlers(std::uint32_t number, int by) {
        Vector& vector = m_vectors[number & 0xFFFF];
        if (!vector.declared) {
            return; // the input has changed since the survey
        }
        vector.handlers = static_cast<std::uint32_t>(static_cast<int>(vector.handlers) + by);
        m_signals.set(vector.active, std::uint64_t{vector.handlers != 0 ? 1U : 0U});
    }

    void set_state(std::uint32_t context, VcdSignals::TextId text) {
        if (const Task* const task = find_task(context)) {
            m_signals.set(task->state, text);
        }
    }

    void set_job(std::uint32_t context, bool open) {
        if (const Task* const task = find_task(context)) {
            m_signals.set(task->job, std::uint64_t{open ? 1U : 0U});
        }
    }

    [[nodiscard]] Task* find_task(std::uint32_t context) {
        return context < m_tasks.size() && m_tasks[context].declared ? &m_tasks[context] : nullptr;
    }

    // Names of the table are looked up once.
    VcdSignals::TextId name_of(const trace::Event& event) {
        if (event.row == nullptr || event.row->shape == tracer::Shape::combined ||
            event.origin != trace::Origin::record) {
            return m_signals.text(trace::event_name(event));
        }
        std::optional<VcdSignals::TextId>& known = m_names[event.code];
        if (!known) {
            known = m_signals.text(trace::event_name(event));
        }
        return *known;
    }

    static constexpr std::size_t kNumbers = 0x1'0000; // of contexts, and of vectors

    OutputFile& m_file;
    VcdSignals m_signals;
    std::optional<TimeAxis> m_time;
    Schedule m_schedule;
    TaskLabels m_labels;
    PerProcessor<Processor> m_processors;
    std::vector<Task> m_tasks = std::vector<Task>(kNumbers);       // by context
    std::vector<Vector> m_vectors = std::vector<Vector>(kNumbers); // by number
    std::array<std::optional<VcdSignals::TextId>, 256> m_names{};  // by code
    VcdSignals::TextId m_running = m_signals.text("running");
    VcdSignals::TextId m_ready = m_signals.text("ready");
    VcdSignals::TextId m_none = m_signals.text("-");
    std::unordered_map<std::uint32_t, Id> m_servers;
};

} // namespace

const FormatRow kVcdRow = {
    .name = "vcd",
    .suffix = ".vcd",
    .meaning = "value change dump, for GTKWave: processors, tasks and interrupts as waves",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .make = make_writer<Vcd>,
};

} // namespace host::convert::vcd
