// SPDX-License-Identifier: MIT
// A guarded stack has an unmapped page below it, so that an overflow faults instead of writing elsewhere.
//
//     low                                high
//     | guard: unmapped | stack grows <--- |
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace arch::x86_64 {

inline constexpr std::size_t kPageBytes = 4096;

template <std::size_t Bytes>
struct alignas(kPageBytes) GuardedStack {
    static_assert(Bytes % kPageBytes == 0);
    std::array<std::byte, kPageBytes> guard;
    std::array<std::byte, Bytes> stack;

    [[nodiscard]] std::uint64_t top() const { return reinterpret_cast<std::uint64_t>(stack.data() + Bytes); }

    [[nodiscard]] std::uint64_t guard_address() const { return reinterpret_cast<std::uint64_t>(guard.data()); }
};

} // namespace arch::x86_64
