// SPDX-License-Identifier: MIT
// Tests the watchdog's clock on a fake HPET, whose counter moves at each read, and whose comparator fires only if the
// counter comes to its value after it was written.
#include "arch/x86_64/watchdog_clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace arch::x86_64 {
namespace watchdog_clock_test {

constexpr std::uint64_t kTimer = 0x1000;
constexpr std::uint64_t kPeriod = 10'000;

struct Hpet {
    std::uint64_t now = 500;
    std::uint64_t read_ticks = 1;
    std::uint64_t comparator = 0;
    std::uint64_t configuration = 0;
    unsigned fired = 0; // NMIs
    unsigned pings = 0;

    void pass(std::uint64_t ticks) {
        if ((configuration & kHpetInterruptOn) != 0 && comparator > now && comparator <= now + ticks) {
            ++fired;
        }
        now += ticks;
    }
};

struct FakeMachine {
    Hpet* hpet = nullptr;

    [[nodiscard]] std::uint64_t counter() const {
        hpet->pass(hpet->read_ticks);
        return hpet->now;
    }

    void write(std::uint64_t address, std::uint64_t value) const {
        ASSERT_TRUE(address == kTimer || address == kTimer + kHpetRegComparator);
        (address == kTimer ? hpet->configuration : hpet->comparator) = value;
    }

    void ping() const { ++hpet->pings; }
};

class WatchdogClocks : public testing::Test {
  protected:
    void start() { m_clock.start(kTimer, hpet_timer_on(20), kPeriod); }

    // So long that the counter passes what is armed next, at the first of the tries.
    void arm_late() {
        m_hpet.read_ticks = kPeriod + 1;
        start();
        m_hpet.read_ticks = 1;
    }

    Hpet m_hpet;
    WatchdogClock<FakeMachine> m_clock{FakeMachine{&m_hpet}};
};

TEST_F(WatchdogClocks, LooksOnceAPeriod) {
    start();
    EXPECT_EQ(m_hpet.configuration, hpet_timer_on(20));
    for (unsigned looks = 1; looks < 5; ++looks) {
        m_hpet.pass(kPeriod - 100);
        EXPECT_EQ(m_hpet.fired, looks - 1);
        EXPECT_EQ(m_clock.nmi(), WatchdogNmi::other) << "the time has not come";
        m_hpet.pass(100);
        EXPECT_EQ(m_hpet.fired, looks);
        EXPECT_EQ(m_clock.nmi(), WatchdogNmi::look);
        EXPECT_EQ(m_clock.nmi(), WatchdogNmi::other);
    }
}

TEST_F(WatchdogClocks, ArmsForALaterTimeUntilItIsAhead) {
    arm_late();
    EXPECT_GT(m_hpet.comparator, m_hpet.now);
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::earlier) << "of the first try";
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::other) << "only one comes of it";
    m_hpet.pass(m_hpet.comparator - m_hpet.now);
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::look);
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::other) << "this time the first try was in time";
}

TEST_F(WatchdogClocks, ExpectsNoEarlierNmiAfterALook) {
    arm_late();
    m_hpet.pass(m_hpet.comparator - m_hpet.now);
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::look);
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::other);
}

TEST_F(WatchdogClocks, LooksAtOnceIfTheTimeHasComeWhileItWasHeld) {
    start();
    m_hpet.pass(kPeriod / 2);
    m_clock.hold();
    m_hpet.pass(kPeriod / 4);
    m_clock.resume();
    EXPECT_EQ(m_hpet.fired, 0U);
    m_hpet.pass(kPeriod / 4);
    EXPECT_EQ(m_hpet.fired, 1U) << "no later than without the hold";
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::look);
    m_clock.hold();
    m_hpet.pass(2 * kPeriod);
    EXPECT_EQ(m_hpet.fired, 1U);
    m_clock.resume();
    m_hpet.pass(10);
    EXPECT_EQ(m_hpet.fired, 2U);
    EXPECT_EQ(m_clock.nmi(), WatchdogNmi::look);
}

TEST_F(WatchdogClocks, PingsAgainWhenThePingWasTaken) {
    start();
    EXPECT_FALSE(m_clock.take_ping()) << "none was sent";
    EXPECT_TRUE(m_clock.ask()) << "nothing was asked yet";
    EXPECT_FALSE(m_clock.ask());
    EXPECT_EQ(m_hpet.pings, 1U) << "the first one still waits";
    EXPECT_TRUE(m_clock.take_ping());
    EXPECT_FALSE(m_clock.take_ping()) << "it is another exception";
    EXPECT_TRUE(m_clock.ask());
    EXPECT_EQ(m_hpet.pings, 2U);
}

} // namespace watchdog_clock_test
} // namespace arch::x86_64
