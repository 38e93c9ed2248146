// SPDX-License-Identifier: MIT
// See server_ids.hpp.
#include "kernel/sched/levels/server_ids.hpp"

namespace kernel {

namespace {

constinit std::uint16_t s_last = 0;

} // namespace

std::uint16_t fresh_server_id(IrqOff) {
    ++s_last;
    s_last = s_last != 0 ? s_last : std::uint16_t{1};
    return s_last;
}

} // namespace kernel
