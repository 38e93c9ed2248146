// SPDX-License-Identifier: MIT
// The hosted end of ASSERT prints and aborts. It is linked into the tools and the unit tests, never into the kernel.
#include "lib/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace lib {

void assert_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    std::abort();
}

} // namespace lib
