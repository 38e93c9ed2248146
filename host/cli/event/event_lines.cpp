// SPDX-License-Identifier: MIT
// The fast path of a line. Its parts are in the order in which append_line() writes them.
#include "host/cli/event/event_lines.hpp"

#include "host/text/digits.hpp"

#include <string>

namespace host::cli {

namespace {

using text::kNumberMax;
using text::kPaddedLimit;
using text::put_decimal;
using text::put_padded;
using trace::ValueKind;

constexpr std::size_t kNameColumns = 20;
// Time, unit, processor; both texts before the values, both values; each with the room that its function asks for.
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

void EventLines::append(fmt::memory_buffer& out, const trace::Event& event) {
    const std::size_t begin = out.size();
    if (event.state == trace::EventState::ok && event.row != nullptr && !event.metadata &&
        event.origin == trace::Origin::record) {
        out.resize(begin + kLineMax);
        char* const from = out.data() + begin;
        if (char* const to = put_line(from, event, m_prepared[event.code]); to != nullptr) {
            out.resize(begin + static_cast<std::size_t>(to - from));
            return;
        }
        out.resize(begin);
    }
    append_line(out, event, m_unit);
}

// Null if a part is not for the fast path: nothing was written then.
[[gnu::flatten]] char* EventLines::put_line(char* at, const trace::Event& event, const Prepared& prepared) {
    const bool timed = m_unit == TimeUnit::nanoseconds && event.timed;
    // A negative time is beyond the limit, too.
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

// Null if the text is too long to be kept.
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

} // namespace host::cli
