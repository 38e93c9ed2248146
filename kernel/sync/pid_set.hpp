// SPDX-License-Identifier: MIT
// A set of pids, one bit for each slot of the task pool. Context: any, serialised by the caller.
#pragma once

#include "kernel/config.hpp"
#include "kernel/state/task_model.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kernel {

class PidSet {
  public:
    // Precondition of all functions: the pid is within the pool.
    constexpr void insert(Pid pid) { m_words[pid.value / kBits] |= bit(pid); }

    constexpr void erase(Pid pid) { m_words[pid.value / kBits] &= ~bit(pid); }

    [[nodiscard]] constexpr bool contains(Pid pid) const { return (m_words[pid.value / kBits] & bit(pid)) != 0; }

    // Calls act(pid) for each pid, in ascending order. It reads one word for each 64 slots.
    template <typename Act>
    constexpr void for_each(Act act) const {
        for (std::size_t word = 0; word < m_words.size(); ++word) {
            for (std::uint64_t left = m_words[word]; left != 0; left &= left - 1) {
                act(Pid{static_cast<std::uint16_t>(word * kBits + static_cast<std::size_t>(std::countr_zero(left)))});
            }
        }
    }

  private:
    static constexpr std::size_t kBits = 64;

    static constexpr std::uint64_t bit(Pid pid) { return std::uint64_t{1} << (pid.value % kBits); }

    std::array<std::uint64_t, (kTasksMax + kBits - 1) / kBits> m_words{};
};

} // namespace kernel
