// SPDX-License-Identifier: MIT
// What may interrupt a task in its own context: its exceptions and its signals, as bits of one word. A bit that is
// pending calls its handler as soon as the task is about to return to its own code, the lowest first, unless it is
// masked or its handler is under way. A pending bit without a handler waits for one.
//
//   bit 1..4   TaskException       bit 4 + n   signal n, 1..31
#pragma once

#include "kernel/state/reaction.hpp"

#include <cstdint>

namespace kernel {

inline constexpr std::uint8_t kSignalMin = 1;
inline constexpr std::uint8_t kSignalMax = 31;
inline constexpr unsigned kSignalShift = 4;

// Called with the exception and what exception_handler_set() got, in the task's own context, interrupts on, not nested
// for the same exception. May block, end the job, end the task.
using ExceptionHandler = void (*)(TaskException exception, void* argument);

// The same for a signal and signal_handler_set().
using SignalHandler = void (*)(std::uint8_t signo, void* argument);

[[nodiscard]] constexpr std::uint64_t upcall_bit(TaskException exception) {
    return std::uint64_t{1} << static_cast<unsigned>(exception);
}

[[nodiscard]] constexpr std::uint64_t upcall_bit(std::uint8_t signo) {
    return std::uint64_t{1} << (kSignalShift + signo);
}

struct Upcalls {
    std::uint64_t pending = 0;
    std::uint64_t masked = 0;
    std::uint64_t active = 0;  // their handlers are under way
    std::uint64_t handled = 0; // have a handler
    std::uint64_t awaited = 0; // by signal_wait()

    [[nodiscard]] constexpr std::uint64_t due() const {
        if (pending == 0) [[likely]] {
            return 0;
        }
        return pending & handled & ~masked & ~active;
    }
};

} // namespace kernel
