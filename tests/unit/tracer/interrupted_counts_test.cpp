// SPDX-License-Identifier: MIT
// Counts are of one instant: an interrupt that records while they are taken changes nothing in them. Each instruction
// of the count is interrupted once, by a single-step trap.
#include "tests/support/tracer/fixture.hpp"
#include "tracer/log.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <optional>

namespace interrupted_counts_test {

using tests::TracerFixture;

int s_steps = 0;
int s_record_at = 0;

void on_step(int) {
    if (s_steps++ == s_record_at) {
        tracer::log<"ipoint">(1);
    }
}

// The counts of the chunk, interrupted by a record after so many instructions. Nothing: there are fewer.
std::optional<tracer::ChunkCounts> counts_interrupted_at(const tracer::Chunk& chunk, int instruction) {
    s_steps = 0;
    s_record_at = instruction;
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "cc", "memory");
    const tracer::ChunkCounts counts = tracer::ChunkStore::counts(chunk);
    asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "cc", "memory");
    return s_steps > instruction ? std::optional(counts) : std::nullopt;
}

TEST(ChunkCounts, AreOfOneInstant) {
    TracerFixture fixture;
    tracer::Chunk& chunk = fixture.chunk(4'000, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    struct sigaction action = {};
    struct sigaction former = {};
    action.sa_handler = &on_step;
    sigaction(SIGTRAP, &action, &former);
    int instruction = 0;
    while (const auto counts = counts_interrupted_at(chunk, instruction)) {
        ASSERT_EQ(counts->overwritten, 0U) << "interrupted after " << instruction << " instructions";
        instruction += 5;
    }
    sigaction(SIGTRAP, &former, nullptr);
    EXPECT_GT(instruction, 20);
    EXPECT_EQ(fixture.tracer().control.totals().dropped, 0U);
}

} // namespace interrupted_counts_test
