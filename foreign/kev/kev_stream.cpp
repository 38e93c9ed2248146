// SPDX-License-Identifier: MIT
#include "foreign/kev/kev_stream.hpp"

#include "foreign/kev/event_names.hpp"
#include "foreign/kev/header.hpp"
#include "host/text/format.hpp"
#include "host/trace/facts.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace host::formats::kev {

namespace {

// Returns the value of a key that our writer adds; 0 if it is absent or no number.
template <typename T>
T number_of(const Header& header, std::string_view key, int base) {
    std::uint64_t value = 0;
    if (const std::string* const text = header.find(key); text != nullptr) {
        static_cast<void>(std::from_chars(text->data(), text->data() + text->size(), value, base));
    }
    return value <= std::numeric_limits<T>::max() ? static_cast<T>(value) : T{0};
}

} // namespace

lib::Result<std::unique_ptr<KevStream>>
KevStream::open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics) {
    auto reader = Reader::open(input, diagnostics, options);
    if (!reader) {
        return reader.error() == HeaderError::cannot_read ? lib::Error::io : lib::Error::corrupt;
    }
    return std::unique_ptr<KevStream>(new KevStream(std::move(reader.value()), options, diagnostics, input.name));
}

KevStream::KevStream(std::unique_ptr<Reader> reader, const trace::OpenOptions& options, trace::Diagnostics& diagnostics,
                     std::string name)
    : m_reader(std::move(reader))
    , m_window(*m_reader)
    , m_diagnostics(diagnostics)
    , m_name(std::move(name))
    , m_ours(m_reader->header().is_ours())
    , m_threads(m_reader->header().byte_order, m_reader->header().processors) {
    m_facts.chunks.push_back({.file = m_name});
    take_header(options);
}

void KevStream::take_header(const trace::OpenOptions& options) {
    const Header& header = m_reader->header();
    m_hertz = header.cycles_per_second;
    if (options.tsc_khz != 0) {
        m_hertz = std::uint64_t{options.tsc_khz} * 1000;
        m_facts.clock.overridden = true;
    } else if (m_hertz == 0) {
        m_diagnostics.report("W-NORATE", {.file = m_name}, "TRACE_CYCLES_PER_SEC is 0: times are ticks only");
    } else if (believed_hertz(m_hertz) == 0) {
        m_diagnostics.report("E-FREQ", {.file = m_name},
                             fmt::format("TRACE_CYCLES_PER_SEC is {}: not believed, times are ticks only", m_hertz));
        m_hertz = 0;
    }
    m_facts.clock.khz = static_cast<std::uint32_t>((m_hertz + 500) / 1000);
    if (m_ours) {
        m_facts.clock.source = static_cast<tracer::TscSource>(number_of<std::uint8_t>(header, "TSC_SOURCE", 10));
        m_facts.clock.mode = static_cast<tracer::ClockMode>(number_of<std::uint8_t>(header, "CLOCK_MODE", 10));
        m_facts.clock.error_ppm = number_of<std::uint32_t>(header, "TSC_ERROR_PPM", 10);
        if (header.find("BOOT_ID") != nullptr) {
            m_facts.boot_id = number_of<std::uint64_t>(header, "BOOT_ID", 16);
        }
        take_losses(header);
    }
}

// Takes the counts of losses from the header. Files of earlier versions do not state whether losses have a position.
void KevStream::take_losses(const Header& header) {
    trace::ChunkReport& chunk = m_facts.chunks.front();
    chunk.described = header.find("UNPLACED") != nullptr;
    chunk.losses_unplaced = number_of<std::uint64_t>(header, "UNPLACED", 10) != 0;
    chunk.description = {.clock_mode = m_facts.clock.mode,
                         .tsc_khz = m_facts.clock.khz,
                         .tsc_source = m_facts.clock.source,
                         .tsc_error_ppm = m_facts.clock.error_ppm,
                         .dropped = number_of<std::uint64_t>(header, "DROPPED", 10),
                         .overwritten = number_of<std::uint64_t>(header, "OVERWRITTEN", 10),
                         .boot_id = m_facts.boot_id.value_or(0)};
}

bool KevStream::next(trace::Event& event) {
    if (!m_window.next(m_current)) {
        m_facts.chunks.front().records = m_reader->slots();
        m_facts.absent = {.parts = m_reader->missing_buffers(), .unit = "buffers"};
        if (m_facts.export_end) { // all chunks that were sent are one chunk here
            m_facts.export_end->chunks = 1;
            m_facts.export_end->records = m_reader->slots() + m_reader->missing_buffers();
        }
        return false;
    }
    std::uint64_t& gaps = m_facts.chunks.front().gaps;
    gaps = std::max(gaps, m_current.missing_buffers);
    check_order(m_current);
    fill(event);
    return true;
}

void KevStream::check_order(const RawEvent& event) {
    if (event.ticks < m_latest) {
        m_diagnostics.report(
            "W-ORDER",
            {.file = m_name,
             .offset_bytes = m_reader->offset_of(event.slot),
             .cpu = static_cast<std::int32_t>((event.header >> 24) & 0x3F)},
            fmt::format("written more than {} events late: delivered in the order of the file", kWindowEvents));
    }
    m_latest = std::max(m_latest, event.ticks);
}

void KevStream::fill(trace::Event& event) {
    const Slot slot{.header = m_current.header, .stamp = m_current.stamp};
    event = {};
    event.ticks = {m_current.ticks};
    event.cpu = slot.cpu();
    event.record = m_current.slot;
    event.offset_bytes = m_reader->offset_of(m_current.slot);
    event.state = m_current.state;
    event.names = &m_facts.names;
    event.origin = trace::Origin::kev;
    event.event_class = slot.class_number();
    event.number = slot.event();
    event.foreign_name = event_label(slot.class_number(), slot.event());
    event.words = m_current.words();
    event.metadata = slot.class_number() == static_cast<std::uint8_t>(Class::control);
    if (event.is_sound() && !event.metadata) {
        m_ours ? fill_native(event) : fill_meaning(event);
    }
    set_time(event);
    trace::ChunkReport& chunk = m_facts.chunks.front();
    if (!event.metadata) {
        ++chunk.events;
        chunk.first_stamp = chunk.first_stamp ? std::min(*chunk.first_stamp, event.ticks) : event.ticks;
        chunk.last_stamp = chunk.last_stamp ? std::max(*chunk.last_stamp, event.ticks) : event.ticks;
        m_facts.usable_events += event.is_sound() && slot.class_number() != 0 && slot.class_number() <= kClassLast;
    }
}

void KevStream::fill_native(trace::Event& event) {
    const auto native = native_of(static_cast<std::uint8_t>(event.event_class), event.number, event.words);
    if (!native) {
        event.state = trace::EventState::malformed;
        m_diagnostics.report("E-LEN", {.file = m_name, .offset_bytes = event.offset_bytes, .cpu = event.cpu},
                             fmt::format("class {} event {} with {} words is none that {} writes", event.event_class,
                                         event.number, event.words.size(), kOurSystem));
        return;
    }
    if (native->payload_word != 0) {
        m_payload.resize((event.words.size() - native->payload_word) * 4);
        for (std::size_t i = native->payload_word; i < event.words.size(); ++i) {
            lib::store_le(std::span(m_payload).subspan((i - native->payload_word) * 4), event.words[i]);
        }
        event.payload = std::span(m_payload).first(native->payload_bytes);
    }
    event.words = event.words.first(native->words);
    event.row = tracer::find_event(native->code);
    event.code = native->code;
    event.raw_code = native->code;
    event.par1 = native->par1;
    event.par2 = native->par2;
    if (event.code == trace::kCodeOf<"task_block"> && native->state == trace::EventState::ok) {
        take_object(event, *native);
    }
    if (native->payload_word != 0 && native->state == trace::EventState::ok) {
        // par1 and par2 are those of the first record of a long event: its length, with that word, and the first four
        // bytes.
        event.par1 = static_cast<std::uint16_t>(native->payload_bytes + sizeof(std::uint16_t));
        event.par2 = native->payload_bytes != 0 ? event.words[native->payload_word] : 0;
    }
    event.state = native->state != trace::EventState::ok ? native->state : event.state;
    if (event.row != nullptr) {
        event.foreign_name = {};
    } else {
        m_diagnostics.count_unknown(native->code, {.file = m_name, .offset_bytes = event.offset_bytes});
    }
    if (event.is_sound() && event.row != nullptr && event.row->family() == tracer::Family::metadata) {
        event.metadata = true;
        take_metadata(event, *native);
    }
}

// Sets the object of a wait, if the preceding event has named it.
void KevStream::take_object(trace::Event& event, const Native& native) {
    const auto object = std::exchange(m_objects[event.cpu], std::nullopt);
    if (native.names_object) {
        m_objects[event.cpu] = native;
        event.metadata = true;
    } else if (object && object->par1 == event.par1 && object->par2 >> 16 == event.par2 >> 16) {
        event.par2 = object->par2;
    }
}

void KevStream::fill_meaning(trace::Event& event) {
    const bool overfull = m_threads.overfull();
    if (const auto meaning = m_threads.take(event, m_facts.names)) {
        trace::set_meaning(event, *meaning);
    } else if (m_threads.overfull() && !overfull) {
        m_diagnostics.report(
            "W-CAP", {.file = m_name, .offset_bytes = event.offset_bytes, .cpu = event.cpu},
            "more than 65,535 threads, or 32,768 interrupts with numbers above 32767: the schedule leaves out "
            "those that come later");
    }
}

void KevStream::take_metadata(const trace::Event& event, const Native& native) {
    if (event.code == trace::kCodeOf<"task_name">) {
        std::string name;
        for (const std::uint32_t word : event.words.subspan(2)) {
            for (unsigned shift = 0; shift < 32; shift += 8) {
                name.push_back(static_cast<char>(word >> shift));
            }
        }
        name.resize(std::min(name.find('\0'), name.size()));
        m_facts.names.set(tracer::Unit::context, native.par1, name);
        if (event.words[0] != kNoPid) {
            m_facts.names.set_pid(native.par1, event.words[0]);
        }
        return;
    }
    // The payload has its length in front, as in tracer/names/metadata.hpp.
    std::vector<std::byte> bytes(2 + event.payload.size());
    lib::store_le(std::span(bytes), static_cast<std::uint16_t>(bytes.size()));
    std::ranges::copy(event.payload, bytes.begin() + 2);
    if (!trace::take_metadata(event.code, bytes, m_facts)) {
        m_diagnostics.report("E-META", {.file = m_name, .offset_bytes = event.offset_bytes},
                             fmt::format("{} cannot be decoded: a field is cut or makes no sense", event.row->name));
    }
}

void KevStream::set_time(trace::Event& event) {
    event.timed = m_hertz != 0;
    if (event.metadata) {
        return;
    }
    if (!m_start) {
        m_start = event.ticks.value;
    }
    if (event.timed) {
        event.time_ns = nanoseconds_since(*m_start, event.ticks.value, m_hertz);
    }
}

} // namespace host::formats::kev
