// SPDX-License-Identifier: MIT
#include "host/cli/event/event_text.hpp"

#include "host/text/escape.hpp"
#include "host/trace/event.hpp"
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

} // namespace host::cli
