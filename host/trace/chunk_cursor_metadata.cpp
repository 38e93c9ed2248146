// SPDX-License-Identifier: MIT
// What the metadata in front of a chunk tells: the chunk itself, the clock, the build, the names.
#include "host/trace/chunk_cursor.hpp"

#include <fmt/format.h>

namespace host::trace {

void ChunkCursor::take_metadata(const Event& event, std::span<const std::byte> payload) {
    bool decoded = true;
    const auto take = [&](auto&& result, auto&& use) {
        decoded = result.ok();
        if (decoded) {
            use(result.value());
        }
    };
    const auto name = [&](tracer::Unit unit) {
        take(tracer::decode_payload<tracer::NameOf>(payload), [&](const tracer::NameOf& of) {
            m_names.set(unit, of.id, of.name.view());
            m_facts.names.set(unit, of.id, of.name.view());
        });
    };
    switch (event.code) {
    case kCodeOf<"chunk_begin">:
        take(tracer::decode_payload<tracer::ChunkBegin>(payload),
             [this](const tracer::ChunkBegin& description) { take_description(description); });
        break;
    case kCodeOf<"build">:
        take(tracer::decode_payload<tracer::Build>(payload),
             [this](const tracer::Build& build) { m_facts.build = build; });
        break;
    case kCodeOf<"trace_cost">:
        take(tracer::decode_payload<tracer::TraceCost>(payload), [this](const tracer::TraceCost& cost) {
            if (cost.rounds != 0) {
                m_facts.cost = cost;
            }
        });
        break;
    case kCodeOf<"export_end">:
        take(tracer::decode_payload<tracer::ExportEnd>(payload),
             [this](const tracer::ExportEnd& end) { m_facts.export_end = end; });
        break;
    case kCodeOf<"task_parameters">:
        take(tracer::decode_payload<tracer::TaskParameters>(payload), [this](const tracer::TaskParameters& parameters) {
            m_names.set_parameters(parameters);
            m_facts.names.set_parameters(parameters);
        });
        break;
    case kCodeOf<"event_declaration">:
        take(tracer::decode_payload<tracer::EventDeclaration>(payload),
             [&](const tracer::EventDeclaration& declaration) {
                 decoded = declaration.is_sensible();
                 if (decoded) {
                     m_names.declare(declaration);
                     m_facts.names.declare(declaration);
                 }
             });
        break;
    case kCodeOf<"task_name">:
        name(tracer::Unit::context);
        break;
    case kCodeOf<"interrupt_name">:
        name(tracer::Unit::vector);
        break;
    case kCodeOf<"mutex_name">:
        name(tracer::Unit::mutex);
        break;
    case kCodeOf<"semaphore_name">:
        name(tracer::Unit::semaphore);
        break;
    case kCodeOf<"server_name">:
        name(tracer::Unit::server);
        break;
    case kCodeOf<"level_name">:
        name(tracer::Unit::level);
        break;
    case kCodeOf<"condition_name">:
        name(tracer::Unit::condition);
        break;
    case kCodeOf<"port_name">:
        name(tracer::Unit::port);
        break;
    default:
        break;
    }
    if (!decoded) {
        report(Code::metadata, event.offset_bytes,
               fmt::format("{} cannot be decoded: a field is cut or makes no sense", event.row->name));
    }
}

void ChunkCursor::take_description(const tracer::ChunkBegin& description) {
    ChunkReport& mine = chunk();
    const std::uint64_t own_slots = m_next_index;
    if (description.format_version > tracer::kFormatVersion) {
        report(Code::version, m_first.offset_bytes,
               fmt::format("format version {} is newer than {}: chunk skipped", description.format_version,
                           tracer::kFormatVersion));
        m_skip_chunk = true;
        return;
    }
    if (m_first.index != 0 || description.preamble_slots < own_slots) {
        report(Code::count, m_first.offset_bytes, "the chunk's header contradicts itself: chunk skipped");
        m_skip_chunk = true;
        return;
    }
    const std::uint64_t stream_slots = tracer::stream_slots(description);
    if (description.encoding > tracer::Encoding::compact || stream_slots > description.records) {
        report(Code::compact, m_first.offset_bytes,
               description.encoding > tracer::Encoding::compact
                   ? fmt::format("encoding {} is not known: chunk skipped", static_cast<unsigned>(description.encoding))
                   : fmt::format("a compact stream of {} bytes does not fit into {} pieces of 16: chunk skipped",
                                 description.compact_bytes, description.records));
        m_skip_chunk = true;
        return;
    }
    if (m_facts.boot_id && *m_facts.boot_id != description.boot_id) {
        report(Code::boot, m_first.offset_bytes,
               fmt::format("the chunk is of another run (boot {:016x}, not {:016x}): chunk skipped",
                           description.boot_id, *m_facts.boot_id));
        m_skip_chunk = true;
        return;
    }
    m_facts.boot_id = description.boot_id;
    mine.described = true;
    mine.description = description;
    mine.preamble = own_slots;
    mine.records = 0;
    mine.events = 0;
    m_facts.clock.source = description.tsc_source;
    m_facts.clock.mode = description.clock_mode;
    m_facts.clock.error_ppm = description.tsc_error_ppm;
    take_rate(description.tsc_khz, m_first.offset_bytes);
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
