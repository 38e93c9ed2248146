// SPDX-License-Identifier: MIT
// Writes events as words.
#include "convert/writer/event_words.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <iterator>
#include <utility>

namespace host::convert {

namespace {

using trace::ValueKind;
using tracer::Unit;

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

void append_separated(fmt::memory_buffer& out, std::string_view text) {
    if (out.size() != 0) {
        out.push_back(' ');
    }
    append(out, text);
}

void append_typed(fmt::memory_buffer& out, const trace::Event& event) {
    const auto view = trace::view_typed(event);
    if (!view) {
        append_separated(out, text::escaped(view.error().text));
        return;
    }
    const auto values = view->fields.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const tracer::FieldDeclaration& field = view->declaration->items[i];
        append_separated(out,
                         fmt::format("{}={}{}", text::escaped(field.name.view()),
                                     text::escaped(trace::value_text(values[i])), text::escaped(field.unit.view())));
    }
}

} // namespace

std::string formatted_text(const trace::Event& event) {
    const auto view = trace::view_formatted(event);
    if (!view) {
        return view.error().text;
    }
    if (auto text = trace::rendered(event, view.value())) {
        return std::move(*text);
    }
    std::string out = fmt::format("format {}:", view->id);
    for (const trace::FieldValue& value : view->arguments.values()) {
        out += ' ' + trace::value_text(value);
    }
    return out;
}

EventWords::EventWords(Encoding encoding)
    : m_encoding(encoding)
    , m_prepared(256) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        Prepared& prepared = m_prepared[row.code];
        const bool second = row.par1.unit != Unit::none;
        const bool fits = prepared.to_par1.set(fmt::format("{}=", row.par1.name)) &&
                          prepared.to_par2.set(fmt::format("{}{}=", second ? " " : "", row.par2.name));
        if (fits && row.shape == tracer::Shape::simple) {
            prepared.prepared = true;
            prepared.par1 = trace::kind_of(row.par1.unit);
            prepared.par2 = trace::kind_of(row.par2.unit);
        }
    }
}

std::string_view EventWords::of(const trace::Event& event) {
    if (const char* const end = put_short(m_short.data(), event); end != nullptr) {
        return {m_short.data(), end};
    }
    m_long.clear();
    append(m_long, event);
    encode(m_long);
    return {m_long.data(), m_long.size()};
}

[[gnu::flatten]] char* EventWords::put_short(char* at, const trace::Event& event) {
    const Prepared& prepared = m_prepared[event.code];
    if (!prepared.prepared || !event.is_sound() || event.row == nullptr || trace::is_foreign(event)) {
        return nullptr;
    }
    if (prepared.par1 != ValueKind::nothing) {
        at = put_value(prepared.to_par1.put(at), event, prepared.par1, event.row->par1.unit, event.par1);
    }
    if (prepared.par2 != ValueKind::nothing && at != nullptr) {
        at = put_value(prepared.to_par2.put(at), event, prepared.par2, event.row->par2.unit, event.par2);
    }
    return at;
}

char* EventWords::put_value(char* at, const trace::Event& event, ValueKind kind, Unit unit, std::uint32_t value) {
    if (kind == ValueKind::number) {
        return text::put_decimal(at, value);
    }
    const trace::ValueTexts::Text* const text = m_values.of(event, unit, value, [&](fmt::memory_buffer& out) {
        trace::append_digits_and_meaning(out, event, unit, value);
        encode(out);
    });
    return text != nullptr ? text->put(at) : nullptr;
}

void EventWords::encode(fmt::memory_buffer& text) const {
    if (m_encoding == Encoding::json) {
        const std::string encoded = text::json_encoded({text.data(), text.size()});
        text.clear();
        convert::append(text, encoded);
    }
}

void EventWords::append_parameter(fmt::memory_buffer& out, const trace::Event& event,
                                  const tracer::Parameter& parameter, std::uint32_t value) {
    if (parameter.unit != Unit::none) {
        append_separated(out, parameter.name);
        out.push_back('=');
        trace::append_digits_and_meaning(out, event, parameter.unit, value);
    }
}

void EventWords::append(fmt::memory_buffer& out, const trace::Event& event) {
    if (!event.is_sound()) {
        append_separated(out, fmt::format("{} code=0x{:04x} par1={} par2={}", trace::state_name(event.state),
                                          event.raw_code, event.par1, event.par2));
    } else if (trace::is_foreign(event)) {
        for (const std::uint32_t word : event.words) {
            append_separated(out, fmt::format("0x{:x}", word));
        }
    } else if (event.is(trace::kCodeOf<"typed_event">)) {
        append_typed(out, event);
    } else if (event.is(trace::kCodeOf<"formatted_event">)) {
        append_separated(out, text::escaped(formatted_text(event)));
    } else if (event.row == nullptr) {
        append_separated(out, fmt::format("code=0x{:02x} par1={} par2={}", event.code, event.par1, event.par2));
    } else {
        append_parameter(out, event, event.row->par1, event.par1);
        append_parameter(out, event, event.row->par2, event.par2);
    }
}

} // namespace host::convert
