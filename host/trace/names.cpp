// SPDX-License-Identifier: MIT
#include "host/trace/names.hpp"

#include "host/trace/facts.hpp"
#include "lib/endian.hpp"
#include "tracer/names/metadata.hpp"

#include <algorithm>
#include <atomic>

namespace host::trace {

namespace {

// Holds each unit's row, indexed by the unit's number, because converters look up each of 65,536 numbers.
constexpr auto kRows = [] {
    constexpr auto kUnits = static_cast<std::size_t>(std::ranges::max(kNameEvents, {}, &NameEvent::unit).unit) + 1;
    std::array<std::size_t, kUnits> rows{};
    rows.fill(kNameEvents.size());
    for (std::size_t row = 0; row < kNameEvents.size(); ++row) {
        rows[static_cast<std::size_t>(kNameEvents[row].unit)] = row;
    }
    return rows;
}();

// Returns the row of the unit's table, or the number of tables if there is none.
std::size_t row_of(tracer::Unit unit) {
    const auto number = static_cast<std::size_t>(unit);
    return number < kRows.size() ? kRows[number] : kNameEvents.size();
}

} // namespace

const Names::Table* Names::entries(tracer::Unit unit) const {
    const std::size_t row = row_of(unit);
    return row < kNameEvents.size() ? &m_content->tables[row] : nullptr;
}

std::string_view Names::find(tracer::Unit unit, std::uint32_t value) const {
    if (value > 0xFFFF) {
        return {};
    }
    const auto id = static_cast<std::uint16_t>(value);
    if (unit == tracer::Unit::context) {
        const TaskNames* const known = task(id);
        return known != nullptr ? std::string_view(known->name) : std::string_view();
    }
    const Table* const names = entries(unit);
    if (names == nullptr) {
        return {};
    }
    const auto entry = names->find(id);
    return entry != names->end() ? std::string_view(entry->second) : std::string_view();
}

const TaskNames* Names::task(std::uint16_t context) const {
    const auto entry = m_content->tasks.find(context);
    return entry != m_content->tasks.end() ? &entry->second : nullptr;
}

std::uint64_t Names::next_version() {
    static std::atomic<std::uint64_t> latest{0};
    return latest.fetch_add(1, std::memory_order_relaxed) + 1;
}

const std::shared_ptr<Names::Content>& Names::no_content() {
    static const auto content = std::make_shared<Content>();
    return content;
}

Names::Content& Names::own() {
    m_version = next_version();
    if (m_content.use_count() != 1) {
        m_content = std::make_shared<Content>(*m_content);
    }
    // The last other copy may have belonged to another thread: its reads must happen before the change that follows.
    std::atomic_thread_fence(std::memory_order_acquire);
    return *m_content;
}

void Names::set(tracer::Unit unit, std::uint16_t id, std::string_view name) {
    if (unit == tracer::Unit::context) {
        if (task(id) == nullptr || task(id)->name != name) {
            own().tasks[id].name = name;
        }
        return;
    }
    const Table* const table = entries(unit);
    if (table != nullptr && (!table->contains(id) || table->at(id) != name)) {
        own().tables[row_of(unit)][id] = name;
    }
}

void Names::set_format(std::uint32_t id, std::string_view text) {
    const auto known = formats().find(id);
    if (known == formats().end() || known->second != text) {
        own().formats[id] = text;
    }
}

void Names::set_pid(std::uint16_t context, std::uint32_t pid) {
    const TaskNames* const known = task(context);
    if (known == nullptr || known->pid != pid) {
        own().tasks[context].pid = pid;
    }
}

std::optional<lib::LevelKind> Names::level_kind(std::uint16_t level) const {
    const auto found = m_content->level_kinds.find(level);
    return found != m_content->level_kinds.end() ? std::optional(found->second) : std::nullopt;
}

void Names::set_level_kind(std::uint16_t level, std::uint8_t kind_untrusted) {
    const auto kind = lib::number_from<lib::LevelKind>(kind_untrusted);
    if (kind && level_kind(level) != kind) {
        own().level_kinds[level] = *kind;
    }
}

void Names::set_parameters(const tracer::TaskParameters& parameters) {
    const TaskNames* const known = task(parameters.context);
    if (known == nullptr || known->parameters != parameters) {
        own().tasks[parameters.context].parameters = parameters;
    }
}

const tracer::EventDeclaration* Names::declaration(std::uint16_t id) const {
    const auto entry = declarations().find(id);
    return entry != declarations().end() ? entry->second.get() : nullptr;
}

void Names::declare(const tracer::EventDeclaration& declaration) {
    const tracer::EventDeclaration* const known = this->declaration(declaration.id);
    if (known == nullptr || *known != declaration) {
        own().declarations[declaration.id] = std::make_shared<const tracer::EventDeclaration>(declaration);
    }
}

// --- event -----------------------------------------------------------------------------------------------------------

std::string_view event_name(const Event& event) {
    if (event.origin != Origin::record && !event.foreign_name.empty()) {
        return event.foreign_name;
    }
    if (event.is(kCodeOf<"typed_event">) && event.payload.size() >= sizeof(std::uint16_t)) {
        const auto id = lib::load_le<std::uint16_t>(event.payload);
        if (const auto* const declaration = event.names->declaration(id); declaration != nullptr) {
            return declaration->name.view();
        }
    }
    return event.row != nullptr ? event.row->name : "unknown";
}

// --- metadata --------------------------------------------------------------------------------------------------------

namespace {

// Decodes the payload and passes it to `use`. Returns false if it cannot be decoded.
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
        if (chunk_names != nullptr) {
            change_both(facts.names, *chunk_names, use);
        } else {
            use(facts.names);
        }
    };
    switch (code) {
    case kCodeOf<"build">:
        return decode<tracer::Build>(payload_untrusted, [&](const tracer::Build& build) { facts.build = build; });
    case kCodeOf<"trace_cost">:
        return decode<tracer::TraceCost>(payload_untrusted, [&](const tracer::TraceCost& cost) {
            if (cost.rounds != 0) { // a cost of 0 rounds was never measured
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
        return true; // the event says nothing about the machine
    }
    const tracer::Unit unit = row != kNameEvents.end() ? row->unit : tracer::Unit::context;
    return decode<tracer::NameOf>(payload_untrusted, [&](const tracer::NameOf& of) {
        for_names([&](Names& names) {
            names.set(unit, of.id, of.name.view());
            if (unit == tracer::Unit::level) {
                names.set_level_kind(of.id, of.kind);
            }
        });
    });
}

} // namespace host::trace
