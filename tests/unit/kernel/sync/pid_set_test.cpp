// SPDX-License-Identifier: MIT
// Tests a set of pids over the whole pool.
#include "kernel/sync/mutex.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pid_set_test {

TEST(PidSet, ListsItsPidsInAscendingOrder) {
    constexpr std::uint16_t kLast = kernel::kTasksMax - 1;
    kernel::detail::PidSet set;
    for (const std::uint16_t pid : {kLast, std::uint16_t{7}, std::uint16_t{0}, std::uint16_t{5}}) {
        set.insert({pid});
    }
    set.erase({5});
    std::vector<std::uint16_t> found;
    set.for_each([&](kernel::Pid pid) { found.push_back(pid.value); });
    EXPECT_EQ(found, (std::vector<std::uint16_t>{0, 7, kLast}));
}

} // namespace pid_set_test
