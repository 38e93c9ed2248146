// SPDX-License-Identifier: MIT
// Programs that measure or soak the record path link without the counting of attempts (tests/support/attempts/), which
// would be measured with it: nothing is counted here, and their fixtures state it (Attempts::uncounted).
#include "tests/support/attempts/attempts.hpp"

extern "C" {
std::uint64_t attempted_bytes = 0;
}
