// SPDX-License-Identifier: MIT
// Measures how much memory a test has allocated, by the sanitizer, or by the C library in a build without one.
#pragma once

#include <cstddef>
#include <malloc.h>

// sanitizer/allocator_interface.h, which Debian's clang has in a folder of its own.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes(); // NOLINT(bugprone-reserved-identifier)

/// The bytes that are allocated and not yet freed, of the whole process.
inline std::size_t allocated_bytes() {
    if (__sanitizer_get_current_allocated_bytes != nullptr) {
        return __sanitizer_get_current_allocated_bytes();
    }
    const auto of = mallinfo2();
    return of.uordblks + of.hblkhd;
}
