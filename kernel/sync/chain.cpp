// SPDX-License-Identifier: MIT
// See chain.hpp.
#include "kernel/sync/chain.hpp"

#include "kernel/sync/mutex.hpp"

namespace kernel {

Task& chain_end(Task& task) {
    Task* end = &task;
    for (std::size_t steps = 0; end->blocked_on != nullptr && end->blocked_on->owner() != nullptr; ++steps) {
        ASSERT(steps < kTasksMax);
        end = end->blocked_on->owner();
    }
    return *end;
}

} // namespace kernel
