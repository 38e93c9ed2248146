// SPDX-License-Identifier: MIT
// Events as words.
#include "host/convert/event_words.hpp"

#include "host/trace/digits.hpp"
#include "host/trace/escape.hpp"
#include "host/trace/formats.hpp"
#include "host/trace/names.hpp"
#include "host/trace/user_event.hpp"

#include <iterator>
#include <span>
#include <utility>

namespace host::convert {

namespace {

using tracer::Unit;

std::string_view word_of(std::span<const std::string_view> words, std::uint32_t value) {
    return value < words.size() ? words[value] : std::string_view();
}

// Whose table names what a task waits for, by the kind of the wait.
constexpr std::array<Unit, 9> kWaitUnits = {Unit::none, Unit::semaphore, Unit::none, Unit::condition, Unit::port,
                                            Unit::port, Unit::none,      Unit::none, Unit::mutex};
static_assert(kWaitUnits.size() == tracer::kWaitNames.size());

std::string wait_words(const trace::Event& event, std::uint32_t word) {
    const std::uint32_t kind = word >> 16;
    const std::uint32_t object = word & 0xFFFF;
    std::string text(word_of(tracer::kWaitNames, kind));
    const Unit unit = kind < kWaitUnits.size() ? kWaitUnits[kind] : Unit::none;
    const std::string_view name = event.names->find(unit, object);
    if (!name.empty()) {
        text += fmt::format(" {}", trace::escaped(name));
    } else if (object != 0) {
        text += fmt::format(" {}", object);
    }
    return text;
}

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

void append_separated(fmt::memory_buffer& out, std::string_view text) {
    if (out.size() != 0) {
        out.push_back(' ');
    }
    append(out, text);
}

// "3 (sensor)": the digits, and what they stand for.
void append_value(fmt::memory_buffer& out, const trace::Event& event, Unit unit, std::uint32_t value) {
    const bool hex = unit == Unit::pointer || unit == Unit::hexadecimal;
    hex ? fmt::format_to(std::back_inserter(out), "0x{:x}", value)
        : fmt::format_to(std::back_inserter(out), "{}", value);
    if (const std::string text = meaning_of(event, unit, value); !text.empty()) {
        append(out, " (");
        append(out, text);
        out.push_back(')');
    }
}

std::string value_text(const trace::FieldValue& value) {
    fmt::memory_buffer text;
    trace::append_value(text, value);
    return trace::escaped({text.data(), text.size()});
}

void append_typed(fmt::memory_buffer& out, const trace::Event& event) {
    std::string why;
    const auto view = trace::view_typed(event, why);
    if (!view) {
        append_separated(out, trace::escaped(why));
        return;
    }
    const auto values = view->fields.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const tracer::FieldDeclaration& field = view->declaration->items[i];
        append_separated(out, fmt::format("{}={}{}", trace::escaped(field.name.view()), value_text(values[i]),
                                          trace::escaped(field.unit.view())));
    }
}

} // namespace

std::string meaning_of(const trace::Event& event, Unit unit, std::uint32_t value) {
    if (unit == Unit::wait) {
        return wait_words(event, value);
    }
    if (unit == Unit::exception) {
        return fmt::format("{}, {}", word_of(tracer::kExceptionNames, value >> 16),
                           word_of(tracer::kReactionNames, value & 0xFFFF));
    }
    if (unit == Unit::protocol) {
        return std::string(word_of(tracer::kProtocolNames, value));
    }
    if (unit == Unit::server_kind) {
        return std::string(word_of(tracer::kServerKindNames, value));
    }
    return trace::escaped(event.names->find(unit, value));
}

std::string formatted_text(const trace::Event& event) {
    std::string why;
    const auto view = trace::view_formatted(event, why);
    if (!view) {
        return why;
    }
    const std::string* const format = event.formats != nullptr ? event.formats->find(view->id) : nullptr;
    if (format != nullptr) {
        if (auto text = trace::render(*format, view->arguments.values())) {
            return std::move(*text);
        }
    }
    fmt::memory_buffer out;
    append(out, fmt::format("format {}:", view->id));
    for (const trace::FieldValue& value : view->arguments.values()) {
        out.push_back(' ');
        trace::append_value(out, value);
    }
    return {out.data(), out.size()};
}

EventWords::EventWords()
    : m_prepared(256) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        Prepared& prepared = m_prepared[row.code];
        const bool second = row.par1.unit != Unit::none;
        const bool fits = prepared.to_par1.set(fmt::format("{}=", row.par1.name)) &&
                          prepared.to_par2.set(fmt::format("{}{}=", second ? " " : "", row.par2.name));
        if (fits && row.shape == tracer::Shape::simple) {
            prepared.par1 = kind_of(row.par1.unit);
            prepared.par2 = kind_of(row.par2.unit);
        }
    }
}

EventWords::Kind EventWords::kind_of(Unit unit) {
    const bool hex = unit == Unit::pointer || unit == Unit::hexadecimal;
    return unit == Unit::none ? Kind::nothing : may_have_meaning(unit) || hex ? Kind::named : Kind::number;
}

std::string_view EventWords::of(const trace::Event& event) {
    if (event.is_sound() && event.row != nullptr) {
        if (const char* const end = put_short(m_short.data(), event); end != nullptr) {
            return {m_short.data(), end};
        }
    }
    m_long.clear();
    append(m_long, event);
    return {m_long.data(), m_long.size()};
}

// Null if a part is not for the short way.
char* EventWords::put_short(char* at, const trace::Event& event) {
    const Prepared& prepared = m_prepared[event.code];
    if (prepared.par1 == Kind::other || prepared.par2 == Kind::other) {
        return nullptr;
    }
    if (prepared.par1 != Kind::nothing) {
        at = put_value(prepared.to_par1.put(at), event, prepared.par1, event.row->par1.unit, event.par1);
    }
    if (prepared.par2 != Kind::nothing && at != nullptr) {
        at = put_value(prepared.to_par2.put(at), event, prepared.par2, event.row->par2.unit, event.par2);
    }
    return at;
}

char* EventWords::put_value(char* at, const trace::Event& event, Kind kind, Unit unit, std::uint32_t value) {
    if (kind == Kind::number) {
        return trace::put_decimal(at, value);
    }
    const trace::ValueTexts::Text* const text =
        m_values.of(event, unit, value, [&](fmt::memory_buffer& out) { append_value(out, event, unit, value); });
    return text != nullptr ? text->put(at) : nullptr;
}

void EventWords::append_parameter(fmt::memory_buffer& out, const trace::Event& event,
                                  const tracer::Parameter& parameter, std::uint32_t value) {
    if (parameter.unit != Unit::none) {
        append_separated(out, parameter.name);
        out.push_back('=');
        append_value(out, event, parameter.unit, value);
    }
}

void EventWords::append(fmt::memory_buffer& out, const trace::Event& event) {
    if (!event.is_sound()) {
        append_separated(out, fmt::format("{} code=0x{:04x} par1={} par2={}", trace::state_name(event.state),
                                          event.raw_code, event.par1, event.par2));
    } else if (event.origin != trace::Origin::record && event.row == nullptr) {
        for (const std::uint32_t word : event.words) {
            append_separated(out, fmt::format("0x{:x}", word));
        }
    } else if (event.is(trace::kCodeOf<"typed_event">)) {
        append_typed(out, event);
    } else if (event.is(trace::kCodeOf<"formatted_event">)) {
        append_separated(out, trace::escaped(formatted_text(event)));
    } else if (event.row == nullptr) {
        append_separated(out, fmt::format("code=0x{:02x} par1={} par2={}", event.code, event.par1, event.par2));
    } else {
        append_parameter(out, event, event.row->par1, event.par1);
        append_parameter(out, event, event.row->par2, event.par2);
    }
}

} // namespace host::convert
