// SPDX-License-Identifier: MIT
// In the test programs the one tracer is that of the current fixture.
#include "tests/support/tracer/fixture.hpp"

namespace tracer {

Instance& instance() {
    ASSERT(tests::TracerFixture::current() != nullptr);
    if (tests::TracerFixture::on_access()) {
        tests::TracerFixture::on_access()();
    }
    return *tests::TracerFixture::current();
}

} // namespace tracer
