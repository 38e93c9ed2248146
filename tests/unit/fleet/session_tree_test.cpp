// SPDX-License-Identifier: MIT
// Tests sessions in a tree of directories, and the names that these give them.
#include "fleet/session_tree.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace host::fleet {
namespace session_tree_test {

class SessionTreeTest : public testing::Test {
  protected:
    void make(const std::string& path) {
        std::filesystem::create_directories(root / path);
        std::ofstream(root / (path + "/manifest.json")) << "{}";
    }

    // PATH=SITE/NODE of each, without the root.
    std::string found(const std::string& below = "") {
        std::string text;
        const std::string top = std::filesystem::path(root / below).string();
        for (const FoundSession& one : sessions_below(top)) {
            text += one.path.substr(std::min(top.size(), one.path.size())) + "=" + one.names.site + "/" +
                    one.names.node + " ";
        }
        return text;
    }

    support::TemporaryDirectory root;
};

TEST_F(SessionTreeTest, ASessionItselfHasNoNames) {
    make("s");
    EXPECT_EQ(found("s"), "=/ ");
}

TEST_F(SessionTreeTest, DirectoriesNameNodeAndSite) {
    make("t/s1");
    make("t/pi-2/s2");
    make("t/lab/pi-3/s3");
    EXPECT_EQ(found("t"), "/lab/pi-3/s3=lab/pi-3 /pi-2/s2=/pi-2 /s1=/ ");
}

TEST_F(SessionTreeTest, ANameIsMadeOfWhatIsNone) {
    make("t/my machine/s");
    EXPECT_EQ(found("t"), "/my machine/s=/my-machine ");
}

TEST_F(SessionTreeTest, LooksNoDeeperAndNotIntoSessions) {
    make("t/a/b/c/s");
    make("t/s");
    make("t/s/inner");
    EXPECT_EQ(found("t"), "/s=/ ");
    EXPECT_EQ(found("none"), "");
}

} // namespace session_tree_test
} // namespace host::fleet
