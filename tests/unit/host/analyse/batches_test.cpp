// SPDX-License-Identifier: MIT
// A stream has only plain events in a batch of several, as host/trace/event_stream.hpp promises; and the times of
// events add up, whatever their codes.
#include "host/analyse/time_check.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/random_events.hpp"

#include <gtest/gtest.h>

namespace host::analyse::batches_test {

namespace {

using support::RandomEvents;

constexpr std::uint64_t kSeeds = 8;
constexpr int kBatches = 60;
constexpr std::uint16_t kProcessors = 2;

TEST(TimeCheck, AddsUpWhateverTheStamps) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        TimeCheck check([&](const TimeFault& fault) { ADD_FAILURE() << "seed " << seed << ": " << fault.text; });
        for (int i = 0; i < kBatches; ++i) {
            for (const trace::Event& event : events.batch(64, kProcessors)) {
                check.add(event);
            }
        }
        check.finish();
    }
}

TEST(EventStream, HasOnlyPlainEventsOfOneChunkInABatchOfSeveral) {
    support::TemporaryDirectory directory;
    std::mt19937_64 random(1);
    support::Bytes bytes;
    for (std::uint16_t chunk = 0; chunk < 4; ++chunk) { // two processors, interleaved
        support::ChunkBuilder builder;
        builder.begin.cpu = chunk % 2;
        builder.begin.chunk = chunk;
        for (std::uint64_t i = 0; i < 500; ++i) {
            const tracer::EventRow& row = tracer::kEvents[random() % tracer::kEvents.size()];
            if (row.shape == tracer::Shape::simple && row.family() != tracer::Family::metadata) {
                builder.event(1000 * (chunk / 2) + 2 * i + random() % 2, row.name, random() % 3, random() % 3);
            }
        }
        const support::Bytes more = builder.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    for (int round = 0; round < 20; ++round) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = formats::Trace::open(directory.write("0trace.dat", bytes), {}, diagnostics);
        ASSERT_TRUE(opened.ok());
        std::size_t several = 0;
        for (auto batch = opened.value()->next_batch(); !batch.empty(); batch = opened.value()->next_batch()) {
            const trace::Event* before = &batch.front();
            for (const trace::Event& event : batch.subspan(1)) {
                EXPECT_NE(formats::dat::plain_row(event.raw_code), nullptr);
                EXPECT_EQ(event.row, formats::dat::plain_row(event.raw_code));
                EXPECT_TRUE(event.state == trace::EventState::ok && !event.metadata && !trace::is_foreign(event));
                EXPECT_TRUE(event.source == before->source && event.generation == before->generation);
                EXPECT_TRUE(event.cpu == before->cpu && event.names == before->names);
                EXPECT_GE(event.ticks, before->ticks);
                before = &event;
            }
            several += batch.size() > 1 ? 1U : 0U;
        }
        EXPECT_GT(several, 10U);
        bytes[random() % bytes.size()] ^= std::byte{0x41}; // from round to round more damaged
    }
}

} // namespace

} // namespace host::analyse::batches_test
