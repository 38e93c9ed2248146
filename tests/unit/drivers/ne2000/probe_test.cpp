// SPDX-License-Identifier: MIT
// Tests the location of the PCI variety of the NE2000, and the behaviour if its registers are invalid.
#include "drivers/ne2000/probe.hpp"
#include "tests/support/fake_pci.hpp"

#include <gtest/gtest.h>

namespace drivers::ne2000 {

namespace {

class Ne2000OnPci : public testing::Test {
  protected:
    test::FakePci machine;
    PciConfig<test::FakePci> pci{machine};
};

} // namespace

TEST_F(Ne2000OnPci, IsLocatedAndItsPortsAreSwitchedOn) {
    machine.add(0, 0, 0, 0x8086, 0x29C0);
    auto& card = machine.add(0, 1, 0, 0x10EC, 0x8029);
    machine.set(card, 0x10, 0xC001);
    card[0x05] = 0x04; // a command bit that must be kept
    const auto io_base = locate_on_pci(pci);
    ASSERT_TRUE(io_base);
    EXPECT_EQ(io_base.value(), 0xC000);
    EXPECT_EQ(card[0x04], 0x01);
    EXPECT_EQ(card[0x05], 0x04);
}

TEST_F(Ne2000OnPci, IsNotFoundOnABusWithoutIt) {
    machine.add(0, 0, 0, 0x8086, 0x29C0);
    EXPECT_EQ(locate_on_pci(pci).error(), lib::Error::not_found);
}

TEST_F(Ne2000OnPci, ABaseAddressThatIsNotOfPortsIsCorrupt) {
    auto& card = machine.add(0, 1, 0, 0x10EC, 0x8029);
    for (const std::uint32_t base : {0xFEB0'0000U, 0x0000'0001U, 0x0000'FFF1U, 0x0001'0001U}) {
        machine.set(card, 0x10, base);
        EXPECT_EQ(locate_on_pci(pci).error(), lib::Error::corrupt) << std::hex << base;
        EXPECT_EQ(card[0x04], 0x00) << "decoder switched on";
    }
}

// Six bytes of address, six more of the maker, four of signature: each twice.
TEST(Ne2000Prom, OnlyTheAddressMustBeDoubledAndTheSignatureComplete) {
    PromImage good{};
    for (std::size_t i = 0; i < good.size(); ++i) {
        good[i] = static_cast<std::byte>(i < 12 ? 0x10 + i / 2 : i < 28 ? i : 0x57);
    }
    const auto mac = decode_prom(good);
    ASSERT_TRUE(mac);
    EXPECT_EQ(mac.value(), (net::MacAddress{{std::byte{0x10}, std::byte{0x11}, std::byte{0x12}, std::byte{0x13},
                                             std::byte{0x14}, std::byte{0x15}}}));
    for (std::size_t i = 0; i < good.size(); ++i) {
        PromImage changed = good;
        changed[i] ^= std::byte{0x20};
        EXPECT_EQ(decode_prom(changed).ok(), i >= 12 && i < 28) << i;
    }
}

} // namespace drivers::ne2000
