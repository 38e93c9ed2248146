// SPDX-License-Identifier: MIT
#include "foreign/kev/reader.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::kev {

namespace {

constexpr std::size_t kQueuedWordsMax = 1 << 20;

} // namespace

lib::Result<std::unique_ptr<Reader>, HeaderError>
Reader::open(const trace::NamedSource& input, trace::Diagnostics& diagnostics, const trace::OpenOptions& options) {
    auto reader = std::unique_ptr<Reader>(new Reader(input, diagnostics, options));
    for (const auto read : {&Reader::read_header, &Reader::read_syspage}) {
        if (const auto done = ((*reader).*read)(); !done) {
            return done.error();
        }
    }
    return reader;
}

Reader::Reader(const trace::NamedSource& input, trace::Diagnostics& diagnostics, const trace::OpenOptions& options)
    : m_name(input.name)
    , m_source(input.bytes)
    , m_diagnostics(diagnostics)
    , m_strict(options.strict)
    , m_salvage(options.salvage)
    , m_damages(diagnostics.damages()) {}

void Reader::report(trace::Code code, std::uint64_t slot, std::uint8_t cpu, std::string_view text) {
    m_diagnostics.report(code, {.file = m_name, .offset_bytes = offset_of(slot), .cpu = cpu}, text);
}

HeaderError Reader::header_error(HeaderError error, std::uint64_t offset_bytes, std::string_view text) {
    m_diagnostics.report(error == HeaderError::version ? trace::Code("E-VERSION") : trace::Code("E-HEADER"),
                         {.file = m_name, .offset_bytes = offset_bytes}, text);
    return error;
}

// Appends up to `bytes` bytes to the buffer. Returns false at the end of the input, or if the read failed.
bool Reader::read_more(std::size_t bytes) {
    m_buffer.resize(m_filled + bytes);
    const auto count = m_source->read(m_read_offset, std::span(m_buffer).subspan(m_filled));
    if (!count) {
        m_diagnostics.report("E-IO", {.file = m_name, .offset_bytes = m_read_offset}, error_name(count.error()));
    }
    const std::size_t got = count ? count.value() : 0;
    m_read_offset += got;
    m_filled += got;
    m_buffer.resize(m_filled);
    return got != 0;
}

lib::Result<void, HeaderError> Reader::read_header() {
    constexpr std::size_t kPiece = 4096;
    std::size_t searched = 0;
    std::optional<std::size_t> end;
    const auto text = [this] { return std::string_view(reinterpret_cast<const char*>(m_buffer.data()), m_filled); };
    while (!end && m_filled < kHeaderBytesMax && read_more(kPiece)) {
        const std::size_t from = searched - std::min(searched, kHeaderEnd.size());
        end = find_header_end(text().substr(from));
        if (end) {
            *end += from;
        }
        searched = m_filled;
        if (!text().starts_with(kHeaderBegin.substr(0, m_filled))) {
            break;
        }
    }
    if (m_filled == 0) {
        return header_error(HeaderError::cannot_read, 0, "the input is empty");
    }
    auto header = parse_header(text().substr(0, end.value_or(m_filled)));
    if (!header) {
        return header_error(header.error().cause, 0, header.error().text);
    }
    m_header = std::move(header.value());
    m_position = *end;
    m_first_slot = *end + m_header.syspage_bytes;
    if (m_header.newer) {
        m_diagnostics.report("W-MINOR", {.file = m_name}, "a later version than 1.01: read as 1.01");
    }
    return {};
}

lib::Result<void, HeaderError> Reader::read_syspage() {
    const std::uint64_t size = m_header.syspage_bytes;
    while (m_filled - m_position < size && read_more(kBufferBytes)) {
    }
    if (m_filled - m_position < size && m_salvage) {
        m_diagnostics.report("E-HEADER", {.file = m_name, .offset_bytes = m_position},
                             fmt::format("TRACE_SYSPAGE_LEN is {}, but only {} bytes follow the header: read as slots",
                                         size, m_filled - m_position));
        m_first_slot = m_position;
        return {};
    }
    if (m_filled - m_position < size) {
        return header_error(
            HeaderError::syspage_size, m_position,
            fmt::format("TRACE_SYSPAGE_LEN is {}, but only {} bytes follow the header", size, m_filled - m_position));
    }
    const auto page = std::span(m_buffer).subspan(m_position, size);
    m_syspage.assign(page.begin(), page.end());
    m_position += size;
    return {};
}

// Processes one slot. Returns false at the end.
bool Reader::read_slot() {
    if (m_filled - m_position < kSlotBytes) {
        m_buffer.erase(m_buffer.begin(), m_buffer.begin() + static_cast<std::ptrdiff_t>(m_position));
        m_filled -= m_position;
        m_position = 0;
        while (m_filled < kSlotBytes && read_more(kBufferBytes)) {
        }
        if (m_filled < kSlotBytes) {
            return false;
        }
    }
    const Slot slot = decode_slot(std::span(m_buffer).subspan(m_position, kSlotBytes), m_header.byte_order);
    m_position += kSlotBytes;
    take(slot);
    ++m_slots;
    return true;
}

bool Reader::next(RawEvent& event) {
    for (;;) {
        if (!m_queue.empty()) {
            Queued& first = m_queue.front();
            if (!first.stamp.time().known &&
                (m_finished || m_queue.size() > kQueueMax || m_queued_words > kQueuedWordsMax)) {
                m_time_line.settle(static_cast<std::uint8_t>((first.event.header >> 24) & 0x3F));
            }
            const Time& time = first.stamp.time();
            if (time.known) {
                event = std::move(first.event);
                take_time(time, event);
                m_queued_words -= event.longer.size();
                m_queue.pop_front();
                if (must_stop() && event.state != trace::EventState::ok && event.state != trace::EventState::late) {
                    continue; // this is the damage itself
                }
                return true;
            }
        } else if (m_finished) {
            return false;
        }
        if (must_stop() || !read_slot()) {
            finish();
        }
    }
}

// Only control events may be written before events of an earlier stamp without being reported.
void Reader::take_time(const Time& time, RawEvent& event) {
    const Slot slot{.header = event.header};
    event.ticks = time.ticks;
    if (time.late && event.state == trace::EventState::ok) {
        event.state = trace::EventState::late;
    }
    if (slot.class_number() == static_cast<std::uint8_t>(Class::control)) {
        return;
    }
    std::uint64_t& newest = m_newest[slot.cpu()];
    if (time.late && time.ticks < newest) {
        report("W-TIME", event.slot, slot.cpu(),
               fmt::format("stamped at {} ticks, before what its processor wrote earlier ({}): put in order",
                           time.ticks, newest));
    }
    newest = std::max(newest, time.ticks);
}

void Reader::check(const Slot& slot) {
    if ((slot.header & kReservedBits) != 0 && !std::exchange(m_reserved_reported, true)) {
        report("W-RESERVED", m_slots, slot.cpu(),
               fmt::format("bits 23..15 of header 0x{:08x} are not 0: ignored, here and further on", slot.header));
    }
    if (m_header.processors != 0 && slot.cpu() >= m_header.processors && !m_processor_reported.test(slot.cpu())) {
        m_processor_reported.set(slot.cpu());
        report("E-CPU", m_slots, slot.cpu(),
               fmt::format("TRACE_CPU_NUM is {}: there should be no such processor", m_header.processors));
    }
    if (slot.class_number() > kClassLast && !m_unknown_reported.test(slot.class_number())) {
        m_unknown_reported.set(slot.class_number());
        report("W-UNKNOWN", m_slots, slot.cpu(),
               fmt::format("class {} is not known: its events are kept as raw words", slot.class_number()));
    }
}

void Reader::take(const Slot& slot) {
    check(slot);
    if (slot.header == 0) {
        report("W-UNUSED", m_slots, 0, "an empty slot");
        return;
    }
    if (slot.kind() == Kind::simple && slot.is(Class::control, kControlBuffer)) {
        take_buffer(slot);
    }
    const bool continues = slot.kind() == Kind::middle || slot.kind() == Kind::end;
    if (continues && m_assembler.is_open(slot)) {
        take_part(slot, {});
        return;
    }
    TimeLine::Note note = TimeLine::Note::none;
    const Stamp stamp = m_time_line.add(slot, note);
    if (note == TimeLine::Note::turn_unseen) {
        report("W-TIMEAMBIG", m_slots, slot.cpu(),
               "the stamp fell by more than half a turn and no TIME event said so: taken for one turn");
    } else if (note == TimeLine::Note::contradicts) {
        report("W-TIME", m_slots, slot.cpu(),
               fmt::format("TIME says 0x{:08x}{:08x}, before the events in front of it: believed", slot.data[0],
                           slot.data[1]));
    }
    report_guess(slot.cpu());
    if (slot.kind() == Kind::simple) {
        emit(slot, trace::EventState::ok, stamp);
    } else {
        take_part(slot, stamp);
    }
}

void Reader::report_guess(std::uint8_t cpu) {
    if (m_time_line.is_guessed(cpu) && !m_guess_reported.test(cpu)) {
        m_guess_reported.set(cpu);
        report("W-TIMEAMBIG", m_slots, cpu, "no TIME event of this processor came in time: its turn is a guess");
    }
}

void Reader::take_part(const Slot& slot, const Stamp& stamp) {
    std::optional<Assembled> replaced;
    const auto outcome = m_assembler.feed(slot, m_slots, replaced);
    if (replaced) {
        give_up(std::move(*replaced), "another event began in its place, or too many are open");
    }
    switch (outcome) {
    case Assembler::Outcome::open:
        if (slot.kind() == Kind::begin) {
            m_open_stamps.insert_or_assign(m_slots, stamp);
        }
        break;
    case Assembler::Outcome::complete:
        emit(m_assembler.take(), trace::EventState::ok);
        break;
    case Assembler::Outcome::orphan:
        report("W-ORPHAN", m_slots, slot.cpu(),
               fmt::format("class {} event {}: the event that this slot continues never began", slot.class_number(),
                           slot.event()));
        emit(slot, trace::EventState::orphan, stamp);
        break;
    case Assembler::Outcome::too_long:
        report("E-TOOLONG", m_slots, slot.cpu(),
               fmt::format("class {} event {} has more than {} slots: the rest is skipped", slot.class_number(),
                           slot.event(), Assembler::kSlotsMax));
        emit(m_assembler.take(), trace::EventState::malformed);
        break;
    case Assembler::Outcome::skipping:
        break;
    }
}

void Reader::take_buffer(const Slot& slot) {
    const std::uint32_t number = slot.data[0] % kBufferModulus;
    if (m_buffer_number) {
        const std::uint32_t missing = (number - *m_buffer_number - 1) % kBufferModulus;
        if (missing != 0) {
            m_missing_buffers += missing;
            report("W-GAP", m_slots, slot.cpu(),
                   fmt::format("buffer {} follows buffer {}: {} missing (modulo {})", number, *m_buffer_number, missing,
                               kBufferModulus));
            give_up_all("a buffer is missing");
        }
    }
    m_buffer_number = number;
}

void Reader::emit(const Slot& slot, trace::EventState state, const Stamp& stamp) {
    m_queue.push_back({.event = {.header = slot.header,
                                 .stamp = slot.stamp,
                                 .slot = m_slots,
                                 .state = state,
                                 .pair = {slot.data[0], slot.data[1]},
                                 .missing_buffers = m_missing_buffers,
                                 .longer = {}},
                       .stamp = stamp});
}

void Reader::emit(Assembled&& event, trace::EventState state) {
    const auto stamp = m_open_stamps.find(event.slot);
    m_queued_words += event.words.size();
    m_queue.push_back({.event = {.header = event.header,
                                 .stamp = event.stamp,
                                 .slot = event.slot,
                                 .state = state,
                                 .missing_buffers = m_missing_buffers,
                                 .longer = std::move(event.words)},
                       .stamp = stamp->second});
    m_open_stamps.erase(stamp);
}

void Reader::give_up(Assembled&& event, std::string_view reason) {
    report("E-INCOMPLETE", event.slot, static_cast<std::uint8_t>((event.header >> 24) & 0x3F),
           fmt::format("class {} event {}: its last slot never came ({})", (event.header >> 10) & 0x1F,
                       event.header & kEventMax, reason));
    emit(std::move(event), trace::EventState::incomplete);
}

void Reader::give_up_all(std::string_view reason) {
    while (auto event = m_assembler.give_up()) {
        give_up(std::move(*event), reason);
    }
}

void Reader::finish() {
    if (m_finished) {
        return;
    }
    m_finished = true;
    if (m_filled != m_position) {
        m_diagnostics.report("W-TAIL", {.file = m_name, .offset_bytes = offset_of(m_slots)},
                             fmt::format("{} trailing bytes: the last slot was cut", m_filled - m_position));
    }
    give_up_all("the file ends");
    m_time_line.settle_all();
    for (std::size_t cpu = 0; cpu < kProcessorsMax; ++cpu) {
        report_guess(static_cast<std::uint8_t>(cpu));
    }
}

// The window is a heap of keys; the events themselves stay where they are.

namespace {

constexpr std::size_t kWordsMax = 1 << 20;

constexpr auto kLaterFirst = [](const auto& a, const auto& b) {
    return a.ticks != b.ticks ? a.ticks > b.ticks : a.order > b.order;
};

} // namespace

void Window::fill() {
    while (!m_read_all && m_heap.size() < kWindowEvents && m_words < kWordsMax) {
        std::size_t index = m_pool.size();
        if (m_free.empty()) {
            m_pool.emplace_back();
        } else {
            index = m_free.back();
            m_free.pop_back();
        }
        RawEvent& event = m_pool[index];
        if (!m_reader.next(event)) {
            m_read_all = true;
            return;
        }
        m_words += event.longer.size();
        m_heap.push_back({.ticks = event.ticks, .order = m_order++, .index = index});
        std::ranges::push_heap(m_heap, kLaterFirst);
    }
}

bool Window::next(RawEvent& event) {
    fill();
    if (m_heap.empty()) {
        return false;
    }
    std::ranges::pop_heap(m_heap, kLaterFirst);
    const std::size_t index = m_heap.back().index;
    m_heap.pop_back();
    event = std::exchange(m_pool[index], {});
    m_free.push_back(index);
    m_words -= event.longer.size();
    return true;
}

} // namespace host::formats::kev
