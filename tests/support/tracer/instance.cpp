// SPDX-License-Identifier: MIT
// In the test programs the one tracer is that of the current fixture.
#include "tests/support/tracer/fixture.hpp"

namespace tracer {

Instance& instance() {
    ASSERT(tests::TracerFixture::current() != nullptr);
    return *tests::TracerFixture::current();
}

} // namespace tracer
