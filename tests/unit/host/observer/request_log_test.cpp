// SPDX-License-Identifier: MIT
// Tests lines as QEMU 7.2 and 10 write them, and what they mean for the interrupts that the processor takes.
#include "host/observer/request_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace host::observer {

void PrintTo(const Interrupt& interrupt, std::ostream* out) { // NOLINT(readability-identifier-naming): of GoogleTest
    *out << int{interrupt.vector} << " raised " << interrupt.raised.value_or(0) << " taken " << interrupt.taken
         << " stamped " << interrupt.stamped.value_or(0);
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kTimerLine = "apic_mem_writel 0x320 = 0x000000ee";
constexpr std::string_view kTimerExpires = "apic_local_deliver vector 0 delivery mode 0";

std::string taken(std::string_view vector, int by_instruction = 0) {
    return "    12: v=" + std::string(vector) + " e=0000 i=" + std::to_string(by_instruction) +
           " cpl=0 IP=0008:0000000000101000 pc=0000000000101000 SP=0010:0000000000200000";
}

class RequestLogTest : public ::testing::Test {
  protected:
    std::vector<Interrupt> seen;
    RequestLog log{[this](const Interrupt& interrupt) { seen.push_back(interrupt); }};
};

TEST_F(RequestLogTest, ATimerRaisesTheVectorOfItsLine) {
    log.take(kTimerLine, 10);
    log.take(kTimerExpires, 100);
    log.take(taken("ee"), 130);
    log.read_stamp(160);
    log.read_stamp(170);
    EXPECT_THAT(seen, ElementsAre(Interrupt{0xEE, 100, 130, 160}));
}

TEST_F(RequestLogTest, ARegisterHasItsNumberInQemu10) {
    log.take("apic_register_write register 0x32 = 0xee", 10);
    log.take(kTimerExpires, 100);
    log.take(taken("ee"), 130);
    log.read_stamp(160);
    EXPECT_THAT(seen, ElementsAre(Interrupt{0xEE, 100, 130, 160}));
}

TEST_F(RequestLogTest, AMaskedLineRaisesNothing) {
    log.take("apic_mem_writel 0x320 = 0x000100ee", 10);
    log.take(kTimerExpires, 100);
    log.take(taken("ee"), 130);
    log.finish();
    EXPECT_THAT(seen, ElementsAre(Interrupt{0xEE, std::nullopt, 130, std::nullopt}));
}

TEST_F(RequestLogTest, AVectorThatIsPendingCountsFromItsFirstRequest) {
    log.take("apic_deliver_irq dest 0 dest_mode 0 delivery_mode 0 vector 48 trigger_mode 1", 100);
    log.take("apic_deliver_irq dest 0 dest_mode 0 delivery_mode 0 vector 48 trigger_mode 1", 120);
    log.take(taken("30"), 130);
    log.read_stamp(131);
    log.take("apic_deliver_irq dest 0 dest_mode 0 delivery_mode 0 vector 48 trigger_mode 1", 140);
    log.take(taken("30"), 150);
    log.read_stamp(151);
    EXPECT_THAT(seen, ElementsAre(Interrupt{0x30, 100, 130, 131}, Interrupt{0x30, 140, 150, 151}));
}

TEST_F(RequestLogTest, AnInterruptInstructionLeavesWhatIsPending) {
    log.take("apic_mem_writel 0x300 = 0x00044091", 100);
    log.take(taken("91", 1), 110);
    log.read_stamp(120);
    log.take(taken("91"), 130);
    log.read_stamp(140);
    EXPECT_THAT(seen, ElementsAre(Interrupt{0x91, std::nullopt, 110, 120}, Interrupt{0x91, 100, 130, 140}));
}

TEST_F(RequestLogTest, ARequestToOtherProcessorsIsNone) {
    log.take("apic_mem_writel 0x300 = 0x000c4091", 100);
    log.take(taken("91"), 130);
    log.finish();
    EXPECT_THAT(seen, ElementsAre(Interrupt{0x91, std::nullopt, 130, std::nullopt}));
}

TEST_F(RequestLogTest, AnNmiIsVectorTwoWhateverItsLineSays) {
    log.take("apic_mem_writel 0x360 = 0x000004ff", 10);
    log.take("apic_local_deliver vector 4 delivery mode 4", 100);
    log.take(taken("02"), 100);
    log.read_stamp(120);
    EXPECT_THAT(seen, ElementsAre(Interrupt{2, 100, 100, 120}));
}

// The stamp of the outer handler is then that of a record that is written later.
TEST_F(RequestLogTest, AnInterruptBeforeTheStampLeavesTheOuterOneWithout) {
    log.take(taken("ee"), 130);
    log.take(taken("02"), 135);
    log.read_stamp(140);
    log.read_stamp(150);
    EXPECT_THAT(seen,
                ElementsAre(Interrupt{0xEE, std::nullopt, 130, std::nullopt}, Interrupt{2, std::nullopt, 135, 140}));
}

TEST_F(RequestLogTest, ExceptionsAndOtherLinesMeanNothing) {
    log.take(taken("0e"), 100);
    log.take("RAX=0000000000000000 RBX=0000000000000000", 100);
    log.take("apic_mem_writel", 100);
    log.take("apic_local_deliver vector 17 delivery mode 0", 100);
    log.take("apic_deliver_irq dest 0 dest_mode 0 delivery_mode 0 vector 4096 trigger_mode 0", 100);
    log.take("", 100);
    log.take("     1: v=", 100);
    log.read_stamp(120);
    EXPECT_THAT(seen, IsEmpty());
}

TEST_F(RequestLogTest, AnUnsetLineIsNoInterrupt) {
    log.take(kTimerExpires, 100);
    log.read_stamp(120);
    log.finish();
    EXPECT_THAT(seen, IsEmpty());
}

} // namespace

} // namespace host::observer
