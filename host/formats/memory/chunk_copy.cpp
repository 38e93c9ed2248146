// SPDX-License-Identifier: MIT
#include "host/formats/memory/chunk_copy.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "host/trace/facts.hpp"
#include "tracer/compact/decoder.hpp"
#include "tracer/names/metadata_writer.hpp"
#include "tracer/record/cpu_trace.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace host::formats::memory {

namespace {

using Bytes = std::span<const std::byte>;
using tracer::kRecordBytes;

// Adds the records of a stream after the first `skipped` of them to `out`, unless it is null. Returns the number of
// records of the stream, or what is wrong with it.
lib::Result<std::uint64_t, trace::Refusal> decode_stream(Bytes stream, std::uint64_t skipped,
                                                         std::vector<std::byte>* out) {
    tracer::compact::Decoder decoder(stream.size());
    std::uint64_t records = 0;
    while (decoder.next(stream.subspan(decoder.offset())) == tracer::compact::Decoder::Step::records) {
        for (const tracer::Record& record : decoder.records()) {
            if (records++ >= skipped && out != nullptr) {
                out->resize(out->size() + kRecordBytes);
                tracer::encode_record(record, std::span(*out).last(kRecordBytes));
            }
        }
    }
    if (decoder.fault() != tracer::compact::Fault::none) {
        return trace::Refusal{
            fmt::format("{} at {} of {} bytes", fault_text(decoder.fault()), decoder.offset(), stream.size())};
    }
    return records;
}

// Returns the offset of the first record that no machine writes: without a code, with reserved bits, or with a stamp
// less than the one before it.
std::optional<std::size_t> first_invalid(Bytes records) {
    std::uint64_t before = 0;
    for (std::size_t at = 0; at < records.size(); at += kRecordBytes) {
        const tracer::Record record = tracer::decode_record(records.subspan(at, kRecordBytes));
        const std::uint64_t stamp = record.stamp().value;
        if (record.empty() || (record.code & dat::kBitsWithoutMeaning) != 0 || stamp < before) {
            return at;
        }
        before = stamp;
    }
    return std::nullopt;
}

// Returns how many bytes of the records, which begin at `begin` of their area, are before `offset`, or belong to a long
// event whose first slots are missing.
std::size_t bytes_before(std::size_t offset, std::size_t begin, Bytes records) {
    const std::size_t before = offset > begin ? std::min(offset - begin, records.size()) : 0;
    return before + tracer::first_event(records.subspan(before));
}

} // namespace

ChunkCopier::Outcome ChunkCopier::refuse(std::string text) {
    m_why = std::move(text);
    return Outcome::refused;
}

// Returns nothing if a new use of the chunk has begun.
std::optional<ChunkHead> ChunkCopier::head_again(const ChunkHead& head) {
    const auto again = m_box.head(head.number);
    return again && again.value() && again.value()->continues(head) ? again.value() : std::nullopt;
}

lib::Result<bool, trace::Refusal> ChunkCopier::copy(std::uint32_t index, const ChunkPlace& from, Streams streams,
                                                    ChunkCopy& out) {
    std::string torn;
    for (int tries = 0; tries < kTriesMax; ++tries) {
        const auto head = m_box.head(index);
        if (!head) {
            torn = head.error().text; // the head may be changing at this moment
            continue;
        }
        if (!head.value()) {
            return false;
        }
        torn.clear();
        if (m_meanwhile) {
            m_meanwhile();
        }
        switch (copy_once(*head.value(), from, streams, out)) {
        case Outcome::copied:
            return true;
        case Outcome::overtaken:
            break;
        case Outcome::refused:
            return trace::Refusal{m_why};
        }
    }
    return trace::Refusal{
        torn.empty() ? fmt::format("the machine overwrites it faster than it can be copied ({} tries)", kTriesMax)
                     : torn};
}

ChunkCopier::Outcome ChunkCopier::copy_once(const ChunkHead& head, ChunkPlace from, Streams streams, ChunkCopy& out) {
    if (from.uses != head.uses) {
        from = {};
    }
    out = {.head = head,
           .place = {.uses = head.uses,
                     .word = head.word,
                     .end_bytes = head.end(),
                     .emergency_end = head.emergency_position(),
                     .last_stamp = from.last_stamp},
           .records = std::move(out.records), // their memory
           .emergency = std::move(out.emergency)};
    out.records.clear();
    out.emergency.clear();
    if (from.emergency_end < head.emergency_position()) {
        out.emergency.resize(head.emergency_position() - from.emergency_end);
        if (!m_box.image().read(head.emergency_data + from.emergency_end, out.emergency)) {
            return refuse("its emergency area is not in the file");
        }
    }
    const Outcome outcome = head.compact() || head.compressed ? copy_stream(head, from.end_bytes, streams, out)
                                                              : copy_plain(head, from.end_bytes, out);
    return outcome == Outcome::copied ? verify(out) : outcome;
}

ChunkCopier::Outcome ChunkCopier::copy_plain(const ChunkHead& head, std::uint64_t from_bytes, ChunkCopy& out) {
    const std::uint64_t lap = head.lap();
    const std::uint64_t lap_begin = head.lap_base[lap & 1];
    // The older part is from the previous lap, whose length is one of the values of the present head.
    const std::uint64_t older_end = lap != 0 ? head.lap_end[lap & 1] : 0;
    const std::uint64_t older_base = lap_begin - older_end;
    const std::uint64_t older_from = std::max<std::uint64_t>(from_bytes > older_base ? from_bytes - older_base : 0,
                                                             tracer::scratch_end(head.word, head.scribbled));
    const std::size_t older_bytes = older_from < older_end ? older_end - older_from : 0;
    const std::uint64_t newer_from =
        std::min<std::uint64_t>(from_bytes > lap_begin ? from_bytes - lap_begin : 0, head.position());
    out.records.resize(older_bytes + head.position() - newer_from);
    const auto older = std::span(out.records).first(older_bytes);
    const auto newer = std::span(out.records).subspan(older_bytes);
    if (!m_box.image().read(head.data + older_from, older) || !m_box.image().read(head.data + newer_from, newer)) {
        return refuse("its records are not in the file");
    }
    const auto again = head_again(head);
    if (!again || again->lap() > lap + 1) {
        return Outcome::overtaken;
    }
    const std::size_t scratch = tracer::scratch_end(again->word, again->scribbled);
    const std::size_t dropped = again->lap() == lap ? bytes_before(scratch, older_from, older)
                                                    : older_bytes + bytes_before(scratch, newer_from, newer);
    out.records.erase(out.records.begin(), out.records.begin() + static_cast<std::ptrdiff_t>(dropped));
    const std::uint64_t oldest = head.end() - std::min<std::uint64_t>(head.end(), out.records.size());
    out.lost = oldest > from_bytes ? (oldest - from_bytes) / kRecordBytes : 0;
    return Outcome::copied;
}

ChunkCopier::Outcome ChunkCopier::copy_stream(const ChunkHead& head, std::uint64_t from_bytes, Streams streams,
                                              ChunkCopy& out) {
    const std::size_t size = head.compressed ? head.stream_bytes : head.position();
    std::vector<std::byte>& stream = streams == Streams::kept ? out.records : m_stream;
    stream.assign((size + kRecordBytes - 1) / kRecordBytes * kRecordBytes, std::byte{0});
    if (!m_box.image().read(head.data, std::span(stream).first(size))) {
        return refuse("its stream is not in the file");
    }
    if (!head_again(head)) {
        return Outcome::overtaken;
    }
    // Returns the number of records that a compressed chunk had lost before it was compressed.
    const std::uint64_t before = head.compressed ? head.overwritten : 0;
    const std::uint64_t from = from_bytes / kRecordBytes;
    const auto decoded = decode_stream(Bytes(stream).first(size), from > before ? from - before : 0,
                                       streams == Streams::kept ? nullptr : &out.records);
    if (!decoded) {
        return refuse(decoded.error().text);
    }
    out.place.end_bytes = (before + decoded.value()) * kRecordBytes;
    out.lost = before > from ? before - from : 0;
    if (streams == Streams::kept) {
        out.compact = true;
        out.stream_bytes = static_cast<std::uint32_t>(size);
        out.stream_records = decoded.value();
        const auto layout = stream.size() > 5 ? std::to_integer<std::uint8_t>(stream[5]) : std::uint8_t{0};
        out.layout = layout;
        if (const auto stamp = tracer::compact::first_stamp(Bytes(stream).first(size))) {
            out.stamp = stamp.value();
        }
    }
    return Outcome::copied;
}

// Checks that the copy is a valid sequence of records, and takes the first stamp.
ChunkCopier::Outcome ChunkCopier::verify(ChunkCopy& out) {
    const auto check = [&](Bytes records, std::string_view area) {
        if (const auto at = first_invalid(records)) {
            static_cast<void>(refuse(fmt::format("{} record {} of {} copied is none that the tracer writes", area,
                                                 *at / kRecordBytes, records.size() / kRecordBytes)));
            return false;
        }
        if (!records.empty() && !out.stamp) {
            out.stamp = tracer::decode_record(records).stamp();
        }
        if (!records.empty()) {
            const lib::Ticks last = tracer::decode_record(records.last(kRecordBytes)).stamp();
            out.place.last_stamp = std::max(out.place.last_stamp, last.value);
        }
        return true;
    };
    const Bytes main = out.compact ? Bytes() : Bytes(out.records);
    return check(main, "main") && check(out.emergency, "emergency") ? Outcome::copied : Outcome::refused;
}

// --- chunk image -----------------------------------------------------------------------------------------------------

namespace {

using tracer::black_box::Descriptor;

tracer::TraceCost cost_of(const Descriptor& of) {
    return {.enabled_ticks_x256 = of.enabled_ticks_x256,
            .filtered_ticks_x256 = of.filtered_ticks_x256,
            .disabled_ticks_x256 = of.disabled_ticks_x256,
            .rounds = of.cost_rounds,
            .choice = static_cast<tracer::LayoutChoice>(of.layout_choice),
            .layout = of.layout,
            .plain_ticks_x256 = of.plain_ticks_x256,
            .timer_ticks = of.timer_ticks};
}

// A greater number of missing records is announced as this, because a reader rejects a header with 2^28 records.
constexpr std::uint64_t kMissingMax = 1U << 27;

tracer::ChunkBegin begin_of(const Descriptor& of, const ProcessorCounts& counts, const ChunkCopy& copy) {
    tracer::ChunkBegin begin;
    begin.chunk = static_cast<std::uint16_t>(copy.head.number);
    begin.cpu = static_cast<std::uint16_t>(of.cpu);
    begin.mode = copy.head.flags & tracer::kModeMask;
    begin.clock_mode = static_cast<tracer::ClockMode>(of.clock_mode);
    begin.generation = copy.head.uses - 1;
    begin.records = static_cast<std::uint32_t>((copy.records.size() + copy.emergency.size()) / tracer::kRecordBytes +
                                               std::min(copy.missing, kMissingMax));
    begin.tsc_khz = of.tsc_khz;
    begin.tsc_source = static_cast<tracer::TscSource>(of.tsc_source);
    begin.tsc_error_ppm = of.tsc_error_ppm;
    begin.dropped = counts.dropped;
    begin.refused = counts.refused;
    begin.overwritten = copy.lost;
    begin.encoding = copy.compact ? tracer::Encoding::compact : tracer::Encoding::records;
    begin.layout = copy.layout;
    begin.events = copy.events() + std::min(copy.missing, kMissingMax);
    begin.compact_bytes = copy.stream_bytes;
    return begin;
}

// Each text ends with a zero byte. Its number is the low half of its address, as in the kernel's exporter.
template <typename Use>
void for_each_format(std::span<const std::byte> formats, std::uint64_t address, Use use) {
    std::string_view rest(reinterpret_cast<const char*>(formats.data()), formats.size());
    while (!rest.empty()) {
        const std::string_view text = rest.substr(0, rest.find('\0'));
        if (!text.empty() && text.size() <= tracer::FormatText::kTextBytesMax) {
            use(tracer::FormatText{static_cast<std::uint32_t>(address), text});
        }
        const std::size_t taken = text.size() < rest.size() ? text.size() + 1 : text.size();
        rest.remove_prefix(taken);
        address += taken;
    }
}

// The slots of the longest event of each kind that a preamble has.
constexpr std::size_t kFixedSlots = 64;
constexpr std::size_t kNameSlots = 1 + 9 + 8;
constexpr std::size_t kFormatSlots = tracer::kCombineSlotsMax;

} // namespace

void ChunkImage::refresh() {
    auto names = m_box.names();
    auto declarations = m_box.declarations();
    m_fault = !names.fault.empty()         ? "names: " + names.fault
              : declarations.fault.empty() ? ""
                                           : "declarations: " + declarations.fault;
    m_names = std::move(names.entries);
    m_declarations = std::move(declarations.entries);
    if (!m_begun) {
        m_formats = m_box.formats();
    }
}

std::span<const std::byte> ChunkImage::preamble(const ChunkCopy& copy, bool whole) {
    const bool first = whole || !m_begun;
    const std::size_t first_name = first ? 0 : std::min(m_names_written, m_names.size());
    const std::size_t first_declaration = first ? 0 : std::min(m_declarations_written, m_declarations.size());
    const auto names = std::span(m_names).subspan(first_name);
    const auto declarations = std::span(m_declarations).subspan(first_declaration);
    const auto formats = first ? std::span<const std::byte>(m_formats) : std::span<const std::byte>();
    const Descriptor& of = m_box.descriptor();
    std::size_t slots =
        kFixedSlots + names.size() * kNameSlots + declarations.size() * tracer::EncodedDeclaration::kSlotsMax;
    for_each_format(formats, 0, [&slots](const tracer::FormatText&) { slots += kFormatSlots; });
    m_buffer.resize(slots * tracer::kRecordBytes);

    tracer::ChunkBegin begin = begin_of(of, m_box.processor(0), copy);
    if (!whole) {
        begin.generation = m_parts++; // so that no two images of one chunk have the same generation
    }
    begin.boot_id = m_other_run ? ~of.boot_id : of.boot_id;
    const lib::Ticks stamp = copy.stamp.value_or(lib::Ticks{});
    tracer::MetadataWriter writer(m_buffer, stamp);
    writer.combined(trace::kCodeOf<"chunk_begin">, begin);
    writer.build({of.kernel, of.compiler, of.application, of.seed, of.image_id, of.hooks, 0}, m_box.names_lost());
    if (of.cost_rounds != 0) {
        writer.combined(trace::kCodeOf<"trace_cost">, cost_of(of));
    }
    writer.simple(trace::kCodeOf<"cycles_per_msec">, 0, of.tsc_khz);
    for (const tracer::NameEntry& name : names) {
        writer.name(name);
    }
    for (const tracer::EncodedDeclaration& declaration : declarations) {
        writer.declaration(declaration);
    }
    for_each_format(formats, of.formats.address + of.virt_minus_phys, [&writer](const tracer::FormatText& text) {
        writer.combined(trace::kCodeOf<"format_text">, text);
    });
    writer.simple(trace::kCodeOf<"numevents">, 0, begin.records);
    begin.preamble_slots = static_cast<std::uint32_t>(writer.slots());
    const std::size_t written = writer.slots() * tracer::kRecordBytes;
    const std::uint64_t empty = whole ? copy.missing : std::min<std::uint64_t>(copy.missing, 1);
    tracer::MetadataWriter(m_buffer, stamp).combined(trace::kCodeOf<"chunk_begin">, begin);
    m_begun = true;
    m_names_written = m_names.size();
    m_declarations_written = m_declarations.size();
    m_buffer.resize(written);
    m_buffer.resize(written + empty * tracer::kRecordBytes);
    return m_buffer;
}

std::span<const std::byte> ChunkImage::of_another_run() {
    m_other_run = true;
    ChunkCopy empty;
    empty.head.uses = 1;
    const auto whole = preamble(empty, false);
    std::size_t bytes = tracer::kRecordBytes; // of a preamble with only chunk_begin
    while (bytes < whole.size() &&
           tracer::decode_record(whole.subspan(bytes)).event_code() == trace::kCodeOf<"chunk_begin">) {
        bytes += tracer::kRecordBytes;
    }
    return whole.first(bytes);
}

} // namespace host::formats::memory
