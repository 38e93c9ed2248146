// SPDX-License-Identifier: MIT
// Formatting of events.
#include "host/cli/event_text.hpp"

#include "host/cli/json_version.hpp"
#include "host/trace/escape.hpp"
#include "host/trace/value_text.hpp"

#include <algorithm>
#include <iterator>

namespace host::cli {

namespace {

constexpr std::size_t kTimeWidth = 13;
constexpr std::size_t kNameWidth = 21;

template <typename Integer>
void append_number(fmt::memory_buffer& out, Integer value, std::size_t width = 0) {
    const fmt::format_int digits(value);
    for (std::size_t i = digits.size(); i < width; ++i) {
        out.push_back(' ');
    }
    out.append(digits.data(), digits.data() + digits.size());
}

bool is_harmless(char character) {
    return character >= 0x20 && character < 0x7F && character != '\\';
}

void append_json_escaped(fmt::memory_buffer& out, std::string_view text_escaped) {
    out.push_back('"');
    for (const char character : text_escaped) {
        if (character == '"' || character == '\\') {
            out.push_back('\\');
        }
        out.push_back(character);
    }
    out.push_back('"');
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
    if (std::ranges::all_of(text_untrusted, is_harmless) && text_untrusted.size() <= trace::kEscapedInputMax) {
        append(out, text_untrusted);
    } else {
        append(out, trace::escaped(text_untrusted));
    }
}

void append_json_string(fmt::memory_buffer& out, std::string_view text_untrusted) {
    append_json_escaped(out, trace::escaped(text_untrusted));
}

std::string json_string(std::string_view text_untrusted) {
    fmt::memory_buffer out;
    append_json_string(out, text_untrusted);
    return {out.data(), out.size()};
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
    if (event.row == nullptr && event.origin != trace::Origin::record) {
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

void append_json(fmt::memory_buffer& out, const trace::Event& event) {
    append(out, "{\"version\":");
    append_number(out, kJsonVersion);
    append(out, ",\"time_ns\":");
    if (event.timed && !event.metadata) {
        append_number(out, event.time_ns);
    } else {
        append(out, "null");
    }
    append(out, ",\"ticks\":");
    append_number(out, event.ticks.value);
    append(out, ",\"cpu\":");
    append_number(out, event.cpu);
    append(out, ",\"chunk\":");
    append_number(out, event.chunk);
    append(out, ",\"record\":");
    append_number(out, event.record);
    append(out, ",\"event\":");
    if (event.row != nullptr) {
        append_json_string(out, event.row->name);
    } else if (!event.foreign_name.empty()) {
        append_json_string(out, event.foreign_name);
    } else {
        append(out, "null");
    }
    if (event.origin != trace::Origin::record) {
        append_foreign_json(out, event);
        return;
    }
    fmt::format_to(std::back_inserter(out),
                   ",\"code\":\"0x{:04x}\",\"family\":\"{}\",\"state\":\"{}\",\"par1\":{}"
                   ",\"par2\":{}",
                   event.raw_code, tracer::kFamilyNames[event.code & 0x0F], trace::state_name(event.state), event.par1,
                   event.par2);
    if (event.row != nullptr && event.is_sound() && event.row->shape == tracer::Shape::simple) {
        const auto named = [&](const tracer::Parameter& parameter, std::uint32_t value) {
            if (parameter.unit == tracer::Unit::none) {
                return;
            }
            out.push_back(',');
            append_json_string(out, parameter.name);
            out.push_back(':');
            append_number(out, value);
            if (const std::string name = trace::meaning_of(event, parameter.unit, value); !name.empty()) {
                fmt::format_to(std::back_inserter(out), ",\"{}_name\":", parameter.name);
                append_json_escaped(out, name);
            }
        };
        append(out, ",\"parameters\":{");
        const std::size_t begin = out.size();
        named(event.row->par1, event.par1);
        named(event.row->par2, event.par2);
        if (out.size() > begin) {
            std::copy(out.begin() + begin + 1, out.end(), out.begin() + begin); // the leading comma
            out.resize(out.size() - 1);
        }
        out.push_back('}');
    } else if (event.row != nullptr && event.is_sound() && event.row->family() == tracer::Family::typed) {
        append_user_event_json(out, event);
    }
    append(out, "}\n");
}

} // namespace host::cli
