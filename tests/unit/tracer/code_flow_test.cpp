// SPDX-License-Identifier: MIT
// Tests the flow to an instruction, derived from the bytes of the previous one.
#include "tracer/record/code_flow.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tracer {

namespace code_flow_test {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kAt = 0x10'0000;

struct Case {
    const char* name;
    Bytes code;
    std::int64_t to; // from kAt
    Flow flow;
};

void PrintTo(const Case& one, std::ostream* out) {
    *out << one.name;
}

class CodeFlow : public testing::TestWithParam<Case> {};

TEST_P(CodeFlow, IsClassified) {
    const Case& one = GetParam();
    EXPECT_EQ(flow_of(one.code, kAt, kAt + static_cast<std::uint64_t>(one.to)), one.flow);
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, CodeFlow,
    testing::Values(
        Case{"nop", {0x90}, 1, Flow::next}, Case{"jz_not_taken", {0x74, 0x10}, 2, Flow::next},
        Case{"jz_taken", {0x74, 0x10}, 0x12, Flow::jump}, Case{"jz_back", {0x75, 0xF0}, -14, Flow::jump},
        Case{"jo_first_of_its_row", {0x70, 0x10}, 0x12, Flow::jump}, Case{"outs_is_no_jump", {0x6F}, 2, Flow::next},
        Case{"add_is_no_jump", {0x80, 0xC0, 1}, 2, Flow::next}, Case{"jg_last_of_its_row", {0x7F, 0x00}, 3, Flow::jump},
        Case{"near_not_taken", {0x0F, 0x84, 1, 0, 0, 0}, 6, Flow::next},
        Case{"near_taken", {0x0F, 0x8F, 1, 0, 0, 0}, 7, Flow::jump},
        Case{"near_first_of_its_row", {0x0F, 0x80, 1, 0, 0, 0}, 7, Flow::jump},
        Case{"seto_is_no_jump", {0x0F, 0x90, 0xC0}, 7, Flow::next},
        Case{"mov_is_no_near_jump", {0x89, 0x84, 0x24, 8, 0, 0, 0}, 7, Flow::next},
        Case{"near_with_a_hint", {0x2E, 0x0F, 0x85, 1, 0, 0, 0}, 7, Flow::next},
        Case{"movzx_is_no_jump", {0x0F, 0xB6, 0xC0}, 3, Flow::next},
        Case{"loop_not_taken", {0xE2, 0xFE}, 2, Flow::next}, Case{"loop_taken", {0xE2, 0xFE}, 0, Flow::jump},
        Case{"jrcxz_with_a_prefix", {0x67, 0xE3, 0x10}, 3, Flow::next}, Case{"jmp_short", {0xEB, 0x00}, 2, Flow::jump},
        Case{"jmp", {0xE9, 0, 0, 0, 0}, 5, Flow::jump}, Case{"jmp_register", {0xFF, 0xE0}, 100, Flow::jump},
        Case{"jmp_r8", {0x41, 0xFF, 0xE0}, 100, Flow::jump}, Case{"call", {0xE8, 0, 0, 0, 0}, 5, Flow::call},
        Case{"call_with_an_empty_rex", {0x40, 0xE8, 0, 0, 0, 0}, 6, Flow::call},
        Case{"call_register", {0xFF, 0xD0}, 100, Flow::call},
        Case{"call_memory", {0x41, 0xFF, 0x54, 0x24, 8}, 100, Flow::call},
        Case{"inc_is_no_jump", {0xFF, 0xC0}, 2, Flow::next}, Case{"push_is_no_jump", {0xFF, 0x30}, 2, Flow::next},
        Case{"ret", {0xC3}, 100, Flow::ret}, Case{"rep_ret", {0xF3, 0xC3}, 100, Flow::ret},
        Case{"ret_and_drop", {0xC2, 8, 0}, 100, Flow::ret}, Case{"iretq", {0x48, 0xCF}, 100, Flow::resumed},
        Case{"nothing_to_read", {}, 1, Flow::next}, Case{"prefixes_alone", Bytes(15, 0x66), 15, Flow::next},
        Case{"cut_after_the_escape", {0x0F}, 2, Flow::next}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(CodeFlowRepeated, NeedsAPrefixAndAnInstruction) {
    EXPECT_TRUE(is_repeated(Bytes{0xF3, 0x48, 0xA5}));
    EXPECT_TRUE(is_repeated(Bytes{0x66, 0xF2, 0xA6}));
    EXPECT_FALSE(is_repeated(Bytes{0x48, 0xA5}));
    EXPECT_FALSE(is_repeated(Bytes{0xB0, 0xF3, 0xA4})) << "a number, after the instruction's first byte";
    EXPECT_FALSE(is_repeated(Bytes{0xF3}));
    EXPECT_FALSE(is_repeated(Bytes{}));
}

} // namespace code_flow_test

} // namespace tracer
