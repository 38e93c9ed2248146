// SPDX-License-Identifier: MIT
// Our Perfetto traces have what processors do, in Linux's events, and tracks beside that.
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

// All threads belong to this process, whose number no context has.
inline constexpr std::uint32_t kProcess = 0x2'0000;

// Writes switches and wake-ups of a processor in the compact form of a bundle, in which times are differences and names
// are written once; interrupts are events. One bundle for each processor is open at a time; it is written out when it
// has grown to kBytesMax.
class SchedBundle {
  public:
    static constexpr std::size_t kBytesMax = std::size_t{64} * 1024;

    // packets must outlive the object.
    SchedBundle(Packets& packets, std::uint16_t cpu)
        : m_packets(packets)
        , m_cpu(cpu) {}

    // Times must never fall. context: the context of the label, which stays the same within a bundle.
    void switched(std::uint64_t time_ns, TaskState left, std::uint32_t context, const TaskLabel& next);
    void woken(std::uint64_t time_ns, std::uint32_t context, const TaskLabel& task);
    void interrupt_began(std::uint64_t time_ns, std::uint32_t running, std::uint32_t vector, std::string_view name);
    void interrupt_ended(std::uint64_t time_ns, std::uint32_t running, std::uint32_t vector);

    // Events are missing before the next one.
    void lost();
    void flush();

  private:
    // A column is a packed field that grows.
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
    std::vector<std::string> m_names;     // in this bundle
    std::vector<std::uint32_t> m_name_of; // index + 1 by context; 0: none
    std::vector<std::uint32_t> m_named;   // contexts with a name
    fmt::memory_buffer m_events;          // encoded
};

// Tracks beside the schedule are Perfetto's track events. Each task has one for its events, one for its jobs and one
// for its waits; each processor has one for its events; each server has a counter for its budget. Names are interned:
// they are written once, and again after each loss, because a reader may have missed them.

// The kind is the upper half of a track's uuid. The lower half is the number of the task, processor or server.
enum class TrackKind : std::uint32_t { task = 1, jobs, waits, processor, server };

struct Flow {
    enum class Side : std::uint8_t { none, from, to };

    Side side = Side::none;
    std::uint64_t id = 0; // not 0
};

class Tracks {
  public:
    // packets must outlive the object.
    explicit Tracks(Packets& packets);

    void slice_began(std::uint64_t time_ns, TrackKind kind, std::uint32_t number, const TaskLabel& task,
                     std::string_view name);
    void slice_ended(std::uint64_t time_ns, TrackKind kind, std::uint32_t number);

    // Adds an event with its parameters to the track of a task. context < 2^16.
    void task_instant(std::uint64_t time_ns, const trace::Event& event, std::uint32_t context, const TaskLabel& task,
                      Flow flow);
    void processor_instant(std::uint64_t time_ns, const trace::Event& event, Flow flow);

    // Adds a text of ours to the track of a processor.
    void remark(std::uint64_t time_ns, std::uint16_t cpu, std::string_view text);

    void budget(std::uint64_t time_ns, const trace::Names& names, std::uint16_t server, std::uint64_t left_ns);

    // Events are missing before the next one.
    void lost() { m_lost = true; }

  private:
    static constexpr std::size_t kCodes = 256;
    static constexpr std::size_t kContexts = 0x1'0000;

    // A parameter is written in one of these forms.
    enum class Form : std::uint8_t {
        none,
        number,
        address, // hexadecimal, as in the other outputs
        text,    // "3 (sensor)", or a number if it has no meaning
    };

    // The references to interned names are encoded in advance for each event code.
    struct Prepared {
        text::TextOf<8> event;
        text::TextOf<8> par1;
        text::TextOf<8> par2;
        bool plain = false;    // no other names are needed
        bool interned = false; // after names were last cleared
        Form form1 = Form::none;
        Form form2 = Form::none;
    };

    struct Task {
        std::uint64_t turn = 0; // of the last label
        text::TextOf<8> head;   // of the events on its track
    };

    [[nodiscard]] static Form form_of(tracer::Unit unit);
    void clear_state(std::uint64_t time_ns);

    // Clears interned names, because readers have none at the beginning and after a loss.
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
    trace::ValueTexts m_values; // encoded: "3 (sensor)", or only a number
    std::string m_value;        // the same for one value
    std::string m_rest;         // encoded fields of any length, after those that are written in place
    std::string m_new_names;    // encoded names that the packet interns
    std::vector<Task> m_tasks = std::vector<Task>(kContexts);  // by context
    std::unordered_map<std::uint64_t, std::string> m_declared; // names of declared tracks by uuid
    bool m_begun = false;
    bool m_lost = false;
};

} // namespace host::convert::perfetto
