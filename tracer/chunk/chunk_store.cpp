// SPDX-License-Identifier: MIT
#include "tracer/chunk/chunk_store.hpp"

#include "tracer/chunk/compact_chunk.hpp"
#include "tracer/record/cpu_trace.hpp"

#include <algorithm>

namespace tracer {

namespace {

constexpr std::size_t whole_records(std::size_t bytes) {
    return bytes / kRecordBytes * kRecordBytes;
}

// Areas start 16-byte aligned, so a size is rounded up for the allocation (never for recording).
constexpr std::size_t allocated(std::size_t bytes) {
    return whole_records(bytes + kRecordBytes - 1);
}

// Returns the bytes of the arena that the chunk takes.
constexpr std::size_t footprint(const Chunk& chunk) {
    return allocated(chunk.size_bytes) + allocated(chunk.emergency_bytes);
}

constexpr bool valid_request(ChunkFlags flags) {
    return (flags & ~kValidFlags) == 0 && (flags & kModeMask) != kModeMask;
}

std::size_t position_of(std::uint64_t word) {
    return word & TRACER_WORD_POSITION_MASK;
}

std::size_t emergency_position_of(std::uint64_t emergency_word) {
    return emergency_word & 0xFFFF'FFFF;
}

// Returns what remains of the previous lap: the records after the scratch slots, from the first whole event on.
std::span<const std::byte> older_half(const ChunkControl& control, std::uint64_t word) {
    const std::uint64_t lap = word >> 32;
    if (lap == 0) {
        return {};
    }
    const std::span<const std::byte> area(control.data, control.lap_end[lap & 1]);
    const auto kept = area.subspan(std::min(area.size(), scratch_end(word, control.scribbled)));
    return kept.subspan(first_event(kept));
}

} // namespace

void ChunkStore::assert_whole(const Chunk& chunk) const {
    if constexpr (lib::kChecked) {
        const ChunkControl& control = chunk.control;
        const std::uint64_t word = read_shared(control.word);
        ASSERT(chunk.exists && &chunk == &m_slots[chunk.number]);
        ASSERT(begin_of(chunk) % kRecordBytes == 0 && begin_of(chunk) + footprint(chunk) <= m_arena.size());
        ASSERT(control.emergency_data == control.data + allocated(chunk.size_bytes));
        ASSERT(control.limit <= chunk.size_bytes && control.compact_limit <= chunk.size_bytes);
        ASSERT(control.emergency_limit <= chunk.emergency_bytes);
        ASSERT(position_of(word) <= whole_records(chunk.size_bytes));
        ASSERT(emergency_position_of(read_shared(control.emergency_word)) <= control.emergency_limit);
        ASSERT(valid_request(chunk.flags) && (chunk.flags & kDerivedFlags) == 0);
        ASSERT(!chunk.written_as || (chunk.flags & kModeMask) != kFlagCyclic);
        ASSERT(!(chunk.written_as && chunk.compressed.present));
        // A chunk that is on its way to a sink or to the compressor does not change.
        ASSERT(!chunk.busy || ((word & TRACER_WORD_CLOSED) != 0 && !is_active(chunk)));
    }
}

void ChunkStore::assert_apart(const Chunk& chunk) const {
    if constexpr (lib::kChecked) {
        for (const Chunk& other : m_slots) {
            if (other.exists && &other != &chunk) {
                const bool before = begin_of(other) + footprint(other) <= begin_of(chunk);
                ASSERT(before || begin_of(chunk) + footprint(chunk) <= begin_of(other));
            }
        }
    }
}

std::size_t ChunkStore::begin_of(const Chunk& chunk) const {
    return static_cast<std::size_t>(chunk.control.data - m_arena.data());
}

lib::Result<Chunk*> ChunkStore::create(std::uint32_t size_bytes, std::uint32_t emergency_bytes, ChunkFlags flags,
                                       compact::Layout layout) {
    const bool compact = (flags & kFlagCompressed) != 0;
    if (size_bytes < kRecordBytes || size_bytes > kAreaBytesMax || emergency_bytes > kAreaBytesMax ||
        !valid_request(flags) || (flags & kDerivedFlags & ~kFlagCompressed) != 0) {
        return lib::Error::invalid_argument;
    }
    if (compact && (flags & kModeMask) == kFlagCyclic) {
        return lib::Error::unsupported;
    }
    if (compact && whole_records(size_bytes) < compact_chunk_bytes_min(layout)) {
        return lib::Error::too_small;
    }
    std::size_t number = 0;
    while (number < m_slots.size() && m_slots[number].exists) {
        ++number;
    }
    const auto gap = find_gap(allocated(size_bytes) + allocated(emergency_bytes));
    if (number == m_slots.size() || !gap) {
        return lib::Error::no_space;
    }
    Chunk& chunk = m_slots[number];
    chunk.control = {};
    chunk.control.data = m_arena.data() + gap.value();
    chunk.control.limit = static_cast<std::uint32_t>(whole_records(size_bytes));
    chunk.control.mode = flags & kModeMask;
    chunk.control.emergency_data = chunk.control.data + allocated(size_bytes);
    chunk.control.emergency_limit = static_cast<std::uint32_t>(whole_records(emergency_bytes));
    chunk.size_bytes = size_bytes;
    chunk.emergency_bytes = emergency_bytes;
    chunk.number = static_cast<std::uint8_t>(number);
    chunk.flags = flags & static_cast<ChunkFlags>(~kFlagCompressed);
    chunk.busy = false;
    chunk.carried = false;
    chunk.compressed = {};
    chunk.written_as = compact ? std::optional(layout) : std::nullopt;
    chunk.control.compact_limit = compact ? chunk.control.limit : 0;
    chunk.exists = true;
    assert_whole(chunk);
    assert_apart(chunk);
    return &chunk;
}

// Finds the first gap that fits. Free space is recorded nowhere: it is the space between chunks, so adjacent gaps merge
// by themselves. Candidates are the beginning of the arena and the end of each chunk.
lib::Result<std::size_t> ChunkStore::find_gap(std::size_t bytes) const {
    const auto end_of = [this](const Chunk& chunk) { return begin_of(chunk) + footprint(chunk); };
    const std::size_t reserved_end =
        m_reserved.empty() ? 0 : static_cast<std::size_t>(m_reserved.data() - m_arena.data()) + m_reserved.size();
    const auto fits = [&](std::size_t begin) {
        if (begin > m_arena.size() || m_arena.size() - begin < bytes) {
            return false;
        }
        for (const Chunk& chunk : m_slots) {
            if (chunk.exists && begin < end_of(chunk) && begin_of(chunk) < begin + bytes) {
                return false;
            }
        }
        const bool reserved = begin < reserved_end && reserved_end - m_reserved.size() < begin + bytes;
        return m_reserved.empty() || !reserved;
    };
    std::size_t best = fits(0) ? 0 : m_arena.size();
    if (!m_reserved.empty() && reserved_end < best && fits(reserved_end)) {
        best = reserved_end;
    }
    for (const Chunk& chunk : m_slots) {
        if (chunk.exists && end_of(chunk) < best && fits(end_of(chunk))) {
            best = end_of(chunk);
        }
    }
    if (best == m_arena.size()) {
        return lib::Error::no_space;
    }
    ASSERT(best % kRecordBytes == 0 && bytes <= m_arena.size() - best);
    return best;
}

lib::Result<void> ChunkStore::remove(Chunk& chunk) {
    assert_whole(chunk);
    if ((chunk.flags & kFlagNoDelete) != 0 || reachable_from_current(chunk)) {
        return lib::Error::refused;
    }
    if (chunk.busy) {
        return lib::Error::busy;
    }
    // The record path cannot enter the chunk from here on, whatever interrupts.
    for (Chunk& other : m_slots) {
        if (other.exists && other.control.next == &chunk.control) {
            write_shared(other.control.next, static_cast<ChunkControl*>(nullptr));
        }
    }
    retire(chunk);
    ASSERT(!is_active(chunk) && m_cpu.selected != &chunk.control && m_converted != &chunk);
    chunk.control = {};
    chunk.exists = false;
    return {};
}

lib::Result<void> ChunkStore::set_flags(Chunk& chunk, ChunkFlags flags) {
    if (!valid_request(flags) || (flags & kDerivedFlags & ~this->flags(chunk)) != 0 ||
        (chunk.written_as && (flags & kModeMask) == kFlagCyclic)) {
        return lib::Error::invalid_argument;
    }
    if ((flags & kFlagFree) != 0) {
        if (chunk.busy) {
            return lib::Error::busy;
        }
        if (is_active(chunk)) {
            return lib::Error::refused;
        }
        if (m_cpu.selected == &chunk.control) {
            deselect(chunk); // enable() must not record into a chunk that may be taken by others
        }
    }
    chunk.flags = flags & static_cast<ChunkFlags>(~kDerivedFlags);
    write_shared(chunk.control.mode, (chunk.control.mode & ~std::uint32_t{kModeMask}) | (flags & kModeMask));
    assert_whole(chunk);
    return {};
}

ChunkFlags ChunkStore::flags(const Chunk& chunk) const {
    const std::uint64_t word = read_shared(chunk.control.word);
    const bool closed = (word & TRACER_WORD_CLOSED) != 0;
    const std::uint32_t limit = chunk.written_as ? chunk.control.compact_limit : chunk.control.limit;
    const bool no_room = (chunk.flags & kModeMask) != kFlagCyclic && position_of(word) >= limit;
    const bool free = (chunk.flags & kFlagFree) != 0; // the contents of a free chunk do not matter
    return static_cast<ChunkFlags>(chunk.flags | (!free && (closed || no_room) ? kFlagFull : 0) |
                                   (chunk.compressed.present || chunk.written_as ? kFlagCompressed : 0) |
                                   (chunk.busy ? kFlagBusy : 0));
}

lib::Result<void> ChunkStore::link(Chunk& from, Chunk& to) {
    if (&from == &to) {
        return lib::Error::invalid_argument;
    }
    if (to.written_as && m_cpu.trigger.action != TriggerAction::none) {
        return lib::Error::unsupported;
    }
    if (const auto started = start(to); !started) {
        return started;
    }
    write_shared(from.control.next, &to.control);
    assert_whole(from);
    return {};
}

lib::Result<void> ChunkStore::start(Chunk& chunk) {
    assert_whole(chunk);
    if ((chunk.flags & kFlagFree) == 0 || is_active(chunk)) {
        return lib::Error::refused;
    }
    if (chunk.busy) {
        return lib::Error::busy; // a sink reads it
    }
    // The chunk is closed first: after this no jump enters it. If one already has, the records stay where they are.
    set_shared_bits(chunk.control.word, TRACER_WORD_CLOSED);
    if (is_active(chunk)) {
        reopen(chunk);
        return lib::Error::refused;
    }
    retire(chunk);
    chunk.control.limit = static_cast<std::uint32_t>(whole_records(chunk.size_bytes));
    chunk.control.emergency_word = 0;
    chunk.control.ends = 0;
    chunk.control.stop_at = 0;
    chunk.control.lap_base = {};
    chunk.control.lap_end = {};
    chunk.control.scribbled = 0;
    chunk.flags = static_cast<ChunkFlags>(chunk.flags & ~kFlagFree);
    chunk.carried = false;
    chunk.compressed = {};
    ++chunk.uses;
    // The last store makes the chunk open and empty.
    if (chunk.written_as) {
        const auto started = start_compact_chunk(chunk.control, *chunk.written_as, chunk.control.limit);
        ASSERT(started.ok()); // its size was checked at its creation
    } else {
        write_shared(chunk.control.word, std::uint64_t{0});
    }
    assert_whole(chunk);
    return {};
}

lib::Result<void> ChunkStore::freeze(Chunk& chunk) {
    if (is_active(chunk)) {
        return lib::Error::refused;
    }
    const bool was_closed = (read_shared(chunk.control.word) & TRACER_WORD_CLOSED) != 0;
    set_shared_bits(chunk.control.word, TRACER_WORD_CLOSED);
    if (is_active(chunk)) {
        if (!was_closed) {
            reopen(chunk);
        }
        return lib::Error::refused;
    }
    // The emergency area needs no lock of its own: only the active chunk's is written.
    if (chunk.written_as) {
        const std::span<std::byte> area(chunk.control.data, whole_records(chunk.size_bytes));
        const std::size_t end = position_of(read_shared(chunk.control.word));
        std::ranges::fill(area.subspan(end, allocated(end) - end), std::byte{0}); // may contain an unfinished event
    }
    if (m_cpu.selected == &chunk.control) {
        deselect(chunk);
    }
    assert_whole(chunk);
    ASSERT((read_shared(chunk.control.word) & TRACER_WORD_CLOSED) != 0);
    return {};
}

lib::Result<Chunk*> ChunkStore::find(int number_untrusted) {
    if (number_untrusted < 0 || number_untrusted >= static_cast<int>(m_slots.size())) {
        return lib::Error::invalid_argument;
    }
    Chunk& chunk = m_slots[static_cast<std::size_t>(number_untrusted)];
    if (!chunk.exists) {
        return lib::Error::not_found;
    }
    assert_whole(chunk);
    return &chunk;
}

lib::Result<Chunk*> ChunkStore::first_with(ChunkFlags flags) {
    for (Chunk& chunk : m_slots) {
        if (!chunk.exists || (flags == kFlagFree && chunk.busy)) {
            continue; // a free chunk that a sink reads cannot be started
        }
        const ChunkFlags present = this->flags(chunk);
        if ((flags == kFlagCyclic && (present & kModeMask) == kFlagCyclic) || (present & flags) != 0) {
            return &chunk;
        }
    }
    return lib::Error::not_found;
}

ChunkCounts ChunkStore::counts(const Chunk& chunk) {
    if (chunk.compressed.present) {
        return chunk.compressed.counts;
    }
    const ChunkControl& control = chunk.control;
    const std::uint64_t word = read_shared(control.word);
    const std::uint64_t emergency_word = read_shared(control.emergency_word);
    const std::uint64_t starts = (emergency_word >> 32) & 0x7FFF'FFFF;
    const std::uint64_t ends = (word & TRACER_WORD_REPORTED) != 0 ? control.pending_ends : control.ends;
    const ChunkContents kept = contents_at(chunk, word); // of the same instant
    const std::uint64_t main =
        kept.compact ? kept.stream_records : (control.lap_base[(word >> 32) & 1] + position_of(word)) / kRecordBytes;
    ChunkCounts counts;
    counts.written = main + emergency_position_of(emergency_word) / kRecordBytes;
    counts.tracer_made = starts + ends;
    counts.overwritten = kept.compact ? 0 : main - (kept.older.size() + kept.newer.size()) / kRecordBytes;
    if constexpr (lib::kChecked) {
        ASSERT(counts.overwritten <= main); // `ends` may be of a later instant than `word`
    }
    return counts;
}

ChunkContents ChunkStore::contents(const Chunk& chunk) {
    return contents_at(chunk, read_shared(chunk.control.word));
}

ChunkContents ChunkStore::contents_at(const Chunk& chunk, std::uint64_t word) {
    const ChunkControl& control = chunk.control;
    ChunkContents contents;
    contents.emergency = {control.emergency_data, emergency_position_of(read_shared(control.emergency_word))};
    if (chunk.written_as) {
        const std::span<const std::byte> stream(control.data, position_of(word));
        contents.compact = true;
        contents.layout = *chunk.written_as;
        contents.newer = {control.data, allocated(stream.size())};
        contents.stream_bytes = static_cast<std::uint32_t>(stream.size());
        contents.stream_records = count_compact_records(stream);
        return contents;
    }
    const std::span<const std::byte> main(control.data, control.limit);
    contents.newer = main.first(position_of(word));
    contents.older = older_half(control, word);
    contents.compact = chunk.compressed.present;
    contents.layout = chunk.compressed.layout;
    contents.stream_bytes = chunk.compressed.stream_bytes;
    contents.stream_records = chunk.compressed.records;
    return contents;
}

// Ends the selection, and with it a trigger that is armed in the chunk.
void ChunkStore::deselect(Chunk& chunk) {
    ASSERT(m_cpu.selected == &chunk.control);
    m_cpu.selected = nullptr;
    if ((read_shared(chunk.control.word) & (TRACER_WORD_ARMED | TRACER_WORD_FIRED)) != 0) {
        clear_shared_bits(chunk.control.word, TRACER_WORD_ARMED | TRACER_WORD_FIRED);
        m_cpu.trigger = {};
    }
}

bool ChunkStore::reachable_from_current(const Chunk& chunk) const {
    for (const ChunkControl* start : {read_shared(m_cpu.active), m_cpu.selected}) {
        const ChunkControl* control = start;
        for (std::size_t hops = 0; control != nullptr && hops < kChunksMax; ++hops) {
            if (control == &chunk.control) {
                return true;
            }
            control = read_shared(control->next);
        }
    }
    return false;
}

// Reopens a chunk that a record of an interrupt entered just before it was closed. Others may have been dropped since:
// such a blackout ends here.
void ChunkStore::reopen(Chunk& chunk) {
    set_shared_bits(chunk.control.word, TRACER_WORD_RESUME);
    clear_shared_bits(chunk.control.word, TRACER_WORD_CLOSED);
}

void ChunkStore::retire(Chunk& chunk) {
    const ChunkCounts counted = counts(chunk);
    m_retired.written += counted.written;
    m_retired.tracer_made += counted.tracer_made;
    m_retired.overwritten += chunk.carried ? counted.overwritten : counted.written;
    ASSERT(m_retired.overwritten <= m_retired.written);
}

} // namespace tracer
