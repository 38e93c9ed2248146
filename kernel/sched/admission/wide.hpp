// SPDX-License-Identifier: MIT
// 128-bit arithmetic for admission, which decides with exact products of 64-bit times. Division is done bit by bit: the
// freestanding build has no library routine for it, and admission is no hot path. Pure functions. Context: any.
#pragma once

#include <cstdint>
#include <optional>

namespace kernel {

__extension__ using Wide = unsigned __int128;

struct Division {
    Wide quotient = 0;
    std::uint64_t remainder = 0;
};

// 0 for 0.
[[nodiscard]] int bit_width(Wide value);

// Precondition: 0 < divisor.
[[nodiscard]] Division divide(Wide dividend, std::uint64_t divisor);

// Rounded up. Precondition: 0 < divisor.
[[nodiscard]] Wide divide_up(Wide dividend, std::uint64_t divisor);

[[nodiscard]] std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b);

// Empty if the product might not fit 127 bits, which leaves room for one addition.
[[nodiscard]] std::optional<Wide> multiply(Wide a, Wide b);

// 2^64-1 for everything above.
[[nodiscard]] std::uint64_t saturate(Wide value);

} // namespace kernel
