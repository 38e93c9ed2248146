// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_ledger.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace host::formats::dat {

namespace {

// This is more than any chunk has: 4 GiB of records.
constexpr std::uint32_t kChunkRecordsMax = 1U << 28;

} // namespace

void ChunkLedger::begin() {
    m_skipped = false;
    m_is_repeated = false;
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
        // Records after those that it announces are of other chunks, of which any may be missing.
        const std::uint64_t at = chunk.compact() ? chunk.description.preamble_slots + chunk.records - 1 : slot.index;
        chunk.damaged = chunk.damaged || announced_after(at) == 0;
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

// Returns the fault that makes the chunk unreadable, even if damaged chunks are salvaged.
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
    // Only a pipe is checked here, because duplicates in files are found before they are read. The writer of parts
    // numbers them.
    if (!fault && !is_seekable && !m_scope.segment().followed &&
        !m_seen.emplace(description.cpu, description.chunk, description.generation).second) {
        fault = Fault{"W-DUP",
                      fmt::format("chunk {} of generation {} came before", description.chunk, description.generation)};
        m_is_repeated = true;
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
    // How much of a file is missing is known before it is read, but not where.
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

// If the chunk is being followed, the missing records precede its first record.
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
    // Slots that were lost from the middle of the preamble are not records.
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

// --- chunks that are read in parts -----------------------------------------------------------------------------------

namespace {

using trace::ChunkReport;
using Reports = std::vector<ChunkReport>;

// Returns the report of the chunk that the part belongs to, which is not the report of the part; null for a part that
// does not state its chunk.
Reports::iterator whole_of(Reports& reports, std::size_t part) {
    const ChunkReport& of = reports[part];
    return std::ranges::find_if(reports, [&of](const ChunkReport& report) {
        return &report != &of && of.described && report.described && report.description.cpu == of.description.cpu &&
               report.description.chunk == of.description.chunk;
    });
}

void add(ChunkReport& whole, const ChunkReport& part) {
    const std::uint64_t overwritten = whole.description.overwritten + part.description.overwritten;
    whole.order = part.order;
    whole.description = part.description;
    whole.description.overwritten = overwritten;
    whole.preamble += part.preamble;
    whole.records += part.records;
    whole.events += part.events;
    whole.missing += part.missing;
    whole.extra += part.extra;
    whole.unused += part.unused;
    whole.skipped += part.skipped;
    whole.gaps += part.gaps;
    whole.blackout += part.blackout;
    whole.in_blackout = part.in_blackout;
    whole.damaged = whole.damaged || part.damaged;
    whole.numevents = part.numevents;
    whole.first_stamp = whole.first_stamp ? whole.first_stamp : part.first_stamp;
    whole.last_stamp = part.last_stamp ? part.last_stamp : whole.last_stamp;
}

} // namespace

void add_part(Reports& reports, std::size_t part) {
    const auto whole = whole_of(reports, part);
    if (whole != reports.end()) {
        add(*whole, reports[part]);
    } else if (reports[part].described) {
        ChunkReport first = reports[part];
        reports.push_back(std::move(first));
    }
}

void end_parts(Reports& reports, std::size_t part) {
    const auto whole = whole_of(reports, part);
    if (whole != reports.end()) {
        add(*whole, reports[part]);
        reports[part] = std::move(*whole);
        reports.erase(whole);
    }
}

// --- the clock of the machine ----------------------------------------------------------------------------------------

void take_rate(ChunkScope& scope, std::uint32_t khz, std::uint64_t offset_bytes) {
    trace::Clock& clock = scope.facts().clock;
    if (clock.overridden) {
        return;
    }
    if (!trace::is_plausible_rate(khz)) {
        scope.report("E-FREQ", offset_bytes,
                     fmt::format("a clock of {} kHz is not believed ({} to {}): times stay ticks unless --tsc-khz is "
                                 "given",
                                 khz, trace::kTscKhzMin, trace::kTscKhzMax));
    } else if (clock.khz == 0) {
        clock.khz = khz;
    } else if (clock.khz != khz) {
        scope.report("W-RATE", offset_bytes,
                     fmt::format("the clock's rate is now {} kHz; times continue with {} kHz", khz, clock.khz));
    }
}

void take_clock(ChunkScope& scope, const tracer::ChunkBegin& description, std::uint64_t offset_bytes) {
    trace::Clock& clock = scope.facts().clock;
    clock.source = description.tsc_source;
    clock.mode = description.clock_mode;
    clock.error_ppm = description.tsc_error_ppm;
    if (description.tsc_khz != 0 || description.tsc_source != tracer::TscSource::unknown) {
        take_rate(scope, description.tsc_khz, offset_bytes);
    } else if (clock.khz == 0 && scope.diagnostics().count("W-NORATE") == 0) {
        scope.report("W-NORATE", offset_bytes,
                     "the clock's rate is not known: times stay ticks unless --tsc-khz is given");
    }
}

// --- chunks compared with each other ---------------------------------------------------------------------------------

namespace {

// The counters of a chunk are those at the moment at which it was handed over, often long after its last record. So an
// increase means lost records only if it exceeds what the blackouts of all later chunks report.
using Chunks =
    std::vector<const trace::ChunkReport*>; // chunks of one processor, in the order in which they were handed over

trace::Place place_of(const trace::ChunkReport& chunk) {
    return {.file = chunk.file,
            .offset_bytes = chunk.begin_bytes,
            .chunk = chunk.description.chunk,
            .cpu = chunk.description.cpu};
}

void check_falls(const Chunks& chunks, const std::optional<tracer::ExportEnd>& end, trace::Diagnostics& diagnostics) {
    struct Counter {
        std::string_view name;
        std::uint64_t tracer::ChunkBegin::*value;
        std::uint64_t tracer::ExportEnd::*total;
    };

    for (const Counter& counter : {Counter{"dropped", &tracer::ChunkBegin::dropped, &tracer::ExportEnd::dropped},
                                   Counter{"refused", &tracer::ChunkBegin::refused, &tracer::ExportEnd::refused}}) {
        std::uint64_t before = 0;
        for (const trace::ChunkReport* const chunk : chunks) {
            const std::uint64_t now = chunk->description.*counter.value;
            if (now < before) {
                diagnostics.report("W-COUNTER", place_of(*chunk),
                                   fmt::format("the number of {} records falls from {} to {}: the greater one counts",
                                               counter.name, before, now));
            } else if (end && now > (*end).*counter.total) {
                diagnostics.report("W-COUNTER", place_of(*chunk),
                                   fmt::format("{} {} records are more than the {} of the whole export", now,
                                               counter.name, (*end).*counter.total));
            }
            before = std::max(before, now);
        }
    }
}

void check_gaps(const Chunks& chunks, trace::Diagnostics& diagnostics) {
    // Counts the records that were dropped and not reported by any blackout up to each chunk. The number is signed,
    // because a chunk may have been handed over before its counter was increased.
    std::optional<std::int64_t> first;
    std::int64_t unreported = 0;
    std::uint64_t reported = 0;
    const trace::ChunkReport* rose = nullptr; // first chunk from which on all exceed the first chunk
    const trace::ChunkReport* before_rise = nullptr;
    const trace::ChunkReport* previous = nullptr;
    for (const trace::ChunkReport* const chunk : chunks) {
        reported += chunk->blackout;
        unreported = static_cast<std::int64_t>(chunk->description.dropped - reported);
        first = first.value_or(std::max<std::int64_t>(unreported, 0));
        if (unreported <= *first) {
            rose = nullptr;
        } else if (rose == nullptr) {
            rose = chunk;
            before_rise = previous;
        }
        previous = chunk;
    }
    // A later chunk would report how many records an open blackout cost.
    if (rose != nullptr && before_rise != nullptr && !previous->in_blackout) {
        diagnostics.report(
            "W-GAP", place_of(*rose),
            fmt::format(
                "{} records were dropped after chunk {} and no blackout reports them: some blackouts are missing",
                unreported - *first, before_rise->description.chunk));
    }
}

} // namespace

void check_counters(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics) {
    std::map<std::uint16_t, Chunks> processors;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (chunk.described) {
            processors[chunk.description.cpu].push_back(&chunk);
        }
    }
    for (auto& [cpu, chunks] : processors) {
        std::ranges::stable_sort(chunks, {}, &trace::ChunkReport::order);
        check_falls(chunks, facts.export_end, diagnostics);
        check_gaps(chunks, diagnostics);
    }
}

void report_missing(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics) {
    std::uint64_t missing = 0;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        missing += chunk.missing;
    }
    if (missing != 0) {
        diagnostics.report("W-GAP", {.file = facts.chunks.front().file},
                           fmt::format("{} records in all are missing: whoever follows a machine must not be slower "
                                       "than it; write the output to a file, not to a pager or a slow pipe",
                                       missing));
    }
}

void check_clock(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics) {
    std::optional<lib::Ticks> stamp;
    const trace::ChunkReport* first = nullptr;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (!chunk.first_stamp) {
            continue;
        }
        if (*chunk.first_stamp != *chunk.last_stamp || (stamp && *stamp != *chunk.first_stamp)) {
            return;
        }
        stamp = chunk.first_stamp;
        first = first != nullptr ? first : &chunk;
    }
    if (first != nullptr && facts.usable_events > 1 && diagnostics.count("W-TIME") == 0) {
        diagnostics.report(
            "W-CLOCK", {.file = first->file, .offset_bytes = first->begin_bytes},
            fmt::format("all {} events have the stamp {}: the clock did not advance, their order is that of the "
                        "input",
                        facts.usable_events, stamp->value));
    }
}

} // namespace host::formats::dat
