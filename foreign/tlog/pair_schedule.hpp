// SPDX-License-Identifier: MIT
// The pairs of a tlog file as a schedule: each process is a processor; it runs a task for the process itself from START
// to END, and from an IN to its OUT the task of that pair. A pair inside another one preempts it; after its OUT it
// rests.
//
//   START         EVENT_1_IN       EVENT_2_IN       EVENT_2_OUT       EVENT_1_OUT          END
//     | node 3         | 3 EVENT_1        | 3 EVENT_2       | 3 EVENT_1         | node 3               | idle
#pragma once

#include "foreign/tlog/kinds.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace host::formats::tlog {

class PairSchedule {
  public:
    // A sound record in the order of its process. Names new tasks. None: it does not change what runs, or closes a pair
    // that is not open, or there are too many tasks or open pairs.
    [[nodiscard]] std::optional<trace::Meaning> take(const Record& record, const Kind& kind, trace::Names& names);

    // Tasks without a context: there are more than 65,535.
    [[nodiscard]] bool overfull() const { return m_overfull; }

  private:
    static constexpr std::size_t kDepthMax = 64;
    static constexpr std::uint8_t kProcess = 0; // instead of the type that opens a pair
    static constexpr std::uint8_t kIdle = 1;

    [[nodiscard]] std::optional<trace::Meaning> switch_to(std::uint16_t process, std::uint8_t slot, std::uint32_t par2,
                                                          std::string_view pair, trace::Names& names);

    trace::ForeignContexts m_contexts; // by process and slot
    std::map<std::uint16_t, std::vector<std::uint8_t>> m_open;
    bool m_overfull = false;
};

} // namespace host::formats::tlog
