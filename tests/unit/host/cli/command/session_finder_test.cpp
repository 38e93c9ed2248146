// SPDX-License-Identifier: MIT
// Tests sessions of runs, found by the names that a store has: which are never a path to somewhere else.
#include "fleet/command/fleet_report.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace host::cli {

namespace session_finder_test {

constexpr const char* kBoot = "00000000000000ab";

class SessionFinderTest : public testing::Test {
  protected:
    std::string file(const std::string& name) const {
        const std::filesystem::path path = m_scratch / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << "packed";
        return path.string();
    }

    support::TemporaryDirectory m_scratch;
};

TEST_F(SessionFinderTest, FindsThoseOfAStore) {
    const std::string other = file("fleet/south/pi-1/00000000000000ab.rpk");
    const std::string stored = file("fleet/north/pi-1/00000000000000ab.rpk");
    EXPECT_EQ(SessionFinder(m_scratch / "fleet").find("north", "pi-1", kBoot), stored);
}

TEST_F(SessionFinderTest, FindsPackedOnesByTheirBoot) {
    const std::string packed = file("sessions/of/all/00000000000000ab.rpk");
    EXPECT_EQ(SessionFinder(m_scratch / "sessions").find("north", "pi-1", kBoot), packed);
    EXPECT_EQ(SessionFinder(m_scratch / "sessions").find("north", "pi-1", "00000000000000ac"), "");
}

TEST_F(SessionFinderTest, TakesNoNameForAPath) {
    static_cast<void>(file("fleet/north/pi-1/00000000000000ab.rpk"));
    SessionFinder finder(m_scratch / "fleet/north");
    EXPECT_EQ(finder.find("../north", "pi-1", kBoot), "");
    EXPECT_EQ(finder.find("..", "north/pi-1", kBoot), "");
    EXPECT_EQ(finder.find("north", "pi-1", "pi-1/00000000000000ab"), "");
}

TEST_F(SessionFinderTest, FindsNothingWhereNothingIs) {
    EXPECT_EQ(SessionFinder(m_scratch / "absent").find("north", "pi-1", kBoot), "");
}

} // namespace session_finder_test

} // namespace host::cli
