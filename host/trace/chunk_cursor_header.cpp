// SPDX-License-Identifier: MIT
// How a chunk is judged by its header, and what is done with one that lies: reported, then skipped to the next chunk,
// unless it is to be salvaged. Records have no checksum; what stands twice (the count) is compared instead.
#include "host/trace/chunk_cursor.hpp"

#include <bit>
#include <fmt/format.h>

namespace host::trace {

namespace {

constexpr std::uint16_t kBeginCode = kCodeOf<"chunk_begin"> | static_cast<std::uint16_t>(tracer::Combine::first);
constexpr auto kSwappedCode = static_cast<std::uint16_t>((kBeginCode << 8) | (kBeginCode >> 8));

// More records than any chunk has: 4 GiB.
constexpr std::uint32_t kChunkRecordsMax = 1U << 28;

bool is_header(const tracer::Record& record) {
    return (record.code & (tracer::kCodeMask | tracer::kCombineMask)) == kBeginCode;
}

// Of the fields that this reader knows, the length word included.
std::size_t known_bytes(const tracer::ChunkBegin& description) {
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
    const auto size = tracer::encode_payload(description, bytes);
    return size ? size.value() : bytes.size();
}

} // namespace

// Skips the chunk, or, if it is to be salvaged, reads on without believing its header's counts.
void ChunkCursor::condemn(Code code, std::uint64_t offset_bytes, std::string_view text) {
    const bool salvaged = m_condemned == Condemned::salvaged;
    report(code, offset_bytes, fmt::format("{}: {}", text, salvaged ? "read all the same" : "chunk skipped"));
    m_skip_chunk = !salvaged;
    m_distrust_count = salvaged;
}

// A chunk that begins with swapped bytes, or with the second slot of a header.
void ChunkCursor::look_at_beginning(const Slot& slot) {
    if (slot.index == 0 && slot.record.code == kSwappedCode) {
        report(Code::magic, slot.offset_bytes,
               "the bytes of the chunk's header are swapped: big-endian? skipped to the next chunk");
        m_skip_chunk = true;
    } else if (slot.index == 1 && slot.record.event_code() == kCodeOf<"chunk_begin"> &&
               slot.record.combine() == tracer::Combine::middle && !is_header(m_first.record)) {
        m_assembler.reset();
        condemn(Code::magic, chunk().begin_bytes, "the first slot of the chunk's header is damaged");
    }
}

// Called where a long event is given up. If it is the header of the chunk, nobody knows whose records follow.
void ChunkCursor::lose_header() {
    if (!is_header(m_first.record) || m_first.index != 0 || chunk().described || m_skip_chunk) {
        return;
    }
    m_assembler.reset();
    condemn(Code::magic, chunk().begin_bytes, "the chunk's header is damaged");
}

bool ChunkCursor::may_be_read(const tracer::ChunkBegin& description) {
    const std::uint64_t own_slots = m_next_index;
    const auto skip = [this](Code code, const std::string& text) {
        report(code, m_first.offset_bytes, text + ": chunk skipped");
        m_skip_chunk = true;
        return false;
    };
    if (description.format_version > tracer::kFormatVersion) {
        return skip(Code::version, fmt::format("format version {} is newer than {}", description.format_version,
                                               tracer::kFormatVersion));
    }
    if (m_first.index != 0 || description.preamble_slots < own_slots) {
        return skip(Code::count, "the chunk's header contradicts itself");
    }
    if (description.cpu >= kProcessorsMax) {
        return skip(Code::processor, fmt::format("processor {} of at most {}", description.cpu, kProcessorsMax));
    }
    if (description.encoding > tracer::Encoding::compact) {
        return skip(Code::compact,
                    fmt::format("encoding {} is not known", static_cast<unsigned>(description.encoding)));
    }
    if (tracer::stream_slots(description) > description.records) {
        return skip(Code::compact, fmt::format("a compact stream of {} bytes does not fit into {} pieces of 16",
                                               description.compact_bytes, description.records));
    }
    if (m_facts.boot_id && *m_facts.boot_id != description.boot_id) {
        return skip(Code::boot, fmt::format("the chunk is of another run (boot {:016x}, not {:016x})",
                                            description.boot_id, *m_facts.boot_id));
    }
    if (came_before(description)) {
        return skip(Code::duplicate,
                    fmt::format("chunk {} of generation {} came before", description.chunk, description.generation));
    }
    if (description.records > kChunkRecordsMax) {
        condemn(Code::count, m_first.offset_bytes,
                fmt::format("{} records are more than any chunk holds", description.records));
    }
    return !m_skip_chunk;
}

// Of a pipe: what a file holds twice is known before it is read.
bool ChunkCursor::came_before(const tracer::ChunkBegin& description) {
    return !m_source->seekable() && !m_seen.emplace(description.cpu, description.chunk, description.generation).second;
}

void ChunkCursor::take_description(const tracer::ChunkBegin& description) {
    if (!may_be_read(description)) {
        return;
    }
    ChunkReport& mine = chunk();
    m_facts.boot_id = description.boot_id;
    mine.described = true;
    mine.description = description;
    mine.preamble = m_next_index;
    mine.records = 0;
    mine.events = 0;
    const auto length = lib::load_le<std::uint16_t>(m_assembler.payload());
    const std::size_t known = known_bytes(description);
    if (length > known && m_diagnostics.count(Code::minor) == 0) {
        report(Code::minor, m_first.offset_bytes,
               fmt::format("the chunk's header has {} bytes that this version does not know: ignored", length - known));
    }
    m_facts.clock.source = description.tsc_source;
    m_facts.clock.mode = description.clock_mode;
    m_facts.clock.error_ppm = description.tsc_error_ppm;
    if (description.tsc_khz == 0 && description.tsc_source == tracer::TscSource::unknown) {
        if (m_facts.clock.khz == 0 && m_diagnostics.count(Code::no_rate) == 0) {
            report(Code::no_rate, m_first.offset_bytes,
                   "the clock's rate is not known: times stay ticks unless --tsc-khz is given");
        }
        return;
    }
    take_rate(description.tsc_khz, m_first.offset_bytes);
}

// numevents is the last slot of the preamble and repeats the count.
void ChunkCursor::check_repeated_count(const Slot& slot) {
    const ChunkReport& mine = chunk();
    const tracer::ChunkBegin& told = mine.description;
    if (!mine.described || slot.index >= told.preamble_slots || m_distrust_count) {
        return;
    }
    if (slot.record.par2 != told.records) {
        condemn(Code::count, slot.offset_bytes,
                fmt::format("the chunk's header announces {} records, the end of its preamble {}", told.records,
                            slot.record.par2));
    } else if (slot.index + 1 != told.preamble_slots) {
        condemn(Code::count, slot.offset_bytes,
                fmt::format("the preamble ends after {} slots, the chunk's header announces {}", slot.index + 1,
                            told.preamble_slots));
    }
}

// Looks at the checksum of the stream before any of its records is believed; of a pipe that is not possible. False: it
// is wrong, and the stream is to be left out.
bool ChunkCursor::begin_compact(std::uint64_t offset_bytes) {
    ChunkReport& mine = chunk();
    if (!m_source->seekable() || compact_checksum_holds(*m_source, offset_bytes, mine.description.compact_bytes)) {
        return true;
    }
    const bool salvaged = m_condemned == Condemned::salvaged;
    report(Code::body_crc, offset_bytes,
           salvaged ? "the checksum of the compact stream is wrong: decoded all the same"
                    : "the checksum of the compact stream is wrong: skipped");
    if (!salvaged) {
        const std::uint64_t emergency = mine.description.records - m_compact->slots();
        mine.skipped +=
            std::max<std::uint64_t>(mine.description.events - std::min(mine.description.events, emergency), 1);
        static_cast<void>(m_compact->told());
    }
    return salvaged;
}

void ChunkCursor::take_rate(std::uint32_t khz, std::uint64_t offset_bytes) {
    Clock& clock = m_facts.clock;
    if (clock.overridden) {
        return;
    }
    if (!is_plausible_rate(khz)) {
        report(Code::frequency, offset_bytes,
               fmt::format("a clock of {} kHz is not believed ({} to {}): times stay ticks unless --tsc-khz is given",
                           khz, kTscKhzMin, kTscKhzMax));
    } else if (clock.khz == 0) {
        clock.khz = khz;
    } else if (clock.khz != khz) {
        report(Code::rate, offset_bytes,
               fmt::format("the clock's rate is now {} kHz; times go on with {} kHz", khz, clock.khz));
    }
}

} // namespace host::trace
