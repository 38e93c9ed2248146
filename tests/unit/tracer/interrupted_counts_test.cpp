// SPDX-License-Identifier: MIT
// Counts are of one instant: an interrupt that records while they are taken changes nothing in them. A chunk that an
// interrupt enters while it is closed stays open. Each instruction is interrupted once, by a single-step trap.
#include "tests/support/tracer/fixture.hpp"
#include "tracer/log.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <ucontext.h>
#include <utility>

namespace interrupted_counts_test {

using tests::TracerFixture;

int s_steps = 0;
std::array<int, 2> s_record_at{};

void on_step(int, siginfo_t*, void* context) {
    if (std::ranges::count(s_record_at, s_steps++) != 0) {
        tracer::log<"ipoint">(1);
    }
    if (s_steps > std::ranges::max(s_record_at)) {
        constexpr greg_t kTrapFlag = 0x100;
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    }
}

// Calls the function, with a record after so many instructions. Returns false if there are fewer.
template <typename Function>
bool interrupted_at(std::array<int, 2> instructions, Function function) {
    struct sigaction action = {};
    struct sigaction former = {};
    action.sa_sigaction = &on_step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &former);
    s_steps = 0;
    s_record_at = instructions;
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "cc", "memory");
    function();
    asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "cc", "memory");
    sigaction(SIGTRAP, &former, nullptr);
    return s_steps > std::ranges::max(instructions);
}

TEST(ChunkCounts, AreOfOneInstant) {
    TracerFixture fixture;
    tracer::Chunk& chunk = fixture.chunk(4'000, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    tracer::ChunkCounts counts;
    int instruction = 0;
    while (interrupted_at({instruction, -1}, [&] { counts = tracer::ChunkStore::counts(chunk); })) {
        ASSERT_EQ(counts.overwritten, 0U) << "interrupted after " << instruction << " instructions";
        instruction += 5;
    }
    EXPECT_GT(instruction, 20);
    EXPECT_EQ(fixture.tracer().control.totals().dropped, 0U);
}

enum class Closing : std::uint8_t { too_short, closed, entered, entered_and_dropped };

// Closes a chunk that the next record enters, with records after so many instructions.
template <typename Close>
Closing close_interrupted(std::array<int, 2> instructions, Close close) {
    TracerFixture fixture(8'192);
    tracer::Chunk& full = fixture.chunk(1, 0, tracer::kFlagJumpToNext);
    tracer::Chunk& next = fixture.chunk(16, 2, tracer::kFlagStop);
    fixture.link(full, next);
    fixture.select_and_enable(full);
    tracer::log<"ipoint">(0);
    bool closed = false;
    if (!interrupted_at(instructions, [&] { closed = close(fixture.tracer().store, next).ok(); })) {
        return Closing::too_short;
    }
    if (closed) {
        return Closing::closed;
    }
    const std::uint64_t dropped = fixture.tracer().control.totals().dropped;
    const std::uint64_t before = tracer::ChunkStore::counts(next).written;
    tracer::log<"ipoint">(2);
    tracer::log<"ipoint">(3);
    // A chunk that is opened again begins with blackout_end, whatever was dropped.
    const std::uint64_t written = tracer::ChunkStore::counts(next).written - before;
    EXPECT_TRUE(written == 3 || (written == 2 && dropped == 0))
        << written << " records, interrupted after " << instructions[0] << " and " << instructions[1];
    EXPECT_EQ(fixture.tracer().control.totals().dropped, dropped);
    return dropped != 0 ? Closing::entered_and_dropped : Closing::entered;
}

// Returns how often the chunk was entered, and how often a record was dropped after that, before it was open again.
template <typename Close>
std::pair<int, int> times_entered(Close close) {
    std::pair<int, int> times;
    Closing first = Closing::closed;
    for (int instruction = 0; first != Closing::too_short; instruction += 3) {
        first = close_interrupted({instruction, -1}, close);
        if (first != Closing::entered || times.first++ % 4 != 0) {
            continue;
        }
        constexpr int kWindow = 200;
        for (int second = instruction + 1; second < instruction + kWindow && times.second == 0; second += 3) {
            times.second += close_interrupted({instruction, second}, close) == Closing::entered_and_dropped ? 1 : 0;
        }
    }
    return times;
}

TEST(ChunkStore, LeavesAChunkOpenThatAnInterruptEntersWhileItIsClosed) {
    const auto frozen =
        times_entered([](tracer::ChunkStore& store, tracer::Chunk& chunk) { return store.freeze(chunk); });
    EXPECT_GT(frozen.first, 0);
    EXPECT_GT(frozen.second, 0);
}

} // namespace interrupted_counts_test
