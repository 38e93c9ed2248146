// SPDX-License-Identifier: MIT
// Keeps the events of a recorded trace, so that a test can pass them to the oracle again and again with some of them
// changed, moved or left out.
#pragma once

#include "host/analyse/oracle/oracle.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/names.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace support {

struct RecordedEvents {
    std::vector<host::trace::Event> events; // without metadata and payloads
    host::trace::TraceFacts facts;
    std::deque<host::trace::Names> names; // those to which the events point
};

[[nodiscard]] inline RecordedEvents events_of(const std::string& path) {
    RecordedEvents recorded;
    host::trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened = host::formats::Trace::open(path, {}, diagnostics);
    if (!opened.ok()) {
        ADD_FAILURE() << path << " cannot be opened";
        return recorded;
    }
    opened.value()->for_each([&](const host::trace::Event& event) {
        if (event.metadata) {
            return;
        }
        if (recorded.names.empty() || recorded.names.back().version() != event.names->version()) {
            recorded.names.push_back(*event.names);
        }
        recorded.events.push_back(event);
        recorded.events.back().names = &recorded.names.back();
        recorded.events.back().payload = {};
    });
    recorded.facts = opened.value()->facts();
    return recorded;
}

[[nodiscard]] inline host::trace::Event like(const host::trace::Event& event, std::string_view name,
                                             std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
    host::trace::Event made = event;
    host::trace::set_meaning(made, {tracer::find_event(name)->code, par1, par2});
    return made;
}

} // namespace support
