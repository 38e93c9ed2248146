// SPDX-License-Identifier: MIT
// Both readers see every event, in order, with any number of workers.
#include "host/cli/event/two_readers.hpp"

#include "host/text/format.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace host::cli {

namespace {

using support::Bytes;
using support::ChunkBuilder;

// Of an event; the name is that of the task at that place in the trace.
using Seen = std::tuple<std::uint64_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint64_t, std::string>;

Seen seen(const trace::Event& event) {
    return {event.ticks.value, event.time_ns, event.code,
            event.par1,        event.record,  std::string(event.names->find(tracer::Unit::context, 5))};
}

// Chunks with long runs of records, each of which names its task anew, and one with short ones.
Bytes chunks() {
    Bytes bytes;
    std::uint64_t ticks = 1'000;
    for (std::uint16_t number = 0; number < 4; ++number) {
        ChunkBuilder chunk(number);
        chunk.name("task", 5, fmt::format("task{}", number));
        for (std::uint32_t i = 0; i < 9'000; ++i) {
            const bool is_no_run = number == 2 && i % 100 == 0;
            chunk.event(++ticks, is_no_run ? "clock_compensated" : i % 9 == 0 ? "context_switch" : "task_timer", 5, i);
        }
        const Bytes more = chunk.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
}

std::unique_ptr<formats::Trace> open(const Bytes& bytes, trace::Diagnostics& diagnostics) {
    auto opened =
        formats::Trace::open({.name = "f", .bytes = support::memory_source(bytes), .keep_open = true}, {}, diagnostics);
    EXPECT_TRUE(opened.ok());
    return std::move(opened.value());
}

void expect_all_events(const Bytes& bytes) {
    trace::Diagnostics diagnostics([](std::string_view) {});
    std::vector<Seen> expected;
    open(bytes, diagnostics)->for_each([&](const trace::Event& event) { expected.push_back(seen(event)); });
    for (const unsigned workers : {1U, 2U, 7U}) {
        std::vector<Seen> here;
        std::vector<Seen> beside;
        const auto trace = open(bytes, diagnostics);
        const auto into = [](std::vector<Seen>& all) {
            return [&all](std::span<const trace::Event> events, std::uint32_t khz) {
                EXPECT_NE(khz, 0U);
                for (const trace::Event& event : events) {
                    all.push_back(seen(event));
                }
            };
        };
        read_twice(*trace, workers, into(here), into(beside));
        EXPECT_TRUE(trace->exhausted());
        EXPECT_TRUE(here == expected) << workers;
        EXPECT_TRUE(beside == expected) << workers;
    }
}

TEST(TwoReaders, SeeAllEvents) {
    expect_all_events(chunks());
}

TEST(TwoReaders, SeeAllEventsOfADamagedTrace) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 6; ++round) {
        Bytes bytes = chunks();
        for (int flips = 0; flips < 20; ++flips) {
            // Not those of the rate.
            bytes[1'000 + random() % (bytes.size() - 1'000)] ^= static_cast<std::byte>(1U << random() % 8);
        }
        bytes.resize(bytes.size() - random() % 1'000);
        expect_all_events(bytes);
    }
}

TEST(TwoReaders, PassOnWhatEitherThrows) {
    trace::Diagnostics diagnostics([](std::string_view) {});
    const Reader nothing = [](std::span<const trace::Event>, std::uint32_t) {};
    const Reader failing = [](std::span<const trace::Event> events, std::uint32_t) {
        if (events.back().par2 > 7'000) {
            throw std::runtime_error("no memory");
        }
    };
    for (const unsigned workers : {1U, 2U}) {
        EXPECT_THROW(read_twice(*open(chunks(), diagnostics), workers, failing, nothing), std::runtime_error);
        EXPECT_THROW(read_twice(*open(chunks(), diagnostics), workers, nothing, failing), std::runtime_error);
    }
}

} // namespace

} // namespace host::cli
