// SPDX-License-Identifier: MIT
// Tests the decoder of metadata events, which all formats that carry them use: what it takes and what it refuses whole.
#include "host/trace/facts.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

namespace host::trace {

namespace {

template <typename Payload>
std::vector<std::byte> encoded(const Payload& payload) {
    std::vector<std::byte> bytes(tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot);
    bytes.resize(tracer::encode_payload(payload, bytes).value());
    return bytes;
}

TEST(Metadata, NamesEnterTheTraceAndTheChunk) {
    TraceFacts facts;
    Names chunk;
    for (const NameEvent& row : kNameEvents) {
        const auto payload = encoded(tracer::NameOf{7, tracer::Name("samples")});
        EXPECT_TRUE(take_metadata(row.code, payload, facts, &chunk));
        EXPECT_EQ(facts.names.find(row.unit, 7), "samples");
        EXPECT_EQ(chunk.find(row.unit, 7), "samples");
    }
    const auto task = encoded(tracer::NameOf{9, tracer::Name("worker")});
    EXPECT_TRUE(take_metadata(kCodeOf<"task_name">, task, facts));
    EXPECT_EQ(facts.names.find(tracer::Unit::context, 9), "worker");
    EXPECT_EQ(chunk.find(tracer::Unit::context, 9), "");
}

// The tracer announces zeros until it has measured itself. The reader of .kev files took them for a cost of nothing.
TEST(Metadata, ACostThatWasNeverMeasuredIsNone) {
    TraceFacts facts;
    EXPECT_TRUE(take_metadata(kCodeOf<"trace_cost">, encoded(tracer::TraceCost{}), facts));
    EXPECT_FALSE(facts.cost.has_value());
    tracer::TraceCost cost;
    cost.rounds = 100;
    EXPECT_TRUE(take_metadata(kCodeOf<"trace_cost">, encoded(cost), facts));
    EXPECT_TRUE(facts.cost.has_value());
}

TEST(Metadata, AFieldThatIsCutLeavesNothing) {
    TraceFacts facts;
    Names chunk;
    auto payload = encoded(tracer::NameOf{7, tracer::Name("samples")});
    lib::store_le(std::span(payload), static_cast<std::uint16_t>(payload.size() - 1));
    EXPECT_FALSE(take_metadata(kCodeOf<"mutex_name">, payload, facts, &chunk));
    EXPECT_EQ(facts.names.find(tracer::Unit::mutex, 7), "");
    EXPECT_EQ(chunk.find(tracer::Unit::mutex, 7), "");
    EXPECT_FALSE(take_metadata(kCodeOf<"build">, {}, facts));
    EXPECT_FALSE(facts.build.has_value());
}

} // namespace

} // namespace host::trace
