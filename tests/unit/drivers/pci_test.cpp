// SPDX-License-Identifier: MIT
// Tests the PCI scan and the decoding of registers, on a fake configuration space.
#include "drivers/pci.hpp"
#include "tests/support/fake_pci.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace drivers {

namespace {

class Pci : public testing::Test {
  protected:
    static constexpr std::size_t kHeaderType = 0x0E;
    static constexpr std::size_t kSecondaryBus = 0x19;
    static constexpr std::uint8_t kMultiFunction = 0x80;
    static constexpr std::uint8_t kBridge = 0x01;

    std::vector<PciAddress> scanned() {
        std::vector<PciAddress> found;
        EXPECT_FALSE(pci.scan([&](PciAddress address, PciId) {
            found.push_back(address);
            return false;
        }));
        return found;
    }

    test::FakePci machine;
    PciConfig<test::FakePci> pci{machine};
};

} // namespace

TEST_F(Pci, FindsNothingOnAnEmptyMachineAndLooksAtOneBusOnly) {
    EXPECT_EQ(pci.find({0x10EC, 0x8029}).error(), lib::Error::not_found);
    EXPECT_LT(machine.accesses(), 100);
}

TEST_F(Pci, FindsByVendorAndDeviceTogether) {
    machine.add(0, 1, 0, 0x10EC, 0x8139);
    machine.add(0, 2, 0, 0x8086, 0x8029);
    machine.add(0, 31, 0, 0x10EC, 0x8029);
    EXPECT_EQ(pci.find({0x10EC, 0x8029}).value(), (PciAddress{0, 31, 0}));
}

TEST_F(Pci, LooksAtFunctionsAboveZeroOnlyIfTheDeviceSaysItHasSome) {
    machine.add(0, 1, 0, 1, 1);
    machine.add(0, 1, 3, 1, 2); // a mirror
    machine.add(0, 2, 0, 1, 3)[kHeaderType] = kMultiFunction;
    machine.add(0, 2, 7, 1, 4); // after a gap
    EXPECT_EQ(scanned(), (std::vector<PciAddress>{{0, 1, 0}, {0, 2, 0}, {0, 2, 7}}));
}

TEST_F(Pci, FollowsBridgesToTheirBuses) {
    auto& bridge = machine.add(0, 3, 0, 1, 1);
    bridge[kHeaderType] = kBridge;
    bridge[kSecondaryBus] = 5;
    machine.add(4, 0, 0, 1, 2); // not reachable through a bridge
    auto& inner = machine.add(5, 1, 0, 1, 3);
    inner[kHeaderType] = kBridge;
    inner[kSecondaryBus] = 255;
    machine.add(255, 31, 0, 1, 4);
    EXPECT_EQ(scanned(), (std::vector<PciAddress>{{0, 3, 0}, {5, 1, 0}, {255, 31, 0}}));
}

TEST_F(Pci, IsNotLedInCirclesByABridge) {
    auto& bridge = machine.add(0, 3, 0, 1, 1);
    bridge[kHeaderType] = kBridge;
    bridge[kSecondaryBus] = 2;
    auto& backwards = machine.add(2, 0, 0, 1, 2);
    backwards[kHeaderType] = kBridge;
    backwards[kSecondaryBus] = 0;
    EXPECT_EQ(scanned().size(), 2U);
}

TEST_F(Pci, TreatsEachFunctionOfTheHostBridgeAsARoot) {
    machine.add(0, 0, 0, 1, 1)[kHeaderType] = kMultiFunction;
    machine.add(0, 0, 2, 1, 1);
    machine.add(2, 4, 0, 1, 2);
    EXPECT_EQ(scanned(), (std::vector<PciAddress>{{0, 0, 0}, {0, 0, 2}, {2, 4, 0}}));
}

TEST_F(Pci, AHostBridgeOfOneFunctionIsOneRoot) {
    machine.add(0, 0, 0, 1, 1);
    machine.add(0, 0, 1, 1, 1); // a mirror
    machine.add(1, 0, 0, 1, 2);
    EXPECT_EQ(scanned(), (std::vector<PciAddress>{{0, 0, 0}}));
}

TEST_F(Pci, TheLastFunctionOfTheHostBridgeIsARoot) {
    machine.add(0, 0, 0, 1, 1)[kHeaderType] = kMultiFunction;
    machine.add(0, 0, 7, 1, 1);
    machine.add(1, 0, 0, 1, 2); // no function 1, no bus 1
    machine.add(7, 31, 0, 1, 3);
    machine.add(8, 0, 0, 1, 4);
    EXPECT_EQ(scanned(), (std::vector<PciAddress>{{0, 0, 0}, {0, 0, 7}, {7, 31, 0}}));
}

TEST_F(Pci, ABridgeMayBeOneOfSeveralFunctions) {
    machine.add(0, 2, 0, 1, 1)[kHeaderType] = kMultiFunction;
    auto& bridge = machine.add(0, 2, 1, 1, 2);
    bridge[kHeaderType] = kMultiFunction | kBridge;
    bridge[kSecondaryBus] = 3;
    auto& other = machine.add(0, 2, 2, 1, 3);
    other[kHeaderType] = kMultiFunction | 2; // CardBus: another layout
    other[kSecondaryBus] = 4;
    machine.add(3, 0, 0, 1, 4);
    machine.add(4, 0, 0, 1, 5);
    EXPECT_EQ(scanned(), (std::vector<PciAddress>{{0, 2, 0}, {0, 2, 1}, {0, 2, 2}, {3, 0, 0}}));
}

TEST_F(Pci, EndsTheScanAtTheFunctionThatIsWanted) {
    machine.add(0, 1, 0, 1, 1);
    machine.add(0, 2, 0, 1, 1);
    int visits = 0;
    EXPECT_TRUE(pci.scan([&](PciAddress, PciId) { return ++visits == 1; }));
    EXPECT_EQ(visits, 1);
    EXPECT_EQ(pci.find({1, 1}).value(), (PciAddress{0, 1, 0}));
}

TEST_F(Pci, DecodesBaseAddressesOfEveryKind) {
    auto& registers = machine.add(0, 1, 0, 1, 1);
    machine.set(registers, 0x10, 0x0000'C001);
    machine.set(registers, 0x14, 0xFEBF'1008); // 32 bit, prefetchable
    machine.set(registers, 0x18, 0x4000'0004); // 64 bit
    machine.set(registers, 0x1C, 0x0000'00E0);
    machine.set(registers, 0x20, 0);
    machine.set(registers, 0x24, 0x4000'0004); // 64 bit in the last register
    const PciAddress address{0, 1, 0};
    EXPECT_EQ(pci.bar(address, 0).value().base, 0xC000U);
    EXPECT_EQ(pci.bar(address, 0).value().space, PciSpace::io);
    EXPECT_EQ(pci.bar(address, 1).value().base, 0xFEBF'1000U);
    EXPECT_EQ(pci.bar(address, 1).value().space, PciSpace::memory);
    EXPECT_EQ(pci.bar(address, 2).value().base, 0xE0'4000'0000U);
    EXPECT_EQ(pci.bar(address, 4).error(), lib::Error::not_found);
    EXPECT_EQ(pci.bar(address, 5).error(), lib::Error::corrupt);
    EXPECT_EQ(pci.bar(address, 6).error(), lib::Error::invalid_argument);
}

TEST_F(Pci, ReadsAndWritesRegistersAtTheirOwnPorts) {
    auto& registers = machine.add(3, 4, 5, 1, 1);
    machine.set(registers, 0x40, 0x4433'2211);
    const PciAddress address{3, 4, 5};
    EXPECT_EQ(pci.read32(address, 0x40), 0x4433'2211U);
    EXPECT_EQ(pci.read16(address, 0x42), 0x4433);
    EXPECT_EQ(pci.read8(address, 0x43), 0x44);
    pci.write16(address, 0x42, 0x8877);
    pci.write16(address, 0x40, 0xAABB);
    EXPECT_EQ(pci.read32(address, 0x40), 0x8877'AABBU);
}

} // namespace drivers
