// SPDX-License-Identifier: MIT
// Directly over blocks of raw records, for a file without any irregularity: each thread takes a range of it. What a
// range says of a processor's time depends on the one before only up to its first switch, so ranges are counted apart
// and joined in order.
//
// Blocks are read with pread into a buffer that stays in the second-level cache: a file that shrinks meanwhile ends in
// a short read, not in a signal, and the copy costs less than the page faults of a mapping.
#include "host/analyse/tally.hpp"

#include "host/formats/dat/plain_record.hpp"
#include "host/trace/facts.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <utility>
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

using schedule::ProcessorTime;

class Range {
  public:
    explicit Range(std::uint32_t stated_khz)
        : khz(stated_khz)
        , m_overridden(stated_khz != 0)
        , m_places(kContexts) {}

    // The records [begin, end) of the source. False if something is irregular, or another range is: what is counted is
    // then invalid.
    [[nodiscard]] bool take(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                            const std::atomic<bool>& irregular) {
        std::vector<std::byte> buffer(std::min<std::uint64_t>(kBlockBytes, end - begin));
        if (begin != 0) { // the stamp before: neither time nor a stretch begins anew
            const auto slot = std::span(buffer).first(tracer::kRecordBytes);
            const auto count = source.read(begin - tracer::kRecordBytes, slot);
            if (!count || count.value() != slot.size()) {
                return false;
            }
            m_processor.saw({formats::dat::load_stamp(slot.data())});
        }
        while (begin < end && !irregular.load(std::memory_order_relaxed)) { // a hint: nothing is ordered by it
            const auto slots = std::span(buffer).first(std::min<std::uint64_t>(end - begin, buffer.size()));
            const auto count = source.read(begin, slots);
            if (!count || count.value() != slots.size()) {
                return false;
            }
            if (begin == 0) {
                m_processor.saw({formats::dat::load_stamp(slots.data())});
            }
            if (!add_block(slots)) {
                return false;
            }
            begin += slots.size();
        }
        tail = m_processor.finish();
        return begin == end;
    }

    std::uint32_t khz; // 0: none was stated
    std::array<std::uint64_t, 256> counts{};
    std::map<std::uint16_t, lib::Ticks> busy;     // without what is before the first switch, or after the last
    std::optional<ProcessorTime::Stretch> before; // the one that the first switch ends, whoever had it
    ProcessorTime::Stretch tail;                  // the last one

  private:
    static constexpr std::size_t kContexts = 65'536;

    [[nodiscard]] bool add_block(std::span<const std::byte> slots);
    void add_switches(std::span<const std::byte> slots);

    bool m_overridden;
    ProcessorTime m_processor;
    // By context, where in `busy` its time is; null: not there yet. A search in the map for each switch would cost more
    // than everything else.
    std::vector<lib::Ticks*> m_places;
};

// A second pass over the codes alone is cheaper than a branch in the first pass, because few events concern the
// processor's time.
void Range::add_switches(std::span<const std::byte> slots) {
    for (std::size_t offset = 0; offset < slots.size(); offset += tracer::kRecordBytes) {
        const auto code = static_cast<std::uint8_t>(slots[offset]);
        if (!ProcessorTime::concerns(code)) {
            continue;
        }
        const tracer::Record record = formats::dat::load_record(slots.data() + offset);
        if (offset != 0) {
            m_processor.saw({formats::dat::load_stamp(slots.data() + offset - tracer::kRecordBytes)});
        }
        m_processor.saw(record.stamp());
        const ProcessorTime::Stretch stretch = m_processor.take(code, record.par1);
        if (!before) {
            before = stretch;
        }
        if (stretch.task) {
            m_places[*stretch.task]->value += stretch.length().value;
        }
        if (code == kCodeOf<"context_switch"> && m_places[record.par1] == nullptr) {
            m_places[record.par1] = &busy[record.par1];
        }
    }
}

bool Range::add_block(std::span<const std::byte> slots) {
    Look look;
    look_at(slots, m_processor.last().value, look);
    if (look.falls || (look.flags & (formats::dat::kBitsWithoutMeaning | tracer::kCombineMask)) != 0) {
        return false;
    }
    bool rates = false;
    bool concerns_time = false;
    for (std::size_t code = 0; code < counts.size(); ++code) {
        const std::uint64_t count = look.count(code);
        if (count != 0 && !is_countable(static_cast<std::uint8_t>(code))) {
            return false;
        }
        rates = rates || (count != 0 && has_rate(static_cast<std::uint8_t>(code)));
        concerns_time = concerns_time || (count != 0 && ProcessorTime::concerns(static_cast<std::uint8_t>(code)));
        counts[code] += count;
    }
    if (rates && !m_overridden && !take_rates(slots, khz)) {
        return false;
    }
    if (concerns_time) {
        add_switches(slots);
    }
    m_processor.saw({formats::dat::load_stamp(slots.data() + slots.size() - tracer::kRecordBytes)});
    return true;
}

} // namespace

std::optional<Tally> Tally::of_plain_file(trace::ByteSource& source, std::uint32_t& khz, workers::Pool& pool) {
    const std::uint64_t size = source.size_bytes();
    if (!source.seekable() || size == 0 || size % tracer::kRecordBytes != 0) {
        return std::nullopt;
    }
    const std::size_t ranges = std::min<std::uint64_t>(pool.size(), (size + kBlockBytes - 1) / kBlockBytes);
    const auto begin_of = [&](std::size_t range) {
        return size / tracer::kRecordBytes * range / ranges * tracer::kRecordBytes;
    };
    std::atomic<bool> irregular = false;
    std::vector<std::future<std::optional<Range>>> counted;
    for (std::size_t i = 0; i < ranges; ++i) {
        counted.push_back(pool.submit([&, i, khz](std::size_t) -> std::optional<Range> {
            Range range(khz);
            if (!range.take(source, begin_of(i), begin_of(i + 1), irregular)) {
                irregular = true;
                return std::nullopt;
            }
            return range;
        }));
    }
    std::ranges::for_each(counted, [](const auto& range) { range.wait(); }); // they use what is here
    Tally tally;
    tally.m_events = size / tracer::kRecordBytes;
    std::optional<ProcessorTime::Stretch> open; // up to the switch that the next range begins with
    for (auto& future : counted) {
        const std::optional<Range> range = future.get();
        if (!range || (khz != 0 && range->khz != 0 && range->khz != khz)) {
            return std::nullopt;
        }
        khz = khz != 0 ? khz : range->khz;
        std::ranges::transform(range->counts, tally.m_counts, tally.m_counts.begin(), std::plus());
        for (const auto& [context, ticks] : range->busy) {
            tally.m_busy[context] = tally.m_busy[context] + ticks;
        }
        if (!open) {
            open = range->before.value_or(range->tail);
            tally.m_first = open->begin;
        }
        open->end = range->before ? range->before->end : range->tail.end;
        if (range->before) {
            tally.give(*std::exchange(open, range->tail));
        }
    }
    tally.give(*open);
    tally.m_last = open->end;
    return tally;
}

} // namespace host::analyse
