// SPDX-License-Identifier: MIT
// Whether the times that every tool shows add up (docs/metrics.md): the parts of each response time to that time, and
// the uses of each processor to all of its time. Both hold in any trace, also in a damaged one: what is found here is
// an error of these tools, not of the kernel.
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/schedule/processor_time.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace host::analyse {

struct TimeFault {
    enum class Kind : std::uint8_t {
        residue,     // of a job
        utilisation, // of a processor
    };

    Kind kind;
    const trace::Event* event;         // with which the job ended; of a processor its last one. Valid during the call
    std::optional<std::uint16_t> task; // the context
    std::string text;
};

class TimeCheck {
  public:
    using Sink = std::function<void(const TimeFault&)>;

    explicit TimeCheck(Sink sink)
        : m_sink(std::move(sink)) {}

    TimeCheck(const TimeCheck&) = delete; // its jobs report to it
    TimeCheck& operator=(const TimeCheck&) = delete;

    // In time order; metadata and broken events are passed over. khz: the clock's rate as far as it is known, else 0.
    void add(const trace::Event& event, std::uint32_t khz);

    // Call once, after the last event.
    void finish();

    void judge(const schedule::JobAccount& account);

  private:
    struct Processor {
        schedule::ProcessorTime time;
        std::optional<lib::Ticks> first;
        lib::Ticks sum; // of all stretches that have ended
    };

    void judge(std::uint16_t cpu, const Processor& processor);

    Sink m_sink;
    schedule::Schedule m_schedule;
    schedule::Accounting m_accounting{[this](const schedule::JobAccount& account) { judge(account); }};
    std::map<std::uint16_t, Processor> m_processors;
    const trace::Event* m_event = nullptr; // that is being taken
};

} // namespace host::analyse
