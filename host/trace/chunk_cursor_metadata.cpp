// SPDX-License-Identifier: MIT
// What the metadata in front of a chunk tells: the build, the names. chunk_begin: see chunk_cursor_header.cpp.
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
        lose_header();
    }
}

void ChunkCursor::take_blackout(const Event& event) {
    ChunkReport& mine = chunk();
    mine.in_blackout = event.code == kCodeOf<"blackout_start">;
    mine.blackout += mine.in_blackout ? 0 : event.par2;
}

} // namespace host::trace
