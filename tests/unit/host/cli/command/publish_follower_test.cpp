// SPDX-License-Identifier: MIT
// Tests lines between a recorder and its publisher.
#include "fleet/command/publish_follower.hpp"

#include <gtest/gtest.h>

namespace host::cli {
namespace publish_follower_test {

std::optional<Notice> read_back(const Notice& notice) {
    std::string line = notice_line(notice);
    if (line.empty() || line.back() != '\n') {
        return std::nullopt;
    }
    line.pop_back();
    return notice_of(line);
}

TEST(Notice, IsReadBack) {
    for (const NoticeKind kind : {NoticeKind::opened, NoticeKind::closed}) {
        const Notice notice{.kind = kind, .from = {.site = "lab", .node = "board-7"}, .session = "out/a b/0"};
        EXPECT_EQ(read_back(notice), notice);
    }
    EXPECT_EQ(read_back({}), Notice{});
}

TEST(Notice, OfADirectoryWithALineFeedIsNotSent) {
    EXPECT_EQ(notice_line({.kind = NoticeKind::opened, .from = {.site = "a", .node = "b"}, .session = "x\ny"}), "");
}

TEST(Notice, OfAnyOtherFormIsRefused) {
    for (const char* const line : {"", "opened", "opened lab/board", "opened lab out", "opened /b out", "opened a/b ",
                                   "ended", "end now", "more a/b out"}) {
        EXPECT_FALSE(notice_of(line).has_value()) << line;
    }
}

} // namespace publish_follower_test
} // namespace host::cli
