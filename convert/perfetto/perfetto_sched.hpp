// SPDX-License-Identifier: MIT
// What processors do, as Perfetto takes it from Linux: switches and wake-ups in the compact form of a bundle, where
// times are differences and names are written once; interrupts as events. One bundle per processor is open at a time;
// it is written out when it has grown to kBytesMax.
#pragma once

#include "convert/perfetto/perfetto_packets.hpp"
#include "convert/schedule_words.hpp"
#include "host/text/format.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::perfetto {

// Threads of one process, whose number no context has.
inline constexpr std::uint32_t kProcess = 0x2'0000;

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

} // namespace host::convert::perfetto
