// SPDX-License-Identifier: MIT
// What is counted in runs of records is what is counted event by event.
#include "convert/writer/writer.hpp"
#include "host/formats/trace.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gtest/gtest.h>
#include <random>

namespace host::convert {

namespace {

using support::Bytes;
using support::ChunkBuilder;

// Chunks of two processors, one after the other, each with tasks and vectors of its own.
Bytes chunks() {
    Bytes bytes;
    std::uint64_t ticks = 1'000;
    for (std::uint16_t number = 0; number < 4; ++number) {
        ChunkBuilder chunk(number);
        chunk.begin.cpu = number % 2;
        for (std::uint16_t i = 0; i < 9'000; ++i) {
            const auto named = static_cast<std::uint16_t>(number * 100 + i % 10);
            chunk.event(++ticks,
                        i % 3 == 0   ? "context_switch"
                        : i % 3 == 1 ? "interrupt_start"
                                     : "user_event_1",
                        named, i);
        }
        const Bytes more = chunk.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
}

Survey survey(const Bytes& bytes, const std::function<bool(const trace::Event&)>& wanted = {}) {
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened =
        formats::Trace::open({.name = "f", .bytes = support::memory_source(bytes), .keep_open = true}, {}, diagnostics);
    EXPECT_TRUE(opened.ok());
    return survey_of(*opened.value(), wanted);
}

// A survey that asks for each event cannot take runs.
void expect_as_of_events(const Bytes& bytes) {
    const Survey of_runs = survey(bytes);
    const Survey of_events = survey(bytes, [](const trace::Event&) { return true; });
    EXPECT_EQ(of_runs.events, of_events.events);
    EXPECT_EQ(of_runs.per_code, of_events.per_code);
    EXPECT_EQ(of_runs.processors, of_events.processors);
    EXPECT_EQ(of_runs.contexts, of_events.contexts);
    EXPECT_EQ(of_runs.vectors, of_events.vectors);
    EXPECT_EQ(of_runs.first, of_events.first);
    EXPECT_EQ(of_runs.last, of_events.last);
    EXPECT_EQ(of_runs.lost, of_events.lost);
    EXPECT_EQ(of_runs.facts.usable_events, of_events.facts.usable_events);
}

TEST(Survey, IsThatOfTheEvents) {
    const Survey counted = survey(chunks());
    EXPECT_EQ(counted.events, 4 * 9'000U);
    EXPECT_EQ(counted.contexts.count(), 4 * 10U);
    EXPECT_EQ(counted.vectors.count(), 4 * 10U);
    EXPECT_EQ(counted.last.value - counted.first.value, 4 * 9'000U - 1);
    expect_as_of_events(chunks());
}

TEST(Survey, IsThatOfTheEventsOfADamagedTrace) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 6; ++round) {
        Bytes bytes = chunks();
        for (int flips = 0; flips < 20; ++flips) {
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
        }
        SCOPED_TRACE(round);
        expect_as_of_events(bytes);
    }
}

} // namespace

} // namespace host::convert
