// SPDX-License-Identifier: MIT
#include "host/formats/memory/chunk_image.hpp"

#include "host/trace/facts.hpp"
#include "tracer/names/metadata_writer.hpp"
#include "tracer/record/chunk_flags.hpp"

#include <algorithm>
#include <string_view>

namespace host::formats::memory {

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

// More are announced as so many: a reader believes no header with 2^28 records.
constexpr std::uint64_t kMissingMax = 1U << 27;

tracer::ChunkBegin begin_of(const Descriptor& of, const ProcessorCounts& counts, const ChunkCopy& copy) {
    tracer::ChunkBegin begin;
    begin.chunk = static_cast<std::uint16_t>(copy.head.number);
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

// Each text ends with a zero; its number is the low half of its address, as the kernel's exporter has it.
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

// Slots of the longest event of each kind that a preamble holds.
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
        begin.generation = m_parts++; // no two images of one chunk are the same
    }
    begin.boot_id = m_other_run ? ~of.boot_id : of.boot_id;
    const lib::Ticks stamp = copy.stamp.value_or(lib::Ticks{});
    tracer::MetadataWriter writer(m_buffer, stamp);
    writer.combined(trace::kCodeOf<"chunk_begin">, begin);
    writer.combined(trace::kCodeOf<"build">,
                    tracer::Build{of.kernel, of.compiler, of.application, of.seed, of.image_id});
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
    for_each_format(formats, of.formats.address, [&writer](const tracer::FormatText& text) {
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
    std::size_t bytes = tracer::kRecordBytes; // of chunk_begin alone
    while (bytes < whole.size() &&
           tracer::decode_record(whole.subspan(bytes)).event_code() == trace::kCodeOf<"chunk_begin">) {
        bytes += tracer::kRecordBytes;
    }
    return whole.first(bytes);
}

} // namespace host::formats::memory
