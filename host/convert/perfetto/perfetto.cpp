// SPDX-License-Identifier: MIT
// Perfetto's protobuf format (https://perfetto.dev), for ui.perfetto.dev and trace_processor. Each event is there once
// under its name: context_switch as a switch of its processor, interrupt_start and interrupt_end as interrupt handler
// entry and exit, server_budget as a counter, everything else as an instant at the track of its task or processor. Jobs
// and waits are slices, and arrows lead from an unlock to the next owner and from a post or a message to who waited.
//
// Times are nanoseconds since the start of the trace; a clock snapshot says how many ticks that was.
#include "host/convert/losses.hpp"
#include "host/convert/per_processor.hpp"
#include "host/convert/perfetto/perfetto_sched.hpp"
#include "host/convert/perfetto/perfetto_tracks.hpp"
#include "host/convert/rows.hpp"
#include "host/convert/time_axis.hpp"
#include "host/convert/vector_labels.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/unit_words.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>
#include <vector>

namespace host::convert {

namespace {

using perfetto::Flow;
using perfetto::Message;
using perfetto::Packets;
using perfetto::TrackKind;
using trace::kCodeOf;

// From which task an object went to which. One arrow per object waits for its end.
class Flows {
  public:
    [[nodiscard]] Flow of(const trace::Event& event) {
        if (!event.is_sound()) {
            return {};
        }
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

    // Arrows do not lead across a gap.
    void clear() { m_open.clear(); }

  private:
    enum class Kind : std::uint8_t { mutex, semaphore, port };

    // Numbers of objects have 16 bits; what has more is damage and shares a place.
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

class Perfetto final : public Writer {
  public:
    explicit Perfetto(Destination& destination)
        : m_packets(destination.file()) {}

    lib::Result<void, Failure> begin(const Survey* survey) override {
        m_survey = survey;
        m_time.emplace(*survey);
        write_clock();
        write_system();
        write_process();
        return {};
    }

    void add(const trace::Event& event) override {
        const std::uint64_t time_ns = m_time->of(event);
        const auto changes = m_schedule.take(event);
        for (const Change& change : changes) {
            apply(time_ns, event, change);
        }
        for (const Change& change : changes) {
            draw_slices(time_ns, event, change);
        }
        if (event.is(kCodeOf<"server_budget">)) {
            m_tracks.budget(time_ns, *event.names, event.par1, m_time->nanoseconds(event.par2));
        } else if (!is_shown(event, changes)) {
            add_instant(time_ns, event);
        }
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        const std::uint64_t end_ns = m_time->last_ns();
        for (const Change& change : m_schedule.finish()) {
            end_slice(end_ns, change);
        }
        for (const auto& [cpu, losses] : unseen_losses(facts)) {
            if (const std::uint64_t rest = losses.without(processor(cpu).lost); rest != 0) {
                m_tracks.lost();
                m_tracks.remark(end_ns, cpu, losses.text(rest));
            }
        }
        m_processors.for_each([&](std::uint16_t /*cpu*/, Processor& here) {
            while (!here.interrupts.empty()) {
                here.bundle.interrupt_ended(end_ns, here.running, here.interrupts.back());
                here.interrupts.pop_back();
            }
            here.bundle.flush();
        });
        return {};
    }

  private:
    struct Processor {
        explicit Processor(Packets& packets, std::uint16_t cpu)
            : bundle(packets, cpu) {}

        perfetto::SchedBundle bundle;
        std::vector<std::uint32_t> interrupts; // nested; Schedule bounds them
        std::uint32_t running = kUnknownTid;   // thread
        std::uint64_t lost = 0;                // as gaps record
    };

    Processor& processor(std::uint16_t cpu) {
        Processor* const known = m_processors.find(cpu);
        return known != nullptr ? *known : m_processors.add(cpu, m_packets, cpu);
    }

    void apply(std::uint64_t time_ns, const trace::Event& event, const Change& change) {
        Processor& here = processor(event.cpu);
        switch (change.kind) {
        case Change::Kind::switched: {
            const TaskLabel& next = m_labels.of(event, change.context);
            here.running = next.tid;
            here.bundle.switched(time_ns, change.state, change.context, next);
            break;
        }
        case Change::Kind::woken:
            here.bundle.woken(time_ns, change.context, m_labels.of(event, change.context));
            break;
        case Change::Kind::interrupt_began:
            here.interrupts.push_back(change.object);
            here.bundle.interrupt_began(time_ns, here.running, change.object, m_vectors.of(event, change.object));
            break;
        case Change::Kind::interrupt_ended:
            here.interrupts.pop_back();
            here.bundle.interrupt_ended(time_ns, here.running, change.object);
            break;
        case Change::Kind::gap:
            run_unknown(time_ns, event);
            break;
        case Change::Kind::lost:
            lose(time_ns, event, change.object);
            break;
        case Change::Kind::waits:
        case Change::Kind::created:
        case Change::Kind::ended:
        case Change::Kind::forgotten:
        case Change::Kind::job_began:
        case Change::Kind::job_ended:
        case Change::Kind::inherits:
        case Change::Kind::returns:
            break;
        }
    }

    // Jobs and waits: of each a task has at most one at a time, so slices on one track never overlap.
    void draw_slices(std::uint64_t time_ns, const trace::Event& event, const Change& change) {
        end_slice(time_ns, change);
        if (change.kind == Change::Kind::job_began) {
            m_tracks.slice_began(time_ns, TrackKind::jobs, change.context, m_labels.of(event, change.context), "job");
        } else if (change.begins_wait()) {
            m_tracks.slice_began(time_ns, TrackKind::waits, change.context, m_labels.of(event, change.context),
                                 wait_label(*event.names, change.state, change.object));
        }
    }

    void end_slice(std::uint64_t time_ns, const Change& change) {
        if (change.kind == Change::Kind::job_ended) {
            m_tracks.slice_ended(time_ns, TrackKind::jobs, change.context);
        } else if (change.ends_wait()) {
            m_tracks.slice_ended(time_ns, TrackKind::waits, change.context);
        }
    }

    void lose(std::uint64_t time_ns, const trace::Event& event, std::uint32_t records) {
        Processor& here = processor(event.cpu);
        here.bundle.lost();
        here.lost += records;
        m_flows.clear();
        m_tracks.lost();
        m_tracks.remark(time_ns, event.cpu, fmt::format("lost {} records", records));
    }

    // Within a gap, and after it until a record shows it, the running task is unknown.
    void run_unknown(std::uint64_t time_ns, const trace::Event& event) {
        Processor& here = processor(event.cpu);
        if (here.running != kUnknownTid) {
            here.running = kUnknownTid;
            here.bundle.switched(time_ns, TaskState::unknown, kUnknownContext, m_labels.of(event, kUnknownContext));
        }
    }

    void add_instant(std::uint64_t time_ns, const trace::Event& event) {
        const Flow flow = m_flows.of(event);
        const std::uint32_t context = task_of(event, m_schedule);
        if (context < kUnknownContext && context <= 0xFFFF) {
            m_tracks.task_instant(time_ns, event, context, m_labels.of(event, context), flow);
        } else {
            m_tracks.processor_instant(time_ns, event, flow);
        }
    }

    void write_clock() {
        using namespace perfetto;
        auto packet = m_packets.start(Packets::Sequence::sched);
        {
            Message<ClockSnapshot> snapshot(packet, Packet::clock_snapshot);
            const auto clock = [&](std::uint32_t id, std::uint64_t value) {
                Message<Clock> reading(snapshot, ClockSnapshot::clocks);
                reading.add_uint32(Clock::clock_id, id);
                reading.add_uint64(Clock::timestamp, value);
            };
            clock(kClockBoottime, 0);
            clock(kClockTsc, m_survey->first.value);
            snapshot.add_enum(ClockSnapshot::primary_trace_clock, static_cast<std::int32_t>(kClockBoottime));
        }
        m_packets.add();
    }

    void write_system() {
        using namespace perfetto;
        const auto& build = m_survey->facts.build;
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

    void write_process() {
        using namespace perfetto;
        const auto& build = m_survey->facts.build;
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
    const Survey* m_survey = nullptr;
    std::optional<TimeAxis> m_time;
    Schedule m_schedule;
    TaskLabels m_labels;
    Flows m_flows;
    perfetto::Tracks m_tracks{m_packets};
    VectorLabels m_vectors;
    PerProcessor<Processor> m_processors;
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

} // namespace host::convert
