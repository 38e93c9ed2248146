// SPDX-License-Identifier: MIT
// What the kernel does when a task breaks its promise or the processor objects to it, chosen per task and per kind.
// Every exception is counted and recorded first, whatever the reaction.
#pragma once

#include "lib/wire_numbers.hpp"

namespace kernel {

using lib::Reaction;
using lib::TaskException;

struct Reactions {
    Reaction deadline_miss = Reaction::count;
    Reaction wcet = Reaction::count;
    Reaction activation = Reaction::count;
    Reaction fault = Reaction::panic; // `panic`, `abort` or `kill`

    [[nodiscard]] constexpr Reaction to(TaskException exception) const {
        switch (exception) {
        case TaskException::deadline_miss:
            return deadline_miss;
        case TaskException::wcet:
            return wcet;
        case TaskException::activation:
            return activation;
        case TaskException::fault:
            return fault;
        }
        return Reaction::panic;
    }
};

} // namespace kernel
