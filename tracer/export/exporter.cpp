// SPDX-License-Identifier: MIT
#include "tracer/export/exporter.hpp"

#include "lib/crc32c.hpp"
#include "tracer/compact/decoder.hpp"
#include "tracer/names/metadata_writer.hpp"

#include <algorithm>

namespace tracer {

namespace {

constexpr std::uint8_t sink_bit(std::size_t sink) {
    return static_cast<std::uint8_t>(1U << sink);
}

// Exports texts as far as there is room: that of the preamble is for names and declarations.
void write_formats(MetadataWriter& writer, std::string_view formats) {
    while (!formats.empty()) {
        const std::string_view text = formats.substr(0, formats.find('\0'));
        if (!text.empty() && text.size() <= FormatText::kTextBytesMax && writer.free_slots() > kCombineSlotsMax) {
            const auto id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(text.data()));
            writer.combined(event_code(FormatText::kEvent), FormatText{id, text});
        }
        formats.remove_prefix(text.size() < formats.size() ? text.size() + 1 : text.size());
    }
}

} // namespace

lib::Result<void> Exporter::attach(ChunkSink& sink, SinkTime time) {
    if (m_parts.preamble.empty()) {
        return lib::Error::unsupported;
    }
    for (Sink& place : m_sinks) {
        if (place.sink == &sink) {
            return {};
        }
        if (place.sink == nullptr) {
            place.sink = &sink;
            place.time = time;
            place.report.sink = &sink;
            return {};
        }
    }
    return lib::Error::no_space;
}

lib::Result<void> Exporter::request_for(Chunk& chunk, ChunkFlags new_flags, SinkSet sinks) {
    if ((new_flags & kModeMask) == kModeMask || (new_flags & (kDerivedFlags | ~kValidFlags)) != 0) {
        return lib::Error::invalid_argument;
    }
    if (chunk.written_as && (new_flags & kModeMask) == kFlagCyclic) {
        return lib::Error::invalid_argument; // such a chunk is never cyclic
    }
    if (chunk.busy || m_parts.store.is_active(chunk)) {
        return lib::Error::busy;
    }
    const SinkSet wanted = static_cast<SinkSet>(sinks & sinks_without(chunk));
    if (wanted == 0) {
        return lib::Error::refused;
    }
    if (const auto frozen = m_parts.store.freeze(chunk); !frozen) {
        return lib::Error::busy; // an interrupt's record opened it meanwhile
    }
    if (ChunkStore::contents(chunk).events() == 0) {
        return m_parts.store.set_flags(chunk, new_flags);
    }
    ExportJob& job = m_parts.jobs[chunk.number];
    if (job.uses != chunk.uses || job.carried == 0) {
        // This is the first sink of these contents, so the contents of the preamble are fixed now, for all sinks.
        job = {};
        job.uses = chunk.uses;
        job.names = static_cast<std::uint32_t>(m_parts.names.size());
        job.declarations = static_cast<std::uint32_t>(m_parts.names.declarations());
        job.dropped = read_shared(m_parts.cpu.dropped_bytes) / kRecordBytes;
        job.refused = read_shared(m_parts.cpu.refused_bytes) / kRecordBytes;
    }
    job.pending = wanted;
    job.failed = 0;
    job.new_flags = new_flags;
    job.order = m_next_order++;
    chunk.busy = true;
    ASSERT((job.pending & job.carried) == 0 && job.uses == chunk.uses);
    return {};
}

StepResult Exporter::step() {
    if (!m_stepping.try_take()) {
        return StepResult::more;
    }
    const StepResult result = step_alone();
    m_stepping.release();
    return result;
}

StepResult Exporter::step_alone() {
    if (m_work == Work::none) {
        if (!m_parts.lock.try_take()) {
            return StepResult::more;
        }
        const bool begun = begin_chunk() || begin_end();
        m_parts.lock.release();
        if (!begun) {
            return StepResult::idle;
        }
        if (m_work == Work::none) {
            return StepResult::more; // the sink did not take it
        }
    }
    if (m_work == Work::sealing) {
        seal_piece();
        if (m_work != Work::chunk) {
            return StepResult::more;
        }
    }
    Sink& place = m_sinks[m_sink];
    const SinkState state = place.sink->state() == SinkState::busy ? place.sink->step() : place.sink->state();
    if (state != SinkState::busy) {
        if (!m_parts.lock.try_take()) {
            return StepResult::more; // the sink keeps its state; look again next time
        }
        end_transfer(state);
        m_parts.lock.release();
    }
    return StepResult::more;
}

// Takes the oldest queued chunk for the first sink that still has to carry it and may work. Returns true if there is
// one, or a sink has failed, so that another look makes sense.
bool Exporter::begin_chunk() {
    Chunk* oldest = nullptr;
    std::size_t sink = 0;
    for (Chunk& chunk : m_parts.store.slots()) {
        const ExportJob& job = m_parts.jobs[chunk.number];
        if (!chunk.exists || !chunk.busy || (oldest != nullptr && job.order >= m_parts.jobs[oldest->number].order)) {
            continue;
        }
        for (std::size_t i = 0; i < kSinksMax; ++i) {
            if ((job.pending & sink_bit(i)) != 0 && may_work(i)) {
                oldest = &chunk;
                sink = i;
                break;
            }
        }
    }
    if (oldest == nullptr) {
        return false;
    }
    ASSERT(m_work == Work::none && known_job(*oldest) != nullptr);
    m_chunk = oldest;
    m_sink = sink;
    m_sealed_bytes = 0;
    m_sealed_crc32c = 0;
    build_image(*oldest, m_parts.jobs[oldest->number]);
    if (m_parts.jobs[oldest->number].sealed) {
        submit_chunk();
    } else {
        write_shared(m_work, Work::sealing);
    }
    return true;
}

// The lock is not needed: no task writes to a frozen chunk, and the exporter alone uses its image.
void Exporter::seal_piece() {
    const std::size_t end = std::min(m_sealed_bytes + kSealBytesPerStep, m_image.size_bytes());
    while (m_sealed_bytes < end) {
        auto piece = m_image.piece(m_sealed_bytes);
        piece = piece.first(std::min(piece.size(), end - m_sealed_bytes));
        m_sealed_crc32c = lib::crc32c(piece, m_sealed_crc32c);
        m_sealed_bytes += piece.size();
    }
    if (m_sealed_bytes != m_image.size_bytes()) {
        return;
    }
    ExportJob& job = m_parts.jobs[m_chunk->number];
    job.crc32c = m_sealed_crc32c;
    job.sealed = true;
    m_image.description.crc32c = job.crc32c;
    write_header();
    if (m_parts.lock.try_take()) {
        submit_chunk();
        m_parts.lock.release();
    } // else the piece is empty next time, and the rest is done then
}

void Exporter::submit_chunk() {
    write_shared(m_work, Work::claimed);
    if (const auto taken = m_sinks[m_sink].sink->submit(m_image); !taken) {
        give_up(m_sinks[m_sink], taken.error());
        return;
    }
    write_shared(m_work, Work::chunk);
}

bool Exporter::begin_end() {
    if (!m_finish_wanted) {
        return false;
    }
    for (std::size_t i = 0; i < kSinksMax; ++i) {
        Sink& place = m_sinks[i];
        if (place.sink == nullptr || place.report.finished || !may_work(i)) {
            continue;
        }
        const Totals totals = m_parts.control.totals();
        m_work = Work::end;
        m_sink = i;
        const ExportEnd end{.chunks = place.report.chunks,
                            .result = m_result,
                            .records = place.report.records,
                            .dropped = totals.dropped,
                            .refused = totals.refused,
                            .overwritten = totals.overwritten,
                            .committed = totals.committed,
                            .tracer_made = totals.tracer_made};
        if (const auto taken = place.sink->finish(end); !taken) {
            give_up(place, taken.error());
        }
        return true;
    }
    return false;
}

void Exporter::end_transfer(SinkState state) {
    Sink& place = m_sinks[m_sink];
    ASSERT(state != SinkState::busy && place.sink != nullptr);
    ASSERT(m_work != Work::chunk || (m_chunk != nullptr && m_chunk->exists));
    const bool was_chunk = m_work == Work::chunk;
    if (state == SinkState::failed) {
        give_up(place, place.sink->last_error());
    } else if (!was_chunk) {
        place.report.finished = true;
    } else if ((m_parts.jobs[m_chunk->number].pending & sink_bit(m_sink)) !=
               0) { // not yet settled by an interrupted step
        ++place.report.chunks;
        place.report.records += m_image.description.records;
        place.report.events += m_image.description.events;
        m_chunk->carried = true;
        settle(*m_chunk, sink_bit(m_sink), Outcome::carried);
    }
    m_work = Work::none;
}

// Marks the sink as failed. It gets no further chunks, and the chunks that it still had to carry are lost to it.
void Exporter::give_up(Sink& place, lib::Error error) {
    if (place.report.failed) {
        return;
    }
    m_work = Work::none;
    place.report.failed = true;
    place.report.error = error;
    const auto sink = static_cast<std::size_t>(&place - m_sinks.data());
    for (Chunk& chunk : m_parts.store.slots()) {
        if (chunk.exists && chunk.busy && (m_parts.jobs[chunk.number].pending & sink_bit(sink)) != 0) {
            ++place.report.chunks_lost;
            settle(chunk, sink_bit(sink), Outcome::failed);
        }
    }
}

// Notes that one sink has finished with a chunk; after the last one the chunk is released.
void Exporter::settle(Chunk& chunk, SinkSet sink, Outcome outcome) {
    ExportJob& job = m_parts.jobs[chunk.number];
    ASSERT(chunk.busy && (job.pending & sink) == sink && (job.carried & sink) == 0);
    job.pending = static_cast<SinkSet>(job.pending & ~sink);
    SinkSet& place = outcome == Outcome::carried ? job.carried : job.failed;
    place = static_cast<SinkSet>(place | sink);
    if (job.pending != 0) {
        return;
    }
    chunk.busy = false;
    // A chunk that a sink failed to carry must not be overwritten: it may still be examined in memory.
    const auto flags = static_cast<ChunkFlags>(job.failed == 0 ? job.new_flags : job.new_flags & ~kFlagFree);
    const auto set = m_parts.store.set_flags(chunk, flags);
    ASSERT(set.ok()); // checked at the request, and a frozen chunk is not recorded into
}

void Exporter::build_image(const Chunk& chunk, const ExportJob& job) {
    const ChunkContents contents = ChunkStore::contents(chunk);
    ASSERT(contents.events() != 0 && job.names <= m_parts.names.size());
    const auto first = !contents.older.empty()   ? contents.older
                       : !contents.newer.empty() ? contents.newer
                                                 : contents.emergency;
    const auto streamed = contents.compact ? compact::first_stamp(contents.newer) : lib::Error::not_found;
    // A stream without an event may have no stamp; then the emergency area holds a record.
    const lib::Ticks stamp = streamed            ? streamed.value()
                             : !contents.compact ? decode_record(first).stamp()
                                                 : decode_record(contents.emergency).stamp();

    ChunkBegin begin;
    begin.chunk = chunk.number;
    begin.cpu = static_cast<std::uint16_t>(m_parts.cpu.cpu);
    begin.mode = chunk.flags & kModeMask;
    begin.clock_mode = m_setup.clock_mode;
    begin.generation = chunk.generation();
    begin.records = static_cast<std::uint32_t>(contents.records());
    begin.tsc_khz = m_setup.tsc_khz;
    begin.tsc_source = m_setup.tsc_source;
    begin.tsc_error_ppm = m_setup.tsc_error_ppm;
    begin.dropped = job.dropped;
    begin.refused = job.refused;
    begin.overwritten = ChunkStore::counts(chunk).overwritten;
    begin.boot_id = m_setup.boot_id;
    begin.encoding = contents.compact ? Encoding::compact : Encoding::records;
    begin.layout = static_cast<std::uint8_t>(contents.layout);
    begin.events = contents.events();
    begin.compact_bytes = contents.stream_bytes;
    begin.checksum = ChunkChecksum::crc32c;
    begin.crc32c = job.sealed ? job.crc32c : 0;

    // chunk_begin contains the length of the preamble and the checksum; its own length does not depend on the values.
    // So it is written once to reserve its slots, and again when the values are known.
    MetadataWriter writer(m_parts.preamble, stamp);
    writer.combined(event_code(ChunkBegin::kEvent), begin);
    const std::size_t begin_slots = writer.slots();
    writer.build(m_setup.build, read_shared(m_parts.names.names_lost()));
    if (m_setup.cost.rounds != 0) {
        writer.combined(event_code(TraceCost::kEvent), m_setup.cost);
    }
    writer.simple(event_code("cycles_per_msec"), 0, m_setup.tsc_khz);
    for (std::size_t i = 0; i < job.names; ++i) {
        writer.name(m_parts.names.entry(i));
    }
    for (std::size_t i = 0; i < job.declarations; ++i) {
        writer.declaration(m_parts.names.declaration(i));
    }
    write_formats(writer, m_setup.formats);
    writer.simple(event_code("numevents"), 0, begin.records);
    begin.preamble_slots = static_cast<std::uint32_t>(writer.slots());
    ASSERT(begin_slots < begin.preamble_slots);

    m_image_stamp = stamp;
    m_image.description = begin;
    m_image.parts = {writer.written(), contents.older, contents.newer, contents.emergency};
    write_header();
}

// Writes chunk_begin again, over the slots that build_image() reserved, because its values are known only afterwards.
void Exporter::write_header() {
    MetadataWriter writer(m_parts.preamble, m_image_stamp);
    writer.combined(event_code(ChunkBegin::kEvent), m_image.description);
}

void Exporter::begin_exit() {
    m_parts.lock.force_open();
    m_stepping.force_open();
    m_parts.store.abandon_conversion(); // its task will not continue
    m_parts.control.disable();
    if (m_work == Work::claimed || m_work == Work::sealing) {
        m_work = m_sinks[m_sink].sink->state() == SinkState::busy ? Work::chunk : Work::none;
    }
    m_exiting = true;
}

std::string_view Exporter::at_work() const {
    const bool has_work = m_work == Work::claimed || m_work == Work::chunk || m_work == Work::end;
    return has_work ? m_sinks[m_sink].sink->name() : std::string_view{};
}

void Exporter::give_up(std::string_view name, lib::Error error) {
    for (Sink& place : m_sinks) {
        if (place.sink != nullptr && place.sink->name() == name) {
            give_up(place, error);
        }
    }
}

std::size_t Exporter::export_unsent() {
    std::size_t queued = 0;
    for (Chunk& chunk : m_parts.store.slots()) {
        if (chunk.exists && chunk.busy) {
            // The chunk may be queued since before a sink was opened: that sink gets it, too.
            ExportJob& job = m_parts.jobs[chunk.number];
            const auto missing = static_cast<SinkSet>(sinks_without(chunk) & ~job.pending);
            job.pending = static_cast<SinkSet>(job.pending | missing);
            queued += missing != 0 ? 1 : 0;
            continue;
        }
        if (!chunk.exists || chunk.uses == 0 || ChunkStore::contents(chunk).events() == 0 ||
            sinks_without(chunk) == 0) {
            continue;
        }
        const auto kept = static_cast<ChunkFlags>(chunk.flags & ~kFlagFree);
        if (request(chunk, kept)) {
            ++queued;
        }
    }
    return queued;
}

void Exporter::finish(RunResult result) {
    m_result = result;
    m_finish_wanted = true;
}

lib::Result<void> Exporter::outcome(const Chunk& chunk) const {
    const ExportJob* const job = known_job(chunk);
    if (job == nullptr) {
        return {};
    }
    for (std::size_t i = 0; i < kSinksMax; ++i) {
        if ((job->failed & sink_bit(i)) != 0) {
            return m_sinks[i].report.error;
        }
        if (chunk.busy && (job->pending & sink_bit(i)) != 0 && may_work(i)) {
            return lib::Error::busy;
        }
    }
    return {};
}

SinkSet Exporter::deferred_sinks() const {
    SinkSet sinks = 0;
    for (std::size_t i = 0; i < kSinksMax; ++i) {
        if (m_sinks[i].sink != nullptr && m_sinks[i].time == SinkTime::after_exit) {
            sinks = static_cast<SinkSet>(sinks | sink_bit(i));
        }
    }
    return sinks;
}

// Returns the sinks that could still take the chunk's present contents.
SinkSet Exporter::sinks_without(const Chunk& chunk) const {
    const ExportJob* const job = known_job(chunk);
    SinkSet sinks = 0;
    for (std::size_t i = 0; i < kSinksMax; ++i) {
        const Sink& place = m_sinks[i];
        const bool has_it = job != nullptr && (job->carried & sink_bit(i)) != 0;
        if (place.sink != nullptr && !place.report.failed && !place.report.finished && !has_it) {
            sinks = static_cast<SinkSet>(sinks | sink_bit(i));
        }
    }
    return sinks;
}

bool Exporter::may_work(std::size_t sink) const {
    const Sink& place = m_sinks[sink];
    return place.sink != nullptr && !place.report.failed && (m_exiting || place.time == SinkTime::at_once);
}

// Returns the job for the chunk's present contents, or null if there is none.
const ExportJob* Exporter::known_job(const Chunk& chunk) const {
    const ExportJob& job = m_parts.jobs[chunk.number];
    return job.uses == chunk.uses && job.uses != 0 ? &job : nullptr;
}

} // namespace tracer
