// SPDX-License-Identifier: MIT
// Directly over blocks of raw records, for a file without any irregularity: each worker takes one range of it after the
// other. What a range says of a processor's time depends on the one before only up to its first switch, so ranges are
// counted apart and joined in order.
//
// Blocks are read with pread into a buffer that stays in the second-level cache: a file that shrinks meanwhile ends in
// a short read, not in a signal, and the copy costs less than the page faults of a mapping.
#include "host/analyse/tally.hpp"

#include "host/formats/dat/plain_record.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/number_map.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

namespace host::analyse {

namespace {

using schedule::ProcessorTime;
using trace::kCodeOf;

constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::size_t kBlockRecords = kBlockBytes / tracer::kRecordBytes;
static_assert(kBlockRecords <= 65'536, "a place in a block has 16 bits");

// So many ranges a worker, if they are long enough: one that was interrupted leaves more of them to the others.
constexpr std::size_t kRangesPerWorker = 8;
constexpr std::uint64_t kRangeBytesMin = 16 * kBlockBytes;

// Records that the event stream evaluates, but that have no effect here except their count.
constexpr bool is_countable(std::uint8_t code) {
    return formats::dat::kPlainRows[code] != nullptr || code == kCodeOf<"cycles_per_msec"> ||
           code == kCodeOf<"trace_start"> || code == kCodeOf<"id"> || code == kCodeOf<"task_create">;
}

constexpr bool has_rate(std::uint8_t code) {
    return code == kCodeOf<"cycles_per_msec"> || code == kCodeOf<"trace_start">;
}

// By code: the record is for add_switches().
constexpr auto kSwitches = [] {
    std::array<std::uint8_t, 256> switches{};
    for (std::size_t code = 0; code < switches.size(); ++code) {
        switches[code] = ProcessorTime::concerns(static_cast<std::uint8_t>(code)) ? 1 : 0;
    }
    return switches;
}();

// A worker's memory.
struct Scratch {
    std::vector<std::byte> block = std::vector<std::byte>(kBlockBytes);
    std::vector<std::uint16_t> places = std::vector<std::uint16_t>(kBlockRecords + 1); // of Look
};

// What one pass over the records of a block shows.
struct Look {
    // Several rows: the same code in consecutive records would have each increment wait for the one before.
    static constexpr std::size_t kRows = 4;
    std::array<std::array<std::uint32_t, 256>, kRows> seen{};
    std::uint32_t flags = 0;                 // of all codes together
    std::uint64_t falls = 0;                 // stamps below the one before
    std::span<const std::uint16_t> switches; // the records in the block of which kSwitches says so

    [[nodiscard]] std::uint64_t count(std::size_t code) const {
        return std::uint64_t{seen[0][code]} + seen[1][code] + seen[2][code] + seen[3][code];
    }
};

// No branch that depends on the records: each place is written, and the next one writes over it if it was none.
// places: one more than records.
void look_at(std::span<const std::byte> slots, std::uint64_t last, std::span<std::uint16_t> places, Look& look) {
    const std::byte* slot = slots.data();
    const std::size_t records = slots.size() / tracer::kRecordBytes;
    std::uint32_t flags = 0;
    std::uint64_t falls = 0;
    std::uint16_t* place = places.data();
    const auto take = [&](std::array<std::uint32_t, 256>& seen, std::size_t record) {
        std::uint16_t code = 0;
        __builtin_memcpy(&code, slot, sizeof code);
        const std::uint64_t stamp = formats::dat::load_stamp(slot);
        ++seen[code & tracer::kCodeMask];
        flags |= code;
        falls += stamp < last ? 1 : 0;
        last = stamp;
        *place = static_cast<std::uint16_t>(record);
        place += kSwitches[code & tracer::kCodeMask];
        slot += tracer::kRecordBytes;
    };
    std::size_t i = 0;
    for (; i + Look::kRows <= records; i += Look::kRows) {
        take(look.seen[0], i);
        take(look.seen[1], i + 1);
        take(look.seen[2], i + 2);
        take(look.seen[3], i + 3);
    }
    for (; i < records; ++i) {
        take(look.seen[0], i);
    }
    look.flags = flags;
    look.falls = falls;
    look.switches = places.first(static_cast<std::size_t>(place - places.data()));
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

class Range {
  public:
    Range(std::uint32_t stated_khz, Scratch& scratch)
        : khz(stated_khz)
        , m_overridden(stated_khz != 0)
        , m_scratch(scratch) {}

    // The records [begin, end) of the source. False if something is irregular, or another range is: what is counted is
    // then invalid.
    [[nodiscard]] bool take(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                            const std::atomic<bool>& irregular) {
        // The stamp before: neither time nor a stretch begins anew.
        const auto slot = std::span(m_scratch.block).first(tracer::kRecordBytes);
        const auto got = source.read(begin - std::min<std::uint64_t>(begin, slot.size()), slot);
        if (!got || got.value() != slot.size()) {
            return false;
        }
        first = mark = last = {formats::dat::load_stamp(slot.data())};
        while (begin < end && !irregular.load(std::memory_order_relaxed)) { // a hint: nothing is ordered by it
            const auto slots = std::span(m_scratch.block).first(std::min<std::uint64_t>(end - begin, kBlockBytes));
            const auto count = source.read(begin, slots);
            if (!count || count.value() != slots.size()) {
                return false;
            }
            if (!add_block(slots)) {
                return false;
            }
            begin += slots.size();
        }
        return begin == end;
    }

    std::uint32_t khz; // 0: none was stated
    std::array<std::uint64_t, 256> counts{};
    trace::NumberMap<lib::Ticks> busy;      // without what is before the first switch, or after the last
    lib::Ticks first;                       // the stamp before the range, if there is one
    std::optional<lib::Ticks> first_switch; // until then ran what the range before knows
    std::optional<std::uint16_t> task;      // that runs at the end, since the mark
    lib::Ticks mark;                        // the last switch, or `first`
    lib::Ticks last;                        // stamp of the range

  private:
    [[nodiscard]] bool add_block(std::span<const std::byte> slots);
    void add_switches(std::span<const std::byte> slots, std::span<const std::uint16_t> places);

    bool m_overridden;
    Scratch& m_scratch;
};

// As ProcessorTime has it, of which a block without irregularity needs only this: who runs, and since when. After a
// trace_start no task is known to, nor between it and the record before.
void Range::add_switches(std::span<const std::byte> slots, std::span<const std::uint16_t> places) {
    lib::Ticks* busy_now = task ? &busy[*task] : nullptr;
    for (const std::uint16_t place : places) {
        const std::byte* const slot = slots.data() + place * tracer::kRecordBytes;
        const tracer::Record record = formats::dat::load_record(slot);
        const bool is_switch = record.event_code() == kCodeOf<"context_switch">;
        const lib::Ticks before = place == 0 ? last : lib::Ticks{formats::dat::load_stamp(slot - tracer::kRecordBytes)};
        const lib::Ticks end = is_switch ? record.stamp() : before;
        if (busy_now != nullptr) {
            *busy_now = *busy_now + (end - mark);
        }
        first_switch = first_switch ? first_switch : end;
        mark = end;
        task = is_switch ? std::optional(record.par1) : std::nullopt;
        busy_now = is_switch ? &busy[record.par1] : nullptr;
    }
}

bool Range::add_block(std::span<const std::byte> slots) {
    Look look;
    look_at(slots, last.value, m_scratch.places, look);
    if (look.falls != 0 || (look.flags & (formats::dat::kBitsWithoutMeaning | tracer::kCombineMask)) != 0) {
        return false;
    }
    bool rates = false;
    for (std::size_t code = 0; code < counts.size(); ++code) {
        const std::uint64_t count = look.count(code);
        if (count != 0 && !is_countable(static_cast<std::uint8_t>(code))) {
            return false;
        }
        rates = rates || (count != 0 && has_rate(static_cast<std::uint8_t>(code)));
        counts[code] += count;
    }
    if (rates && !m_overridden && !take_rates(slots, khz)) {
        return false;
    }
    add_switches(slots, look.switches);
    last = {formats::dat::load_stamp(slots.data() + slots.size() - tracer::kRecordBytes)};
    return true;
}

} // namespace

std::optional<Tally> Tally::of_plain_file(trace::ByteSource& source, std::uint32_t& khz, workers::Pool& pool) {
    const std::uint64_t size = source.size_bytes();
    if (!source.seekable() || size == 0 || size % tracer::kRecordBytes != 0) {
        return std::nullopt;
    }
    const auto pieces = [size](std::uint64_t bytes) { return (size + bytes - 1) / bytes; };
    const std::size_t ranges = pool.size() == 1 ? 1
                                                : std::clamp<std::uint64_t>(pieces(kRangeBytesMin), // at least one each
                                                                            std::min(pool.size(), pieces(kBlockBytes)),
                                                                            kRangesPerWorker * pool.size());
    const auto begin_of = [&](std::size_t range) {
        return size / tracer::kRecordBytes * range / ranges * tracer::kRecordBytes;
    };
    std::atomic<bool> irregular = false;
    std::vector<std::unique_ptr<Scratch>> scratch(pool.size());
    std::vector<std::future<std::optional<Range>>> counted;
    for (std::size_t i = 0; i < ranges; ++i) {
        counted.push_back(pool.submit([&, i, khz](std::size_t worker) -> std::optional<Range> {
            if (scratch[worker] == nullptr) {
                scratch[worker] = std::make_unique<Scratch>();
            }
            Range range(khz, *scratch[worker]);
            if (!range.take(source, begin_of(i), begin_of(i + 1), irregular)) {
                irregular = true;
                return std::nullopt;
            }
            return range;
        }));
    }
    std::ranges::for_each(counted, [&](const auto& range) { pool.await(range); }); // they use what is here
    Tally tally;
    tally.m_events = size / tracer::kRecordBytes;
    ProcessorTime::Stretch open; // up to the switch that the next range begins with
    for (auto& future : counted) {
        const std::optional<Range> range = future.get();
        if (!range || (khz != 0 && range->khz != 0 && range->khz != khz)) {
            return std::nullopt;
        }
        khz = khz != 0 ? khz : range->khz;
        std::ranges::transform(range->counts, tally.m_counts, tally.m_counts.begin(), std::plus());
        for (const auto& [context, ticks] : range->busy.values()) {
            tally.m_busy[context] = tally.m_busy[context] + ticks;
        }
        if (&future == &counted.front()) {
            tally.m_first = open.begin = range->first;
        }
        open.end = range->first_switch.value_or(range->last);
        if (range->first_switch) {
            tally.give(open);
            open = {.task = range->task, .handler = {}, .begin = range->mark, .end = range->last};
        }
    }
    tally.give(open);
    tally.m_last = open.end;
    return tally;
}

} // namespace host::analyse
