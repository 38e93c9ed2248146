// SPDX-License-Identifier: MIT
// Tests the fast ways of readers: stamps to nanoseconds, checksums, texts of values that are kept; each gives what the
// plain way gives.
#include "host/trace/byte_source.hpp"
#include "host/trace/names.hpp"
#include "host/trace/tick_scale.hpp"
#include "host/trace/value_text.hpp"
#include "lib/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace host::trace {

namespace {

TEST(TickScale, ConvertsAsTheRateItselfDoes) {
    std::mt19937_64 random(7);
    for (const std::uint32_t khz : {1U, 3U, 1'000U, 999'999U, 1'000'000U, 2'394'451U, 10'000'000U, 0xFFFF'FFFFU}) {
        const TickScale scale(khz);
        EXPECT_EQ(scale.khz(), khz);
        for (int i = 0; i < 2'000; ++i) {
            const std::uint64_t ticks = random() >> (i % 64);
            ASSERT_EQ(scale.to_nanoseconds(ticks), lib::TickRate{khz}.to_nanoseconds({ticks}).value)
                << ticks << " at " << khz;
        }
        for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{khz} - 1, std::uint64_t{khz},
                                          std::uint64_t{khz} + 1, std::uint64_t{khz} * 2, ~std::uint64_t{0}}) {
            EXPECT_EQ(scale.to_nanoseconds(ticks), lib::TickRate{khz}.to_nanoseconds({ticks}).value)
                << ticks << " at " << khz;
        }
        // One multiplication is enough up to a power of two, divided by the rate.
        for (unsigned shift = 32; shift < 64; ++shift) {
            const std::uint64_t limit = (std::uint64_t{1} << shift) / khz;
            for (const std::uint64_t ticks : {limit - 1, limit, limit + 1, limit / 1'000'000 * khz}) {
                EXPECT_EQ(scale.to_nanoseconds(ticks), lib::TickRate{khz}.to_nanoseconds({ticks}).value)
                    << ticks << " at " << khz;
            }
        }
    }
}

TEST(TickScale, SaturatesWhereTheTimeHasNoRoom) {
    const TickScale scale(1'000); // a microsecond for each tick
    constexpr std::uint64_t kMost = ~std::uint64_t{0} / 1'000;
    EXPECT_EQ(scale.to_nanoseconds(kMost), kMost * 1'000);
    EXPECT_EQ(scale.to_nanoseconds(kMost + 1), ~std::uint64_t{0});
    EXPECT_EQ(scale.to_nanoseconds(kMost / 1'000 * 1'000), kMost / 1'000 * 1'000'000);
    EXPECT_EQ(scale.to_nanoseconds(kMost / 1'000 * 1'000 - 1), (kMost / 1'000 * 1'000 - 1) * 1'000);
}

TEST(TickScale, WithoutARateConvertsNothing) {
    EXPECT_EQ(TickScale().khz(), 0U);
    EXPECT_EQ(TickScale(0).khz(), 0U);
}

TEST(Checksum, IsThatOfTheKernel) {
    const std::string_view digits = "123456789";
    EXPECT_EQ(checksum(std::as_bytes(std::span(digits)), 0), 0xE306'9283U) << "the check value of CRC-32C";
    std::mt19937 random(7);
    std::vector<std::byte> bytes(100);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random());
    }
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const auto all = std::span(bytes).first(size);
        EXPECT_EQ(checksum(all, 0), lib::crc32c(all, 0)) << size;
        const auto [begin, end] = std::pair(all.first(size / 3), all.subspan(size / 3));
        EXPECT_EQ(checksum(end, checksum(begin, 0)), lib::crc32c(all, 0)) << size;
    }
}

class KeptTexts : public testing::Test {
  protected:
    [[nodiscard]] std::string of(tracer::Unit unit, std::uint32_t value) {
        const ValueTexts::Text* const kept = m_texts.of(m_event, unit, value);
        return kept != nullptr ? std::string(kept->view()) : "too long";
    }

    // How often a text was made.
    int made(tracer::Unit unit, std::uint32_t value) {
        int count = 0;
        static_cast<void>(m_texts.of(m_event, unit, value, [&count](fmt::memory_buffer& out) {
            ++count;
            out.push_back('x');
        }));
        return count;
    }

    KeptTexts() { m_event.names = &m_names; }

    Names m_names;
    Event m_event;
    ValueTexts m_texts;
};

TEST_F(KeptTexts, AreThoseOfTheValueUnitAndNames) {
    m_names.set(tracer::Unit::context, 3, "sensor");
    m_names.set(tracer::Unit::mutex, 3, "bus");
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(of(tracer::Unit::context, 3), "3 (sensor)");
        EXPECT_EQ(of(tracer::Unit::mutex, 3), "3 (bus)");
        EXPECT_EQ(of(tracer::Unit::context, 4), "4");
    }
    m_names.set(tracer::Unit::context, 3, "other");
    EXPECT_EQ(of(tracer::Unit::context, 3), "3 (other)");
    Names names;
    m_event.names = &names;
    EXPECT_EQ(of(tracer::Unit::context, 3), "3");
}

TEST_F(KeptTexts, OfEachValueAreMadeOnceUntilAnotherPushesThemOut) {
    EXPECT_EQ(made(tracer::Unit::number, 5), 1);
    EXPECT_EQ(made(tracer::Unit::number, 5), 0);
    EXPECT_EQ(made(tracer::Unit::number, 5 + 512), 1) << "in the same place";
    EXPECT_EQ(made(tracer::Unit::number, 5), 1);
    EXPECT_EQ(made(tracer::Unit::none, 0), 1) << "nothing is kept from the start";
}

TEST_F(KeptTexts, ThatAreTooLongAreNotKept) {
    m_names.set(tracer::Unit::context, 3, std::string(41, 'x'));
    EXPECT_EQ(of(tracer::Unit::context, 3), "too long");
    EXPECT_EQ(of(tracer::Unit::context, 3), "too long");
    EXPECT_EQ(of(tracer::Unit::context, 4), "4");
}

} // namespace

} // namespace host::trace
