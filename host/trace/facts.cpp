// SPDX-License-Identifier: MIT
#include "host/trace/facts.hpp"

#include "tracer/names/metadata.hpp"

#include <algorithm>

namespace host::trace {

namespace {

// Decodes the payload and hands it over.
template <typename Payload, typename Use>
bool decode(std::span<const std::byte> payload_untrusted, Use use) {
    const auto payload = tracer::decode_payload<Payload>(payload_untrusted);
    if (payload) {
        use(payload.value());
    }
    return payload.ok();
}

} // namespace

bool take_metadata(std::uint8_t code, std::span<const std::byte> payload_untrusted, TraceFacts& facts,
                   Names* chunk_names) {
    const auto for_names = [&](auto use) {
        use(facts.names);
        if (chunk_names != nullptr) {
            use(*chunk_names);
        }
    };
    switch (code) {
    case kCodeOf<"build">:
        return decode<tracer::Build>(payload_untrusted, [&](const tracer::Build& build) { facts.build = build; });
    case kCodeOf<"trace_cost">:
        return decode<tracer::TraceCost>(payload_untrusted, [&](const tracer::TraceCost& cost) {
            if (cost.rounds != 0) { // else it was never measured
                facts.cost = cost;
            }
        });
    case kCodeOf<"export_end">:
        return decode<tracer::ExportEnd>(payload_untrusted,
                                         [&](const tracer::ExportEnd& end) { facts.export_end = end; });
    case kCodeOf<"task_parameters">:
        return decode<tracer::TaskParameters>(payload_untrusted, [&](const tracer::TaskParameters& parameters) {
            for_names([&](Names& names) { names.set_parameters(parameters); });
        });
    case kCodeOf<"format_text">:
        return decode<tracer::FormatText>(payload_untrusted, [&](const tracer::FormatText& format) {
            for_names([&](Names& names) { names.set_format(format.id, format.text); });
        });
    case kCodeOf<"event_declaration">: {
        const auto declaration = tracer::decode_payload<tracer::EventDeclaration>(payload_untrusted);
        if (!declaration || !declaration.value().is_sensible()) {
            return false;
        }
        for_names([&](Names& names) { names.declare(declaration.value()); });
        return true;
    }
    default:
        break;
    }
    const auto* const row = std::ranges::find(kNameEvents, code, &NameEvent::code);
    if (row == kNameEvents.end() && code != kCodeOf<"task_name">) {
        return true; // it says nothing here
    }
    const tracer::Unit unit = row != kNameEvents.end() ? row->unit : tracer::Unit::context;
    return decode<tracer::NameOf>(payload_untrusted, [&](const tracer::NameOf& of) {
        for_names([&](Names& names) { names.set(unit, of.id, of.name.view()); });
    });
}

} // namespace host::trace
