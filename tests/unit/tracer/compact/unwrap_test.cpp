// SPDX-License-Identifier: MIT
// Tests whole stamps from cut ones: never decreasing, never more than a granule off, and a lost turn is reported.
#include "tracer/compact/decoder.hpp"

#include <gtest/gtest.h>

#include <random>

namespace unwrap_test {

using namespace tracer::compact;

constexpr auto kTurning = std::to_array(
    {Layout::a, Layout::b, Layout::c, Layout::d, Layout::plan12, Layout::a2, Layout::b2, Layout::c2, Layout::d2});

std::uint32_t cut(const LayoutRow& row, std::uint64_t tsc) {
    return static_cast<std::uint32_t>(tsc >> row.lsb) & row.tsc_mask();
}

std::uint64_t turn_of(const LayoutRow& row) {
    return std::uint64_t{1} << row.turn_bits();
}

// A gap of 1 .. turn - 1, short ones as often as long ones.
std::uint64_t gap(const LayoutRow& row, std::mt19937_64& random) {
    const std::uint64_t limit = std::uint64_t{1} << (1 + random() % row.turn_bits());
    return 1 + random() % (std::min(limit, turn_of(row)) - 1);
}

TEST(CompactUnwrap, NeverFallsAndIsNeverAGranuleOffOverAMillionEvents) {
    for (const Layout layout : kTurning) {
        const LayoutRow& row = row_of(layout);
        SCOPED_TRACE(row.name);
        std::mt19937_64 random(7);
        Unwrap unwrap(row, Heartbeats::periodic);
        std::uint64_t tsc = 0x1'2345'6789;
        std::uint64_t last = unwrap.full(tsc).value().value;
        std::uint64_t worst = 0;
        bool right = true;
        for (int i = 0; i < 1'000'000 && right; ++i) {
            tsc += gap(row, random);
            const bool large = random() % 4 == 0; // in one stream: exact stamps between the cut ones
            const auto got = large ? unwrap.low_half(static_cast<std::uint32_t>(tsc)) : unwrap.compact(cut(row, tsc));
            const std::uint64_t stamp = got ? got.value().value : 0;
            right = got.ok() && stamp >= last && stamp <= tsc && (!large || stamp == tsc);
            worst = std::max(worst, tsc - stamp);
            last = stamp;
        }
        EXPECT_TRUE(right) << "a stamp decreased, was late or was not exact at " << tsc;
        EXPECT_LT(worst, std::uint64_t{1} << row.lsb);
    }
}

TEST(CompactUnwrap, KeepsTheOrderWithinAGranule) {
    Unwrap unwrap(row_of(Layout::d), Heartbeats::on_demand);
    ASSERT_TRUE(unwrap.full(0x1000).ok());
    EXPECT_EQ(unwrap.low_half(0x1075).value().value, 0x1075U);
    // Same granule of 128 ticks: appears lower, but is not a turn.
    EXPECT_EQ(unwrap.compact(cut(row_of(Layout::d), 0x107A)).value().value, 0x1075U);
    EXPECT_EQ(unwrap.compact(cut(row_of(Layout::d), 0x1080)).value().value, 0x1080U);
}

TEST(CompactUnwrap, CountsTenIdleTurnsByTheirHeartbeats) {
    for (const Layout layout : kTurning) {
        const LayoutRow& row = row_of(layout);
        Unwrap unwrap(row, Heartbeats::periodic);
        std::uint64_t tsc = 12'345;
        ASSERT_TRUE(unwrap.full(tsc).ok());
        for (int i = 0; i < 40; ++i) { // four per turn, nothing else
            tsc += turn_of(row) / 4;
            ASSERT_TRUE(unwrap.compact(cut(row, tsc)).ok());
        }
        tsc += 1 << 10;
        const std::uint64_t got = unwrap.compact(cut(row, tsc)).value().value;
        EXPECT_LT(tsc - got, std::uint64_t{1} << row.lsb);
        EXPECT_TRUE(unwrap.full(tsc + 5).ok()) << "a full heartbeat agrees";
    }
}

TEST(CompactUnwrap, ReportsThatTheHeartbeatStopped) {
    for (const Layout layout : kTurning) {
        const LayoutRow& row = row_of(layout);
        SCOPED_TRACE(row.name);
        Unwrap unwrap(row, Heartbeats::periodic);
        ASSERT_TRUE(unwrap.full(0x4000).ok());
        const std::uint64_t late = 0x4000 + 3 * turn_of(row) + 0x1000;
        ASSERT_TRUE(unwrap.compact(cut(row, late)).ok()) << "not detectable from this stamp alone";
        EXPECT_FALSE(unwrap.full(late + 0x100).ok());
        EXPECT_TRUE(unwrap.full(late + 0x200).ok()) << "from here on the turn is known again";
    }
}

TEST(CompactUnwrap, TakesAFallForDamageWhereHeartbeatsComeOnDemand) {
    for (const Layout layout : kTurning) {
        const LayoutRow& row = row_of(layout);
        SCOPED_TRACE(row.name);
        Unwrap unwrap(row, Heartbeats::on_demand);
        EXPECT_FALSE(unwrap.compact(0).ok()) << "no full stamp yet";
        ASSERT_TRUE(unwrap.full(0x10'4000).ok());
        EXPECT_FALSE(unwrap.compact(cut(row, 0x10'0000)).ok());
        EXPECT_FALSE(unwrap.low_half(0x10'3FFF).ok());
        EXPECT_TRUE(unwrap.compact(cut(row, 0x10'4000)).ok());
        EXPECT_FALSE(unwrap.full(0x10'3FFF).ok());
        if (row.turn_bits() < 32) {
            Unwrap other(row, Heartbeats::on_demand);
            ASSERT_TRUE(other.full(0).ok());
            EXPECT_FALSE(other.low_half(static_cast<std::uint32_t>(turn_of(row))).ok()) << "another turn, no heartbeat";
        }
    }
}

} // namespace unwrap_test
