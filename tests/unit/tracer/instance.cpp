// SPDX-License-Identifier: MIT
// In the test programs the one tracer is the fixture's that lives at the moment.
#include "tests/support/tracer_fixture.hpp"

namespace tracer {

Instance& instance() {
    ASSERT(tests::TracerFixture::current() != nullptr);
    return *tests::TracerFixture::current();
}

} // namespace tracer
