// SPDX-License-Identifier: MIT
// The fast path of a line gives the text of the slow one, for every event of the table.
#include "host/cli/event/event_lines.hpp"

#include "host/text/digits.hpp"
#include "host/trace/names.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>

namespace {

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
    trace::Names names;
    names.set(tracer::Unit::context, 3, "sensor");
    names.set(tracer::Unit::context, 4, "with \x1b and \\");
    names.set(tracer::Unit::context, 5, "a name that is much too long to be kept beside its number, so it is not");
    names.set(tracer::Unit::mutex, 3, "bus");
    names.set(tracer::Unit::level, 0, "EDF");
    std::mt19937_64 random(4);
    for (const cli::TimeUnit unit : {cli::TimeUnit::nanoseconds, cli::TimeUnit::ticks}) {
        cli::EventLines lines(unit);
        for (int round = 0; round < 60; ++round) {
            if (round == 30) {
                names.set(tracer::Unit::context, 3, "renamed");
            }
            for (const tracer::EventRow& row : tracer::kEvents) {
                if (row.shape != tracer::Shape::simple) {
                    continue;
                }
                trace::Event event;
                event.row = &row;
                event.code = row.code;
                event.raw_code = row.code;
                event.names = &names;
                event.par1 = static_cast<std::uint16_t>(round % 3 == 0 ? random() : random() % 8);
                event.par2 = static_cast<std::uint32_t>(round % 3 == 1   ? random()
                                                        : round % 3 == 2 ? (random() % 12 << 16) | (random() % 5)
                                                                         : random() % 5);
                event.cpu = static_cast<std::uint16_t>(random() >> (48 + random() % 16));
                event.timed = round % 7 != 0;
                event.time_ns = static_cast<std::int64_t>(random() >> (1 + random() % 63));
                event.time_ns = round % 11 == 0 ? -event.time_ns : event.time_ns;
                event.ticks = {random() >> (random() % 64)};
                event.metadata = round % 13 == 0;
                event.state = round % 17 == 0 ? trace::EventState::late : trace::EventState::ok;
                fmt::memory_buffer expected;
                fmt::memory_buffer line;
                cli::append_line(expected, event, unit);
                lines.append(line, event);
                ASSERT_EQ(text(line), text(expected));
            }
        }
    }
}

} // namespace
