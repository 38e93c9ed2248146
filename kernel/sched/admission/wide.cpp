// SPDX-License-Identifier: MIT
// See wide.hpp.
#include "kernel/sched/admission/wide.hpp"

#include <bit>
#include <limits>

namespace kernel {

int bit_width(Wide value) {
    const auto high = static_cast<std::uint64_t>(value >> 64);
    return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(value));
}

namespace {

// The processor divides 128 bits by 64 as long as the quotient fits 64: high < divisor. (The compiler's routine for the
// whole is in a library that the freestanding kernel does not link.)
std::uint64_t divide_step(std::uint64_t high, std::uint64_t low, std::uint64_t divisor, std::uint64_t& remainder) {
    std::uint64_t quotient = 0;
    asm("divq %4" : "=a"(quotient), "=d"(remainder) : "0"(low), "1"(high), "r"(divisor) : "cc");
    return quotient;
}

} // namespace

// Long division with digits of 64 bits.
Division divide(Wide dividend, std::uint64_t divisor) {
    const auto high = static_cast<std::uint64_t>(dividend >> 64);
    Division result;
    const std::uint64_t first = high / divisor;
    const std::uint64_t second =
        divide_step(high % divisor, static_cast<std::uint64_t>(dividend), divisor, result.remainder);
    result.quotient = (Wide{first} << 64) | second;
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
