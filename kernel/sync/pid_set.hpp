// SPDX-License-Identifier: MIT
// A set of pids, one bit for each slot of the task pool. Context: any, serialised by the caller.
#pragma once

#include "kernel/config.hpp"
#include "kernel/state/task_types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernel {

class PidSet {
  public:
    // Precondition of all: the pid is within the pool.
    constexpr void insert(Pid pid) { m_words[pid.value / kBits] |= bit(pid); }

    constexpr void erase(Pid pid) { m_words[pid.value / kBits] &= ~bit(pid); }

    [[nodiscard]] constexpr bool contains(Pid pid) const { return (m_words[pid.value / kBits] & bit(pid)) != 0; }

  private:
    static constexpr std::size_t kBits = 64;

    static constexpr std::uint64_t bit(Pid pid) { return std::uint64_t{1} << (pid.value % kBits); }

    std::array<std::uint64_t, (kTasksMax + kBits - 1) / kBits> m_words{};
};

} // namespace kernel
