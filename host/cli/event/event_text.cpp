// SPDX-License-Identifier: MIT
#include "host/cli/event/event_text.hpp"

#include "host/cli/event/json_version.hpp"
#include "host/text/escape.hpp"
#include "host/trace/foreign.hpp"
#include "host/trace/value_text.hpp"

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

void add_parameter(text::JsonText& json, const trace::Event& event, const tracer::Parameter& parameter,
                   std::uint32_t value) {
    if (parameter.unit == tracer::Unit::none) {
        return;
    }
    json.member(parameter.name, value);
    if (const std::string name = trace::meaning_of(event, parameter.unit, value); !name.empty()) {
        json.member(fmt::format("{}_name", parameter.name), name);
    }
}

// The members of an event that is a record of ours.
void add_record(text::JsonText& json, const trace::Event& event) {
    constexpr std::size_t kCodeCharacters = 8;
    json.key("code");
    json.place(kCodeCharacters, [&event](char* at) {
        return text::put(text::put_hexadecimal(text::put(at, "\"0x"), event.raw_code, 4), "\"");
    });
    json.member("family", tracer::kFamilyNames[event.code & 0x0F]);
    json.member("state", trace::state_name(event.state));
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

void append_line(fmt::memory_buffer& out, const trace::Event& event, TimeUnit unit) {
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

void append_json(fmt::memory_buffer& out, const trace::Event& event, std::string_view instruction) {
    text::JsonText json{out};
    json.begin_object();
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
    json.key("event");
    if (event.row != nullptr && !trace::is_foreign(event)) {
        json.value(event.row->name);
    } else if (!event.foreign_name.empty()) {
        json.value(text::escaped(event.foreign_name));
    } else {
        json.value(nullptr);
    }
    if (event.origin == trace::Origin::record) {
        add_record(json, event);
    } else {
        add_foreign(json, event);
    }
    if (!instruction.empty()) {
        json.member("instruction", text::escaped(instruction));
    }
    json.end_object();
    json.blank("\n");
}

} // namespace host::cli
