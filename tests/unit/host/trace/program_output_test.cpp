// SPDX-License-Identifier: MIT
// Tests that a program that is run for its output ends, whatever it does.
#include "host/trace/program_output.hpp"

#include <gtest/gtest.h>

namespace host::trace::program_output_test {

constexpr ProgramLimits kLimits{.processor_s = 1, .wall_s = 2, .output_bytes = 100};

TEST(ProgramOutput, IsWhatItPrints) {
    const auto printed = output_of({"sh", "-c", "echo a $1; echo b >&2; cat", "sh", "two words"}, kLimits);
    ASSERT_TRUE(printed.ok());
    EXPECT_EQ(printed.value(), "a two words\n");
}

TEST(ProgramOutput, IsRefusedIfItFailsOrDoesNotEnd) {
    EXPECT_EQ(output_of({"/no/such/program"}, kLimits).error().text,
              "/no/such/program cannot be run: install the package binutils");
    for (const char* const script :
         {"exit 3", "kill -KILL $$", "while :; do :; done", "yes", "sleep 60", "exec >&-; exec sleep 60"}) {
        const auto printed = output_of({"sh", "-c", script}, kLimits);
        ASSERT_FALSE(printed.ok()) << script;
        EXPECT_EQ(printed.error().text, "sh failed") << script;
    }
}

} // namespace host::trace::program_output_test
