// SPDX-License-Identifier: MIT
// Tests values of parameters as text: every unit that has words, names of the trace, functions of the image.
#include "host/trace/value_text.hpp"

#include "host/trace/kernel_image.hpp"

#include <gtest/gtest.h>

#include <string>

namespace host::trace {

namespace {

using tracer::Unit;

class ValueText : public testing::Test {
  protected:
    ValueText() {
        m_names.set(Unit::context, 3, "sensor");
        m_names.set(Unit::context, 4, "bad\x1b");
        m_names.set(Unit::semaphore, 5, "samples");
        m_names.set(Unit::port, 2, "requests");
        m_names.set(Unit::mutex, 1, "bus");
        m_event.names = &m_names;
    }

    [[nodiscard]] std::string of(Unit unit, std::uint32_t value) const {
        fmt::memory_buffer out;
        append_digits_and_meaning(out, m_event, unit, value);
        return fmt::to_string(out);
    }

    Names m_names;
    Event m_event;
};

constexpr std::uint32_t halves(std::uint32_t high, std::uint32_t low) {
    return high << 16 | low;
}

TEST_F(ValueText, Numbers) {
    EXPECT_EQ(of(Unit::number, 7), "7");
    EXPECT_EQ(of(Unit::hexadecimal, 0xE9), "0xe9");
    EXPECT_EQ(of(Unit::pointer, 0), "0x0");
    EXPECT_EQ(of(Unit::nanoseconds, 4'294'967'295), "4294967295");
}

TEST_F(ValueText, Names) {
    EXPECT_EQ(of(Unit::context, 3), "3 (sensor)");
    EXPECT_EQ(of(Unit::context, 4), "4 (bad\\x1b)");
    EXPECT_EQ(of(Unit::context, 9), "9");
    EXPECT_EQ(of(Unit::context, 0x1'0003), "65539") << "no context is that great";
    EXPECT_EQ(name_or_number(m_names, Unit::mutex, 1), "bus");
    EXPECT_EQ(name_or_number(m_names, Unit::mutex, 2), "#2");
}

TEST_F(ValueText, Words) {
    EXPECT_EQ(of(Unit::status, 0), "0 (off)");
    EXPECT_EQ(of(Unit::status, 1), "1 (on)");
    EXPECT_EQ(of(Unit::status, 2), "2");
    EXPECT_EQ(of(Unit::protocol, 3), "3 (stack)");
    EXPECT_EQ(of(Unit::server_kind, 0), "0") << "no kind has this number";
    EXPECT_EQ(of(Unit::server_kind, 4), "4 (deferrable)");
    EXPECT_EQ(of(Unit::server_kind, 5), "5");
    EXPECT_EQ(of(Unit::flow, 3), "3 (return)");
    EXPECT_EQ(of(Unit::grain, 1), "1 (blocks)");
    EXPECT_EQ(of(Unit::outcome, 3), "3 (near_zero)");
    EXPECT_EQ(of(Unit::outcome, 7), "7");
}

TEST_F(ValueText, NumbersOfTwoParts) {
    EXPECT_EQ(of(Unit::wait, halves(1, 5)), "1/5 (semaphore samples)");
    EXPECT_EQ(of(Unit::wait, halves(1, 6)), "1/6 (semaphore #6)");
    EXPECT_EQ(of(Unit::wait, halves(4, 2)), "4/2 (receive requests)");
    EXPECT_EQ(of(Unit::wait, halves(8, 1)), "8/1 (mutex bus)");
    EXPECT_EQ(of(Unit::wait, halves(2, 0)), "2/0 (delay)");
    EXPECT_EQ(of(Unit::wait, halves(0, 0)), "0/0");
    EXPECT_EQ(of(Unit::wait, halves(0xFFFF, 0xFFFF)), "65535/65535");
    EXPECT_EQ(of(Unit::exception, halves(1, 2)), "1/2 (deadline_miss, kill)");
    EXPECT_EQ(of(Unit::block, 2U << 12 | 17), "2/17 (call)");
    EXPECT_EQ(of(Unit::block, 4U << 12 | 4095), "4/4095 (resumed)");
}

TEST_F(ValueText, PlacesInTheImageThatRan) {
    const auto image = KernelImage::parse(
        R"json({"format":"remora-formats","version":1,"image":"0f","formats":[],
                "functions":[{"address":4096,"size":32,"name":"work(unsigned int)"}]})json");
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(of(Unit::code, 0x1004), "0x1004") << "without the image";
    m_event.image = &image.value();
    EXPECT_EQ(of(Unit::code, 0x1000), "0x1000 (work(unsigned int))");
    EXPECT_EQ(of(Unit::code, 0x1004), "0x1004 (work(unsigned int)+0x4)");
    EXPECT_EQ(of(Unit::code, 0x1020), "0x1020");
    EXPECT_EQ(of(Unit::hexadecimal, 0x1004), "0x1004") << "what is no instruction has no place";
}

TEST_F(ValueText, EveryUnitWithWordsMayHaveMeaning) {
    for (std::size_t i = 0; i < tracer::kUnits; ++i) {
        const auto unit = static_cast<Unit>(i);
        EXPECT_EQ(kind_of(unit) == ValueKind::named, may_have_meaning(unit) || is_hexadecimal(unit)) << i;
        if (!tracer::words_of(unit).words.empty()) {
            EXPECT_TRUE(may_have_meaning(unit)) << i;
        }
    }
    EXPECT_EQ(kind_of(Unit::none), ValueKind::nothing);
    EXPECT_EQ(kind_of(Unit::count), ValueKind::number);
}

} // namespace

} // namespace host::trace
