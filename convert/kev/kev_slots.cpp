// SPDX-License-Identifier: MIT
// See the header for the rules.
#include "convert/kev/kev_slots.hpp"

#include <algorithm>
#include <bit>

namespace host::convert::records {

namespace {

using formats::kev::Class;
using formats::kev::Kind;
using formats::kev::make_header;
using formats::kev::Slot;

static_assert(std::endian::native == std::endian::little, "slots are written as they are in memory");

constexpr auto kControl = static_cast<std::uint32_t>(Class::control);

std::uint32_t high(std::uint64_t ticks) {
    return static_cast<std::uint32_t>(ticks >> 32);
}

std::uint32_t low(std::uint64_t ticks) {
    return static_cast<std::uint32_t>(ticks);
}

} // namespace

// BUFFER and TIME go in front of the event, in the same turn as it.
KevSlots::Plan KevSlots::plan(const Processor& processor, std::uint64_t ticks, bool begins_buffer) {
    const bool late = processor.newest && ticks < processor.newest_ticks;
    const std::uint64_t free = !processor.newest || late ? 0 : *processor.newest + 1;
    std::uint64_t event = late ? ticks : std::max(ticks, free);
    for (;;) {
        const bool time = begins_buffer || !processor.has_time || processor.high != high(event);
        const std::uint64_t in_front = (time ? 1U : 0U) + (begins_buffer ? 1U : 0U);
        if (late) {
            return {.first = event - std::min<std::uint64_t>(in_front, low(event)), .event = event, .time = time};
        }
        const std::uint64_t turn = event & ~std::uint64_t{0xFFFF'FFFF};
        const std::uint64_t first = std::max({event - std::min(in_front, event), free, turn});
        if (high(first + in_front) == high(event)) {
            return {.first = first, .event = std::max(event, first + in_front), .time = time};
        }
        event = first + in_front; // pushed into the next turn, where a TIME may be needed
    }
}

// Of which add() is the case that nearly all events are.
void KevSlots::add_any(std::uint32_t cpu, std::uint32_t class_number, std::uint32_t event, std::uint64_t ticks,
                       std::span<const std::uint32_t> words) {
    const std::size_t slots = std::max<std::size_t>(1, (words.size() + 1) / 2);
    if (m_filled != 0 && m_filled + slots + 1 > kBufferSlots) {
        finish();
    }
    Processor& processor = m_processors[cpu];
    const bool begins_buffer = m_filled == 0;
    const Plan stamps = plan(processor, ticks, begins_buffer);
    std::uint64_t next = stamps.first;
    if (begins_buffer) {
        put({make_header(Kind::simple, cpu, kControl, formats::kev::kControlBuffer),
             low(next++),
             {m_number % formats::kev::kBufferModulus, 0}});
    }
    if (stamps.time) {
        put({make_header(Kind::simple, cpu, kControl, formats::kev::kControlTime),
             low(next++),
             {high(stamps.event), low(stamps.event)}});
        processor.has_time = true;
        processor.high = high(stamps.event);
    }
    const auto word = [&](std::size_t index) { return index < words.size() ? words[index] : 0; };
    const auto put_words = [&](std::size_t slot, Kind kind) {
        put({make_header(kind, cpu, class_number, event), low(stamps.event), {word(2 * slot), word(2 * slot + 1)}});
    };
    if (slots == 1) {
        put_words(0, Kind::simple);
    } else {
        put_words(0, Kind::begin);
        for (std::size_t slot = 1; slot + 1 < slots; ++slot) {
            put_words(slot, Kind::middle);
        }
        put_words(slots - 1, Kind::end);
    }
    processor.newest = std::max(processor.newest.value_or(0), stamps.event);
    processor.newest_ticks = std::max(processor.newest_ticks, ticks);
}

void KevSlots::finish() {
    if (m_filled == 0) {
        return;
    }
    m_buffer.front().data[1] = static_cast<std::uint32_t>(m_filled - 1);
    m_file.append(std::as_bytes(std::span(m_buffer).first(m_filled)));
    m_filled = 0;
    ++m_number;
    for (Processor& processor : m_processors) {
        processor.has_time = false;
    }
}

} // namespace host::convert::records
