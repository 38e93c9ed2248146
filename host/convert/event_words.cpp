// SPDX-License-Identifier: MIT
// Events as words.
#include "host/convert/event_words.hpp"

#include "host/trace/escape.hpp"
#include "host/trace/formats.hpp"
#include "host/trace/names.hpp"
#include "host/trace/user_event.hpp"

#include <array>
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

void append_parameter(fmt::memory_buffer& out, const trace::Event& event, const tracer::Parameter& parameter,
                      std::uint32_t value) {
    if (parameter.unit == Unit::none) {
        return;
    }
    const bool hex = parameter.unit == Unit::pointer || parameter.unit == Unit::hexadecimal;
    append_separated(out, hex ? fmt::format("{}=0x{:x}", parameter.name, value)
                              : fmt::format("{}={}", parameter.name, value));
    if (const std::string meaning = meaning_of(event, parameter.unit, value); !meaning.empty()) {
        append(out, fmt::format(" ({})", meaning));
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

void append_event_words(fmt::memory_buffer& out, const trace::Event& event) {
    fmt::memory_buffer words;
    if (!event.is_sound()) {
        append(words, fmt::format("{} code=0x{:04x} par1={} par2={}", trace::state_name(event.state), event.raw_code,
                                  event.par1, event.par2));
    } else if (event.origin != trace::Origin::record && event.row == nullptr) {
        for (const std::uint32_t word : event.words) {
            append_separated(words, fmt::format("0x{:x}", word));
        }
    } else if (event.is(trace::kCodeOf<"typed_event">)) {
        append_typed(words, event);
    } else if (event.is(trace::kCodeOf<"formatted_event">)) {
        append(words, trace::escaped(formatted_text(event)));
    } else if (event.row == nullptr) {
        append(words, fmt::format("code=0x{:02x} par1={} par2={}", event.code, event.par1, event.par2));
    } else {
        append_parameter(words, event, event.row->par1, event.par1);
        append_parameter(words, event, event.row->par2, event.par2);
    }
    out.append(words);
}

} // namespace host::convert
