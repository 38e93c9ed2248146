// SPDX-License-Identifier: MIT
// Counts are of one instant: an interrupt that records while they are taken changes nothing in them. A chunk that an
// interrupt enters while it is closed stays open. Each instruction is interrupted once, by a single-step trap.
#include "tests/support/tracer/fixture.hpp"
#include "tracer/log.hpp"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <ucontext.h>
#include <vector>

namespace interrupted_counts_test {

using tests::TracerFixture;

int s_steps = 0;
std::vector<int> s_record_at; // in order

void on_step(int, siginfo_t*, void* context) {
    if (std::ranges::find(s_record_at, s_steps++) != s_record_at.end()) {
        tracer::log<"ipoint">(1);
    }
    if (s_steps > s_record_at.back()) {
        constexpr greg_t kTrapFlag = 0x100;
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
    }
}

// Calls the function, with a record after so many instructions, or several. Returns false if there are fewer.
template <typename Function>
bool interrupted_at(std::vector<int> instructions, Function function) {
    struct sigaction action = {};
    struct sigaction former = {};
    action.sa_sigaction = &on_step;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &former);
    s_steps = 0;
    s_record_at = std::move(instructions);
    asm volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "cc", "memory");
    function();
    asm volatile("pushfq; andq $~0x100, (%%rsp); popfq" : : : "cc", "memory");
    sigaction(SIGTRAP, &former, nullptr);
    return s_steps > s_record_at.back();
}

TEST(ChunkCounts, AreOfOneInstant) {
    TracerFixture fixture;
    tracer::Chunk& chunk = fixture.chunk(4'000, 0, tracer::kFlagStop);
    fixture.select_and_enable(chunk);
    tracer::ChunkCounts counts;
    int instruction = 0;
    while (interrupted_at({instruction}, [&] { counts = tracer::ChunkStore::counts(chunk); })) {
        ASSERT_EQ(counts.overwritten, 0U) << "interrupted after " << instruction << " instructions";
        instruction += 5;
    }
    EXPECT_GT(instruction, 20);
    EXPECT_EQ(fixture.tracer().control.totals().dropped, 0U);
}

// Has a full chunk, and the next one that records enter.
struct Scene {
    Scene() {
        fixture.link(full, next);
        fixture.select_and_enable(full);
        tracer::log<"ipoint">(0);
    }

    // Closes the next chunk while records come after so many instructions, and returns whether it is closed; none if
    // closing takes fewer instructions. It is one piece of code, in which a number always means the same instruction.
    [[gnu::noinline]] std::optional<bool> closes(const std::vector<int>& instructions) {
        bool closed = false;
        const bool was_interrupted =
            interrupted_at(instructions, [&] { closed = fixture.tracer().store.freeze(next).ok(); });
        return was_interrupted ? std::optional(closed) : std::nullopt;
    }

    TracerFixture fixture{8'192};
    tracer::Chunk& full = fixture.chunk(1, 0, tracer::kFlagJumpToNext);
    tracer::Chunk& next = fixture.chunk(16, 2, tracer::kFlagStop);
};

// Closes a chunk while a record enters it after so many instructions. Returns whether that happened; none if closing
// takes fewer instructions.
std::optional<bool> is_entered(int instructions) {
    Scene scene;
    const auto closed = scene.closes({instructions});
    if (!closed || *closed) {
        return closed ? std::optional(false) : std::nullopt;
    }
    const std::uint64_t before = tracer::ChunkStore::counts(scene.next).written;
    tracer::log<"ipoint">(2);
    tracer::log<"ipoint">(3);
    // A chunk that is opened again may begin with blackout_end.
    const std::uint64_t written = tracer::ChunkStore::counts(scene.next).written - before;
    EXPECT_TRUE(written == 2 || written == 3) << written << " records, interrupted after " << instructions;
    EXPECT_EQ(scene.fixture.tracer().control.totals().dropped, 0U);
    return true;
}

TEST(ChunkStore, LeavesAChunkOpenThatAnInterruptEntersWhileItIsClosed) {
    constexpr int kStep = 7; // no instruction alone decides it
    std::size_t entered = 0;
    for (int instructions = 0;; instructions += kStep) {
        const auto is = is_entered(instructions);
        if (!is) {
            break;
        }
        entered += *is ? 1U : 0U;
    }
    EXPECT_GT(entered, 0U);
}

// Closes a chunk while records come after so many instructions; the first one enters it. Returns how many of them were
// dropped, because the chunk was closed just then; none if closing takes fewer instructions.
std::optional<std::uint64_t> dropped_at(const std::vector<int>& instructions) {
    Scene scene;
    if (!scene.closes(instructions)) {
        return std::nullopt;
    }
    const std::uint64_t dropped = scene.fixture.tracer().control.totals().dropped;
    tracer::log<"ipoint">(2);
    std::uint64_t reported = 0;
    std::uint64_t kept = 0;
    for (const tracer::Record& record : tests::main_records(scene.next)) {
        if (record.event_code() == tracer::event_code("blackout_end")) {
            EXPECT_TRUE(record.par2 == 0 || kept == 1) << "a record that follows the loss is before its report";
            reported += record.par2;
        } else {
            ++kept;
        }
    }
    EXPECT_EQ(reported, dropped) << "the blackout does not end";
    return dropped;
}

TEST(ChunkStore, ReportsRecordsThatWereDroppedWhileItOpensAChunkAgain) {
    int entering = 0; // the last instruction after which a record enters the chunk
    for (int i = 0; const auto is = is_entered(i); i += 3) {
        entering = *is ? i : entering;
    }
    int dropping = entering + 1;
    while (dropped_at({entering, dropping}) == 0U) {
        ++dropping;
    }
    for (int after = dropping + 1; dropped_at({entering, dropping, after}); ++after) {
        ASSERT_FALSE(HasFailure()) << "records after " << entering << ", " << dropping << ", " << after
                                   << " instructions";
    }
    EXPECT_EQ(dropped_at({entering, dropping}), 1U);
}

} // namespace interrupted_counts_test
