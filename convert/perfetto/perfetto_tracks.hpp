// SPDX-License-Identifier: MIT
// What a Perfetto trace of ours shows: what processors do, as Perfetto takes it from Linux, and tracks beside that.
#pragma once

#include "convert/perfetto/perfetto_packets.hpp"
#include "convert/schedule_words.hpp"
#include "convert/writer/event_words.hpp"
#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace host::convert::perfetto {

// Threads of one process, whose number no context has.
inline constexpr std::uint32_t kProcess = 0x2'0000;

// Switches and wake-ups of a processor in the compact form of a bundle, in which times are differences and names are
// written once; interrupts are events. One bundle per processor is open at a time; it is written out when it has grown
// to kBytesMax.
class SchedBundle {
  public:
    static constexpr std::size_t kBytesMax = std::size_t{64} * 1024;

    // packets outlives this.
    SchedBundle(Packets& packets, std::uint16_t cpu)
        : m_packets(packets)
        , m_cpu(cpu) {}

    // Times never fall. context: of the label, for which it holds within the bundle.
    void switched(std::uint64_t time_ns, TaskState left, std::uint32_t context, const TaskLabel& next);
    void woken(std::uint64_t time_ns, std::uint32_t context, const TaskLabel& task);
    void interrupt_began(std::uint64_t time_ns, std::uint32_t running, std::uint32_t vector, std::string_view name);
    void interrupt_ended(std::uint64_t time_ns, std::uint32_t running, std::uint32_t vector);

    // Events before what comes now are missing.
    void lost();
    void flush();

  private:
    // A packed field that grows.
    struct Column {
        fmt::memory_buffer bytes;
        std::uint64_t last = 0;

        void put(std::uint64_t value);
        void put_difference(std::uint64_t value);
        void clear();
    };

    [[nodiscard]] std::uint32_t name_index(std::uint32_t context, const TaskLabel& label);
    template <typename Put>
    void add_event(std::uint64_t time_ns, std::uint32_t running, FtraceEvent kind, std::size_t room, Put put);
    void flush_if_full();

    Packets& m_packets;
    std::uint16_t m_cpu;
    bool m_lost = false;
    Column m_switch_times;
    Column m_switch_states;
    Column m_switch_tids;
    Column m_switch_priorities;
    Column m_switch_names;
    Column m_waking_times;
    Column m_waking_tids;
    Column m_waking_cpus;
    Column m_waking_priorities;
    Column m_waking_names;
    std::vector<std::string> m_names;     // of this bundle
    std::vector<std::uint32_t> m_name_of; // by context: index + 1; 0: none
    std::vector<std::uint32_t> m_named;   // contexts that have one
    fmt::memory_buffer m_events;          // encoded
};

// Tracks beside the schedule, as Perfetto's track events: for each task one for its events, one for its jobs, one for
// its waits; one for the events of each processor; one counter for each server's budget. Names are interned: they are
// written once, and again after each loss, for a reader may then have missed them.

// Where in the tracks: the upper half of a track's uuid, the lower one is the number of task, processor or server.
enum class TrackKind : std::uint32_t { task = 1, jobs, waits, processor, server };

struct Flow {
    enum class Side : std::uint8_t { none, from, to };

    Side side = Side::none;
    std::uint64_t id = 0; // never 0
};

class Tracks {
  public:
    // packets outlives this.
    explicit Tracks(Packets& packets);

    void slice_began(std::uint64_t time_ns, TrackKind kind, std::uint32_t number, const TaskLabel& task,
                     std::string_view name);
    void slice_ended(std::uint64_t time_ns, TrackKind kind, std::uint32_t number);

    // An event at the track of a task, with its parameters. context < 2^16.
    void task_instant(std::uint64_t time_ns, const trace::Event& event, std::uint32_t context, const TaskLabel& task,
                      Flow flow);
    void processor_instant(std::uint64_t time_ns, const trace::Event& event, Flow flow);

    // A text of ours at a processor's track.
    void remark(std::uint64_t time_ns, std::uint16_t cpu, std::string_view text);

    void budget(std::uint64_t time_ns, const trace::Names& names, std::uint16_t server, std::uint64_t left_ns);

    // Events before what comes now are missing.
    void lost() { m_lost = true; }

  private:
    static constexpr std::size_t kCodes = 256;
    static constexpr std::size_t kContexts = 0x1'0000;

    // How a parameter is written.
    enum class Form : std::uint8_t {
        none,
        number,
        address, // a number in hexadecimal, as in the other outputs
        text,    // "3 (sensor)", or a number if it has no meaning
    };

    // By event code. What refers to interned names is encoded.
    struct Prepared {
        text::TextOf<8> event;
        text::TextOf<8> par1;
        text::TextOf<8> par2;
        bool plain = false;    // these names are all that is needed
        bool interned = false; // since names were last cleared
        Form form1 = Form::none;
        Form form2 = Form::none;
    };

    struct Task {
        std::uint64_t turn = 0; // of the label last written
        text::TextOf<8> head;   // of the events at its track
    };

    [[nodiscard]] static Form form_of(tracer::Unit unit);
    void clear_state(std::uint64_t time_ns);

    // Readers know no interned name at the beginning, and after a loss.
    void restore_state(std::uint64_t time_ns) {
        if (!m_begun || m_lost) [[unlikely]] {
            clear_state(time_ns);
        }
    }

    void declare_task(TrackKind kind, std::uint32_t context, const TaskLabel& task);
    void declare_processor(std::uint16_t cpu);
    void declare(TrackKind kind, std::uint32_t number, std::string_view name, TrackKind parent);
    [[nodiscard]] bool is_new(TrackKind kind, std::uint32_t number);
    template <typename Put>
    void add_event(std::uint64_t time_ns, std::size_t room, Put put);
    void instant(std::uint64_t time_ns, const trace::Event& event, const text::TextOf<8>& head, Flow flow);
    void intern(const trace::Event& event);
    [[nodiscard]] char* put_parameter(char* at, Form form, const text::TextOf<8>& name, const trace::Event& event,
                                      tracer::Unit unit, std::uint32_t value);

    Packets& m_packets;
    std::array<Prepared, kCodes> m_prepared; // by event code
    EventWords m_event_words;
    trace::ValueTexts m_values; // encoded: "3 (sensor)", or a number and nothing else
    std::string m_value;        // the same for one
    std::string m_rest;         // of the event: what follows the fields written in place and has any length; encoded
    std::string m_new_names;    // what its packet interns; encoded
    std::vector<Task> m_tasks = std::vector<Task>(kContexts);  // by context
    std::unordered_map<std::uint64_t, std::string> m_declared; // by uuid: the name under which it was
    bool m_begun = false;
    bool m_lost = false;
};

} // namespace host::convert::perfetto
