// SPDX-License-Identifier: MIT
// 128-bit arithmetic for admission, which decides with exact products of 64-bit times. The freestanding build has no
// library routine for the division, which is therefore written here. Pure functions. Context: any.
#pragma once

#include <cstdint>
#include <optional>

namespace kernel {

__extension__ using Wide = unsigned __int128;

struct Division {
    Wide quotient = 0;
    std::uint64_t remainder = 0;
};

// Returns the number of bits up to the highest one that is set, and 0 for 0.
[[nodiscard]] int bit_width(Wide value);

// Divides, and rounds down. Precondition: 0 < divisor.
[[nodiscard]] Division divide(Wide dividend, std::uint64_t divisor);

// Divides, and rounds up. Precondition: 0 < divisor.
[[nodiscard]] Wide divide_up(Wide dividend, std::uint64_t divisor);

[[nodiscard]] std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b);

// Returns the product, or nothing if it might not fit 127 bits, which leave room for one addition.
[[nodiscard]] std::optional<Wide> multiply(Wide a, Wide b);

// Returns 2^64-1 for every value above that.
[[nodiscard]] std::uint64_t saturate(Wide value);

} // namespace kernel
