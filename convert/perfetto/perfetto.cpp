// SPDX-License-Identifier: MIT
// Writes Perfetto's protobuf format (https://perfetto.dev), for ui.perfetto.dev and trace_processor. Each event appears
// once: context_switch as a switch of its processor, interrupt_start and interrupt_end as interrupt handler entry and
// exit, server_budget as a counter, everything else as an instant on the track of its task or processor, under its
// name. Jobs and waits are slices, and arrows lead from an unlock to the next owner and from a post or a message to the
// task that waited.
//
// Times are nanoseconds since the start of the trace; a clock snapshot states the ticks of the start.
#include "convert/losses.hpp"
#include "convert/perfetto/perfetto_tracks.hpp"
#include "convert/rows.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace host::convert::perfetto {

namespace {

using trace::kCodeOf;

// Draws arrows from the task that released an object to the task that gets it. One arrow for each object waits for its
// end.
class Flows {
  public:
    [[nodiscard]] Flow of(const trace::Event& event) {
        return kMayMove[event.code] && event.is_sound() ? follow(event) : Flow{};
    }

    // Arrows do not cross a gap.
    void clear() { m_open.clear(); }

  private:
    static constexpr const auto& kMayMove =
        trace::kAnyOf<"set_mutex_unlock", "set_mutex_owner_died", "set_mutex_acquire", "set_mutex_post", "port_send",
                      "task_unblock">;

    enum class Kind : std::uint8_t { mutex, semaphore, port };

    [[nodiscard]] Flow follow(const trace::Event& event) {
        switch (event.code) {
        case kCodeOf<"set_mutex_unlock">:
        case kCodeOf<"set_mutex_owner_died">:
            return from(Kind::mutex, event.par2);
        case kCodeOf<"set_mutex_acquire">:
            return to(Kind::mutex, event.par2);
        case kCodeOf<"set_mutex_post">:
            return from(Kind::semaphore, event.par2);
        case kCodeOf<"port_send">:
            return from(Kind::port, event.par2);
        case kCodeOf<"task_unblock">:
            if (tracer::wait_kind(event.par2) == lib::WaitKind::semaphore) {
                return to(Kind::semaphore, event.par2 & 0xFFFF);
            }
            return tracer::wait_kind(event.par2) == lib::WaitKind::receive ? to(Kind::port, event.par2 & 0xFFFF)
                                                                           : Flow{};
        default:
            return {};
        }
    }

    // Numbers of objects have 16 bits. A larger number is damage, and shares an entry.
    static std::uint32_t place(Kind kind, std::uint32_t object) {
        return static_cast<std::uint32_t>(kind) << 16 | (object & 0xFFFF);
    }

    Flow from(Kind kind, std::uint32_t object) {
        m_open[place(kind, object)] = ++m_last;
        return {.side = Flow::Side::from, .id = m_last};
    }

    Flow to(Kind kind, std::uint32_t object) {
        const auto found = m_open.find(place(kind, object));
        if (found == m_open.end()) {
            return {};
        }
        const std::uint64_t id = found->second;
        m_open.erase(found);
        return {.side = Flow::Side::to, .id = id};
    }

    std::unordered_map<std::uint32_t, std::uint64_t> m_open;
    std::uint64_t m_last = 0;
};

class Perfetto final : public TrackWriter {
  public:
    explicit Perfetto(Destination& destination)
        : m_packets(destination.file()) {}

  private:
    struct Processor {
        explicit Processor(Packets& packets, std::uint16_t cpu)
            : bundle(packets, cpu) {}

        SchedBundle bundle;
        std::vector<std::uint32_t> interrupts; // nested; Schedule limits their number
        std::uint32_t running = kUnknownTid;   // thread id
        std::uint64_t lost = 0;                // as gaps state
    };

    void begin_tracks(const Survey& survey) override {
        write_clock(survey);
        write_system(survey);
        write_process(survey);
    }

    void end_tracks(const trace::TraceFacts& facts) override {
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            if (const std::uint64_t rest = losses.without(processor(cpu).lost); rest != 0) {
                m_tracks.lost();
                m_tracks.remark(time_ns(), cpu, losses.text(rest));
            }
        }
        m_processors.for_each([&](std::uint16_t /*cpu*/, Processor& here) {
            while (!here.interrupts.empty()) {
                here.bundle.interrupt_ended(time_ns(), here.running, here.interrupts.back());
                here.interrupts.pop_back();
            }
            here.bundle.flush();
        });
    }

    Processor& processor(std::uint16_t cpu) {
        Processor* const known = m_processors.find(cpu);
        return known != nullptr ? *known : m_processors.add(cpu, m_packets, cpu);
    }

    void select_processor(std::uint16_t cpu) override { m_here = &processor(cpu); }

    void on_switch(const Change& change) override {
        const TaskLabel& next = m_labels.of(event(), change.context);
        m_here->running = next.tid;
        m_here->bundle.switched(time_ns(), change.state, change.context, next);
    }

    void on_wake(std::uint32_t context) override {
        if (const TaskLabel& task = m_labels.of(event(), context); !task.is_idle()) {
            m_here->bundle.woken(time_ns(), context, task);
        }
    }

    void on_interrupt(std::uint32_t vector) override {
        m_here->interrupts.push_back(vector);
        m_here->bundle.interrupt_began(time_ns(), m_here->running, vector, m_vectors.of(event(), vector));
    }

    void on_interrupt_end(std::uint32_t vector) override {
        m_here->interrupts.pop_back();
        m_here->bundle.interrupt_ended(time_ns(), m_here->running, vector);
    }

    // Within a gap, and after it until a record shows it, the running task is unknown.
    void on_gap() override {
        if (m_here->running != kUnknownTid) {
            m_here->running = kUnknownTid;
            m_here->bundle.switched(time_ns(), TaskState::unknown, kUnknownContext,
                                    m_labels.of(event(), kUnknownContext));
        }
    }

    void on_loss(std::uint32_t records) override {
        m_here->bundle.lost();
        m_here->lost += records;
        m_flows.clear();
        m_tracks.lost();
        m_tracks.remark(time_ns(), event().cpu, fmt::format("lost {} records", records));
    }

    static TrackKind kind_of(Slice slice) { return slice == Slice::job ? TrackKind::jobs : TrackKind::waits; }

    void begin_slice(Slice slice, std::uint32_t context, std::string_view name) override {
        m_tracks.slice_began(time_ns(), kind_of(slice), context, m_labels.of(event(), context), name);
    }

    void end_slice(Slice slice, std::uint32_t context) override {
        m_tracks.slice_ended(time_ns(), kind_of(slice), context);
    }

    void add_budget(std::uint64_t left_ns) override {
        m_tracks.budget(time_ns(), *event().names, event().par1, left_ns);
    }

    void add_instant() override {
        const Flow flow = m_flows.of(event());
        const std::uint32_t context = task_of(event(), schedule());
        if (context < kUnknownContext && context <= 0xFFFF) {
            m_tracks.task_instant(time_ns(), event(), context, m_labels.of(event(), context), flow);
        } else {
            m_tracks.processor_instant(time_ns(), event(), flow);
        }
    }

    void write_clock(const Survey& survey) {
        auto packet = m_packets.start(Packets::Sequence::sched);
        {
            Message<ClockSnapshot> snapshot(packet, Packet::clock_snapshot);
            const auto clock = [&](std::uint32_t id, std::uint64_t value) {
                Message<Clock> reading(snapshot, ClockSnapshot::clocks);
                reading.add_uint32(Clock::clock_id, id);
                reading.add_uint64(Clock::timestamp, value);
            };
            clock(kClockBoottime, 0);
            clock(kClockTsc, survey.first.value);
            snapshot.add_enum(ClockSnapshot::primary_trace_clock, static_cast<std::int32_t>(kClockBoottime));
        }
        m_packets.add();
    }

    void write_system(const Survey& survey) {
        const auto& build = survey.facts.build;
        auto packet = m_packets.start(Packets::Sequence::sched);
        {
            Message<SystemInfo> system(packet, Packet::system_info);
            Message<Utsname> name(system, SystemInfo::utsname);
            name.add_string(Utsname::sysname, "Remora");
            if (build) {
                name.add_string(Utsname::version, text::escaped(build->compiler.view()));
                name.add_string(Utsname::release, text::escaped(build->kernel.view()));
            }
            name.add_string(Utsname::machine, "x86_64");
        }
        m_packets.add();
    }

    void write_process(const Survey& survey) {
        const auto& build = survey.facts.build;
        auto packet = m_packets.start(Packets::Sequence::sched);
        {
            Message<ProcessTree> tree(packet, Packet::process_tree);
            Message<Process> process(tree, ProcessTree::processes);
            process.add_uint32(Process::pid, kProcess);
            process.add_string(Process::cmdline, build ? text::escaped(build->application.view()) : "remora");
        }
        m_packets.add();
    }

    Packets m_packets;
    TaskLabels m_labels;
    Flows m_flows;
    Tracks m_tracks{m_packets};
    VectorLabels m_vectors;
    PerProcessor<Processor> m_processors;
    Processor* m_here = nullptr; // that of the event
};

} // namespace

const FormatRow kPerfettoRow = {
    .name = "perfetto",
    .suffix = ".pftrace",
    .meaning = "protobuf trace for ui.perfetto.dev and trace_processor",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .make = make_writer<Perfetto>,
};

} // namespace host::convert::perfetto
