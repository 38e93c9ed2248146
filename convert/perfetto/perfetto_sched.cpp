// SPDX-License-Identifier: MIT
// Implements SchedBundle.
#include "convert/perfetto/perfetto_tracks.hpp"

#include "host/text/json_writer.hpp"

namespace host::convert::perfetto {

namespace {

constexpr std::size_t kContexts = 0x1'0000 + 2; // with kUnknownContext

constexpr std::uint8_t kExitDead = 16; // a state of sched_switch

} // namespace

void SchedBundle::Column::put(std::uint64_t value) {
    text::MemorySink sink(bytes);
    char* const begin = sink.room(kVarintMax);
    sink.used(static_cast<std::size_t>(put_varint(begin, value) - begin));
}

void SchedBundle::Column::put_difference(std::uint64_t value) {
    put(value - last);
    last = value;
}

void SchedBundle::Column::clear() {
    bytes.clear();
    last = 0;
}

std::uint32_t SchedBundle::name_index(std::uint32_t context, const TaskLabel& label) {
    if (m_name_of.empty()) {
        m_name_of.resize(kContexts);
    }
    std::uint32_t& index = m_name_of[context];
    if (index == 0 || m_names[index - 1] != label.name) {
        m_names.push_back(label.name);
        m_named.push_back(context);
        index = static_cast<std::uint32_t>(m_names.size());
    }
    return index - 1;
}

void SchedBundle::switched(std::uint64_t time_ns, TaskState left, std::uint32_t context, const TaskLabel& next) {
    m_switch_times.put_difference(time_ns);
    m_switch_states.put(linux_state(left, kExitDead));
    m_switch_tids.put(next.tid);
    m_switch_priorities.put(next.priority);
    m_switch_names.put(name_index(context, next));
    flush_if_full();
}

void SchedBundle::woken(std::uint64_t time_ns, std::uint32_t context, const TaskLabel& task) {
    m_waking_times.put_difference(time_ns);
    m_waking_tids.put(task.tid);
    m_waking_cpus.put(m_cpu);
    m_waking_priorities.put(task.priority);
    m_waking_names.put(name_index(context, task));
    flush_if_full();
}

void SchedBundle::interrupt_began(std::uint64_t time_ns, std::uint32_t running, std::uint32_t vector,
                                  std::string_view name) {
    add_event(time_ns, running, FtraceEvent::irq_handler_entry, kNumberMax + kFrameMax + name.size(), [&](char* at) {
        at = put_number(at, IrqEntry::irq, vector);
        return text::put(put_frame(at, IrqEntry::name, name.size()), name);
    });
}

void SchedBundle::interrupt_ended(std::uint64_t time_ns, std::uint32_t running, std::uint32_t vector) {
    add_event(time_ns, running, FtraceEvent::irq_handler_exit, 2 * kNumberMax, [&](char* at) {
        return put_number(put_number(at, IrqExit::irq, vector), IrqExit::ret, 1); // handled
    });
}

// put(char*) writes the fields about the handler in at most `room` bytes.
template <typename Put>
void SchedBundle::add_event(std::uint64_t time_ns, std::uint32_t running, FtraceEvent kind, std::size_t room, Put put) {
    text::MemorySink sink(m_events);
    char* const begin = sink.room(2 * kFrameMax + 2 * kNumberMax + room);
    char* const end = put_message(begin, Bundle::event, [&](char* at) {
        at = put_number(at, FtraceEvent::timestamp, time_ns);
        at = put_number(at, FtraceEvent::pid, running);
        return put_message(at, kind, put);
    });
    sink.used(static_cast<std::size_t>(end - begin));
    flush_if_full();
}

void SchedBundle::lost() {
    flush();
    m_lost = true;
}

void SchedBundle::flush_if_full() {
    if (m_events.size() + 6 * (m_switch_times.bytes.size() + m_waking_times.bytes.size()) >= kBytesMax ||
        m_names.size() >= kContexts) {
        flush();
    }
}

void SchedBundle::flush() {
    if (m_events.size() == 0 && m_names.empty() && !m_lost) {
        return;
    }
    {
        auto packet = m_packets.start(Packets::Sequence::sched);
        Message<Bundle> bundle(packet, Packet::ftrace_events);
        bundle.add_uint32(Bundle::cpu, m_cpu);
        if (m_lost) {
            bundle.add_bool(Bundle::lost_events, true);
        }
        m_lost = false;
        m_packets.append_encoded({m_events.data(), m_events.size()});
        if (!m_names.empty()) {
            Message<CompactSched> sched(bundle, Bundle::compact_sched);
            for (const std::string& name : m_names) {
                sched.add_string(CompactSched::intern_table, name);
            }
            const auto add = [&](CompactSched field, Column& column) {
                if (column.bytes.size() != 0) {
                    sched.add_string(field, std::string_view(column.bytes.data(), column.bytes.size()));
                }
                column.clear();
            };
            add(CompactSched::switch_timestamp, m_switch_times);
            add(CompactSched::switch_prev_state, m_switch_states);
            add(CompactSched::switch_next_pid, m_switch_tids);
            add(CompactSched::switch_next_prio, m_switch_priorities);
            add(CompactSched::switch_next_comm_index, m_switch_names);
            add(CompactSched::waking_timestamp, m_waking_times);
            add(CompactSched::waking_pid, m_waking_tids);
            add(CompactSched::waking_target_cpu, m_waking_cpus);
            add(CompactSched::waking_prio, m_waking_priorities);
            add(CompactSched::waking_comm_index, m_waking_names);
        }
    }
    m_packets.add();
    m_events.clear();
    m_names.clear();
    for (const std::uint32_t context : m_named) {
        m_name_of[context] = 0;
    }
    m_named.clear();
}

} // namespace host::convert::perfetto
