// SPDX-License-Identifier: MIT
// The fast path of a line gives the text of the slow one, for every event of the table.
#include "host/cli/event/event_lines.hpp"

#include "host/text/digits.hpp"
#include "host/trace/names.hpp"
#include "tests/support/table_events.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace event_lines_test {

using namespace host;

std::string text(const fmt::memory_buffer& buffer) {
    return {buffer.data(), buffer.size()};
}

TEST(Digits, AnyNumberAndAnyWidth) {
    std::mt19937_64 random(2);
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t value = i < 2000 ? static_cast<std::uint64_t>(i) : random() >> (random() % 64);
        std::array<char, 32> room{};
        ASSERT_EQ(std::string(room.data(), text::put_decimal(room.data(), value)), std::to_string(value));
        const auto word = static_cast<std::uint32_t>(value);
        ASSERT_EQ(std::string(room.data(), text::put_eight_hexadecimal(room.data(), word)),
                  fmt::format("{:08x}", word));
        const std::uint64_t nine = value % 1'000'000'000;
        ASSERT_EQ(std::string(room.data(), text::put_nine_digits(room.data(), nine)), fmt::format("{:09}", nine));
        const std::uint64_t narrow = value % text::kPaddedLimit;
        ASSERT_EQ(std::string(room.data(), text::put_padded(room.data(), narrow)), fmt::format("{:>13}", narrow));
    }
}

TEST(EventLines, SayWhatALineSays) {
    for (const cli::TimeUnit unit : {cli::TimeUnit::nanoseconds, cli::TimeUnit::ticks}) {
        cli::EventLines lines(unit);
        support::TableEvents().for_each([&](const trace::Event& event) {
            fmt::memory_buffer expected;
            fmt::memory_buffer line;
            cli::append_line(expected, event, unit);
            lines.append(line, event);
            ASSERT_EQ(text(line), text(expected));
        });
    }
}

TEST(EventLines, NameTheTaskInWhichAnEventWasLogged) {
    trace::Names names;
    names.set(tracer::Unit::context, 12, "sensor");
    trace::Event event;
    trace::set_meaning(event, {.code = tracer::event_code("ipoint"), .par1 = 7, .par2 = 8});
    event.names = &names;
    fmt::memory_buffer line;
    cli::EventLines(cli::TimeUnit::ticks).append(line, event, 12);
    EXPECT_EQ(text(line), "            0 ticks  cpu0  ipoint               context=12 (sensor) number=7 par2=8\n");
    fmt::memory_buffer object;
    cli::JsonLines().append(object, event, {}, 12);
    EXPECT_NE(text(object).find(R"("context":12,"task":"sensor"})"), std::string::npos) << text(object);
}

} // namespace event_lines_test
