// SPDX-License-Identifier: MIT
// Copies bytes by the machine's best copy: std::ranges::copy() of g++ 12 takes one byte at a time between spans of
// const and of other bytes. Context: any.
#pragma once

#include "lib/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace lib {

// Precondition: `to` has at least the size of `from`, and does not begin within it.
constexpr void copy_bytes(std::span<const std::byte> from, std::span<std::byte> to) {
    ASSERT(from.size() <= to.size());
    std::copy(from.begin(), from.end(), to.begin());
}

} // namespace lib
