// SPDX-License-Identifier: MIT
#include "host/convert/perfetto/perfetto_tracks.hpp"

#include "host/convert/event_words.hpp"
#include "host/convert/perfetto/perfetto_sched.hpp"
#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"
#include "host/trace/user_event.hpp"
#include "host/trace/value_text.hpp"
#include "lib/assert.hpp"

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

// Its name is in the table, and so are those of its parameters.
bool is_plain(const trace::Event& event) {
    return event.row != nullptr && event.is_sound() && event.row->shape != tracer::Shape::combined &&
           !trace::is_foreign(event);
}

void add_name(Message<InternedData>& data, InternedData field, std::uint64_t iid, std::string_view name) {
    Message<Interned> interned(data, field);
    interned.add_uint64(Interned::iid, iid);
    interned.add_string(Interned::name, name);
}

// What is no plain record: its name and its text are in the event itself.
void add_words(Message<TrackEvent>& out, EventWords& words_of, const trace::Event& event) {
    constexpr std::uint64_t kTextIid = 1 + 2 * 256;
    static_assert(kTextIid > parameter_iid(255, 2));
    out.add_string(TrackEvent::name, text::escaped(trace::event_name(event)));
    if (const std::string_view words = words_of.of(event); !words.empty()) {
        Message<Annotation> annotation(out, TrackEvent::annotations);
        annotation.add_uint64(Annotation::name_iid, kTextIid);
        annotation.add_string(Annotation::string_value, words);
    }
}

// A number, in hexadecimal if it is an address, as in the other outputs.
constexpr Annotation number_field(tracer::Unit unit) {
    return trace::is_hexadecimal(unit) ? Annotation::pointer_value : Annotation::uint_value;
}

// Of one field.
template <typename Field>
text::TextOf<8> encoded_number(Field field, std::uint64_t value) {
    ShortMessage<Field> number;
    number.add_number(field, value);
    text::TextOf<8> encoded;
    const bool fits = encoded.set(number.encoded());
    ASSERT(fits);
    return encoded;
}

void begin(ShortMessage<TrackEvent>& event, EventType type, std::uint64_t track) {
    event.add_number(TrackEvent::type, static_cast<std::uint64_t>(type));
    event.add_number(TrackEvent::track_uuid, track);
}

void begin(Packets::Head& packet, std::uint64_t time_ns, std::uint32_t flags) {
    packet.add_number(Packet::sequence_id, static_cast<std::uint64_t>(Packets::Sequence::tracks));
    packet.add_number(Packet::timestamp, time_ns);
    packet.add_number(Packet::sequence_flags, flags);
}

} // namespace

Tracks::Tracks(Packets& packets)
    : m_packets(packets) {
    for (std::size_t i = 0; i < kCodes; ++i) {
        const auto code = static_cast<std::uint8_t>(i);
        EventNames& names = m_names[i];
        names.event = encoded_number(TrackEvent::name_iid, event_iid(code));
        names.par1 = encoded_number(Annotation::name_iid, parameter_iid(code, 1));
        names.par2 = encoded_number(Annotation::name_iid, parameter_iid(code, 2));
    }
}

// In a packet of its own: a reader takes the interned data of a packet once, and what follows may bring its own.
void Tracks::clear_state(std::uint64_t time_ns) {
    Packets::Head head;
    begin(head, time_ns, kStateCleared | kNeedsState);
    if (m_lost) {
        head.add_number(Packet::previous_packet_dropped, 1);
    }
    m_begun = true;
    m_lost = false;
    m_interned.reset();
    std::string names;
    Message<InternedData> data(names);
    add_name(data, InternedData::annotation_names, 1 + 2 * kCodes, "text");
    m_packets.add(head, {}, Packet::interned_data, names, {});
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

[[gnu::flatten]] void Tracks::slice_began(std::uint64_t time_ns, TrackKind kind, std::uint32_t number,
                                          const TaskLabel& task, std::string_view name) {
    declare_task(kind, number, task);
    ShortMessage<TrackEvent> event;
    begin(event, EventType::begin, uuid_of(kind, number));
    event.add_frame(TrackEvent::name, name.size());
    m_rest = name;
    add_event(time_ns, event);
}

[[gnu::flatten]] void Tracks::slice_ended(std::uint64_t time_ns, TrackKind kind, std::uint32_t number) {
    ShortMessage<TrackEvent> event;
    begin(event, EventType::end, uuid_of(kind, number));
    add_event(time_ns, event);
}

// The next packet brings the names of the event and its parameters, unless one before did.
void Tracks::intern(const trace::Event& event) {
    if (m_interned[event.code]) {
        return;
    }
    m_interned[event.code] = true;
    const tracer::EventRow& row = *event.row;
    Message<Packet> packet(m_new_names);
    Message<InternedData> data(packet, Packet::interned_data);
    add_name(data, InternedData::event_names, event_iid(event.code), row.name);
    if (row.par1.unit != tracer::Unit::none) {
        add_name(data, InternedData::annotation_names, parameter_iid(event.code, 1), row.par1.name);
    }
    if (row.par2.unit != tracer::Unit::none) {
        add_name(data, InternedData::annotation_names, parameter_iid(event.code, 2), row.par2.name);
    }
}

// A number, or "3 (sensor)" if it has a meaning.
void Tracks::add_parameter(ShortMessage<TrackEvent>& out, const text::TextOf<8>& name, const trace::Event& event,
                           tracer::Unit unit, std::uint32_t value) {
    if (unit == tracer::Unit::none) {
        return;
    }
    const auto add = [&](const auto& content, std::string_view view) {
        if (m_rest.empty()) {
            out.add_message(TrackEvent::annotations, name, content);
        } else {
            Message<TrackEvent>(m_rest).add_bytes_vectored(TrackEvent::annotations, name.view(), view);
        }
    };
    if (!trace::may_have_meaning(unit)) {
        ShortMessage<Annotation> number;
        number.add_number(number_field(unit), value);
        return add(number.encoded(), number.encoded());
    }
    const auto encode = [&](fmt::memory_buffer& field) {
        m_value.clear();
        Message<Annotation> annotation(m_value);
        if (!trace::meaning_of(event, unit, value).empty()) {
            fmt::memory_buffer text;
            trace::append_digits_and_meaning(text, event, unit, value);
            annotation.add_string(Annotation::string_value, std::string_view(text.data(), text.size()));
        } else {
            annotation.add_uint64(number_field(unit), value);
        }
        field.append(std::string_view(m_value));
    };
    if (const trace::ValueTexts::Text* const kept = m_values.of(event, unit, value, encode); kept != nullptr) {
        return add(*kept, kept->view());
    }
    // What is too long to be kept has just been made.
    Message<TrackEvent>(m_rest).add_bytes_vectored(TrackEvent::annotations, name.view(), std::string_view(m_value));
}

// The event is the last field of its packet.
void Tracks::add_event(std::uint64_t time_ns, const ShortMessage<TrackEvent>& event) {
    restore_state(time_ns);
    Packets::Head head;
    begin(head, time_ns, kNeedsState);
    m_packets.add(head, m_new_names, Packet::track_event, event.encoded(), m_rest);
    m_new_names.clear();
    m_rest.clear();
}

[[gnu::flatten]] void Tracks::instant(std::uint64_t time_ns, const trace::Event& event, std::uint64_t track,
                                      Flow flow) {
    restore_state(time_ns);
    ShortMessage<TrackEvent> out;
    begin(out, EventType::instant, track);
    if (is_plain(event)) {
        const EventNames& names = m_names[event.code];
        out.add_encoded(names.event);
        add_parameter(out, names.par1, event, event.row->par1.unit, event.par1);
        add_parameter(out, names.par2, event, event.row->par2.unit, event.par2);
        intern(event);
    } else {
        Message<TrackEvent> rest(m_rest);
        add_words(rest, m_event_words, event);
    }
    if (flow.side != Flow::Side::none) {
        Message<TrackEvent>(m_rest).add_fixed64(
            flow.side == Flow::Side::from ? TrackEvent::flow_ids : TrackEvent::terminating_flow_ids, flow.id);
    }
    add_event(time_ns, out);
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
    ShortMessage<TrackEvent> event;
    begin(event, EventType::instant, uuid_of(TrackKind::processor, cpu));
    event.add_frame(TrackEvent::name, text.size());
    m_rest = text;
    add_event(time_ns, event);
}

void Tracks::budget(std::uint64_t time_ns, const trace::Names& names, std::uint16_t server, std::uint64_t left_ns) {
    if (is_new(TrackKind::server, server)) {
        const std::string_view name = names.find(tracer::Unit::server, server);
        declare(TrackKind::server, server,
                name.empty() ? fmt::format("budget of server {}", server)
                             : fmt::format("budget of {}", text::escaped(name)),
                TrackKind::server);
    }
    ShortMessage<TrackEvent> event;
    begin(event, EventType::counter, uuid_of(TrackKind::server, server));
    event.add_number(TrackEvent::counter_value, left_ns);
    add_event(time_ns, event);
}

} // namespace host::convert::perfetto
