// SPDX-License-Identifier: MIT
// Implements the rules by which records are cut into chunks. A stretch keeps the order in which the reader passed on
// its events, so reading it again gives the same order.
#include "convert/records/record_chunks.hpp"

#include "convert/losses.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace host::convert::records {

namespace {

// Another system's events without a counterpart become this event.
constexpr std::uint8_t kForeignCode = trace::kCodeOf<"user_event_0">;

static_assert(std::endian::native == std::endian::little && sizeof(tracer::Record) == tracer::kRecordBytes,
              "records are written as they are in memory");

void append_long(const trace::Event& event, std::vector<tracer::Record>& records) {
    std::array<std::byte, tracer::kLongEventBytesMax> payload{};
    const std::size_t size = event.payload.size() + sizeof(std::uint16_t);
    ASSERT(size <= payload.size()); // it was read from as many slots
    lib::store_le(std::span(payload), static_cast<std::uint16_t>(size));
    std::ranges::copy(event.payload, payload.begin() + sizeof(std::uint16_t));
    std::array<tracer::Record, tracer::kCombineSlotsMax> slots;
    const auto count =
        tracer::encode_combined(event.code, event.ticks, std::span<const std::byte>(payload).first(size), slots);
    ASSERT(count.ok());
    const auto flags = static_cast<std::uint16_t>(event.raw_code & ~(tracer::kCodeMask | tracer::kCombineMask));
    for (std::size_t i = 0; i < count.value(); ++i) {
        slots[i].code = static_cast<std::uint16_t>(slots[i].code | flags);
        records.push_back(slots[i]);
    }
}

} // namespace

bool append_records(const trace::Event& event, std::vector<tracer::Record>& records) {
    if (trace::is_foreign(event) && event.row == nullptr && event.is_sound()) {
        const auto number = static_cast<std::uint16_t>(event.event_class << 10 | event.number);
        records.push_back(
            tracer::make_record(kForeignCode, number, event.words.empty() ? 0 : event.words.front(), event.ticks));
        return true;
    }
    if (event.origin != trace::Origin::record) {
        if (event.row == nullptr || event.row->shape != tracer::Shape::simple) {
            return false;
        }
        records.push_back(tracer::make_record(event.code, event.par1, event.par2, event.ticks));
        return true;
    }
    if (event.row != nullptr && event.row->shape == tracer::Shape::combined && !event.payload.empty()) {
        append_long(event, records);
    } else if (event.state != trace::EventState::malformed) {
        records.push_back(record_of(event));
    }
    return true;
}

RecordChunks::RecordChunks(const Survey& survey, Write write)
    : m_survey(survey)
    , m_write(std::move(write)) {
    const auto& chunks = survey.facts.chunks;
    if (const auto first = std::ranges::find_if(chunks, &trace::ChunkReport::described); first != chunks.end()) {
        m_template = first->description;
    }
    m_template.tsc_khz = survey.facts.clock.khz;
    if (m_template.tsc_khz == 0) {
        m_template.tsc_source = tracer::TscSource::unknown; // marks the source as unknown
    }
    m_template.dropped = 0;
    m_template.refused = 0;
    m_template.overwritten = 0;
    m_template.encoding = tracer::Encoding::records;
    m_template.layout = 0;
    m_template.compact_bytes = 0;
    m_template.checksum = tracer::ChunkChecksum::none; // that of the machine was computed over other bytes
    m_template.crc32c = 0;
    m_taken.resize(chunks.size());
}

RecordChunks::Stretch& RecordChunks::find_stretch(std::uint16_t cpu) {
    const auto [place, is_new] = m_stretches.try_emplace(cpu);
    if (is_new) {
        place->second.begin = m_template;
        place->second.begin.cpu = cpu;
        place->second.cost = m_stretches.size() == 1 ? unplaced_losses(m_survey.facts).missing : 0;
        place->second.begin.dropped = place->second.cost;
    }
    m_last = &place->second;
    m_last_cpu = cpu;
    return *m_last;
}

// Returns the stretch for the records of this event.
RecordChunks::Stretch& RecordChunks::stretch_for(const trace::Event& event) {
    if (m_records >= kRecordsMax && (event.ticks >= m_greatest || m_records >= 2 * kRecordsMax)) {
        flush_all();
    }
    Stretch& stretch = stretch_of(event.cpu);
    // A later source has more names. Late records of an earlier source do not restore the names of that source.
    if (!stretch.has_source || event.source > stretch.source) {
        // A trace of another system has names anywhere, and is one source.
        const bool gathers = event.origin != trace::Origin::record;
        take_source(event.source, gathers ? m_survey.facts.names : *event.names, stretch);
    }
    if (stretch.records.empty()) {
        stretch.first = event.ticks;
    }
    return stretch;
}

void RecordChunks::add(const trace::Event& event) {
    Stretch& stretch = stretch_for(event);
    const std::size_t before = stretch.records.size();
    if (is_one_record(event)) [[likely]] {
        stretch.records.push_back(record_of(event));
    } else if (!append_records(event, stretch.records)) {
        ++m_without_record;
        return;
    }
    m_records += stretch.records.size() - before;
    m_greatest = std::max(m_greatest, event.ticks);
}

void RecordChunks::take_source(std::uint32_t source, const trace::Names& names, Stretch& stretch) {
    flush(stretch);
    stretch.has_source = true;
    stretch.source = source;
    stretch.names = names;
    if (source >= m_taken.size()) {
        return; // the input has grown since the survey
    }
    m_taken[source] = true;
    const trace::ChunkReport& report = m_survey.facts.chunks[source];
    stretch.cost += report.missing + report.skipped;
    if (report.described) {
        stretch.begin.mode = report.description.mode;
        stretch.begin.dropped = std::max(stretch.begin.dropped, report.description.dropped + stretch.cost);
        stretch.begin.refused = std::max(stretch.begin.refused, report.description.refused);
        stretch.begin.overwritten = report.description.overwritten;
    }
}

void RecordChunks::flush(Stretch& stretch) {
    if (stretch.records.empty()) {
        return;
    }
    tracer::ChunkBegin& begin = stretch.begin;
    begin.chunk = static_cast<std::uint16_t>(m_chunks);
    begin.generation = static_cast<std::uint32_t>(m_chunks >> 16);
    begin.events = stretch.records.size();
    begin.records = static_cast<std::uint32_t>(begin.events);
    ++m_chunks;
    m_write({.begin = begin,
             .names = stretch.names,
             .records = std::as_bytes(std::span(stretch.records)),
             .first = stretch.first});
    begin.overwritten = 0;
    m_records -= stretch.records.size();
    stretch.records.clear();
}

// Writes the stretches in the order of their first stamps, in which a reader opens them.
void RecordChunks::flush_all() {
    std::vector<Stretch*> order;
    for (auto& [cpu, stretch] : m_stretches) {
        if (!stretch.records.empty()) {
            order.push_back(&stretch);
        }
    }
    std::ranges::stable_sort(order, {}, [](const Stretch* stretch) { return stretch->first.value; });
    for (Stretch* const stretch : order) {
        flush(*stretch);
    }
}

lib::Result<void, Failure> RecordChunks::finish() {
    flush_all();
    for (std::size_t source = 0; source < m_taken.size(); ++source) {
        const trace::ChunkReport& report = m_survey.facts.chunks[source];
        if (m_taken[source] || !report.described) {
            continue;
        }
        Stretch& stretch = stretch_of(report.description.cpu);
        take_source(static_cast<std::uint32_t>(source), m_survey.facts.names, stretch);
        stretch.begin.chunk = static_cast<std::uint16_t>(m_chunks);
        stretch.begin.generation = static_cast<std::uint32_t>(m_chunks >> 16);
        stretch.begin.events = 0;
        stretch.begin.records = 0;
        ++m_chunks;
        m_write({.begin = stretch.begin, .names = stretch.names, .records = {}, .first = m_survey.last});
    }
    return events_without_record(m_without_record);
}

lib::Result<void, Failure> check_processors(const Survey& survey) {
    if (survey.processors.empty() || survey.processors.back() < trace::kProcessorsMax) {
        return {};
    }
    return Failure{Fault::unusable,
                   fmt::format("processor {}: chunks are of the processors 0 to {}; csv has any number",
                               survey.processors.back(), trace::kProcessorsMax - 1)};
}

lib::Result<void, Failure> events_without_record(std::uint64_t events) {
    if (events == 0) {
        return {};
    }
    return Failure{Fault::unusable,
                   fmt::format("{} events of this trace are another system's and have no record", events)};
}

// Only 16-bit numbers limit a preamble, so it grows in a vector here; the kernel's MetadataWriter writes the same
// records into a buffer of fixed size.

namespace {

using trace::kCodeOf;

class Preamble {
  public:
    explicit Preamble(lib::Ticks stamp)
        : m_stamp(stamp) {}

    void simple(std::uint8_t code, std::uint16_t par1, std::uint32_t par2) {
        append(tracer::make_record(code, par1, par2, m_stamp));
    }

    // The stamp of the n-th long event is n ticks greater, so that a reader never joins slots of two of them.
    template <typename Payload>
    void combined(std::uint8_t code, const Payload& payload) {
        std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
        const auto size = tracer::encode_payload(payload, bytes);
        if (!size) {
            return; // it does not fit into a long event, so it was not read from one
        }
        std::array<tracer::Record, tracer::kCombineSlotsMax> slots;
        const auto count = tracer::encode_combined(code, {m_stamp.value + m_events++},
                                                   std::span<const std::byte>(bytes).first(size.value()), slots);
        ASSERT(count.ok());
        for (std::size_t i = 0; i < count.value(); ++i) {
            append(slots[i]);
        }
    }

    [[nodiscard]] std::vector<std::byte>& bytes() { return m_bytes; }

  private:
    void append(const tracer::Record& record) {
        const std::size_t offset = m_bytes.size();
        m_bytes.resize(offset + tracer::kRecordBytes);
        tracer::encode_record(record, std::span(m_bytes).subspan(offset));
    }

    lib::Ticks m_stamp;
    std::uint64_t m_events = 0;
    std::vector<std::byte> m_bytes;
};

void add_tasks(Preamble& out, const trace::Names& names) {
    for (const auto& [context, task] : names.tasks()) {
        if (task.pid) {
            out.simple(kCodeOf<"id">, context, *task.pid);
        }
        if (!task.name.empty()) {
            out.combined(kCodeOf<"task_name">, tracer::NameOf{context, std::string_view(task.name)});
        }
        if (task.parameters) {
            out.combined(kCodeOf<"task_parameters">, *task.parameters);
        }
    }
}

void add_names(Preamble& out, const trace::Names& names) {
    for (const auto& [code, unit] : trace::kNameEvents) {
        for (const auto& [id, name] : trace::sorted_names(names, unit)) {
            out.combined(code, tracer::NameOf{id, name});
        }
    }
}

} // namespace

std::vector<std::byte> make_preamble(tracer::ChunkBegin& begin, const trace::TraceFacts& facts,
                                     const trace::Names& names, lib::Ticks stamp) {
    // chunk_begin states the length of the preamble. Its own length does not depend on that, so it is written twice.
    Preamble out(stamp);
    out.combined(kCodeOf<"chunk_begin">, begin);
    if (facts.build) {
        out.combined(kCodeOf<"build">, *facts.build);
    }
    if (facts.cost) {
        out.combined(kCodeOf<"trace_cost">, *facts.cost);
    }
    out.simple(kCodeOf<"cycles_per_msec">, 0, begin.tsc_khz);
    add_tasks(out, names);
    add_names(out, names);
    for (const auto& [id, declaration] : names.declarations()) {
        out.combined(kCodeOf<"event_declaration">, *declaration);
    }
    for (const auto& [id, text] : names.formats()) {
        out.combined(kCodeOf<"format_text">, tracer::FormatText{id, text});
    }
    out.simple(kCodeOf<"numevents">, 0, begin.records);
    begin.preamble_slots = static_cast<std::uint32_t>(out.bytes().size() / tracer::kRecordBytes);
    Preamble head(stamp);
    head.combined(kCodeOf<"chunk_begin">, begin);
    std::ranges::copy(head.bytes(), out.bytes().begin());
    return std::move(out.bytes());
}

} // namespace host::convert::records
