// SPDX-License-Identifier: MIT
// CRC-32C at the speed at which blocks are packed: lib::crc32c, computed by the processor's own instruction where there
// is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace host::trace {

[[nodiscard]] std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t previous = 0);

} // namespace host::trace
