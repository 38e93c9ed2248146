// SPDX-License-Identifier: MIT
#include "convert/perfetto/perfetto_tracks.hpp"

#include "convert/writer/event_words.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
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

void add_name(Message<InternedData>& data, InternedData field, std::uint64_t iid, std::string_view name) {
    Message<Interned> interned(data, field);
    interned.add_uint64(Interned::iid, iid);
    interned.add_string(Interned::name, name);
}

// Adds name and text of an event that is no plain record.
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

// Returns the size of one field.
template <typename Field>
text::TextOf<8> encoded_number(Field field, std::uint64_t value) {
    std::array<char, kNumberMax> number{};
    const char* const end = put_number(number.data(), field, value);
    text::TextOf<8> encoded;
    const bool fits = encoded.set({number.data(), end});
    ASSERT(fits);
    return encoded;
}

// Writes the first fields of an event on this track. 2 * kNumberMax bytes of room are needed.
char* put_head(char* at, EventType type, std::uint64_t track) {
    at = put_number(at, TrackEvent::type, static_cast<std::uint64_t>(type));
    return put_number(at, TrackEvent::track_uuid, track);
}

constexpr std::size_t kHeadMax = 2 * kNumberMax;

text::TextOf<8> instant_head(std::uint64_t track) {
    std::array<char, kHeadMax> fields{};
    const char* const end = put_head(fields.data(), EventType::instant, track);
    text::TextOf<8> head;
    const bool fits = head.set({fields.data(), end});
    ASSERT(fits); // the numbers of tracks have 35 bits
    return head;
}

constexpr std::size_t kParameterMax = kFrameMax + kNumberMax + 2 * trace::ValueTexts::Text::kBytes;

} // namespace

Tracks::Form Tracks::form_of(tracer::Unit unit) {
    return unit == tracer::Unit::none      ? Form::none
           : trace::may_have_meaning(unit) ? Form::text
           : trace::is_hexadecimal(unit)   ? Form::address
                                           : Form::number;
}

Tracks::Tracks(Packets& packets)
    : m_packets(packets) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        Prepared& prepared = m_prepared[row.code];
        prepared.event = encoded_number(TrackEvent::name_iid, event_iid(row.code));
        prepared.par1 = encoded_number(Annotation::name_iid, parameter_iid(row.code, 1));
        prepared.par2 = encoded_number(Annotation::name_iid, parameter_iid(row.code, 2));
        prepared.plain = row.shape != tracer::Shape::combined;
        prepared.form1 = form_of(row.par1.unit);
        prepared.form2 = form_of(row.par2.unit);
    }
}

// The state is cleared in a separate packet, because a reader uses the interned data of a packet once, and the next
// packet may have its own.
void Tracks::clear_state(std::uint64_t time_ns) {
    auto packet = m_packets.start(Packets::Sequence::tracks);
    packet.add_uint64(Packet::timestamp, time_ns);
    packet.add_uint32(Packet::sequence_flags, kStateCleared | kNeedsState);
    if (m_lost) {
        packet.add_bool(Packet::previous_packet_dropped, true);
    }
    m_begun = true;
    m_lost = false;
    for (Prepared& prepared : m_prepared) {
        prepared.interned = false;
    }
    {
        Message<InternedData> data(packet, Packet::interned_data);
        add_name(data, InternedData::annotation_names, 1 + 2 * kCodes, "text");
    }
    m_packets.add();
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

// Declares a thread, and as its children the tracks that do not nest with its events. A context that is used again is
// the same thread with a new name.
void Tracks::declare_task(TrackKind kind, std::uint32_t context, const TaskLabel& task) {
    m_tasks[context] = {.turn = task.turn, .head = instant_head(uuid_of(TrackKind::task, context))};
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
    m_rest = name;
    add_event(time_ns, kHeadMax + kFrameMax, [&](char* at) {
        return put_frame(put_head(at, EventType::begin, uuid_of(kind, number)), TrackEvent::name, name.size());
    });
}

void Tracks::slice_ended(std::uint64_t time_ns, TrackKind kind, std::uint32_t number) {
    add_event(time_ns, kHeadMax, [&](char* at) { return put_head(at, EventType::end, uuid_of(kind, number)); });
}

// Adds the names of the event and its parameters to the next packet.
void Tracks::intern(const trace::Event& event) {
    m_prepared[event.code].interned = true;
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

// Writes a number, or "3 (sensor)" if it has a meaning. Parameters stay in order: after one that does not fit into the
// event, all go to m_rest.
char* Tracks::put_parameter(char* at, Form form, const text::TextOf<8>& name, const trace::Event& event,
                            tracer::Unit unit, std::uint32_t value) {
    if (form == Form::none) {
        return at;
    }
    if (form != Form::text && m_rest.empty()) {
        const Annotation field = form == Form::address ? Annotation::pointer_value : Annotation::uint_value;
        return put_message(at, TrackEvent::annotations,
                           [&](char* in) { return put_number(name.put(in), field, value); });
    }
    const auto encode = [&](fmt::memory_buffer& content) {
        m_value.clear();
        Message<Annotation> annotation(m_value);
        if (form == Form::text && !trace::meaning_of(event, unit, value).empty()) {
            fmt::memory_buffer text;
            trace::append_digits_and_meaning(text, event, unit, value);
            annotation.add_string(Annotation::string_value, std::string_view(text.data(), text.size()));
        } else {
            annotation.add_uint64(trace::is_hexadecimal(unit) ? Annotation::pointer_value : Annotation::uint_value,
                                  value);
        }
        content.append(std::string_view(m_value));
    };
    const trace::ValueTexts::Text* const kept = m_values.of(event, unit, value, encode);
    if (kept != nullptr && m_rest.empty()) {
        return put_message(at, TrackEvent::annotations, [&](char* in) { return kept->put(name.put(in)); });
    }
    // A text that is too long to be kept was just made.
    const std::string_view content = kept != nullptr ? kept->view() : std::string_view(m_value);
    Message<TrackEvent>(m_rest).add_bytes_vectored(TrackEvent::annotations, name.view(), content);
    return at;
}

// Writes the event as the last field of its packet. put(char*) writes at most `room` bytes; m_rest follows.
template <typename Put>
void Tracks::add_event(std::uint64_t time_ns, std::size_t room, Put put) {
    restore_state(time_ns);
    const auto event = [&](char* at) {
        at = put_number(at, Packet::sequence_id, static_cast<std::uint64_t>(Packets::Sequence::tracks));
        at = put_number(at, Packet::timestamp, time_ns);
        at = put_number(at, Packet::sequence_flags, kNeedsState);
        if (!m_new_names.empty()) {
            at = text::put(at, m_new_names);
        }
        return put_message(at, Packet::track_event, put, m_rest);
    };
    m_packets.add(3 * kNumberMax + m_new_names.size() + kFrameMax + room, event, m_rest);
    if (!m_new_names.empty()) {
        m_new_names.clear();
    }
    if (!m_rest.empty()) {
        m_rest.clear();
    }
}

void Tracks::instant(std::uint64_t time_ns, const trace::Event& event, const text::TextOf<8>& head, Flow flow) {
    restore_state(time_ns); // it may clear names, which are interned here
    const Prepared& prepared = m_prepared[event.code];
    const bool plain = event.row != nullptr && prepared.plain && event.is_sound() && !trace::is_foreign(event);
    if (plain && !prepared.interned) [[unlikely]] {
        intern(event);
    }
    add_event(time_ns, kHeadMax + 2 * kParameterMax, [&](char* at) {
        at = head.put(at);
        if (plain) {
            at = prepared.event.put(at);
            at = put_parameter(at, prepared.form1, prepared.par1, event, event.row->par1.unit, event.par1);
            at = put_parameter(at, prepared.form2, prepared.par2, event, event.row->par2.unit, event.par2);
        } else {
            Message<TrackEvent> rest(m_rest);
            add_words(rest, m_event_words, event);
        }
        if (flow.side != Flow::Side::none) {
            Message<TrackEvent>(m_rest).add_fixed64(
                flow.side == Flow::Side::from ? TrackEvent::flow_ids : TrackEvent::terminating_flow_ids, flow.id);
        }
        return at;
    });
}

void Tracks::task_instant(std::uint64_t time_ns, const trace::Event& event, std::uint32_t context,
                          const TaskLabel& task, Flow flow) {
    if (m_tasks[context].turn != task.turn) [[unlikely]] {
        declare_task(TrackKind::task, context, task);
    }
    instant(time_ns, event, m_tasks[context].head, flow);
}

void Tracks::processor_instant(std::uint64_t time_ns, const trace::Event& event, Flow flow) {
    declare_processor(event.cpu);
    instant(time_ns, event, instant_head(uuid_of(TrackKind::processor, event.cpu)), flow);
}

void Tracks::remark(std::uint64_t time_ns, std::uint16_t cpu, std::string_view text) {
    declare_processor(cpu);
    m_rest = text;
    add_event(time_ns, kHeadMax + kFrameMax, [&](char* at) {
        return put_frame(put_head(at, EventType::instant, uuid_of(TrackKind::processor, cpu)), TrackEvent::name,
                         text.size());
    });
}

void Tracks::budget(std::uint64_t time_ns, const trace::Names& names, std::uint16_t server, std::uint64_t left_ns) {
    if (is_new(TrackKind::server, server)) {
        const std::string_view name = names.find(tracer::Unit::server, server);
        declare(TrackKind::server, server,
                name.empty() ? fmt::format("budget of server {}", server)
                             : fmt::format("budget of {}", text::escaped(name)),
                TrackKind::server);
    }
    add_event(time_ns, kHeadMax + kNumberMax, [&](char* at) {
        return put_number(put_head(at, EventType::counter, uuid_of(TrackKind::server, server)),
                          TrackEvent::counter_value, left_ns);
    });
}

} // namespace host::convert::perfetto
