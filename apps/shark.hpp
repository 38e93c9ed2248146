// SPDX-License-Identifier: MIT
// Declares names of the S.Ha.R.K. kernel that programs use beside the FTrace_* functions, so that what its manual
// (volume V, "The S.Ha.R.K. New Tracer") prints compiles as it is printed. Each name is a view of this kernel: reading
// it reads the present state, and nothing can be written. It has only what the tracer's manual mentions.
//
// Usage:   #include "apps/shark.hpp"
//          TRACER_LOGEVENT(FTrace_EVT_trace_start, proc_table[exec_shadow].context, clk_per_msec);
#pragma once

#include "kernel/config.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "tracer/ftrace.hpp"

#include <cstddef> // NULL
#include <cstdint>

// Programs of that kernel declare this for saved processor flags.
using SYS_FLAGS [[gnu::unused]] = DWORD;

namespace shark {

struct Process {
    DWORD context = 0; // the number that trace records carry, 1 to 65535; 0: no such process
};

struct ProcessTable {
    // Returns the process with any pid, also one outside the table. Context: any.
    [[nodiscard]] Process operator[](int pid) const {
        const auto found = pid >= 0 && pid < static_cast<int>(kernel::kTasksMax)
                               ? kernel::task_info({static_cast<std::uint16_t>(pid)})
                               : lib::Error::not_found;
        return {found.ok() ? found.value().context : DWORD{0}};
    }
};

struct RunningProcess {
    // Returns the pid of the calling task. Context: task.
    operator int() const { return kernel::task_self().value; } // NOLINT(google-explicit-constructor)
};

struct ClockRate {
    // Returns the ticks of the time stamp counter in a millisecond. Context: any.
    operator DWORD() const { return arch::tick_rate().khz; } // NOLINT(google-explicit-constructor)
};

} // namespace shark

// NOLINTBEGIN(readability-identifier-naming): published names.
inline constexpr shark::ProcessTable proc_table{};
inline constexpr shark::RunningProcess exec_shadow{};
inline constexpr shark::ClockRate clk_per_msec{};
// NOLINTEND(readability-identifier-naming)
