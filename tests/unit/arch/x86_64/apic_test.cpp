// SPDX-License-Identifier: MIT
// Tests the I/O APIC and the local APIC against fakes with the registers of the data sheets. A fake refuses an access
// to any other address, and the one of the local APIC counts its timer down while the clock runs.
#include "arch/x86_64/io_apic.hpp"
#include "arch/x86_64/local_apic_device.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

namespace arch::x86_64 {
namespace apic_test {

constexpr std::uint64_t kIoBase = 0xFEC0'0000;
constexpr std::uint32_t kLines = 24;
constexpr std::uint32_t kLineBase = 8; // of the second one of a machine

struct FakeIoApic {
    static inline std::map<std::uint32_t, std::uint32_t> registers{};
    static inline std::uint32_t selected = 0;

    static void reset() {
        registers = {{0x01, (kLines - 1) << 16 | 0x11}};
        for (std::uint32_t i = 0; i < 2 * kLines; ++i) {
            registers[0x10 + i] = 0xA5A5; // as firmware left it
        }
    }

    static std::uint32_t read(std::uint64_t address) {
        EXPECT_EQ(address, kIoBase + 0x10) << "the select register is not read";
        EXPECT_TRUE(registers.contains(selected)) << selected;
        return registers[selected];
    }

    static void write(std::uint64_t address, std::uint32_t value) {
        if (address == kIoBase) {
            selected = value;
            return;
        }
        EXPECT_EQ(address, kIoBase + 0x10);
        EXPECT_TRUE(selected >= 0x10 && registers.contains(selected)) << selected;
        registers[selected] = value;
    }

    // Returns the lower and the upper word of a line of the controller.
    static std::vector<std::uint32_t> line(std::uint32_t number) {
        return {registers.at(0x10 + 2 * number), registers.at(0x11 + 2 * number)};
    }
};

class IoApics : public testing::Test {
  protected:
    using Words = std::vector<std::uint32_t>;

    IoApics() {
        FakeIoApic::reset();
        m_apic.start(kIoBase, kLineBase);
    }

    IoApicIn<FakeIoApic> m_apic;
};

TEST_F(IoApics, MasksEveryLineAtFirst) {
    for (std::uint32_t line = 0; line < kLines; ++line) {
        EXPECT_EQ(FakeIoApic::line(line), (Words{1U << 16, 0})) << line;
    }
}

TEST_F(IoApics, ServesItsLines) {
    EXPECT_FALSE(m_apic.serves(kLineBase - 1));
    EXPECT_TRUE(m_apic.serves(kLineBase));
    EXPECT_TRUE(m_apic.serves(kLineBase + kLines - 1));
    EXPECT_FALSE(m_apic.serves(kLineBase + kLines));
    EXPECT_FALSE(IoApicIn<FakeIoApic>{}.serves(0)) << "none was started";
}

TEST_F(IoApics, RoutesALineMaskedAndOpensIt) {
    m_apic.route(kLineBase + 3, 0x53, {.level = true, .active_low = true});
    EXPECT_EQ(FakeIoApic::line(3), (Words{0x1A053, 0}));
    m_apic.enable(kLineBase + 3, true);
    EXPECT_EQ(FakeIoApic::line(3), (Words{0x0A053, 0}));
    m_apic.enable(kLineBase + 3, true);
    EXPECT_EQ(FakeIoApic::line(3), (Words{0x0A053, 0})) << "it was open";
    m_apic.enable(kLineBase + 3, false);
    EXPECT_EQ(FakeIoApic::line(3), (Words{0x1A053, 0}));
    EXPECT_EQ(FakeIoApic::line(2), (Words{1U << 16, 0}));
    EXPECT_EQ(FakeIoApic::line(4), (Words{1U << 16, 0}));
}

TEST_F(IoApics, RoutesALineAsAnOpenNmi) {
    m_apic.route_nmi(kLineBase + kLines - 1);
    EXPECT_EQ(FakeIoApic::line(kLines - 1), (Words{0x400, 0}));
}

constexpr std::uint64_t kBase = 0xFEE0'1000;
constexpr lib::TickRate kClock{2'400'000};
constexpr std::uint32_t kTimerKhz = 1'000'000;

struct FakeLocalApic {
    static inline std::map<std::uint64_t, std::uint32_t> registers{};
    static inline std::vector<std::uint64_t> written{};
    static inline bool enabled = false;
    static inline std::uint64_t clock = 0;
    static inline std::uint64_t armed_at = 0;
    static inline std::vector<std::uint64_t>
        stalls{}; // the host stops so long after each read of the timer, last first

    static void reset() {
        registers.clear();
        written.clear();
        enabled = false;
        clock = 5'000;
        stalls.clear();
    }

    static std::uint32_t read(std::uint64_t address) {
        EXPECT_TRUE(enabled);
        if (address != kBase + 0x390) {
            return registers[address - kBase];
        }
        const std::uint64_t passed = (clock - armed_at) * kTimerKhz / kClock.khz;
        if (!stalls.empty()) {
            clock += stalls.back();
            stalls.pop_back();
        }
        const std::uint64_t count = registers[0x380];
        return static_cast<std::uint32_t>(count > passed ? count - passed : 0);
    }

    static void write(std::uint64_t address, std::uint32_t value) {
        EXPECT_TRUE(enabled) << "the controller is off";
        EXPECT_TRUE(address >= kBase && address < kBase + 0x400 && address % 16 == 0) << address;
        registers[address - kBase] = value;
        written.push_back(address - kBase);
        armed_at = address == kBase + 0x380 ? clock : armed_at;
    }

    static void enable() { enabled = true; }

    static lib::Ticks now() { return {clock}; }

    static void spin() { clock += 2'400; }
};

class LocalApics : public testing::Test {
  protected:
    LocalApics() {
        FakeLocalApic::reset();
        m_apic.start(kBase, ExternalLines::io_apic);
    }

    static std::uint32_t at(std::uint64_t reg) { return FakeLocalApic::registers.at(reg); }

    LocalApic<FakeLocalApic> m_apic;
};

TEST_F(LocalApics, StartsWithEverythingMasked) {
    EXPECT_EQ(at(0x080), 0U);
    EXPECT_EQ(at(0x0F0), 0x1FFU);
    EXPECT_EQ(at(0x320), 0x1'00F0U) << "the timer is masked";
    EXPECT_EQ(at(0x350), 0x1'0000U) << "the 8259 pair is masked";
    EXPECT_EQ(at(0x370), 0xFEU);
    EXPECT_EQ(at(0x3E0), 0xBU) << "no division";
    EXPECT_EQ(FakeLocalApic::written.back(), 0x0B0U) << "what the firmware left in service is acknowledged last";
    m_apic.start(kBase, ExternalLines::pic);
    EXPECT_EQ(at(0x350), 0x700U) << "the 8259 pair is connected";
}

TEST_F(LocalApics, InterruptsItself) {
    m_apic.interrupt_self(0x51);
    EXPECT_EQ(at(0x300), 0x4'4051U);
}

TEST_F(LocalApics, HasTheHighestVectorInService) {
    EXPECT_FALSE(m_apic.in_service().has_value());
    FakeLocalApic::registers[0x100 + 16 * 2] = 1U << 5;
    EXPECT_EQ(m_apic.in_service(), 0x45);
    FakeLocalApic::registers[0x100 + 16 * 7] = 1U << 16;
    EXPECT_EQ(m_apic.in_service(), 0xF0);
}

TEST_F(LocalApics, HoldsEverythingAndResumes) {
    FakeLocalApic::registers[0x360] = 0x400;
    const LocalApicHold hold = m_apic.hold();
    EXPECT_EQ(at(0x360), 0x1'0400U);
    EXPECT_EQ(at(0x080), 0xFFU);
    m_apic.resume(hold);
    EXPECT_EQ(at(0x360), 0x400U);
    EXPECT_EQ(at(0x080), 0U);
}

TEST_F(LocalApics, MeasuresItsTimerAndOpensIt) {
    EXPECT_EQ(m_apic.calibrate(kClock), kTimerKhz);
    EXPECT_EQ(at(0x320), 0xF0U);
    EXPECT_EQ(at(0x380), 0U) << "nothing is armed";
    const std::uint64_t windows = (FakeLocalApic::clock - 5'000) / kClock.to_ticks(lib::milliseconds(1)).value;
    EXPECT_EQ(windows, 3U) << "of a millisecond";
}

TEST_F(LocalApics, MeasuresAgainIfTheHostWasSuspended) {
    constexpr std::uint64_t kSuspended = std::uint64_t{1} << 33; // longer than the timer runs
    FakeLocalApic::stalls = {kSuspended, 0, kSuspended, 0, kSuspended, 0};
    EXPECT_EQ(m_apic.calibrate(kClock), kTimerKhz);
    EXPECT_TRUE(FakeLocalApic::stalls.empty());
}

TEST_F(LocalApics, TakesTheGreatestRateOfItsWindows) {
    FakeLocalApic::stalls = {9'000, 0, 0, 0, 12'000, 0};
    EXPECT_EQ(m_apic.calibrate(kClock), kTimerKhz);
}

TEST_F(LocalApics, FiresAtTheTimeAndNotBefore) {
    m_apic.calibrate(kClock);
    const std::uint64_t now = FakeLocalApic::clock;
    m_apic.arm({now + 24'000});
    EXPECT_EQ(at(0x380), 10'001U) << "24,000 ticks are 10,000 counts";
    EXPECT_EQ(m_apic.left(kClock).value, 24'002U) << "rounded down, from the count";
    FakeLocalApic::clock += 12'000;
    EXPECT_EQ(m_apic.left(kClock).value, 12'002U);
    m_apic.arm({now});
    EXPECT_EQ(at(0x380), 1U) << "a time that has passed fires at once";
    m_apic.arm({FakeLocalApic::clock});
    EXPECT_EQ(at(0x380), 1U);
    m_apic.arm({FakeLocalApic::clock + (std::uint64_t{1} << 40)});
    EXPECT_EQ(at(0x380), 0xFFFF'FFFFU) << "a span beyond the counter fires early";
    m_apic.disarm();
    EXPECT_EQ(at(0x380), 0U);
    EXPECT_EQ(m_apic.left(kClock).value, 0U);
}

} // namespace apic_test
} // namespace arch::x86_64
