// SPDX-License-Identifier: MIT
// Makes sound events in which each code of the table comes as often as any other, of few tasks, mutexes and servers, so
// that they meet. One tick is one nanosecond.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/wire_numbers.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>

namespace support {

class RandomEvents {
  public:
    static constexpr std::uint16_t kIdle = 1;
    static constexpr std::uint16_t kTasks = 12; // contexts from 1 on
    static constexpr std::uint32_t kKhz = 1'000'000;

    // A stamp falls once in so many events; never if it is 0.
    explicit RandomEvents(std::uint64_t seed, std::uint32_t events_per_fall = 500)
        : m_random(seed)
        , m_events_per_fall(events_per_fall) {
        using tracer::Unit;
        constexpr auto kLevels = std::to_array<const char*>({"RM", "EDF", "RR", "background", "CBS", "GRUB", "SERVED"});
        for (std::uint16_t level = 0; level < kLevels.size(); ++level) {
            m_names.set(Unit::level, level, kLevels[level]);
        }
        m_names.set(Unit::context, kIdle, "idle");
        m_names.set_parameters({.context = kIdle, .level = 3});
        for (std::uint16_t context = 2; context < kTasks; ++context) { // the last one has no parameters
            m_names.set_parameters({.context = context,
                                    .level = static_cast<std::uint16_t>((context - 2U) % kLevels.size()),
                                    .wcet_ns = 200,
                                    .period_ns = 1000,
                                    .deadline_ns = 500U + 100U * context,
                                    .budget_ns = 300});
        }
    }

    RandomEvents(const RandomEvents&) = delete; // its events have its names
    RandomEvents& operator=(const RandomEvents&) = delete;

    // Returns the next event, of one of so many processors.
    host::trace::Event event(std::uint16_t processors) {
        m_now -= m_events_per_fall != 0 && below(m_events_per_fall) == 0 ? m_now / 2 : 0;
        m_now += below(100);
        host::trace::Event event;
        do { // of one slot; metadata is not part of the trace
            event.row = &tracer::kEvents[below(tracer::kEvents.size())];
        } while (event.row->shape != tracer::Shape::simple || event.row->family() == tracer::Family::metadata);
        event.raw_code = event.code = event.row->code;
        event.par1 = static_cast<std::uint16_t>(below(8) == 0 ? below(2) : 1 + below(kTasks));
        event.par2 = second_parameter();
        event.cpu = event.chunk = event.generation = static_cast<std::uint16_t>(below(processors));
        event.source = event.cpu;
        event.ticks = {m_now};
        event.time_ns = static_cast<std::int64_t>(m_now);
        event.timed = true;
        event.record = m_record++;
        event.names = &m_names;
        return event;
    }

    [[nodiscard]] const host::trace::Names& names() const { return m_names; }

  private:
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(m_random() % limit); }

    std::uint32_t second_parameter() {
        switch (below(6)) {
        case 0:
            return below(kTasks); // a context, mutex or server
        case 1:
        case 2:
            return below(3); // few values, so that they meet again
        case 3:
            return below(8) << 16 | below(3); // a wait
        default:
            return static_cast<std::uint32_t>(m_now) + below(1500); // a time
        }
    }

    std::mt19937_64 m_random;
    std::uint32_t m_events_per_fall;
    host::trace::Names m_names;
    std::uint64_t m_now = 1000;
    std::uint64_t m_record = 0;
};

} // namespace support
