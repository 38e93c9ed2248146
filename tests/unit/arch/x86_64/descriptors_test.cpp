// SPDX-License-Identifier: MIT
// Tests the words of the descriptor tables, taken apart by the fields that the processor's manual draws.
#include "arch/x86_64/descriptors.hpp"

#include "arch/x86_64/interrupt_frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>

namespace arch::x86_64 {
namespace {

constexpr std::uint64_t field(std::uint64_t word, unsigned high, unsigned low) {
    return (word >> low) & ((std::uint64_t{2} << (high - low)) - 1);
}

// Different in every byte, so that no part can take the place of another.
constexpr std::uint64_t kAddress = 0x0123'4567'89AB'CDEF;

TEST(SegmentDescriptor, IsOfRing0Present64BitCodeOrWritableData) {
    for (const std::uint64_t word : {kDescriptorCode, kDescriptorData}) {
        EXPECT_EQ(field(word, 47, 47), 1U) << "present";
        EXPECT_EQ(field(word, 46, 45), 0U) << "ring";
        EXPECT_EQ(field(word, 44, 44), 1U) << "no system segment";
        EXPECT_EQ(field(word, 55, 55), 1U) << "limit in pages";
        EXPECT_EQ(field(word, 15, 0) | field(word, 51, 48) << 16, 0xF'FFFFU) << "limit";
        EXPECT_EQ(field(word, 39, 16) | field(word, 63, 56) << 24, 0U) << "base";
    }
    EXPECT_EQ(field(kDescriptorCode, 43, 41), 0b101U) << "code that can be read";
    EXPECT_EQ(field(kDescriptorCode, 54, 53), 0b01U) << "64 bits, not 32";
    EXPECT_EQ(field(kDescriptorData, 43, 41), 0b001U) << "data that can be written";
    EXPECT_EQ(field(kDescriptorData, 53, 53), 0U);
}

TEST(TssDescriptor, HasTheWholeBaseAndTheLastByteOfTheSegment) {
    for (const std::uint64_t base : {kAddress, std::uint64_t{0}, ~std::uint64_t{0}}) {
        const WideDescriptor tss = tss_descriptor(base);
        EXPECT_EQ(field(tss.low, 39, 16) | field(tss.low, 63, 56) << 24 | tss.high << 32, base);
        EXPECT_EQ(field(tss.low, 15, 0) | field(tss.low, 51, 48) << 16, 103U);
        EXPECT_EQ(field(tss.low, 43, 40), 0b1001U) << "an available 64-bit TSS";
        EXPECT_EQ(field(tss.low, 47, 44), 0b1000U) << "present, ring 0, a system segment";
        EXPECT_EQ(field(tss.low, 55, 52), 0U) << "limit in bytes";
    }
}

TEST(InterruptGate, HasTheWholeTargetTheCodeSegmentAndItsStack) {
    for (const InterruptStack stack : {InterruptStack::none, InterruptStack::nmi, InterruptStack::exception}) {
        const WideDescriptor gate = interrupt_gate(kAddress, stack);
        EXPECT_EQ(field(gate.low, 15, 0) | field(gate.low, 63, 48) << 16 | field(gate.high, 31, 0) << 32, kAddress);
        EXPECT_EQ(field(gate.high, 63, 32), 0U) << "reserved";
        EXPECT_EQ(field(gate.low, 31, 16), kSelectorCode);
        EXPECT_EQ(field(gate.low, 34, 32), static_cast<std::uint64_t>(stack));
        EXPECT_EQ(field(gate.low, 39, 35), 0U) << "reserved";
        EXPECT_EQ(field(gate.low, 43, 40), 0b1110U) << "an interrupt gate: the flag is cleared";
        EXPECT_EQ(field(gate.low, 47, 44), 0b1000U) << "present, ring 0";
    }
}

// The offsets of the fields that the processor reads.
TEST(TaskStateSegment, HasTheStacksWhereTheProcessorReadsThem) {
    TaskStateSegment tss{};
    tss.interrupt_stacks = std::array<std::uint64_t, 7>{kAddress, 0, 0, 0, 0, 0, ~kAddress};
    tss.io_map_offset = 0x1234;
    const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(TaskStateSegment)>>(tss);
    const auto at = [&bytes](std::size_t offset, std::size_t size) {
        std::uint64_t value = 0;
        for (std::size_t i = size; i-- > 0;) {
            value = value << 8 | bytes[offset + i];
        }
        return value;
    };
    EXPECT_EQ(at(0x24, 8), kAddress);
    EXPECT_EQ(at(0x54, 8), ~kAddress);
    EXPECT_EQ(at(0x66, 2), 0x1234U);
}

// An exception's own stack does not depend on the interrupted one, and those that can come inside of others do not
// overwrite them.
TEST(StackOfAVector, IsOneOfItsOwnForWhatComesInsideOfOthers) {
    const std::map<std::size_t, InterruptStack> own{{1, InterruptStack::debug},
                                                    {2, InterruptStack::nmi},
                                                    {8, InterruptStack::double_fault},
                                                    {14, InterruptStack::page_fault},
                                                    {18, InterruptStack::machine_check}};
    for (std::size_t vector = 0; vector < 256; ++vector) {
        const auto found = own.find(vector);
        const InterruptStack otherwise = vector < 32 ? InterruptStack::exception : InterruptStack::none;
        EXPECT_EQ(stack_of(vector), found != own.end() ? found->second : otherwise) << vector;
        EXPECT_LE(static_cast<std::size_t>(stack_of(vector)), kInterruptStacks);
    }
}

TEST(ExceptionPlace, IsThatOfTheFrame) {
    InterruptFrame frame{};
    frame.error_code = 5;
    frame.rip = 0x10'1234;
    frame.cs = kSelectorCode;
    frame.rflags = 0x202;
    frame.rsp = 0x20'0000;
    const ExceptionPlace place = place_of(frame);
    EXPECT_EQ(place.error_code, 5U);
    EXPECT_EQ(place.rip, 0x10'1234U);
    EXPECT_EQ(place.rflags, 0x202U);
    EXPECT_EQ(place.rsp, 0x20'0000U);
}

// `int 13`: RIP, CS, RFLAGS, RSP, SS, each taken for the one after it.
TEST(ExceptionPlace, IsFoundWithoutAnErrorCode) {
    InterruptFrame frame{};
    frame.error_code = 0x10'1234;
    frame.rip = kSelectorCode;
    frame.cs = 0x202;
    frame.rflags = 0x20'0000;
    frame.rsp = kSelectorData;
    const ExceptionPlace place = place_of(frame);
    EXPECT_EQ(place.error_code, 0U);
    EXPECT_EQ(place.rip, 0x10'1234U);
    EXPECT_EQ(place.rflags, 0x202U);
    EXPECT_EQ(place.rsp, 0x20'0000U);
}

// The word in the place of the code segment is another, but the one before it is none either: nothing was displaced.
TEST(ExceptionPlace, IsThatOfTheFrameUnlessTheCodeSegmentIsOnePlaceLower) {
    InterruptFrame frame{};
    frame.error_code = 5;
    frame.rip = 0x10'1234;
    frame.cs = kSelectorData;
    frame.rflags = 0x202;
    frame.rsp = 0x20'0000;
    EXPECT_EQ(place_of(frame).rip, 0x10'1234U);
    EXPECT_EQ(place_of(frame).error_code, 5U);
    EXPECT_EQ(place_of(frame).rsp, 0x20'0000U);
}

// A jump to a null function: the address looks like a selector, the code segment is whole.
TEST(ExceptionPlace, IsThatOfTheFrameWhateverItsAddressIs) {
    InterruptFrame frame{};
    frame.error_code = 0x14;
    frame.rip = kSelectorCode;
    frame.cs = kSelectorCode;
    EXPECT_EQ(place_of(frame).rip, kSelectorCode);
    EXPECT_EQ(place_of(frame).error_code, 0x14U);
}

} // namespace
} // namespace arch::x86_64
