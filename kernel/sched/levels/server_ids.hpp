// SPDX-License-Identifier: MIT
// One sequence of server numbers for all kinds of servers, as the trace carries them: from 1 on; used again only after
// 65535 others.
#pragma once

#include "kernel/irq_off.hpp"

#include <cstdint>

namespace kernel {

// irq-off.
[[nodiscard]] std::uint16_t fresh_server_id(IrqOff);

} // namespace kernel
