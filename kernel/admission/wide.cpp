// SPDX-License-Identifier: MIT
// See wide.hpp.
#include "kernel/admission/wide.hpp"

#include <bit>
#include <limits>

namespace kernel {

int bit_width(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    return high != 0 ? 64 + static_cast<int>(std::bit_width(high))
                     : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

Division divide(Wide dividend, std::uint64_t divisor) {
    if (dividend <= std::numeric_limits<std::uint64_t>::max()) {
        const auto narrow = static_cast<std::uint64_t>(dividend);
        return {narrow / divisor, narrow % divisor};
    }
    Division result;
    Wide remainder = 0;
    for (int bit = bit_width(dividend) - 1; bit >= 0; --bit) {
        remainder = (remainder << 1) | ((dividend >> bit) & 1U);
        result.quotient <<= 1;
        if (remainder >= divisor) {
            remainder -= divisor;
            result.quotient |= 1U;
        }
    }
    result.remainder = static_cast<std::uint64_t>(remainder);
    return result;
}

Wide divide_up(Wide dividend, std::uint64_t divisor) {
    const Division division = divide(dividend, divisor);
    return division.quotient + (division.remainder != 0 ? 1U : 0U);
}

std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b) {
    while (b != 0) {
        const std::uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

std::optional<Wide> multiply(Wide a, Wide b) {
    if (bit_width(a) + bit_width(b) > 127) {
        return std::nullopt;
    }
    return a * b;
}

std::uint64_t saturate(Wide value) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    return value > kMax ? kMax : static_cast<std::uint64_t>(value);
}

} // namespace kernel
