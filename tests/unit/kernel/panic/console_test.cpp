// SPDX-License-Identifier: MIT
// Tests the lines that the console prints.
#include "kernel/panic/console.hpp"

#include <gtest/gtest.h>

#include <string>

namespace console_test {

std::string g_printed;

kernel::Console attached() {
    g_printed.clear();
    kernel::Console console;
    console.attach([](std::string_view text) { g_printed += text; });
    return console;
}

TEST(Console, PrintsTheOnePartAfterTheOtherAndEndsTheLine) {
    kernel::Console console = attached();
    console.line("a task ", 12, " at ", kernel::Hex{0xAB}, ", ", -3);
    console.mark("boot");
    EXPECT_EQ(g_printed, "a task 12 at 0xab, -3\nREMORA: boot\n");
}

TEST(Console, CutsALineThatIsTooLongVisibly) {
    kernel::Console console = attached();
    console.line(std::string(240, 'x'));
    console.line(std::string(240, 'y'), 'z');
    EXPECT_EQ(g_printed, std::string(240, 'x') + "\n" + std::string(240, 'y') + "~\n");
}

TEST(Console, DropsLinesBeforeAnOutputIsAttached) {
    kernel::Console console;
    console.line("early");
    console.mark("early");
}

} // namespace console_test
