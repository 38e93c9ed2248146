// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_ledger.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/plain_record.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>

namespace host::formats::dat {

namespace {

// More records than any chunk has: 4 GiB.
constexpr std::uint32_t kChunkRecordsMax = 1U << 28;

} // namespace

void ChunkLedger::begin() {
    m_skipped = false;
    m_distrusts_count = false;
    m_erased = 0;
    m_empty = 0;
}

void ChunkLedger::take_erased(std::uint64_t offset_bytes) {
    if (m_erased++ == 0) {
        m_erased_bytes = offset_bytes;
    }
    ++m_scope.chunk().records;
    ++m_scope.chunk().skipped;
}

bool ChunkLedger::is_metadata(const Slot& slot) const {
    const trace::ChunkReport& chunk = m_scope.chunk();
    const std::uint8_t code = slot.record.event_code();
    if (chunk.described && (slot.index < chunk.description.preamble_slots || code == trace::kCodeOf<"export_end">)) {
        return true;
    }
    if (!chunk.described && slot.index < m_scope.segment().preamble_slots) {
        return true;
    }
    return is_metadata_family(code) && (!chunk.described || m_distrusts_count || !m_scope.segment().stretches.empty());
}

void ChunkLedger::count(const Slot& slot) {
    trace::ChunkReport& chunk = m_scope.chunk();
    if (slot.index < chunk.description.preamble_slots && chunk.described) {
        ++chunk.preamble;
    } else if (slot.compact) {
        ++chunk.events;
    } else if (!is_metadata(slot)) {
        ++chunk.records;
        ++chunk.events;
    }
}

void ChunkLedger::take_empty(const Slot& slot) {
    trace::ChunkReport& chunk = m_scope.chunk();
    const tracer::ChunkBegin& header = chunk.description;
    if (!chunk.described || slot.index >= std::uint64_t{header.preamble_slots} + header.records) {
        count(slot);
        ++chunk.unused;
        return;
    }
    if (m_empty++ == 0) {
        m_empty_bytes = slot.offset_bytes;
    }
    ++chunk.missing;
}

bool ChunkLedger::reject_swapped(const Slot& slot) {
    ASSERT(slot.index == 0);
    if (slot.record.code != kSwappedBeginCode) {
        return false;
    }
    m_scope.report("E-MAGIC", slot.offset_bytes,
                   "the bytes of the chunk's header are swapped: big-endian? skipped to the next chunk");
    m_skipped = true;
    return true;
}

void ChunkLedger::distrust(trace::Code code, std::uint64_t offset_bytes, std::string_view text, bool holds_records) {
    m_distrusts_count = holds_records || m_scope.salvages();
    m_skipped = !m_distrusts_count;
    m_scope.report(code, offset_bytes,
                   fmt::format("{}: {}", text,
                               m_skipped ? "chunk skipped (--salvage reads it)" : "its records are read all the same"));
}

// What makes the chunk unreadable whatever the user wants.
std::optional<ChunkLedger::Fault> ChunkLedger::fault_of(const tracer::ChunkBegin& description, const Slot& first,
                                                        std::uint64_t own_slots) const {
    if (description.format_version > tracer::kFormatVersion) {
        return Fault{"E-VERSION", fmt::format("format version {} is newer than {}", description.format_version,
                                              tracer::kFormatVersion)};
    }
    if (first.index != 0 || description.preamble_slots < own_slots) {
        return Fault{"E-COUNT", "the chunk's header contradicts itself"};
    }
    if (description.cpu >= trace::kProcessorsMax) {
        return Fault{"E-CPU", fmt::format("processor {} of at most {}", description.cpu, trace::kProcessorsMax)};
    }
    if (description.encoding > tracer::Encoding::compact) {
        return Fault{"E-COMPACT", fmt::format("encoding {} is not known", static_cast<unsigned>(description.encoding))};
    }
    if (tracer::stream_slots(description) > description.records) {
        return Fault{"E-COMPACT", fmt::format("a compact stream of {} bytes does not fit into {} pieces of 16",
                                              description.compact_bytes, description.records)};
    }
    const std::optional<std::uint64_t>& boot_id = m_scope.facts().boot_id;
    if (boot_id && *boot_id != description.boot_id) {
        return Fault{"E-BOOT", fmt::format("the chunk is of another run (boot {:016x}, not {:016x})",
                                           description.boot_id, *boot_id)};
    }
    return std::nullopt;
}

bool ChunkLedger::accept(const tracer::ChunkBegin& description, const Slot& first, std::uint64_t own_slots,
                         bool is_seekable) {
    ASSERT(own_slots != 0);
    std::optional<Fault> fault = fault_of(description, first, own_slots);
    // Of a pipe: what a file holds twice is known before it is read. Parts are numbered by who makes them.
    if (!fault && !is_seekable && !m_scope.segment().followed &&
        !m_seen.emplace(description.cpu, description.chunk, description.generation).second) {
        fault = Fault{"W-DUP",
                      fmt::format("chunk {} of generation {} came before", description.chunk, description.generation)};
    }
    if (fault) {
        m_scope.report(fault->code, first.offset_bytes, fault->text + ": chunk skipped");
        m_skipped = true;
        return false;
    }
    if (description.records > kChunkRecordsMax) {
        distrust("E-COUNT", first.offset_bytes,
                 fmt::format("{} records are more than any chunk holds", description.records), true);
    }
    // What is missing of a file is known before it is read, but not where.
    const Segment& segment = m_scope.segment();
    const std::uint64_t announced = std::uint64_t{description.preamble_slots} + description.records;
    if (is_seekable && !m_distrusts_count &&
        (!segment.stretches.empty() || (segment.end_bytes - segment.begin_bytes) / tracer::kRecordBytes < announced)) {
        m_scope.chunk().damaged = true;
    }
    return !m_skipped;
}

void ChunkLedger::check_repeated_count(const Slot& slot) {
    const trace::ChunkReport& chunk = m_scope.chunk();
    const tracer::ChunkBegin& header = chunk.description;
    if (!chunk.described || slot.index >= header.preamble_slots || m_distrusts_count) {
        return;
    }
    if (slot.record.par2 != header.records) {
        distrust("E-COUNT", slot.offset_bytes,
                 fmt::format("the chunk's header announces {} records, the end of its preamble {}", header.records,
                             slot.record.par2),
                 true);
    } else if (slot.index + 1 != header.preamble_slots) {
        distrust("E-COUNT", slot.offset_bytes,
                 fmt::format("the preamble ends after {} slots, the chunk's header announces {}", slot.index + 1,
                             header.preamble_slots),
                 true);
        m_scope.chunk().description.preamble_slots = static_cast<std::uint32_t>(slot.index + 1);
    }
}

// Of a chunk that is followed: what is missing is in front of it.
void ChunkLedger::finish_part() {
    trace::ChunkReport& chunk = m_scope.chunk();
    chunk.missing = chunk.description.records - std::min<std::uint64_t>(chunk.description.records, chunk.records);
    if (chunk.missing != 0) {
        m_scope.report("W-GAP", chunk.begin_bytes,
                       fmt::format("{} records in front of this part of the chunk are missing: the machine overwrote "
                                   "them before they could be copied, or their chunk does not hold",
                                   chunk.missing));
    }
}

void ChunkLedger::finish(std::uint64_t end_bytes) {
    trace::ChunkReport& chunk = m_scope.chunk();
    if (chunk.unused != 0) {
        m_scope.report("W-UNUSED", chunk.begin_bytes, fmt::format("{} empty slots", chunk.unused));
    }
    if (m_erased != 0) {
        m_scope.report("E-MAGIC", m_erased_bytes, fmt::format("{} slots are all ones: erased, no records", m_erased));
    }
    if (!chunk.described || m_skipped || m_distrusts_count) {
        return;
    }
    const tracer::ChunkBegin& header = chunk.description;
    if (m_scope.segment().followed) {
        finish_part();
        return;
    }
    if (m_empty != 0) {
        m_scope.report("W-SHORT", m_empty_bytes,
                       fmt::format("{} slots from here on are empty: what they held was lost on its way", m_empty));
    }
    // Slots of a preamble that were lost out of its middle with their places are no records.
    const bool is_shifted = !m_scope.segment().stretches.empty();
    const std::uint64_t preamble =
        is_shifted ? 0 : header.preamble_slots - std::min<std::uint64_t>(header.preamble_slots, chunk.preamble);
    const std::uint64_t records = header.records - std::min<std::uint64_t>(header.records, chunk.records);
    chunk.missing = preamble + records;
    if (preamble > m_empty) {
        m_scope.report("E-TRUNC", end_bytes,
                       fmt::format("the chunk ends inside its preamble: {} of {} slots", chunk.preamble + m_empty,
                                   header.preamble_slots));
    } else if (chunk.missing > m_empty) {
        m_scope.report("W-SHORT", end_bytes,
                       fmt::format("{} of the {} records that the chunk announces are missing", chunk.missing - m_empty,
                                   header.records));
    } else if (chunk.records > header.records) {
        chunk.extra = chunk.records - header.records;
        m_scope.report(
            "W-EXTRA", end_bytes,
            fmt::format("{} records more than the {} that the chunk announces", chunk.extra, header.records));
    } else if (chunk.compact() && chunk.events != header.events && chunk.skipped == 0) {
        chunk.skipped += std::max<std::uint64_t>(header.events - std::min(header.events, chunk.events), 1);
        m_scope.report("E-COMPACT", end_bytes,
                       fmt::format("the chunk decodes to {} records and announces {}", chunk.events, header.events));
    }
}

} // namespace host::formats::dat
