// SPDX-License-Identifier: MIT
// From the last slot towards the first, as long as they look like records.
#include "host/formats/dat/shifted.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/plain_record.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace host::formats::dat {

namespace {

constexpr std::uint64_t kSlot = tracer::kRecordBytes;

// Other bytes look like a record in less than one of ten cases: enough in a row are no accident.
constexpr std::uint64_t kRunMin = 8;

// Stamps of one file are close to each other: some hours.
constexpr std::uint64_t kStampsApartMax = std::uint64_t{1} << 45;

bool looks_like_a_record(const tracer::Record& record, lib::Ticks last) {
    const std::uint64_t stamp = record.stamp().value;
    const std::uint64_t apart = std::max(stamp, last.value) - std::min(stamp, last.value);
    const tracer::EventRow* const row = tracer::find_event(tracer::canonical_code(record.event_code()));
    const bool is_single = record.combine() == tracer::Combine::simple;
    return row != nullptr && record.event_code() != 0 && (record.code & kBitsWithoutMeaning) == 0 &&
           (is_single || row->shape == tracer::Shape::combined) && apart < kStampsApartMax;
}

bool is_whole_header(trace::ByteSource& source, std::uint64_t offset) {
    std::array<std::byte, tracer::kCombineSlotsMax * kSlot> bytes{};
    const auto got = source.read(offset, bytes);
    return got && read_chunk_begin(std::span<const std::byte>(bytes).first(got.value()));
}

// A slot of a chunk_begin without those before it: what it says is lost.
bool continues_a_header(const tracer::Record& record) {
    return record.event_code() == trace::kCodeOf<"chunk_begin"> && !begins_chunk(record);
}

} // namespace

std::optional<std::uint64_t> find_shifted_records(trace::ByteSource& source, std::uint64_t begin_bytes,
                                                  std::uint64_t end_bytes) {
    if ((end_bytes - begin_bytes) % kSlot == 0) {
        return std::nullopt;
    }
    std::vector<std::byte> block(trace::ByteSource::kBufferBytes);
    std::optional<lib::Ticks> last;
    std::uint64_t first = end_bytes;
    std::uint64_t after_header = 0; // of which the first slot was not met so far
    for (bool ends = false; !ends && first - begin_bytes > kSlot;) {
        const std::uint64_t bytes = std::min<std::uint64_t>(block.size(), (first - begin_bytes) / kSlot * kSlot);
        const auto got = source.read(first - bytes, std::span(block).first(bytes));
        if (!got || got.value() != bytes) {
            return std::nullopt;
        }
        const std::uint64_t block_begin = first - bytes;
        while (!ends && first != block_begin) {
            const auto record = tracer::decode_record(std::span(block).subspan(first - kSlot - block_begin, kSlot));
            last = last.value_or(record.stamp());
            ends = !looks_like_a_record(record, *last);
            if (!ends) {
                if (begins_chunk(record) && is_whole_header(source, first - kSlot)) {
                    after_header = 0;
                } else if (continues_a_header(record) && after_header == 0) {
                    after_header = first;
                }
                first -= kSlot;
            }
        }
    }
    first = after_header != 0 ? after_header : first;
    return end_bytes - first >= kRunMin * kSlot ? std::optional(first) : std::nullopt;
}

} // namespace host::formats::dat
