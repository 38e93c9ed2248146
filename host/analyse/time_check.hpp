// SPDX-License-Identifier: MIT
// Checks that the times that the tools show add up (docs/metrics.md): the parts of each response time to that time, and
// the uses of each processor to all of its time. Both hold in any trace, even in a damaged one, so what is found here
// is an error of these tools, not of the kernel.
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace host::analyse {

struct TimeFault {
    enum class Kind : std::uint8_t {
        residue,     // the parts of a job's response time
        utilisation, // the uses of a processor
    };

    Kind kind;
    const trace::Event* event; // the event with which the job ended; null for a processor; valid during the call
    std::optional<std::uint16_t> task; // the context of the task
    std::string text;
};

class TimeCheck {
  public:
    using Sink = std::function<void(const TimeFault&)>;

    explicit TimeCheck(Sink sink)
        : m_sink(std::move(sink)) {}

    // Must be called in time order. Metadata and damaged events are ignored.
    void add(const trace::Event& event);

    // Must be called when a job has ended with this event.
    void add(const schedule::JobAccount& account, const trace::Event& event);

    // Must be called once, after the last event.
    void finish();

  private:
    struct Processor {
        schedule::ProcessorTime time;
        std::optional<lib::Ticks> first;
        lib::Ticks sum; // the length of all stretches that have ended
    };

    void judge(std::uint16_t cpu, const Processor& processor);

    Sink m_sink;
    trace::NumberMap<Processor> m_processors;
};

} // namespace host::analyse
