// SPDX-License-Identifier: MIT
#include "host/convert/perfetto_tracks.hpp"

#include "host/convert/event_words.hpp"
#include "host/convert/perfetto_sched.hpp"
#include "host/trace/user_event.hpp"

#include <fmt/format.h>
#include <iterator>

namespace host::convert::perfetto {

namespace {

constexpr std::uint64_t uuid_of(TrackKind kind, std::uint32_t number) {
    return std::uint64_t{static_cast<std::uint32_t>(kind)} << 32 | number;
}

constexpr std::uint64_t event_iid(std::uint8_t code) {
    return code + std::uint64_t{1};
}

constexpr std::uint64_t parameter_iid(std::uint8_t code, unsigned parameter) {
    return 2 * std::uint64_t{code} + parameter;
}

// Its name stands in the table, and so do those of its parameters.
bool is_plain(const trace::Event& event) {
    return event.row != nullptr && event.is_sound() && event.row->shape != tracer::Shape::combined;
}

void add_name(Message<InternedData>& data, InternedData field, std::uint64_t iid, std::string_view name) {
    Message<Interned> interned(data, field);
    interned.add_uint64(Interned::iid, iid);
    interned.add_string(Interned::name, name);
}

// What is no plain record: its name and its text stand in the event itself.
void add_words(Message<TrackEvent>& out, EventWords& words_of, const trace::Event& event) {
    constexpr std::uint64_t kTextIid = 1 + 2 * 256;
    static_assert(kTextIid > parameter_iid(255, 2));
    out.add_string(TrackEvent::name, trace::escaped(trace::event_name(event)));
    if (const std::string_view words = words_of.of(event); !words.empty()) {
        Message<Annotation> annotation(out, TrackEvent::annotations);
        annotation.add_uint64(Annotation::name_iid, kTextIid);
        annotation.add_string(Annotation::string_value, words);
    }
}

} // namespace

Message<Packet> Tracks::start(std::uint64_t time_ns) {
    auto packet = m_packets.start(Packets::Sequence::tracks);
    packet.add_uint64(Packet::timestamp, time_ns);
    if (m_begun && !m_lost) {
        packet.add_uint32(Packet::sequence_flags, kNeedsState);
        return packet;
    }
    packet.add_uint32(Packet::sequence_flags, kStateCleared | kNeedsState);
    if (m_lost) {
        packet.add_bool(Packet::previous_packet_dropped, true);
    }
    m_begun = true;
    m_lost = false;
    m_interned.reset();
    Message<InternedData> data(packet, Packet::interned_data);
    add_name(data, InternedData::annotation_names, 1 + 2 * kCodes, "text");
    return packet;
}

bool Tracks::is_new(TrackKind kind, std::uint32_t number) {
    return !m_declared.contains(uuid_of(kind, number));
}

void Tracks::declare(TrackKind kind, std::uint32_t number, std::string_view name, TrackKind parent) {
    m_declared[uuid_of(kind, number)] = name;
    auto packet = m_packets.start(Packets::Sequence::tracks);
    {
        Message<TrackDescriptor> track(packet, Packet::track_descriptor);
        track.add_uint64(TrackDescriptor::uuid, uuid_of(kind, number));
        track.add_string(TrackDescriptor::name, name);
        if (parent != kind) {
            track.add_uint64(TrackDescriptor::parent_uuid, uuid_of(parent, number));
        }
        if (kind == TrackKind::server) {
            Message<CounterDescriptor> counter(track, TrackDescriptor::counter);
            counter.add_int32(CounterDescriptor::unit, kUnitTimeNs);
        }
    }
    m_packets.add();
}

// A thread, and as its children what does not nest with its events. A context that is used again is a new name of the
// same thread.
void Tracks::declare_task(TrackKind kind, std::uint32_t context, const TaskLabel& task) {
    std::uint64_t& turn = m_turns[context];
    if (turn == task.turn && kind == TrackKind::task) {
        return;
    }
    turn = task.turn;
    std::string& name = m_declared[uuid_of(TrackKind::task, context)];
    if (name != task.name) {
        name = task.name;
        {
            auto packet = m_packets.start(Packets::Sequence::tracks);
            Message<TrackDescriptor> track(packet, Packet::track_descriptor);
            track.add_uint64(TrackDescriptor::uuid, uuid_of(TrackKind::task, context));
            Message<ThreadDescriptor> thread(track, TrackDescriptor::thread);
            thread.add_uint32(ThreadDescriptor::pid, kProcess);
            thread.add_uint32(ThreadDescriptor::tid, task.tid);
            thread.add_string(ThreadDescriptor::name, task.name);
        }
        m_packets.add();
        {
            auto packet = m_packets.start(Packets::Sequence::tracks);
            Message<ProcessTree> tree(packet, Packet::process_tree);
            Message<Thread> thread(tree, ProcessTree::threads);
            thread.add_uint32(Thread::tid, task.tid);
            thread.add_string(Thread::name, task.name);
            thread.add_uint32(Thread::tgid, kProcess);
        }
        m_packets.add();
    }
    if (kind != TrackKind::task && is_new(kind, context)) {
        declare(kind, context, kind == TrackKind::jobs ? "jobs" : "waits", TrackKind::task);
    }
}

void Tracks::declare_processor(std::uint16_t cpu) {
    if (is_new(TrackKind::processor, cpu)) {
        declare(TrackKind::processor, cpu, fmt::format("cpu {} events", cpu), TrackKind::processor);
    }
}

void Tracks::slice_began(std::uint64_t time_ns, TrackKind kind, std::uint32_t number, const TaskLabel& task,
                         std::string_view name) {
    declare_task(kind, number, task);
    auto packet = start(time_ns);
    {
        Message<TrackEvent> event(packet, Packet::track_event);
        event.add_enum(TrackEvent::type, static_cast<std::int32_t>(EventType::begin));
        event.add_uint64(TrackEvent::track_uuid, uuid_of(kind, number));
        event.add_string(TrackEvent::name, name);
    }
    m_packets.add();
}

void Tracks::slice_ended(std::uint64_t time_ns, TrackKind kind, std::uint32_t number) {
    auto packet = start(time_ns);
    {
        Message<TrackEvent> event(packet, Packet::track_event);
        event.add_enum(TrackEvent::type, static_cast<std::int32_t>(EventType::end));
        event.add_uint64(TrackEvent::track_uuid, uuid_of(kind, number));
    }
    m_packets.add();
}

void Tracks::intern(Message<Packet>& packet, const trace::Event& event) {
    if (m_interned[event.code]) {
        return;
    }
    m_interned[event.code] = true;
    const tracer::EventRow& row = *event.row;
    Message<InternedData> data(packet, Packet::interned_data);
    add_name(data, InternedData::event_names, event_iid(event.code), row.name);
    if (row.par1.unit != tracer::Unit::none) {
        add_name(data, InternedData::annotation_names, parameter_iid(event.code, 1), row.par1.name);
    }
    if (row.par2.unit != tracer::Unit::none) {
        add_name(data, InternedData::annotation_names, parameter_iid(event.code, 2), row.par2.name);
    }
}

// A number, or "3 (sensor)" if it stands for something.
void Tracks::add_parameter(Message<TrackEvent>& out, const trace::Event& event, unsigned number, tracer::Unit unit,
                           std::uint32_t value) {
    if (unit == tracer::Unit::none) {
        return;
    }
    Message<Annotation> annotation(out, TrackEvent::annotations);
    annotation.add_uint64(Annotation::name_iid, parameter_iid(event.code, number));
    if (!may_have_meaning(unit)) {
        annotation.add_uint64(Annotation::uint_value, value);
        return;
    }
    const auto words = [&](fmt::memory_buffer& text) {
        if (const std::string meaning = meaning_of(event, unit, value); !meaning.empty()) {
            fmt::format_to(std::back_inserter(text), "{} ({})", value, meaning);
        }
    };
    if (const trace::ValueTexts::Text* const kept = m_values.of(event, unit, value, words); kept == nullptr) {
        fmt::memory_buffer text;
        words(text);
        annotation.add_string(Annotation::string_value, {text.data(), text.size()});
    } else if (kept->size == 0) {
        annotation.add_uint64(Annotation::uint_value, value);
    } else {
        annotation.add_string(Annotation::string_value, kept->view());
    }
}

void Tracks::instant(std::uint64_t time_ns, const trace::Event& event, std::uint64_t track, Flow flow) {
    auto packet = start(time_ns);
    if (is_plain(event)) {
        intern(packet, event);
    }
    {
        Message<TrackEvent> out(packet, Packet::track_event);
        out.add_enum(TrackEvent::type, static_cast<std::int32_t>(EventType::instant));
        out.add_uint64(TrackEvent::track_uuid, track);
        if (is_plain(event)) {
            out.add_uint64(TrackEvent::name_iid, event_iid(event.code));
            add_parameter(out, event, 1, event.row->par1.unit, event.par1);
            add_parameter(out, event, 2, event.row->par2.unit, event.par2);
        } else {
            add_words(out, m_event_words, event);
        }
        if (flow.side != Flow::Side::none) {
            out.add_fixed64(flow.side == Flow::Side::from ? TrackEvent::flow_ids : TrackEvent::terminating_flow_ids,
                            flow.id);
        }
    }
    m_packets.add();
}

void Tracks::task_instant(std::uint64_t time_ns, const trace::Event& event, std::uint32_t context,
                          const TaskLabel& task, Flow flow) {
    declare_task(TrackKind::task, context, task);
    instant(time_ns, event, uuid_of(TrackKind::task, context), flow);
}

void Tracks::processor_instant(std::uint64_t time_ns, const trace::Event& event, Flow flow) {
    declare_processor(event.cpu);
    instant(time_ns, event, uuid_of(TrackKind::processor, event.cpu), flow);
}

void Tracks::remark(std::uint64_t time_ns, std::uint16_t cpu, std::string_view text) {
    declare_processor(cpu);
    auto packet = start(time_ns);
    {
        Message<TrackEvent> event(packet, Packet::track_event);
        event.add_enum(TrackEvent::type, static_cast<std::int32_t>(EventType::instant));
        event.add_uint64(TrackEvent::track_uuid, uuid_of(TrackKind::processor, cpu));
        event.add_string(TrackEvent::name, text);
    }
    m_packets.add();
}

void Tracks::budget(std::uint64_t time_ns, const trace::Names& names, std::uint16_t server, std::uint64_t left_ns) {
    if (is_new(TrackKind::server, server)) {
        const std::string_view name = names.find(tracer::Unit::server, server);
        declare(TrackKind::server, server,
                name.empty() ? fmt::format("budget of server {}", server)
                             : fmt::format("budget of {}", trace::escaped(name)),
                TrackKind::server);
    }
    auto packet = start(time_ns);
    {
        Message<TrackEvent> event(packet, Packet::track_event);
        event.add_enum(TrackEvent::type, static_cast<std::int32_t>(EventType::counter));
        event.add_uint64(TrackEvent::track_uuid, uuid_of(TrackKind::server, server));
        event.add_int64(TrackEvent::counter_value, static_cast<std::int64_t>(left_ns));
    }
    m_packets.add();
}

} // namespace host::convert::perfetto
