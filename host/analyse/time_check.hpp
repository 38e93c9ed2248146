// SPDX-License-Identifier: MIT
// Whether the times that every tool shows add up (docs/metrics.md): the parts of each response time to that time, and
// the uses of each processor to all of its time. Both hold in any trace, also in a damaged one: what is found here is
// an error of these tools, not of the kernel.
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace host::analyse {

struct TimeFault {
    enum class Kind : std::uint8_t {
        residue,     // of a job
        utilisation, // of a processor
    };

    Kind kind;
    const trace::Event* event;         // with which the job ended; of a processor none. Valid during the call
    std::optional<std::uint16_t> task; // the context
    std::string text;
};

class TimeCheck {
  public:
    using Sink = std::function<void(const TimeFault&)>;

    explicit TimeCheck(Sink sink)
        : m_sink(std::move(sink)) {}

    // In time order; metadata and broken events are passed over.
    void add(const trace::Event& event);

    // Several, as EventStream::next_batch() has them.
    void add(std::span<const trace::Event> batch);

    // A job has ended with this event.
    void add(const schedule::JobAccount& account, const trace::Event& event);

    // Call once, after the last event.
    void finish();

  private:
    struct Processor {
        schedule::ProcessorTime time;
        std::optional<lib::Ticks> first;
        lib::Ticks sum; // of all stretches that have ended
    };

    void judge(std::uint16_t cpu, const Processor& processor);

    Sink m_sink;
    trace::NumberMap<Processor> m_processors;
};

} // namespace host::analyse
