// SPDX-License-Identifier: MIT
// Tests the lines of instructions, in a small table that was written by hand after DWARF 5, and that no table makes the
// search fail.
#include "host/trace/line_table.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace host::trace::line_table_test {

namespace {

constexpr std::string_view kTexts("/src\0kernel\0lib/units.hpp\0./task/task.cpp\0", 42);

std::string le(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text += static_cast<char>(value >> (8 * i));
    }
    return text;
}

// Two folders, /src and kernel; three files: kernel/./task/task.cpp is 2.
std::string unit(std::string_view program) {
    const std::string tables = le(1, 1) + le(1, 1) + le(0x1F, 1) + le(2, 1) + le(0, 4) + le(5, 4) +    // folders
                               le(2, 1) + le(1, 1) + le(0x1F, 1) + le(2, 1) + le(0x0B, 1) + le(3, 1) + // files
                               le(12, 4) + le(0, 1) + le(12, 4) + le(0, 1) + le(26, 4) + le(1, 1);
    const std::string head = le(1, 1) + le(1, 1) + le(1, 1) + le(0xFB, 1) + le(14, 1) + le(13, 1) + // line base -5
                             std::string("\0\1\1\1\1\0\0\0\1\0\0\1", 12) + tables;
    const std::string body = le(5, 2) + le(8, 1) + le(0, 1) + le(head.size(), 4) + head + std::string(program);
    return le(body.size(), 4) + body;
}

std::string address(std::uint64_t value) {
    return le(0, 1) + le(9, 1) + le(2, 1) + le(value, 8);
}

const std::string kEnd("\0\1\1", 3);

// 0x1000 is line 11 of lib/units.hpp; 0x1004 line 12; 0x1010 line 112 of kernel/task/task.cpp, up to 0x1020.
std::string two_files() {
    return unit(address(0x1000) + "\x03\x0A\x01" +               // line += 10, row
                le(13 + 4 * 14 + 5 + 1, 1) +                     // address += 4, line += 1, row
                "\x02\x0C\x04\x02\x03\xE4" + le(0, 1) + "\x01" + // address += 12, file 2, line += 100, row
                "\x02\x10" + kEnd);
}

TEST(LineTable, FindsTheLineOfAnInstruction) {
    const std::string table = unit(address(0x5000) + "\x01\x02\x04" + kEnd) + two_files();
    EXPECT_EQ(line_of(table, kTexts, 0x0FFF), "");
    EXPECT_EQ(line_of(table, kTexts, 0x1000), "lib/units.hpp:11");
    EXPECT_EQ(line_of(table, kTexts, 0x1003), "lib/units.hpp:11");
    EXPECT_EQ(line_of(table, kTexts, 0x1004), "lib/units.hpp:12");
    EXPECT_EQ(line_of(table, kTexts, 0x101F), "kernel/task/task.cpp:112");
    EXPECT_EQ(line_of(table, kTexts, 0x1020), "");
    EXPECT_EQ(line_of(table, kTexts, 0x5003), "lib/units.hpp:1");
}

TEST(LineTable, EndsWhereATableDoesNotHold) {
    const std::string table = two_files();
    for (std::size_t size = 0; size < table.size(); ++size) {
        EXPECT_NO_FATAL_FAILURE(static_cast<void>(line_of(table.substr(0, size), kTexts, 0x1010)));
    }
    for (std::size_t at = 0; at < table.size(); ++at) {
        for (const char value : {'\0', '\x7F', '\xFF'}) {
            std::string changed = table;
            changed[at] = value;
            EXPECT_LT(line_of(changed, kTexts.substr(0, 20), 0x1010).size(), 64U);
        }
    }
}

} // namespace

} // namespace host::trace::line_table_test
