// SPDX-License-Identifier: MIT
// Tests objdump's listing, as it prints it.
#include "host/cli/event/disassembly.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::cli {

namespace disassembly_test {

using testing::HasSubstr;

TEST(Disassembly, ReadsInstructionsAndPassesOverTheRest) {
    const auto listing = Disassembly::parse("\nkernel.elf:     file format elf64-x86-64\n\n\n"
                                            "Disassembly of section .text:\n\n"
                                            "0000000000100000 <image_begin>:\n"
                                            "  100000:\tcli\n"
                                            "  100002:\tmov    %ebx,%esi\n"
                                            "  10002b:\tcall   101a3c <apps::work(unsigned int)>   \n"
                                            "\t...\n"
                                            "ffffffff80000000:\tret\n"
                                            "  zz:\tnot one\n"
                                            "  100030:\tcut");
    EXPECT_EQ(listing.at(0x100000), "cli");
    EXPECT_EQ(listing.at(0x100002), "mov %ebx,%esi");
    EXPECT_EQ(listing.at(0x10002b), "call 101a3c <apps::work(unsigned int)>");
    EXPECT_EQ(listing.at(0xffffffff80000000), "ret");
    EXPECT_EQ(listing.at(0x100030), "cut");
    EXPECT_EQ(listing.at(0x100001), "");
    EXPECT_EQ(Disassembly::parse("").at(0), "");
}

TEST(Disassembly, SaysWhatIsWrongWithAnImage) {
    const auto missing = Disassembly::of_image("/nonexistent/kernel.elf");
    ASSERT_FALSE(missing.ok());
    EXPECT_THAT(missing.error().text, HasSubstr("objdump"));
    const auto text = Disassembly::of_image("Makefile");
    EXPECT_FALSE(text.ok());
}

} // namespace disassembly_test

} // namespace host::cli
