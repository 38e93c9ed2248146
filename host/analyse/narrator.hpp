// SPDX-License-Identifier: MIT
// What the scheduler did, in words: one line for each release, each change of the task that runs, each lock, wait,
// budget and miss. `remora schedule` prints the lines, `remora diff` compares them, and the golden files of
// tests/golden/ are made of them.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace host::analyse {

// One thing that was done, without its time. Valid during the call.
struct Decision {
    const trace::Event& event;
    std::uint32_t context; // it is about this task; 0: about none
    std::string_view text; // the task's name in a column of its own, then what it does
};

// Names no task twice: a dispatch is a decision only if the task or its place is another than before.
class Narrator {
  public:
    using Sink = std::function<void(const Decision&)>;

    explicit Narrator(Sink sink)
        : m_sink(std::move(sink)) {}

    // In time order, metadata left out.
    void add(const trace::Event& event);

  private:
    struct Processor {
        std::uint32_t running = schedule::kUnknownContext; // as in the latest line
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
    std::map<std::uint32_t, std::uint32_t> m_served; // server -> the task it serves, if it serves one
};

// A time cut to a resolution and a decision, as `remora schedule` prints them.
[[nodiscard]] std::string schedule_line(std::int64_t time_ns, std::int64_t resolution_ns, std::string_view decision);

} // namespace host::analyse
