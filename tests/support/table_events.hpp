// SPDX-License-Identifier: MIT
// Makes random sound events of one slot, for printers that prepare the texts of the event table: small and large
// parameters, times of any size, some below 0 or unknown, metadata and late events among them; by names some of which
// need escapes or are too long to be kept.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <cstdint>
#include <random>

namespace support {

class TableEvents {
  public:
    TableEvents() {
        using tracer::Unit;
        m_names.set(Unit::context, 3, "sensor");
        m_names.set(Unit::context, 4, "with \x1b and \\ and \"");
        m_names.set(Unit::context, 5, "a name that is much too long to be kept beside its number, so it is not");
        m_names.set(Unit::mutex, 3, "bus");
        m_names.set(Unit::level, 0, "EDF");
    }

    // Calls visit(event) for each event of one slot in the table, several times; a task is renamed meanwhile.
    template <typename Visit>
    void for_each(Visit visit) {
        for (unsigned round = 0; round < 60; ++round) {
            if (round == 30) {
                m_names.set(tracer::Unit::context, 3, "renamed");
            }
            for (const tracer::EventRow& row : tracer::kEvents) {
                if (row.shape == tracer::Shape::simple) {
                    visit(event(row, round));
                }
            }
        }
    }

  private:
    host::trace::Event event(const tracer::EventRow& row, unsigned round) {
        host::trace::Event event;
        event.row = &row;
        event.code = row.code;
        event.raw_code = row.code;
        event.names = &m_names;
        event.par1 = static_cast<std::uint16_t>(round % 3 == 0 ? m_random() : m_random() % 8);
        event.par2 = static_cast<std::uint32_t>(round % 3 == 1   ? m_random()
                                                : round % 3 == 2 ? (m_random() % 12 << 16) | (m_random() % 5)
                                                                 : m_random() % 5);
        event.cpu = static_cast<std::uint16_t>(m_random() >> (48 + m_random() % 16));
        event.chunk = static_cast<std::uint16_t>(m_random() >> (48 + m_random() % 16));
        event.record = m_random() >> (m_random() % 64);
        event.timed = round % 7 != 0;
        event.time_ns = static_cast<std::int64_t>(m_random() >> (1 + m_random() % 63));
        event.time_ns = round % 11 == 0 ? -event.time_ns : event.time_ns;
        event.ticks = {m_random() >> (m_random() % 64)};
        event.metadata = round % 13 == 0;
        event.state = round % 17 == 0 ? host::trace::EventState::late : host::trace::EventState::ok;
        return event;
    }

    host::trace::Names m_names;
    std::mt19937_64 m_random{4};
};

} // namespace support
