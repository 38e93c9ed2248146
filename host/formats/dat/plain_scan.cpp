// SPDX-License-Identifier: MIT
#include "host/formats/dat/plain_scan.hpp"

#include "host/formats/dat/plain_record.hpp"
#include "host/formats/dat/shifted.hpp"
#include "host/workers/pool.hpp"

#include <algorithm>
#include <array>
#include <future>

namespace host::formats::dat {

namespace {

constexpr std::uint64_t kRangeBytes = std::uint64_t{1} << 20;
constexpr std::size_t kBlockBytes = 64 * 1024;

// What a slot may be, by its code; of many slots, together.
constexpr std::uint8_t kNone = 0;
constexpr std::uint8_t kNotPlain = 1;     // known or not
constexpr std::uint8_t kUnusual = 1 << 1; // empty or metadata

constexpr auto kOddities = [] {
    std::array<std::uint8_t, 256> oddities{};
    for (std::size_t code = 0; code < oddities.size(); ++code) {
        const bool unusual = code == 0 || is_metadata_family(static_cast<std::uint16_t>(code));
        oddities[code] =
            static_cast<std::uint8_t>((kPlainRows[code] == nullptr ? kNotPlain : kNone) | (unusual ? kUnusual : kNone));
    }
    return oddities;
}();

RangeSeen look_at_range(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end) {
    RangeSeen range{.begin_bytes = begin, .end_bytes = end, .before = {}, .seen = {}};
    std::vector<std::byte> block(kBlockBytes + tracer::kRecordBytes);
    SlotsSeen seen{.rises = true, .is_plain = true, .last = {}};
    for (std::uint64_t at = begin; at < end && seen.rises;) {
        // With the slot before: its stamp is where the first one rises from.
        const auto slots =
            std::span(block).first(std::min<std::uint64_t>(block.size(), end - at + tracer::kRecordBytes));
        const auto got = source.read(at - tracer::kRecordBytes, slots);
        if (!got || got.value() != slots.size()) {
            return range;
        }
        const lib::Ticks before{load_stamp(slots.data())};
        range.before = at == begin ? before : range.before;
        const SlotsSeen more = look_at(slots.subspan(tracer::kRecordBytes), before);
        seen = {.rises = more.rises, .is_plain = seen.is_plain && more.is_plain, .last = more.last};
        at += slots.size() - tracer::kRecordBytes;
    }
    range.seen = seen;
    return range;
}

} // namespace

// No branch in the loop.
SlotsSeen look_at(std::span<const std::byte> slots, lib::Ticks before) {
    std::uint64_t last = before.value;
    std::uint64_t falls = 0;
    std::uint64_t steps = 0;
    std::uint32_t codes = 0;
    std::uint32_t oddities = 0;
    for (const std::byte* slot = slots.data(); slot != slots.data() + slots.size(); slot += tracer::kRecordBytes) {
        std::uint16_t code = 0;
        __builtin_memcpy(&code, slot, sizeof code);
        const std::uint64_t stamp = load_stamp(slot);
        codes |= code;
        oddities |= kOddities[code & tracer::kCodeMask];
        falls += stamp < last ? 1 : 0;
        steps |= stamp - last;
        last = stamp;
    }
    const bool rises = falls == 0 && (oddities & kUnusual) == 0;
    return {.rises = rises,
            .is_plain = rises && oddities == kNone && (codes & (kBitsWithoutMeaning | tracer::kCombineMask)) == 0 &&
                        steps < kStampsApartMax,
            .last = {last}};
}

std::vector<RangeSeen> look_ahead(trace::ByteSource& source, unsigned workers) {
    const std::uint64_t end = source.size_bytes() / tracer::kRecordBytes * tracer::kRecordBytes;
    if (workers < 2 || end < workers * 2 * kRangeBytes) {
        return {};
    }
    workers::Pool pool(workers);
    std::vector<std::future<RangeSeen>> coming;
    for (std::uint64_t begin = tracer::kRecordBytes; begin < end; begin += kRangeBytes) {
        coming.push_back(pool.submit([&source, begin, end](std::size_t) {
            return look_at_range(source, begin, std::min(end, begin + kRangeBytes));
        }));
    }
    std::vector<RangeSeen> ranges;
    ranges.reserve(coming.size());
    for (std::future<RangeSeen>& range : coming) {
        ranges.push_back(pool.take(std::move(range)));
    }
    return ranges;
}

} // namespace host::formats::dat
