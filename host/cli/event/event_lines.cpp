// SPDX-License-Identifier: MIT
// Has the fast paths of a line and of a JSON object. The parts of a line are in the order in which append_line() writes
// them.
#include "host/cli/event/event_lines.hpp"

#include "host/cli/event/event_text.hpp"
#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <string>

namespace host::cli {

namespace {

using text::kNumberMax;
using text::kPaddedLimit;
using text::put_decimal;
using text::put_padded;
using trace::ValueKind;

constexpr std::size_t kNameColumns = 20;
// The line has time, unit and processor, both texts before the values, and both values, each with the room that its
// function needs.
constexpr std::size_t kLineMax = 2 * kNumberMax + 32 + 4 * text::ShortText::kBytes;

std::string lead(const tracer::Parameter& parameter) {
    return parameter.unit == tracer::Unit::none ? "" : fmt::format(" {}=", parameter.name);
}

} // namespace

EventLines::EventLines(TimeUnit unit)
    : m_unit(unit)
    , m_prepared(256) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        Prepared& prepared = m_prepared[row.code];
        const bool fits = prepared.to_par1.set(fmt::format("{:<{}}{}", row.name, kNameColumns, lead(row.par1))) &&
                          prepared.to_par2.set(lead(row.par2));
        if (fits && row.shape == tracer::Shape::simple) {
            prepared.prepared = true;
            prepared.par1 = trace::kind_of(row.par1.unit);
            prepared.par2 = trace::kind_of(row.par2.unit);
        }
    }
}

void EventLines::append(fmt::memory_buffer& out, const trace::Event& event, trace::OptionalTask task) {
    const std::size_t begin = out.size();
    if (event.state == trace::EventState::ok && event.row != nullptr && !event.metadata &&
        event.origin == trace::Origin::record && !task) {
        out.resize(begin + kLineMax);
        char* const from = out.data() + begin;
        if (char* const to = put_line(from, event, m_prepared[event.code]); to != nullptr) {
            out.resize(begin + static_cast<std::size_t>(to - from));
            return;
        }
        out.resize(begin);
    }
    append_line(out, event, m_unit, task);
}

// Returns null if a part is not for the fast path; then nothing was written.
[[gnu::flatten]] char* EventLines::put_line(char* at, const trace::Event& event, const Prepared& prepared) {
    const bool timed = m_unit == TimeUnit::nanoseconds && event.timed;
    // A negative time also exceeds the limit.
    const std::uint64_t time = timed ? static_cast<std::uint64_t>(event.time_ns) : event.ticks.value;
    if (time >= kPaddedLimit || !prepared.prepared) {
        return nullptr;
    }
    at = put_padded(at, time);
    constexpr std::string_view kNanoseconds = " ns  cpu";
    constexpr std::string_view kTicks = " ticks  cpu";
    __builtin_memcpy(at, timed ? kNanoseconds.data() : kTicks.data(), timed ? kNanoseconds.size() : kTicks.size());
    at = put_decimal(at + (timed ? kNanoseconds.size() : kTicks.size()), event.cpu);
    *at++ = ' ';
    *at++ = ' ';
    at = prepared.to_par1.put(at);
    at = put_value(at, event, prepared.par1, event.row->par1.unit, event.par1);
    if (at == nullptr) {
        return nullptr;
    }
    if (prepared.par2 != ValueKind::nothing) {
        at = prepared.to_par2.put(at);
        at = put_value(at, event, prepared.par2, event.row->par2.unit, event.par2);
        if (at == nullptr) {
            return nullptr;
        }
    }
    *at++ = '\n';
    return at;
}

// Returns null if the text is too long to be kept.
char* EventLines::put_value(char* at, const trace::Event& event, ValueKind kind, tracer::Unit unit,
                            std::uint32_t value) {
    if (kind == ValueKind::nothing) {
        return at;
    }
    if (kind == ValueKind::number) {
        return put_decimal(at, value);
    }
    const trace::ValueTexts::Text* const text = m_values.of(event, unit, value);
    return text != nullptr ? text->put(at) : nullptr;
}

// --- JSON ------------------------------------------------------------------------------------------------------------

namespace {

using trace::ValueKind;

// This is the room for an object of one slot: the keys, ten numbers, and the prepared texts.
constexpr std::size_t kObjectMax = 160 + 10 * text::kNumberMax + 112 + 6 * text::ShortText::kBytes;

std::string meaning_key(const tracer::Parameter& parameter) {
    return fmt::format("{}_name", parameter.name);
}

// Writes when and where the event happened. Json: a JsonWriter.
template <typename Json>
void add_place(Json& json, const trace::Event& event) {
    json.member("version", kJsonVersion);
    json.key("time_ns");
    if (event.timed && !event.metadata) {
        json.value(event.time_ns);
    } else {
        json.value(nullptr);
    }
    json.member("ticks", event.ticks.value);
    json.member("cpu", event.cpu);
    json.member("chunk", event.chunk);
    json.member("record", event.record);
}

void add_name(text::JsonText& json, const trace::Event& event) {
    json.key("event");
    if (event.row != nullptr && !trace::is_foreign(event)) {
        json.value(event.row->name);
    } else if (!event.foreign_name.empty()) {
        json.value(text::escaped(event.foreign_name));
    } else {
        json.value(nullptr);
    }
}

void add_kind(text::JsonText& json, const trace::Event& event) {
    constexpr std::size_t kCodeCharacters = 8;
    json.key("code");
    json.place(kCodeCharacters, [&event](char* at) {
        return text::put(text::put_hexadecimal(text::put(at, "\"0x"), event.raw_code, 4), "\"");
    });
    json.member("family", tracer::kFamilyNames[event.code & 0x0F]);
    json.member("state", trace::state_name(event.state));
}

void add_parameter(text::JsonText& json, const trace::Event& event, const tracer::Parameter& parameter,
                   std::uint32_t value) {
    if (parameter.unit == tracer::Unit::none) {
        return;
    }
    json.member(parameter.name, value);
    if (const std::string meaning = trace::meaning_of(event, parameter.unit, value); !meaning.empty()) {
        json.member(meaning_key(parameter), meaning);
    }
}

// Writes the members of an event that is a record of ours.
void add_record(text::JsonText& json, const trace::Event& event) {
    add_kind(json, event);
    json.member("par1", event.par1);
    json.member("par2", event.par2);
    if (event.row == nullptr || !event.is_sound()) {
        return;
    }
    if (event.row->shape == tracer::Shape::simple) {
        json.begin_object("parameters");
        add_parameter(json, event, event.row->par1, event.par1);
        add_parameter(json, event, event.row->par2, event.par2);
        json.end_object();
    } else if (event.row->family() == tracer::Family::typed) {
        add_user_event(json, event);
    }
}

} // namespace

void append_json(fmt::memory_buffer& out, const trace::Event& event, std::string_view instruction,
                 trace::OptionalTask task) {
    text::JsonText json{out};
    json.begin_object();
    add_place(json, event);
    add_name(json, event);
    if (event.origin == trace::Origin::record) {
        add_record(json, event);
    } else {
        add_foreign(json, event);
    }
    if (task) {
        json.member("context", *task);
        json.member("task", trace::meaning_of(event, tracer::Unit::context, *task));
    }
    if (!instruction.empty()) {
        json.member("instruction", text::escaped(instruction));
    }
    json.end_object();
    json.blank("\n");
}

JsonLines::JsonLines()
    : m_prepared(256) {
    for (const tracer::EventRow& row : tracer::kEvents) {
        m_prepared[row.code] = prepared_for(row);
    }
}

JsonLines::Prepared JsonLines::prepared_for(const tracer::EventRow& row) {
    trace::Event sound;
    sound.row = &row;
    sound.raw_code = row.code;
    sound.code = row.code;
    fmt::memory_buffer identity;
    text::JsonText json(identity);
    add_name(json, sound);
    add_kind(json, sound);
    Prepared prepared;
    prepared.par1.kind = trace::kind_of(row.par1.unit);
    prepared.par2.kind = trace::kind_of(row.par2.unit);
    prepared.prepared = row.shape == tracer::Shape::simple &&
                        prepared.identity.set({identity.data(), identity.size()}) &&
                        prepared.par1.value.set(row.par1.name) && prepared.par1.meaning.set(meaning_key(row.par1)) &&
                        prepared.par2.value.set(row.par2.name) && prepared.par2.meaning.set(meaning_key(row.par2));
    return prepared;
}

// Returns the meaning of the value; empty if it has none, null if it is too long to be kept.
const JsonLines::Meaning* JsonLines::meaning_of(trace::ValueTexts& meanings, const trace::Event& event,
                                                const Keys& keys, tracer::Unit unit, std::uint32_t value) {
    static constexpr Meaning kNone{};
    return keys.kind != ValueKind::named ? &kNone : meanings.of(event, unit, value, [&](fmt::memory_buffer& out) {
        cli::append(out, text::json_encoded(trace::meaning_of(event, unit, value)));
    });
}

void JsonLines::append(fmt::memory_buffer& out, const trace::Event& event, std::string_view instruction,
                       trace::OptionalTask task) {
    const Prepared& prepared = m_prepared[event.code];
    if (!prepared.prepared || event.state != trace::EventState::ok || event.origin != trace::Origin::record ||
        event.row == nullptr || event.raw_code != event.code || !instruction.empty() || task) {
        return append_json(out, event, instruction, task);
    }
    const Meaning* const meaning1 = meaning_of(m_meanings1, event, prepared.par1, event.row->par1.unit, event.par1);
    const Meaning* const meaning2 = meaning_of(m_meanings2, event, prepared.par2, event.row->par2.unit, event.par2);
    if (meaning1 == nullptr || meaning2 == nullptr) {
        return append_json(out, event, instruction);
    }
    put_object(out, event, prepared, *meaning1, *meaning2);
}

// This is inlined, because a call would need the writer in memory, where the compiler does not know its state.
[[gnu::flatten]] void JsonLines::put_object(fmt::memory_buffer& out, const trace::Event& event,
                                            const Prepared& prepared, const Meaning& meaning1,
                                            const Meaning& meaning2) {
    text::JsonText lines(out);
    lines.object(kObjectMax, [&](auto& json) {
        add_place(json, event);
        json.plain(prepared.identity);
        json.member("par1", event.par1);
        json.member("par2", event.par2);
        json.begin_object("parameters");
        const auto add = [&json](const Keys& keys, std::uint32_t value, const Meaning& meaning) {
            if (keys.kind != ValueKind::nothing) {
                json.key(keys.value);
                json.value(value);
                if (meaning.size != 0) {
                    json.key(keys.meaning);
                    json.encoded(meaning);
                }
            }
        };
        add(prepared.par1, event.par1, meaning1);
        add(prepared.par2, event.par2, meaning2);
        json.end_object();
    });
    lines.blank("\n");
}

} // namespace host::cli
