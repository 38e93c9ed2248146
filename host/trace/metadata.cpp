// SPDX-License-Identifier: MIT
#include "host/trace/metadata.hpp"

#include "tracer/metadata.hpp"

#include <algorithm>

namespace host::trace {

namespace {

// Decodes the payload and hands it over; invalid if it cannot be decoded.
template <typename Payload, typename Use>
MetadataOutcome decode(std::span<const std::byte> payload_untrusted, Use use) {
    const auto payload = tracer::decode_payload<Payload>(payload_untrusted);
    if (!payload) {
        return MetadataOutcome::invalid;
    }
    use(payload.value());
    return MetadataOutcome::taken;
}

// Into the names of the trace and those of the chunk.
template <typename Payload, typename Use>
MetadataOutcome decode_names(std::span<const std::byte> payload_untrusted, TraceFacts& facts, Names* chunk_names,
                             Use use) {
    return decode<Payload>(payload_untrusted, [&](const Payload& payload) {
        use(facts.names, payload);
        if (chunk_names != nullptr) {
            use(*chunk_names, payload);
        }
    });
}

} // namespace

MetadataOutcome take_metadata(std::uint8_t code, std::span<const std::byte> payload_untrusted, TraceFacts& facts,
                              Names* chunk_names) {
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
        return decode_names<tracer::TaskParameters>(
            payload_untrusted, facts, chunk_names,
            [](Names& names, const tracer::TaskParameters& parameters) { names.set_parameters(parameters); });
    case kCodeOf<"event_declaration">: {
        const auto declaration = tracer::decode_payload<tracer::EventDeclaration>(payload_untrusted);
        if (!declaration || !declaration.value().is_sensible()) {
            return MetadataOutcome::invalid;
        }
        facts.names.declare(declaration.value());
        if (chunk_names != nullptr) {
            chunk_names->declare(declaration.value());
        }
        return MetadataOutcome::taken;
    }
    default:
        break;
    }
    const auto* const row = std::ranges::find(kNameEvents, code, &NameEvent::code);
    if (row == kNameEvents.end() && code != kCodeOf<"task_name">) {
        return MetadataOutcome::taken;
    }
    const tracer::Unit unit = row != kNameEvents.end() ? row->unit : tracer::Unit::context;
    return decode_names<tracer::NameOf>(
        payload_untrusted, facts, chunk_names,
        [unit](Names& names, const tracer::NameOf& of) { names.set(unit, of.id, of.name.view()); });
}

} // namespace host::trace
