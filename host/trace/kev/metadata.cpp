// SPDX-License-Identifier: MIT
// What the metadata of our own files says: names, parameters, the build, the totals.
#include "host/trace/kev/kev_stream.hpp"

#include "host/trace/name_events.hpp"

#include <array>
#include <fmt/format.h>

namespace host::trace::kev {

void KevStream::take_payload(const Event& event, std::span<const std::byte> payload) {
    bool decoded = true;
    const auto take = [&](auto&& result, auto&& use) {
        decoded = result.ok();
        if (decoded) {
            use(result.value());
        }
    };
    switch (event.code) {
    case kCodeOf<"build">:
        take(tracer::decode_payload<tracer::Build>(payload),
             [this](const tracer::Build& build) { m_facts.build = build; });
        break;
    case kCodeOf<"trace_cost">:
        take(tracer::decode_payload<tracer::TraceCost>(payload),
             [this](const tracer::TraceCost& cost) { m_facts.cost = cost; });
        break;
    case kCodeOf<"export_end">:
        take(tracer::decode_payload<tracer::ExportEnd>(payload),
             [this](const tracer::ExportEnd& end) { m_facts.export_end = end; });
        break;
    case kCodeOf<"task_parameters">:
        take(tracer::decode_payload<tracer::TaskParameters>(payload),
             [this](const tracer::TaskParameters& parameters) { m_facts.names.set_parameters(parameters); });
        break;
    case kCodeOf<"event_declaration">:
        take(tracer::decode_payload<tracer::EventDeclaration>(payload),
             [&](const tracer::EventDeclaration& declaration) {
                 decoded = declaration.is_sensible();
                 if (decoded) {
                     m_facts.names.declare(declaration);
                 }
             });
        break;
    default:
        for (const NameEvent& row : kNameEvents) {
            if (row.code == event.code) {
                take(tracer::decode_payload<tracer::NameOf>(payload),
                     [&](const tracer::NameOf& of) { m_facts.names.set(row.unit, of.id, of.name.view()); });
            }
        }
    }
    if (!decoded) {
        m_diagnostics.report(Code::metadata, {.file = m_name, .offset_bytes = event.offset_bytes},
                             fmt::format("{}: its fields cannot be read", event.row->name));
    }
}

} // namespace host::trace::kev
