// SPDX-License-Identifier: MIT
// Both ways of counting. Blocks are read with pread into a buffer that stays in the second-level cache: a file that
// shrinks meanwhile ends in a short read, not in a signal, and the copy costs less than the page faults of a mapping.
#include "host/analyse/tally.hpp"

#include "host/trace/facts.hpp"
#include "host/trace/plain_record.hpp"

#include <algorithm>
#include <vector>

namespace host::analyse {

namespace {

using trace::kCodeOf;

constexpr std::size_t kBlockBytes = 256 * 1024;

// Records that the event stream takes note of, and whose note changes nothing here.
constexpr bool is_countable(std::uint8_t code) {
    return trace::kPlainRows[code] != nullptr || code == kCodeOf<"cycles_per_msec"> || code == kCodeOf<"trace_start"> ||
           code == kCodeOf<"id"> || code == kCodeOf<"task_create">;
}

constexpr bool tells_rate(std::uint8_t code) {
    return code == kCodeOf<"cycles_per_msec"> || code == kCodeOf<"trace_start">;
}

// What one look at each record of a block shows.
struct Look {
    // Several rows: the same code in consecutive records would have each increment wait for the one before.
    static constexpr std::size_t kRows = 4;
    std::array<std::array<std::uint32_t, 256>, kRows> seen{};
    std::uint16_t flags = 0; // of all codes together
    bool falls = false;      // a stamp lies below the one before

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
        const std::uint64_t stamp = trace::load_stamp(slot);
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

// The rates that these records tell agree with each other and with `khz`, and can be believed. Takes the first.
bool take_rates(std::span<const std::byte> slots, std::uint32_t& khz) {
    for (std::size_t offset = 0; offset < slots.size(); offset += tracer::kRecordBytes) {
        const tracer::Record record = trace::load_record(slots.data() + offset);
        if (!tells_rate(record.event_code()) || record.par2 == 0) {
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

void Tally::switch_to(Processor& processor, std::uint16_t context, lib::Ticks now) {
    if (processor.running) {
        lib::Ticks& busy = m_busy[*processor.running];
        busy = busy + (now - processor.since);
    }
    m_busy.try_emplace(context);
    processor.running = context;
    processor.since = now;
}

void Tally::add(const trace::Event& event) {
    if (event.metadata || !event.is_sound()) {
        return;
    }
    ++m_events;
    m_first = std::min(m_first, event.ticks);
    m_last = std::max(m_last, event.ticks);
    if (event.row == nullptr) {
        return;
    }
    ++m_counts[event.code];
    Processor& processor = m_processors[event.cpu];
    // A stamp that falls takes no time away: it counts as the latest one seen.
    processor.last = std::max(processor.last, event.ticks);
    if (event.code == kCodeOf<"context_switch">) {
        switch_to(processor, event.par1, processor.last);
    }
}

void Tally::finish() {
    for (auto& [number, processor] : m_processors) {
        if (processor.running) {
            switch_to(processor, *processor.running, processor.last);
        }
    }
}

// The switches are few: a second look at the codes alone is cheaper than a branch in the first.
void Tally::add_switches(std::span<const std::byte> slots, Processor& processor, Places& places) {
    for (std::size_t offset = 0; offset < slots.size(); offset += tracer::kRecordBytes) {
        if (slots[offset] == std::byte{kCodeOf<"context_switch">}) {
            const tracer::Record record = trace::load_record(slots.data() + offset);
            const lib::Ticks now = record.stamp();
            if (processor.running) {
                places[*processor.running]->value += (now - processor.since).value;
            }
            if (places[record.par1] == nullptr) {
                places[record.par1] = &m_busy[record.par1];
            }
            processor.running = record.par1;
            processor.since = now;
        }
    }
}

// False: something is odd, and what the tally holds means nothing any more.
bool Tally::add_block(std::span<const std::byte> slots, Processor& processor, Places& places, std::uint32_t& khz,
                      bool overridden) {
    Look look;
    look_at(slots, processor.last.value, look);
    if (look.falls || (look.flags & (trace::kBitsWithoutMeaning | tracer::kCombineMask)) != 0) {
        return false;
    }
    bool rates = false;
    for (std::size_t code = 0; code < m_counts.size(); ++code) {
        const std::uint64_t count = look.count(code);
        if (count != 0 && !is_countable(static_cast<std::uint8_t>(code))) {
            return false;
        }
        rates = rates || (count != 0 && tells_rate(static_cast<std::uint8_t>(code)));
        m_counts[code] += count;
    }
    if (rates && !overridden && !take_rates(slots, khz)) {
        return false;
    }
    if (look.count(kCodeOf<"context_switch">) != 0) {
        add_switches(slots, processor, places);
    }
    m_events += slots.size() / tracer::kRecordBytes;
    processor.last = {trace::load_stamp(slots.data() + slots.size() - tracer::kRecordBytes)};
    return true;
}

std::optional<Tally> Tally::of_plain_file(trace::ByteSource& source, std::uint32_t& khz) {
    const std::uint64_t size = source.size_bytes();
    if (!source.seekable() || size == 0 || size % tracer::kRecordBytes != 0) {
        return std::nullopt;
    }
    Tally tally;
    Processor& processor = tally.m_processors[0];
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
            tally.m_first = {trace::load_stamp(slots.data())};
        }
        if (!tally.add_block(slots, processor, places, khz, overridden)) {
            return std::nullopt;
        }
        offset += wanted;
    }
    tally.m_last = processor.last;
    tally.finish();
    return tally;
}

} // namespace host::analyse
