// SPDX-License-Identifier: MIT
// Typed and formatted events for people and for scripts. Texts in them come from the machine and are escaped.
#include "host/cli/event_text.hpp"

#include "host/trace/kernel_image.hpp"
#include "host/trace/names.hpp"
#include "host/trace/user_event.hpp"

namespace host::cli {

namespace {

using tracer::FieldType;

std::string text_of(const trace::FieldValue& value) {
    fmt::memory_buffer text;
    trace::append_value(text, value);
    return {text.data(), text.size()};
}

bool is_quoted(const trace::FieldValue& value) {
    return value.type == FieldType::text || value.type == FieldType::character;
}

void append_shown(fmt::memory_buffer& out, const trace::FieldValue& value) {
    const std::string_view quote = is_quoted(value) ? "\"" : "";
    append(out, quote);
    append_escaped(out, text_of(value));
    append(out, quote);
}

// Numbers and booleans as such; what JSON has no number for (a fraction that is not finite, an address) as a string.
void append_json_value(fmt::memory_buffer& out, const trace::FieldValue& value) {
    const std::string text = text_of(value);
    const bool number = !is_quoted(value) && value.type != FieldType::pointer &&
                        text.find_first_of("in") == std::string::npos; // inf, nan
    if (number || value.type == FieldType::boolean) {
        append(out, text);
    } else {
        append_json_string(out, text);
    }
}

template <typename Each>
void append_list(fmt::memory_buffer& out, std::string_view key, char open, char close, std::size_t count, Each each) {
    append(out, ",\"");
    append(out, key);
    append(out, "\":");
    out.push_back(open);
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) {
            out.push_back(',');
        }
        each(i);
    }
    out.push_back(close);
}

std::optional<std::string> rendered(const trace::Event& event, const trace::FormattedEventView& view) {
    const std::string* const format = event.image != nullptr ? event.image->format(view.id) : nullptr;
    return format != nullptr ? trace::render(*format, view.arguments.values()) : std::nullopt;
}

} // namespace

void append_user_event(fmt::memory_buffer& out, const trace::Event& event) {
    std::string why;
    if (event.is(trace::kCodeOf<"typed_event">)) {
        const auto view = trace::view_typed(event, why);
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
    const auto view = trace::view_formatted(event, why);
    if (!view) {
        return;
    }
    out.push_back(' ');
    if (const auto text = rendered(event, *view)) {
        append_escaped(out, *text);
        return;
    }
    append(out, fmt::format("format={}", view->id));
    for (const trace::FieldValue& value : view->arguments.values()) {
        out.push_back(' ');
        append_shown(out, value);
    }
}

void append_user_event_json(fmt::memory_buffer& out, const trace::Event& event) {
    std::string why;
    if (event.is(trace::kCodeOf<"typed_event">)) {
        const auto view = trace::view_typed(event, why);
        if (!view) {
            return;
        }
        const auto& declaration = *view->declaration;
        const auto values = view->fields.values();
        append(out, ",\"name\":");
        append_json_string(out, declaration.name.view());
        append_list(out, "fields", '{', '}', values.size(), [&](std::size_t i) {
            append_json_string(out, declaration.items[i].name.view());
            out.push_back(':');
            append_json_value(out, values[i]);
        });
        append_list(out, "units", '{', '}', values.size(), [&](std::size_t i) {
            append_json_string(out, declaration.items[i].name.view());
            out.push_back(':');
            append_json_string(out, declaration.items[i].unit.view());
        });
        return;
    }
    const auto view = trace::view_formatted(event, why);
    if (!view) {
        return;
    }
    append(out, fmt::format(",\"format\":{},\"text\":", view->id));
    if (const auto text = rendered(event, *view)) {
        append_json_string(out, *text);
    } else {
        append(out, "null");
    }
    const auto values = view->arguments.values();
    append_list(out, "arguments", '[', ']', values.size(), [&](std::size_t i) { append_json_value(out, values[i]); });
}

} // namespace host::cli
