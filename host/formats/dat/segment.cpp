// SPDX-License-Identifier: MIT
// Finds chunks. The header of a chunk says where the next one should start; if none starts there, the header or the
// file is damaged, and the file is searched slot by slot instead. Work is linear in the size of the file.
#include "host/formats/dat/segment.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/chunk_slots.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "lib/endian.hpp"
#include "tracer/chunk/chunk_seal.hpp"
#include "tracer/compact/decoder.hpp"
#include "tracer/compact/stream_header.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace host::formats::dat {

namespace {

constexpr std::uint64_t kSlot = tracer::kRecordBytes;

// Returns the stamp of a chunk's first record, or of the second if the first is damaged.
lib::Ticks first_stamp(SlotWindow& window, std::uint64_t offset, std::uint64_t end) {
    const auto first = window.at(offset);
    const auto second = offset + 2 * kSlot <= end ? window.at(offset + kSlot) : std::nullopt;
    const bool is_stray = first && second && !is_metadata_family(second->code) && first->stamp() > second->stamp() &&
                          (first->stamp() - second->stamp()).value > kStrayTicks;
    return is_stray ? second->stamp() : first ? first->stamp() : lib::Ticks{};
}

struct Start {
    lib::Ticks stamp; // of the chunk's first record
    bool is_certain = false;
};

// A kernel that seals a chunk gives each slot of its header the stamp of its first record. So it is known if that stamp
// is damaged; and if bytes are lost before the record, the header still has it.
Start start_of(SlotWindow& window, const Segment& segment, std::uint64_t record, bool is_sealed, bool is_placed) {
    const lib::Ticks found = first_stamp(window, record, segment.end_bytes);
    const auto first = window.at(segment.begin_bytes);
    const auto second = window.at(segment.begin_bytes + kSlot);
    const bool is_stated = is_sealed && first && second && first->stamp() == second->stamp();
    return {.stamp = is_stated && !is_placed ? first->stamp() : found,
            .is_certain = !is_sealed || (is_stated && found == first->stamp())};
}

// Returns the offset of the next slot at or after `from` that begins a chunk, or the end.
std::uint64_t find_next_chunk(SlotWindow& window, std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t offset = from; offset + kSlot <= end; offset += kSlot) {
        const auto record = window.at(offset);
        if (!record || begins_chunk(*record)) {
            return record ? offset : end;
        }
    }
    return end;
}

std::optional<tracer::ChunkBegin> header_at(SlotWindow& window, std::uint64_t offset) {
    return read_chunk_begin(
        [&window, slot = offset]() mutable { return window.at(std::exchange(slot, slot + kSlot)); });
}

// Returns the same from within a chunk. That may hold any bytes, so only a whole header begins the next one.
std::uint64_t find_next_header(SlotWindow& window, std::uint64_t from, std::uint64_t end) {
    std::uint64_t offset = find_next_chunk(window, from, end);
    while (offset + kSlot <= end && !header_at(window, offset)) {
        offset = find_next_chunk(window, offset + kSlot, end);
    }
    return offset;
}

// Returns the offset of the next whole header at any byte, or the end.
std::uint64_t find_header_at_any_byte(SlotWindow& window, std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t offset = from; offset + kSlot <= end; ++offset) {
        const auto record = window.at(offset);
        if (!record || (begins_chunk(*record) && header_at(window, offset))) {
            return record ? offset : end;
        }
    }
    return end;
}

// Returns whether the checksum in the header of the chunk is that of the bytes up to `end`. summed: in and out, no byte
// before that offset is added to a sum again.
bool has_sum_up_to(SlotWindow& window, const tracer::ChunkBegin& description, std::uint64_t begin, std::uint64_t end,
                   std::uint64_t& summed) {
    if (!tracer::is_sealed(description) || begin < summed || end <= begin) {
        return false;
    }
    summed = end;
    CombinedAssembler header;
    const auto first = window.at(begin);
    std::uint64_t at = begin;
    auto outcome = CombinedAssembler::Outcome::open;
    while (outcome == CombinedAssembler::Outcome::open) {
        const auto record = at + kSlot <= end ? window.at(at) : std::nullopt;
        outcome = record ? header.feed(*record) : CombinedAssembler::Outcome::broken;
        at += kSlot;
    }
    return outcome == CombinedAssembler::Outcome::complete &&
           check_bytes(window.source(), at, end - at, ChunkSum(header.payload(), first->stamp(), header.other_bits()),
                       description.crc32c) == ChunkBytes::whole;
}

// Returns where a chunk ends after which no other begins, at most `end`. whole_to: its bytes up to there are in their
// places; 0: not known.
std::uint64_t find_end(SlotWindow& window, const std::optional<tracer::ChunkBegin>& description, std::uint64_t begin,
                       std::uint64_t whole_to, std::uint64_t end) {
    if (whole_to != 0 || (description && description->encoding == tracer::Encoding::compact)) {
        return find_header_at_any_byte(window, std::max(whole_to, begin + kSlot), end);
    }
    return description ? find_next_header(window, begin + kSlot, end) : find_next_chunk(window, begin + kSlot, end);
}

// Holds what a scan of slots without a header has found besides the segment.
struct Scanned {
    bool header_lost = false; // there are slots of a header whose beginning is damaged
    bool in_place = false;    // every slot up to the end of the file looks like a record: realign() finds nothing
};

// Steps over the plain records that the window holds from the offset on, as long as no stamp decreases or differs much
// from the one before. Returns the offset after them. last: in and out, the stamp of the slot before that offset.
std::uint64_t pass_plain_records(const SlotWindow& window, std::uint64_t offset, lib::Ticks& last) {
    const std::span<const std::byte> slots = window.from(offset);
    const std::byte* slot = slots.data();
    std::uint64_t latest = last.value;
    for (; slot != slots.data() + slots.size(); slot += kSlot) {
        const std::uint64_t stamp = load_stamp(slot);
        if (plain_row(load_record(slot).code) == nullptr || stamp - latest >= kStampsApartMax) {
            break;
        }
        latest = stamp;
    }
    last = {latest};
    return offset + static_cast<std::uint64_t>(slot - slots.data());
}

// Scans a chunk that does not describe itself: finds its end, the stamp that it starts with and, if it was cyclic, its
// oldest record.
Scanned scan_plain(SlotWindow& window, Segment& segment, std::uint64_t end) {
    std::uint64_t offset = segment.begin_bytes;
    std::optional<lib::Ticks> first;
    lib::Ticks previous;
    lib::Ticks after_fall;
    std::uint64_t falls = 0;
    std::optional<lib::Ticks> near; // stamp of the slot before, of any kind
    Scanned scanned{.in_place = true};
    for (; offset + kSlot <= end; offset += kSlot) {
        const auto record = window.at(offset);
        if (!record || begins_chunk(*record)) {
            scanned.in_place = false;
            break;
        }
        scanned.in_place = scanned.in_place && record->event_code() != trace::kCodeOf<"chunk_begin"> &&
                           looks_like_a_record(*record, near.value_or(record->stamp()));
        if (const std::uint64_t passed = first ? pass_plain_records(window, offset, previous) : offset;
            passed != offset) {
            near = previous;
            offset = passed - kSlot;
            continue;
        }
        scanned.header_lost = scanned.header_lost || record->event_code() == trace::kCodeOf<"chunk_begin">;
        near = record->stamp();
        if (record->empty() || record->code == 0xFFFF || is_metadata_family(record->code)) {
            continue;
        }
        if (!first) {
            first = first_stamp(window, offset, end);
            previous = *first;
            continue;
        }
        if (record->stamp() < previous) {
            ++falls;
            segment.oldest_bytes = offset;
            after_fall = record->stamp();
        }
        previous = record->stamp();
    }
    segment.end_bytes = end - offset < kSlot ? end : offset;
    segment.first_stamp = first.value_or(lib::Ticks{});
    if (falls == 1 && previous <= *first && !scanned.header_lost) {
        segment.first_stamp = after_fall;
    } else {
        segment.oldest_bytes = 0;
    }
    return scanned;
}

// Returns the number of slots up to and including the one that ends a preamble, which states how many records follow;
// this must be the number of records that are there. Returns 0 if there is none.
std::uint64_t preamble_without_header(SlotWindow& window, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t offset = begin; offset + kSlot <= end; offset += kSlot) {
        const auto record = window.at(offset);
        if (record && record->code == trace::kCodeOf<"numevents"> && record->par2 == (end - offset) / kSlot - 1) {
            return (offset - begin) / kSlot + 1;
        }
    }
    return 0;
}

// Finds where the records of a chunk with a damaged header begin, if records follow its preamble.
void find_records(SlotWindow& window, Segment& segment) {
    const std::uint64_t preamble = preamble_without_header(window, segment.begin_bytes, segment.end_bytes);
    const std::uint64_t begin = segment.begin_bytes + preamble * kSlot;
    const auto first = preamble != 0 && begin < segment.end_bytes ? window.at(begin) : std::nullopt;
    if (first && lib::load_le<std::uint32_t>(window.from(begin)) != tracer::compact::kMagic) {
        segment.preamble_slots = preamble;
        segment.first_stamp = first->stamp();
    }
}

// Returns the number of slots up to the end of the preamble of a chunk that has damaged places and has lost its header.
// The records that it states follow, except those that were lost in the places. Returns 0 if there is none.
std::uint64_t preamble_in(SlotWindow& window, const std::vector<Stretch>& stretches) {
    const std::uint64_t lost_max = stretches.size();
    const Stretch& last = stretches.back();
    const std::uint64_t end = last.index + (last.end_bytes - last.begin_bytes) / kSlot;
    for (const Stretch& stretch : stretches) {
        std::uint64_t index = stretch.index;
        for (std::uint64_t offset = stretch.begin_bytes; offset + kSlot <= stretch.end_bytes; offset += kSlot) {
            const auto record = window.at(offset);
            const std::uint64_t follow = end - ++index;
            if (record && record->code == trace::kCodeOf<"numevents"> &&
                std::max<std::uint64_t>(record->par2, follow) - std::min<std::uint64_t>(record->par2, follow) <=
                    lost_max) {
                return index;
            }
        }
    }
    return 0;
}

// Returns the stamp of the slot of this number, or of the first valid one after it.
lib::Ticks stamp_at(SlotWindow& window, const std::vector<Stretch>& stretches, std::uint64_t index) {
    for (const Stretch& stretch : stretches) {
        const std::uint64_t offset = stretch.begin_bytes + (std::max(index, stretch.index) - stretch.index) * kSlot;
        if (offset + kSlot <= stretch.end_bytes) {
            const auto record = window.at(offset);
            return record ? record->stamp() : lib::Ticks{};
        }
    }
    return {};
}

// Returns the header of the chunk at `begin` if all of its slots are there and their number is that of its length.
std::optional<tracer::ChunkBegin> whole_header(SlotWindow& window, std::uint64_t begin, std::uint64_t& end) {
    end = begin;
    auto description = read_chunk_begin([&] { return window.at(std::exchange(end, end + kSlot)); });
    const auto first = window.at(begin);
    return first && tracer::combine_slots(first->par1) == (end - begin) / kSlot ? description : std::nullopt;
}

// Finds the stretches between the places where bytes were lost or added within the chunk. If its header is whole, it
// remains one chunk, whose counts hold for all stretches. If its header is lost, the end of its preamble identifies it.
// Returns where the search ended, which may be after many damaged headers: none of what is before is off its slots, or
// all of it is in the segment.
std::uint64_t realign(SlotWindow& window, std::uint64_t end, Segment& segment, trace::Diagnostics& diagnostics) {
    trace::ByteSource& source = window.source();
    const std::uint64_t begin = segment.begin_bytes;
    std::uint64_t header_end = 0;
    const auto description = whole_header(window, begin, header_end);
    const auto first = window.at(begin);
    if ((description &&
         description->encoding == tracer::Encoding::compact) || // a compact stream is used only if it is whole
        (first && first->code == kSwappedBeginCode)) {
        return begin;
    }
    const auto announced =
        description ? std::optional<Announced>({description->preamble_slots, description->records}) : std::nullopt;
    FoundStretches found = find_stretches(source, begin, end, announced);
    const bool is_lost = !description || (!found.stretches.empty() && found.stretches.front().end_bytes < header_end);
    if (is_lost && announced) {
        found = find_stretches(source, begin, end, std::nullopt);
    }
    std::vector<Stretch>& stretches = found.stretches;
    if (stretches.empty()) {
        return found.end_bytes;
    }
    std::uint64_t preamble = description ? description->preamble_slots : 0;
    if (is_lost) {
        preamble = preamble_in(window, stretches);
        segment.key.reset();
        segment.preamble_slots = preamble;
        if (preamble != 0) {
            diagnostics.report("E-MAGIC", {.file = segment.path, .offset_bytes = begin},
                               "the chunk's header is damaged: what it says is lost, its records are read");
        }
    }
    segment.oldest_bytes = 0;
    segment.end_bytes = stretches.back().end_bytes;
    segment.first_stamp = stamp_at(window, stretches, preamble);
    segment.stretches = std::move(stretches);
    return found.end_bytes;
}

// Returns the stamp of a compact stream's first event. The first bytes of the stream are a heartbeat and not a record.
// Returns nothing if it cannot be read; the stamp of the preamble is the time at which the chunk was prepared.
std::optional<lib::Ticks> first_in_stream(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end) {
    using tracer::compact::Decoder;
    constexpr std::size_t kAheadBytes = 2 * Decoder::kLookaheadBytes;
    std::vector<std::byte> buffer(std::min<std::uint64_t>(2 * kAheadBytes, end - std::min(begin, end)));
    const auto count = source.read(begin, buffer);
    const auto bytes = std::span<const std::byte>(buffer).first(count ? count.value() : 0);
    const auto decoder = std::make_unique<Decoder>(end - std::min(begin, end));
    while (decoder->offset() <= std::min(bytes.size(), kAheadBytes) &&
           decoder->next(bytes.subspan(decoder->offset())) == Decoder::Step::records) {
        if (!decoder->records().empty()) {
            return decoder->records().front().stamp();
        }
    }
    return std::nullopt;
}

} // namespace

std::shared_ptr<trace::ByteSource> source_of(const Segment& segment) {
    if (segment.source != nullptr) {
        return segment.source;
    }
    const auto opened = trace::ByteSource::open_file(segment.path);
    return opened ? opened.value() : nullptr;
}

namespace {

// Returns where the file ends, or what it has stored if that is much less: a file that was made to have a size may have
// terabytes of zeros. Returns 0, with a report, if it has no slot.
std::uint64_t end_of_data(SlotWindow& window, const std::string& path, trace::Diagnostics& diagnostics) {
    constexpr std::uint64_t kZerosMax = std::uint64_t{64} << 20;
    const std::uint64_t end = window.end_bytes();
    const std::uint64_t stored = end > kZerosMax ? window.source().stored_bytes() : end;
    if (end == 0) {
        diagnostics.report("E-EMPTY", {.file = path}, "the file is empty");
    } else if (end < kSlot) {
        diagnostics.report("E-TRUNC", {.file = path, .offset_bytes = end}, "shorter than one record");
    } else if (end - std::min(end, stored) > kZerosMax) {
        diagnostics.report("E-TRUNC", {.file = path, .offset_bytes = stored},
                           fmt::format("nothing is stored in the {} bytes from here on: not read", end - stored));
        return std::max(stored, kSlot);
    }
    return end < kSlot ? 0 : end;
}

} // namespace

std::optional<tracer::ChunkBegin> header_of(SlotWindow& window) {
    return header_at(window, 0);
}

void index_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                std::vector<Segment>& segments, trace::Diagnostics& diagnostics) {
    trace::ByteSource& source = window.source();
    const std::uint64_t end = end_of_data(window, path, diagnostics);
    std::uint64_t offset = 0;
    std::uint64_t summed = 0;   // no checksum is computed twice before this offset
    std::uint64_t searched = 0; // no search for lost or added bytes is repeated before this offset
    while (offset + kSlot <= end && !window.failed()) {
        Segment segment{.path = path, .begin_bytes = offset};
        const auto first = window.at(offset);
        Scanned scanned;
        bool is_placed = false;          // it ends where its header says: what follows is in its place
        bool is_left_to_its_sum = false; // the reader of the chunk compares it, and searches for damage if it is wrong
        if (!first || !begins_chunk(*first)) {
            scanned = scan_plain(window, segment, end);
        } else {
            const auto description = offset == 0 ? header : header_at(window, offset);
            std::uint64_t next = end;
            const std::uint64_t preamble = description ? description->preamble_slots : 0;
            scanned.header_lost = !description;
            if (description) {
                segment.key = {description->boot_id, description->cpu, description->chunk, description->generation};
                next = offset + (preamble + description->records) * kSlot;
            }
            // A chunk that has lost records ends before the file does, if another one follows.
            const auto follower = next + kSlot <= end ? window.at(next) : std::nullopt;
            const bool is_last = next <= end && next + kSlot > end;
            is_placed = description && next > offset && (is_last || (follower && begins_chunk(*follower)));
            // Whatever follows a chunk whose checksum is right: its bytes are not off their slots.
            const bool is_whole =
                !is_placed && description && next <= end && has_sum_up_to(window, *description, offset, next, summed);
            segment.end_bytes = is_placed ? next : find_end(window, description, offset, is_whole ? next : 0, end);
            const bool is_sealed = description && tracer::is_sealed(*description);
            is_left_to_its_sum = is_whole || (is_sealed && segment.end_bytes == next);
            const std::uint64_t record = std::min(offset + preamble * kSlot, segment.end_bytes - kSlot);
            const bool compact = description && description->encoding == tracer::Encoding::compact;
            const Start start = start_of(window, segment, record, is_sealed, is_placed);
            const auto in_stream =
                compact ? first_in_stream(source, offset + preamble * kSlot, segment.end_bytes) : std::nullopt;
            segment.first_stamp = in_stream ? *in_stream : compact ? first->stamp() : start.stamp;
            segment.is_whole = is_placed && (compact ? in_stream.has_value() : start.is_certain);
        }
        if (scanned.header_lost) {
            find_records(window, segment);
        }
        if (end - segment.end_bytes < kSlot) {
            segment.end_bytes = end; // the last chunk reports trailing bytes
        }
        if (!is_left_to_its_sum && !scanned.in_place && offset >= searched) {
            searched = realign(window, is_placed ? segment.end_bytes : end, segment, diagnostics);
        }
        offset = segment.end_bytes;
        segments.push_back(std::move(segment));
    }
    if (window.failed()) {
        diagnostics.report("E-IO", {.file = path, .offset_bytes = offset}, "the file could not be read");
    }
}

} // namespace host::formats::dat
