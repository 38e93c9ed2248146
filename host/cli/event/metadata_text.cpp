// SPDX-License-Identifier: MIT
// The fields of metadata events for people.
#include "host/cli/event/event_text.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/trace/names.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/names/user_fields.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace host::cli {

namespace {

using trace::kCodeOf;

// The event carries the payload without its length word; the decoder wants both.
template <typename Payload>
lib::Result<Payload> decode(const trace::Event& event) {
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
    const std::size_t size = event.payload.size() + sizeof(std::uint16_t);
    lib::store_le(std::span(bytes), static_cast<std::uint16_t>(size));
    std::ranges::copy(event.payload, bytes.begin() + sizeof(std::uint16_t));
    return tracer::decode_payload<Payload>(std::span(bytes).first(size));
}

void append_fields(fmt::memory_buffer& out, const tracer::ChunkBegin& begin) {
    fmt::format_to(std::back_inserter(out),
                   " chunk={} cpu={} generation={} mode={} preamble={} records={} encoding={} events={} clock={} ({} "
                   "kHz, {}, {} ppm)"
                   " dropped={} refused={} overwritten={} boot={:016x}",
                   begin.chunk, begin.cpu, begin.generation, formats::dat::chunk_mode_name(begin.mode),
                   begin.preamble_slots, begin.records, formats::dat::encoding_name(begin), begin.events,
                   formats::dat::clock_mode_name(begin.clock_mode), begin.tsc_khz,
                   formats::dat::tsc_source_name(begin.tsc_source), begin.tsc_error_ppm, begin.dropped, begin.refused,
                   begin.overwritten, begin.boot_id);
}

void append_fields(fmt::memory_buffer& out, const tracer::Build& build) {
    append(out, " kernel=");
    append_escaped(out, build.kernel.view());
    append(out, " compiler=");
    append_escaped(out, build.compiler.view());
    append(out, " application=");
    append_escaped(out, build.application.view());
    fmt::format_to(std::back_inserter(out), " seed={} image={:016x}", build.seed, build.image_id);
}

void append_fields(fmt::memory_buffer& out, const tracer::TraceCost& cost) {
    const auto ticks = [](std::uint32_t ticks_x256) { return static_cast<double>(ticks_x256) / 256; };
    fmt::format_to(std::back_inserter(out), " enabled={:.2f} filtered={:.2f} disabled={:.2f} ticks, best of {} rounds",
                   ticks(cost.enabled_ticks_x256), ticks(cost.filtered_ticks_x256), ticks(cost.disabled_ticks_x256),
                   cost.rounds);
    if (cost.choice != tracer::LayoutChoice::plain) {
        fmt::format_to(std::back_inserter(out), " layout={} {} plain={:.2f} timer={}",
                       formats::dat::layout_name(cost.layout),
                       cost.choice == tracer::LayoutChoice::measured ? "by AUTO" : "as asked",
                       ticks(cost.plain_ticks_x256), cost.timer_ticks);
    }
}

void append_fields(fmt::memory_buffer& out, const tracer::TaskParameters& task) {
    fmt::format_to(std::back_inserter(out), " context={} level={} C={} T={} D={} Q={} offset={} ns", task.context,
                   task.level, task.wcet_ns, task.period_ns, task.deadline_ns, task.budget_ns, task.offset_ns);
}

void append_fields(fmt::memory_buffer& out, const tracer::ExportEnd& end) {
    fmt::format_to(std::back_inserter(out), " chunks={} records={} dropped={} refused={} overwritten={} result={}",
                   end.chunks, end.records, end.dropped, end.refused, end.overwritten,
                   formats::dat::run_result_name(end.result));
}

void append_fields(fmt::memory_buffer& out, const tracer::EventDeclaration& declaration) {
    fmt::format_to(std::back_inserter(out), " id={} name=", declaration.id);
    append_escaped(out, declaration.name.view());
    for (std::size_t i = 0; declaration.is_sensible() && i < declaration.field_count; ++i) {
        const tracer::FieldDeclaration& field = declaration.items[i];
        out.push_back(' ');
        append_escaped(out, field.name.view());
        out.push_back(':');
        append(out, tracer::kFieldTypeNames[static_cast<std::size_t>(field.type)]);
        if (field.detail != 0) {
            fmt::format_to(std::back_inserter(out), "({})", field.detail);
        }
        if (field.unit.size != 0) {
            out.push_back('/');
            append_escaped(out, field.unit.view());
        }
    }
}

void append_fields(fmt::memory_buffer& out, const tracer::NameOf& name) {
    fmt::format_to(std::back_inserter(out), " id={} name=", name.id);
    append_escaped(out, name.name.view());
}

template <typename Payload>
void append_decoded(fmt::memory_buffer& out, const trace::Event& event) {
    if (const auto payload = decode<Payload>(event); payload) {
        append_fields(out, payload.value());
    }
}

} // namespace

void append_metadata(fmt::memory_buffer& out, const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"chunk_begin">:
        append_decoded<tracer::ChunkBegin>(out, event);
        break;
    case kCodeOf<"build">:
        append_decoded<tracer::Build>(out, event);
        break;
    case kCodeOf<"trace_cost">:
        append_decoded<tracer::TraceCost>(out, event);
        break;
    case kCodeOf<"task_parameters">:
        append_decoded<tracer::TaskParameters>(out, event);
        break;
    case kCodeOf<"export_end">:
        append_decoded<tracer::ExportEnd>(out, event);
        break;
    case kCodeOf<"event_declaration">:
        append_decoded<tracer::EventDeclaration>(out, event);
        break;
    default:
        if (event.code == kCodeOf<"task_name"> ||
            std::ranges::find(trace::kNameEvents, event.code, &trace::NameEvent::code) != trace::kNameEvents.end()) {
            append_decoded<tracer::NameOf>(out, event);
        }
    }
}

} // namespace host::cli
