// SPDX-License-Identifier: MIT
// Both ways of counting. Blocks are read with pread into a buffer that stays in the second-level cache: a file that
// shrinks meanwhile ends in a short read, not in a signal, and the copy costs less than the page faults of a mapping.
#include "host/analyse/tally.hpp"

#include "host/formats/dat/plain_record.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/foreign.hpp"

#include <algorithm>
#include <vector>

namespace host::analyse {

namespace {

using trace::kCodeOf;

constexpr std::size_t kBlockBytes = 256 * 1024;

// Records that the event stream evaluates, but that have no effect here except their count.
constexpr bool is_countable(std::uint8_t code) {
    return formats::dat::kPlainRows[code] != nullptr || code == kCodeOf<"cycles_per_msec"> ||
           code == kCodeOf<"trace_start"> || code == kCodeOf<"id"> || code == kCodeOf<"task_create">;
}

constexpr bool has_rate(std::uint8_t code) {
    return code == kCodeOf<"cycles_per_msec"> || code == kCodeOf<"trace_start">;
}

// What one pass over the records of a block shows.
struct Look {
    // Several rows: the same code in consecutive records would have each increment wait for the one before.
    static constexpr std::size_t kRows = 4;
    std::array<std::array<std::uint32_t, 256>, kRows> seen{};
    std::uint16_t flags = 0; // of all codes together
    bool falls = false;      // a stamp is below the one before

    [[nodiscard]] std::uint64_t count(std::size_t code) const {
        return std::uint64_t{seen[0][code]} + seen[1][code] + seen[2][code] + seen[3][code];
    }
};

// No branch that depends on the records.
void look_at(std::span<const std::byte> slots, std::uint64_t last, Look& look) {
    const std::byte* slot = slots.data();
    const std::size_t records = slots.size() / tracer::kRecordBytes;
    std::uint16_t flags = 0;
    bool falls = false;
    const auto take = [&](std::array<std::uint32_t, 256>& seen) {
        std::uint16_t code = 0;
        __builtin_memcpy(&code, slot, sizeof code);
        const std::uint64_t stamp = formats::dat::load_stamp(slot);
        ++seen[code & tracer::kCodeMask];
        flags = static_cast<std::uint16_t>(flags | code);
        falls |= stamp < last;
        last = stamp;
        slot += tracer::kRecordBytes;
    };
    std::size_t i = 0;
    for (; i + Look::kRows <= records; i += Look::kRows) {
        take(look.seen[0]);
        take(look.seen[1]);
        take(look.seen[2]);
        take(look.seen[3]);
    }
    for (; i < records; ++i) {
        take(look.seen[0]);
    }
    look.flags = flags;
    look.falls = falls;
}

// The rates in these records agree with each other and with `khz`, and can be believed. Takes the first.
bool take_rates(std::span<const std::byte> slots, std::uint32_t& khz) {
    for (std::size_t offset = 0; offset < slots.size(); offset += tracer::kRecordBytes) {
        const tracer::Record record = formats::dat::load_record(slots.data() + offset);
        if (!has_rate(record.event_code()) || record.par2 == 0) {
            continue;
        }
        if (!trace::is_plausible_rate(record.par2) || (khz != 0 && khz != record.par2)) {
            return false;
        }
        khz = record.par2;
    }
    return true;
}

} // namespace

void Tally::give(const ProcessorTime::Stretch& stretch) {
    if (stretch.task) {
        lib::Ticks& busy = m_busy[*stretch.task];
        busy = busy + stretch.length();
    }
}

void Tally::add(const trace::Event& event) {
    if (event.metadata || !event.is_sound()) {
        return;
    }
    ++m_events;
    m_first = std::min(m_first, event.ticks);
    m_last = std::max(m_last, event.ticks);
    if (event.row == nullptr) {
        if (trace::is_foreign(event)) {
            m_processors[event.cpu].saw(event.ticks);
        }
        return;
    }
    ++m_counts[event.code];
    ProcessorTime& processor = m_processors[event.cpu];
    processor.saw(event.ticks);
    if (ProcessorTime::concerns(event.code)) {
        give(processor.take(event.code, event.par1));
    }
    if (event.code == kCodeOf<"context_switch">) {
        m_busy.try_emplace(event.par1);
    }
}

void Tally::finish() {
    for (auto& [number, processor] : m_processors) {
        give(processor.finish());
    }
    m_processors.clear(); // the two ways keep different notes of the same time
}

// A second pass over the codes alone is cheaper than a branch in the first pass, because few events concern the
// processor's time.
void Tally::add_switches(std::span<const std::byte> slots, ProcessorTime& processor, Places& places) {
    for (std::size_t offset = 0; offset < slots.size(); offset += tracer::kRecordBytes) {
        const auto code = static_cast<std::uint8_t>(slots[offset]);
        if (!ProcessorTime::concerns(code)) {
            continue;
        }
        const tracer::Record record = formats::dat::load_record(slots.data() + offset);
        if (offset != 0) {
            processor.saw({formats::dat::load_stamp(slots.data() + offset - tracer::kRecordBytes)});
        }
        processor.saw(record.stamp());
        const ProcessorTime::Stretch stretch = processor.take(code, record.par1);
        if (stretch.task) {
            places[*stretch.task]->value += stretch.length().value;
        }
        if (code == kCodeOf<"context_switch"> && places[record.par1] == nullptr) {
            places[record.par1] = &m_busy[record.par1];
        }
    }
}

// False if something is irregular; the content of the tally is then invalid.
bool Tally::add_block(std::span<const std::byte> slots, ProcessorTime& processor, Places& places, std::uint32_t& khz,
                      bool overridden) {
    Look look;
    look_at(slots, processor.last().value, look);
    if (look.falls || (look.flags & (formats::dat::kBitsWithoutMeaning | tracer::kCombineMask)) != 0) {
        return false;
    }
    bool rates = false;
    bool concerns_time = false;
    for (std::size_t code = 0; code < m_counts.size(); ++code) {
        const std::uint64_t count = look.count(code);
        if (count != 0 && !is_countable(static_cast<std::uint8_t>(code))) {
            return false;
        }
        rates = rates || (count != 0 && has_rate(static_cast<std::uint8_t>(code)));
        concerns_time = concerns_time || (count != 0 && ProcessorTime::concerns(static_cast<std::uint8_t>(code)));
        m_counts[code] += count;
    }
    if (rates && !overridden && !take_rates(slots, khz)) {
        return false;
    }
    if (concerns_time) {
        add_switches(slots, processor, places);
    }
    m_events += slots.size() / tracer::kRecordBytes;
    processor.saw({formats::dat::load_stamp(slots.data() + slots.size() - tracer::kRecordBytes)});
    return true;
}

std::optional<Tally> Tally::of_plain_file(trace::ByteSource& source, std::uint32_t& khz) {
    const std::uint64_t size = source.size_bytes();
    if (!source.seekable() || size == 0 || size % tracer::kRecordBytes != 0) {
        return std::nullopt;
    }
    Tally tally;
    ProcessorTime& processor = tally.m_processors[0];
    std::vector<std::byte> buffer(kBlockBytes);
    constexpr std::size_t kContexts = 65'536;
    Places places(kContexts);
    const bool overridden = khz != 0;
    for (std::uint64_t offset = 0; offset < size;) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size - offset, buffer.size()));
        const auto count = source.read(offset, std::span(buffer).first(wanted));
        if (!count || count.value() != wanted) {
            return std::nullopt;
        }
        const std::span<const std::byte> slots = std::span(buffer).first(wanted);
        if (offset == 0) {
            tally.m_first = {formats::dat::load_stamp(slots.data())};
        }
        if (!tally.add_block(slots, processor, places, khz, overridden)) {
            return std::nullopt;
        }
        offset += wanted;
    }
    tally.m_last = processor.last();
    tally.finish();
    return tally;
}

} // namespace host::analyse
