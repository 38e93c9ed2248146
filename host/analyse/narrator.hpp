// SPDX-License-Identifier: MIT
// Describes in words what the scheduler did: one line for each release, each change of the running task, each lock,
// wait, budget and miss. `remora schedule` prints the lines, `remora diff` compares them, and the golden files of
// tests/golden/ consist of them.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace host::analyse {

// Is one line without its time, valid during the call.
struct Decision {
    const trace::Event& event;
    std::uint32_t context; // the task that the line is about; 0: none
    std::string_view text; // the name of the task in a column of its own, then what it does
};

// A dispatch only makes a line if the task or its place changes.
class Narrator {
  public:
    using Sink = std::function<void(const Decision&)>;

    explicit Narrator(Sink sink)
        : m_sink(std::move(sink)) {}

    // Must be called in time order, without metadata.
    void add(const trace::Event& event);

  private:
    struct Processor {
        std::uint32_t running = schedule::kUnknownContext; // the task of the latest line about a dispatch
        std::uint32_t place = schedule::kUnknownContext;
    };

    void line(const trace::Event& event, std::uint32_t context, std::string_view text);
    void add_special(const trace::Event& event);
    void add_dispatch(const trace::Event& event);
    void add_foreign(const trace::Event& event, const schedule::Change& change);
    void add_wait(const trace::Event& event);
    void add_server(const trace::Event& event, std::string_view text);

    Sink m_sink;
    schedule::Schedule m_schedule;
    std::map<std::uint16_t, Processor> m_processors;
    std::map<std::uint32_t, std::uint32_t> m_served; // by server: the task that was attached to it last
};

// Returns the line that `remora schedule` prints: the time, cut to the resolution, and the decision.
[[nodiscard]] std::string schedule_line(std::int64_t time_ns, std::int64_t resolution_ns, std::string_view decision);

} // namespace host::analyse
