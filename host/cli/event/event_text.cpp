// SPDX-License-Identifier: MIT
#include "host/cli/event/event_text.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/names/user_fields.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace host::cli {

namespace {

constexpr std::size_t kTimeWidth = 13;
constexpr std::size_t kNameWidth = 21;

template <typename Integer>
void append_number(fmt::memory_buffer& out, Integer value, std::size_t width = 0) {
    std::array<char, text::kNumberMax> digits{};
    const char* const end = text::put_number(digits.data(), value);
    for (auto size = static_cast<std::size_t>(end - digits.data()); size < width; ++size) {
        out.push_back(' ');
    }
    out.append(static_cast<const char*>(digits.data()), end);
}

bool is_harmless(char character) {
    return character >= 0x20 && character < 0x7F && character != '\\';
}

void append_parameter(fmt::memory_buffer& out, const trace::Event& event, const tracer::Parameter& parameter,
                      std::uint32_t value) {
    if (parameter.unit == tracer::Unit::none) {
        return;
    }
    out.push_back(' ');
    append(out, parameter.name);
    out.push_back('=');
    trace::append_digits_and_meaning(out, event, parameter.unit, value);
}

void append_time(fmt::memory_buffer& out, const trace::Event& event, TimeUnit unit) {
    if (event.metadata) {
        out.append(std::string_view("            -   "));
    } else if (unit == TimeUnit::nanoseconds && event.timed) {
        append_number(out, event.time_ns, kTimeWidth);
        append(out, " ns");
    } else {
        append_number(out, event.ticks.value, kTimeWidth);
        append(out, " ticks");
    }
}

} // namespace

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

void append_escaped(fmt::memory_buffer& out, std::string_view text_untrusted) {
    if (std::ranges::all_of(text_untrusted, is_harmless) && text_untrusted.size() <= text::kEscapedInputMax) {
        append(out, text_untrusted);
    } else {
        append(out, text::escaped(text_untrusted));
    }
}

void append_line(fmt::memory_buffer& out, const trace::Event& event, TimeUnit unit, trace::OptionalTask task) {
    append_time(out, event, unit);
    append(out, "  cpu");
    append_number(out, event.cpu);
    append(out, "  ");
    const std::string_view name = trace::event_name(event);
    append_escaped(out, name);
    for (std::size_t i = name.size(); i < kNameWidth - 1; ++i) {
        out.push_back(' ');
    }
    if (event.state != trace::EventState::ok) {
        out.push_back(' ');
        append(out, trace::state_name(event.state));
    }
    if (trace::is_foreign(event)) {
        append_foreign(out, event);
        out.push_back('\n');
        return;
    }
    if (task) {
        append(out, " context=");
        trace::append_digits_and_meaning(out, event, tracer::Unit::context, *task);
    }
    const bool raw = event.row == nullptr || !event.is_sound();
    if (raw) {
        fmt::format_to(std::back_inserter(out), " code=0x{:04x} par1=0x{:x} par2=0x{:x}", event.raw_code, event.par1,
                       event.par2);
    } else if (event.row->family() == tracer::Family::typed && event.row->shape == tracer::Shape::combined) {
        append_user_event(out, event);
    } else if (event.row->shape == tracer::Shape::combined) {
        append_metadata(out, event);
    } else {
        append_parameter(out, event, event.row->par1, event.par1);
        append_parameter(out, event, event.row->par2, event.par2);
    }
    out.push_back('\n');
}

// --- other systems ---------------------------------------------------------------------------------------------------

// Events of .kev and tlog files are shown by class, number and words if our table has no row for them.

void append_foreign(fmt::memory_buffer& out, const trace::Event& event) {
    if (event.origin == trace::Origin::kev) {
        fmt::format_to(std::back_inserter(out), " class={} event={}", event.event_class, event.number);
        for (const std::uint32_t word : event.words) {
            fmt::format_to(std::back_inserter(out), " 0x{:08x}", word);
        }
        return;
    }
    fmt::format_to(std::back_inserter(out), " log_type={}", event.number);
    if (event.words.size() == 2) {
        fmt::format_to(std::back_inserter(out), " arg1={} arg2={}", event.words[0],
                       static_cast<std::int32_t>(event.words[1]));
    }
}

void add_foreign(text::JsonText& json, const trace::Event& event) {
    json.member("class", event.event_class);
    json.member("number", event.number);
    json.member("state", trace::state_name(event.state));
    json.array("words", event.words, [&](const std::uint32_t word) { json.value(word); });
}

// --- metadata --------------------------------------------------------------------------------------------------------

namespace {

using trace::kCodeOf;

// The event has the payload without its length word, and the decoder needs both.
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

// --- events of the user ----------------------------------------------------------------------------------------------

// Typed and formatted events are shown for people and for scripts. Their texts come from the machine and are escaped.

namespace {

using tracer::FieldType;

bool is_quoted(const trace::FieldValue& value) {
    return value.type == FieldType::text || value.type == FieldType::character;
}

void append_shown(fmt::memory_buffer& out, const trace::FieldValue& value) {
    const std::string_view quote = is_quoted(value) ? "\"" : "";
    append(out, quote);
    append_escaped(out, trace::value_text(value));
    append(out, quote);
}

// Writes numbers and booleans as such, and values that JSON cannot represent (a fraction that is not finite, an
// address) as a string.
void add_value(text::JsonText& json, const trace::FieldValue& value) {
    const std::string text = trace::value_text(value);
    const bool number = !is_quoted(value) && value.type != FieldType::pointer &&
                        text.find_first_of("in") == std::string::npos; // inf, nan
    if (number || value.type == FieldType::boolean) {
        json.plain(text);
    } else {
        json.value(text::escaped(text));
    }
}

void add_typed(text::JsonText& json, const trace::TypedEventView& view) {
    const tracer::EventDeclaration& declaration = *view.declaration;
    const auto values = view.fields.values();
    json.member("name", text::escaped(declaration.name.view()));
    json.begin_object("fields");
    for (std::size_t i = 0; i < values.size(); ++i) {
        json.key(text::escaped(declaration.items[i].name.view()));
        add_value(json, values[i]);
    }
    json.end_object();
    json.begin_object("units");
    for (std::size_t i = 0; i < values.size(); ++i) {
        json.member(text::escaped(declaration.items[i].name.view()), text::escaped(declaration.items[i].unit.view()));
    }
    json.end_object();
}

} // namespace

void append_user_event(fmt::memory_buffer& out, const trace::Event& event) {
    if (event.is(trace::kCodeOf<"typed_event">)) {
        const auto view = trace::view_typed(event);
        for (std::size_t i = 0; view && i < view->fields.values().size(); ++i) {
            const tracer::FieldDeclaration& field = view->declaration->items[i];
            out.push_back(' ');
            append_escaped(out, field.name.view());
            out.push_back('=');
            append_shown(out, view->fields.values()[i]);
            if (field.unit.size != 0) {
                out.push_back(' ');
                append_escaped(out, field.unit.view());
            }
        }
        return;
    }
    const auto view = trace::view_formatted(event);
    if (!view) {
        return;
    }
    out.push_back(' ');
    if (const auto text = trace::rendered(event, view.value())) {
        append_escaped(out, *text);
        return;
    }
    append(out, fmt::format("format={}", view->id));
    for (const trace::FieldValue& value : view->arguments.values()) {
        out.push_back(' ');
        append_shown(out, value);
    }
}

void add_user_event(text::JsonText& json, const trace::Event& event) {
    if (event.is(trace::kCodeOf<"typed_event">)) {
        if (const auto view = trace::view_typed(event)) {
            add_typed(json, view.value());
        }
        return;
    }
    const auto view = trace::view_formatted(event);
    if (!view) {
        return;
    }
    json.member("format", view->id);
    const auto text = trace::rendered(event, view.value());
    json.member("text", text ? std::optional(text::escaped(*text)) : std::nullopt);
    json.array("arguments", view->arguments.values(), [&](const trace::FieldValue& value) { add_value(json, value); });
}

} // namespace host::cli
