// SPDX-License-Identifier: MIT
// Typed and formatted events for people and for scripts. Texts in them come from the machine and are escaped.
#include "host/cli/event/event_text.hpp"

#include "host/text/escape.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"

namespace host::cli {

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

// Numbers and booleans as such; what JSON has no number for (a fraction that is not finite, an address) as a string.
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
    json.begin_array("arguments");
    for (const trace::FieldValue& value : view->arguments.values()) {
        add_value(json, value);
    }
    json.end_array();
}

} // namespace host::cli
