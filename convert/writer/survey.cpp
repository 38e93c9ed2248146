// SPDX-License-Identifier: MIT
// Implements the first pass over a trace.
#include "convert/writer/writer.hpp"

#include "host/formats/trace.hpp"
#include "host/trace/event.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/names.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace host::convert {

namespace {

// Tests the bit first, because it is mostly set already, and reading costs less than writing the word back.
void note(std::bitset<0x1'0000>& seen, std::uint16_t number) {
    if (!seen[number]) {
        seen[number] = true;
    }
}

void note_stamp(Survey& survey, lib::Ticks stamp) {
    survey.first = survey.events == 0 ? stamp : std::min(survey.first, stamp);
    survey.last = survey.events == 0 ? stamp : std::max(survey.last, stamp);
}

void note_processor(Survey& survey, std::uint16_t cpu) {
    if (!survey.processors.empty() && survey.processors.front() == cpu) {
        return;
    }
    const auto place = std::ranges::lower_bound(survey.processors, cpu);
    if (place == survey.processors.end() || *place != cpu) {
        survey.processors.insert(place, cpu);
    }
}

void take(Survey& survey, const trace::Event& event) {
    note_stamp(survey, event.ticks);
    note_processor(survey, event.cpu);
    ++survey.events;
    if (event.is_sound()) {
        ++survey.per_code[trace::is_foreign(event) ? 0 : event.code];
        survey.lost += event.code == trace::kCodeOf<"blackout_end"> ? event.par2 : 0;
        if (event.row != nullptr && event.row->par1.unit == tracer::Unit::context) {
            note(survey.contexts, event.par1);
        } else if (event.row != nullptr && event.row->par1.unit == tracer::Unit::vector) {
            note(survey.vectors, event.par1);
        }
    }
}

// These are the texts of trace_printf that are only in the image.
using Formats = std::map<std::uint32_t, std::string>;

void note_format(Formats& formats, const trace::Event& event) {
    if (event.is(trace::kCodeOf<"formatted_event">) && event.image != nullptr) {
        const auto id = lib::ByteReader(event.payload).le<std::uint32_t>();
        if (const std::string* const text = event.image->format(id); text != nullptr) {
            formats.emplace(id, *text);
        }
    }
}

} // namespace

Survey survey_of(formats::Trace& trace, const std::function<bool(const trace::Event&)>& wanted) {
    Survey survey;
    Formats formats;
    trace.for_each([&](const trace::Event& event) {
        if (!event.metadata && (!wanted || wanted(event))) {
            take(survey, event);
            note_format(formats, event);
        }
    });
    survey.facts = trace.facts();
    for (const auto& [id, text] : formats) {
        survey.facts.names.set_format(id, text);
    }
    survey.kind = trace.kind();
    return survey;
}

} // namespace host::convert
