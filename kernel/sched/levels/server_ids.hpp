// SPDX-License-Identifier: MIT
// One sequence of server numbers for all kinds of servers, as the trace carries them. Numbers begin at 1 and are used
// again only after 65,534 others.
#pragma once

#include "kernel/irq_off.hpp"

#include <cstdint>

namespace kernel {

[[nodiscard]] inline std::uint16_t fresh_server_id(IrqOff) {
    static constinit std::uint16_t last = 0;
    ++last;
    last = last != 0 ? last : std::uint16_t{1};
    return last;
}

} // namespace kernel
