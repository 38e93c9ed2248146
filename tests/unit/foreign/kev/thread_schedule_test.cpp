// SPDX-License-Identifier: MIT
// Tests threads and interrupts of other systems' .kev files as events of ours: which one each becomes, and how threads
// are called.
#include "foreign/kev/thread_schedule.hpp"
#include "host/text/format.hpp"

#include "foreign/kev/event_names.hpp"
#include "lib/wire_numbers.hpp"
#include "tests/support/kev_builder.hpp"

#include <gmock/gmock.h>
#include <set>

namespace host::formats::kev {

namespace {

using lib::WaitKind;
using support::KevBuilder;
using testing::ElementsAre;

constexpr unsigned kThread = 4;

unsigned number(ThreadState state) {
    return static_cast<unsigned>(state);
}

// "name par1/par2" of each event with a meaning, else its own name in brackets; the names of contexts at the end.
struct Meanings {
    std::vector<std::string> events;
    trace::Names names;
};

Meanings read(const KevBuilder& file) {
    Meanings meanings;
    trace::Diagnostics diagnostics([](std::string_view line) { ADD_FAILURE() << line; });
    const auto stream = KevStream::open({.name = "t.kev", .bytes = support::source_of(file.bytes)}, {}, diagnostics);
    for (auto batch = stream.value()->next_batch(); !batch.empty(); batch = stream.value()->next_batch()) {
        const trace::Event& event = batch.front();
        if (!event.metadata) {
            EXPECT_TRUE(trace::is_foreign(event));
            EXPECT_FALSE(event.words.empty());
            meanings.events.push_back(event.row != nullptr
                                          ? fmt::format("{} {}/{}", event.row->name, event.par1, event.par2)
                                          : fmt::format("[{}]", event.foreign_name));
        }
    }
    diagnostics.finish();
    meanings.names = stream.value()->facts().names;
    return meanings;
}

KevBuilder threads(std::initializer_list<std::array<unsigned, 3>> states, support::KevKeys keys = {}) {
    KevBuilder file(std::move(keys));
    file.time(0, 1);
    std::uint64_t stamp = 10;
    for (const auto& [event, pid, tid] : states) {
        file.slot('S', 0, kThread, event, ++stamp, pid, tid);
    }
    return file;
}

std::string block(unsigned context, WaitKind kind) {
    return fmt::format("task_block {}/{}", context, static_cast<unsigned>(kind) << 16);
}

TEST(ThreadSchedule, StatesAreSwitchesWakeUpsAndWaits) {
    const auto running = number(ThreadState::running);
    const auto ready = number(ThreadState::ready);
    EXPECT_THAT(read(threads({{kThreadCreate, 7, 2},
                              {running, 7, 2},
                              {ready, 7, 2}, // preempted: no wake-up
                              {running, 8, 1},
                              {number(ThreadState::nanosleep), 8, 1},
                              {running, 7, 2},
                              {ready, 8, 1},
                              {kThreadDestroy, 7, 2},
                              {kThreadCreate + kVirtualThreads, 7, 2}}))
                    .events,
                ElementsAre("task_create 1/7", "context_switch 1/0", "[THREADY]", "context_switch 2/0",
                            block(2, WaitKind::delay), "context_switch 1/0", "task_unblock 2/0", "task_end 1/7",
                            "[VTHCREATE]"));
}

TEST(ThreadSchedule, EachStateIsAWaitOfTheNearestKind) {
    std::vector<std::string> expected;
    for (const WaitKind kind :
         {WaitKind::suspended, WaitKind::send, WaitKind::receive, WaitKind::send, WaitKind::suspended,
          WaitKind::suspended, WaitKind::suspended, WaitKind::signal, WaitKind::signal, WaitKind::delay,
          WaitKind::mutex, WaitKind::condition, WaitKind::suspended, WaitKind::suspended, WaitKind::semaphore,
          WaitKind::suspended, WaitKind::send, WaitKind::send}) {
        expected.push_back(block(1, kind));
    }
    KevBuilder file;
    file.time(0, 1);
    for (unsigned state = number(ThreadState::stopped); state <= number(ThreadState::net_reply); ++state) {
        file.slot('S', 0, kThread, state, 10 + state, 7, 1);
    }
    EXPECT_EQ(read(file).events, expected);
}

TEST(ThreadSchedule, InterruptsWithLargeNumbersHaveVectorsOfTheirOwn) {
    KevBuilder file;
    file.time(0, 1);
    file.slot('S', 0, 3, kInterruptEntry, 11, 33, 0).slot('S', 0, 3, kInterruptExit, 12, 33, 0);
    file.slot('S', 0, 3, kInterruptEntry, 13, 0x8000'0000, 0).slot('S', 0, 3, kInterruptExit, 14, 0x8000'0000, 0);
    file.slot('S', 0, 3, kInterruptEntry, 15, 0x8001'0000, 0).slot('S', 0, 3, 3, 16, 0x8001'0000, 0);
    const Meanings meanings = read(file);
    EXPECT_THAT(meanings.events, ElementsAre("interrupt_start 33/0", "interrupt_end 33/0", "interrupt_start 65535/0",
                                             "interrupt_end 65535/0", "interrupt_start 65534/0", "[INT_HANDLER_ENTR]"));
    EXPECT_EQ(meanings.names.find(tracer::Unit::vector, 65'535), "interrupt 0x80000000");
    EXPECT_EQ(meanings.names.find(tracer::Unit::vector, 65'534), "interrupt 0x80010000");
}

// Half of the vectors are for numbers below 32768: none is given to two interrupts.
TEST(ThreadSchedule, InterruptsBeyondTheLastVectorAreLeftOut) {
    KevBuilder file;
    file.time(0, 1);
    for (std::uint32_t i = 0; i < 0x8001; ++i) {
        file.slot('S', 0, 3, kInterruptEntry, 10 + i, i == 0 ? 0xFFFF : 0x8000'0000 + i, 0);
    }
    std::string lines;
    std::set<unsigned> vectors;
    std::size_t without = 0;
    trace::Diagnostics diagnostics([&](std::string_view line) { lines += line; });
    const auto stream = KevStream::open({.name = "t.kev", .bytes = support::source_of(file.bytes)}, {}, diagnostics);
    for (auto batch = stream.value()->next_batch(); !batch.empty(); batch = stream.value()->next_batch()) {
        const trace::Event& event = batch.front();
        if (!event.metadata) {
            event.row != nullptr ? static_cast<void>(vectors.insert(event.par1)) : static_cast<void>(++without);
        }
    }
    EXPECT_EQ(vectors.size(), 0x8000U);
    EXPECT_EQ(without, 1U);
    EXPECT_THAT(lines, testing::HasSubstr("W-CAP"));
}

// 1-1 to 1-4 are the kernel's idle threads on four processors.
TEST(ThreadSchedule, ThreadsAreCalledByTheirNamesProcessesAndNumbers) {
    for (const bool big : {false, true}) {
        support::KevKeys keys;
        keys.byte_order = big ? "BIG" : "LITTLE";
        const auto word = [big](std::string_view text) {
            std::uint32_t value = 0;
            for (unsigned i = 0; i < 4; ++i) {
                value |= static_cast<std::uint32_t>(text[i]) << (8 * (big ? 3 - i : i));
            }
            return value;
        };
        KevBuilder file = threads({{1, 1, 4}, {1, 1, 5}, {1, 6, 1}, {1, 7, 1}}, keys);
        file.slot('B', 0, kThread, 192, 50, 1, 6)
            .slot('E', 0, kThread, 192, 50, word("io-n"), word(std::string("et\0\0", 4)));
        file.slot('S', 0, kThread, 1, 51, 6, 2);
        file.slot('B', 0, kThread, kThreadName, 52, 7, 1)
            .slot('E', 0, kThread, kThreadName, 52, word(std::string("log\0", 4)), 0);
        const auto names = read(file).names;
        std::vector<std::string> found;
        for (const auto& [context, task] : names.tasks()) {
            found.push_back(task.name);
        }
        EXPECT_THAT(found, ElementsAre("idle", "pid 1:5", "io-net:1", "log", "io-net:2"));
        EXPECT_EQ(names.task(5)->pid, 6U);
    }
}

TEST(ThreadSchedule, IdleThreadsAreIdleWhateverTheirNamesAreAndNoOthers) {
    KevBuilder file = threads({{1, 1, 1}, {1, 1, 2}, {1, 1, 9}, {1, 7, 1}});
    const auto name = [&file](unsigned pid, unsigned tid, std::uint32_t first, std::uint32_t rest) {
        file.slot('B', 0, kThread, kThreadName, 52, pid, tid).slot('E', 0, kThread, kThreadName, 52, first, rest);
    };
    name(1, 2, 0x656c6469, 0x31); // "idle1"
    name(1, 9, 0x657a616c, 0x79); // "lazey"
    name(7, 1, 0x656c6469, 0);    // "idle"
    file.slot('B', 0, kThread, 192, 60, 0, 1).slot('E', 0, kThread, 192, 60, 0x636f7270, 0);
    file.slot('B', 0, kThread, 192, 61, 1, 7).slot('E', 0, kThread, 192, 61, 0x636f7270, 0);
    std::vector<std::string> found;
    const auto names = read(file).names;
    for (const auto& [context, task] : names.tasks()) {
        found.push_back(task.name);
    }
    EXPECT_THAT(found, ElementsAre("idle", "idle", "lazey", "idle:1"));
}

TEST(ThreadSchedule, OurOwnFilesKeepTheirContexts) {
    support::KevKeys keys;
    keys.system = "Remora";
    trace::Diagnostics diagnostics([](std::string_view) {});
    const KevBuilder file = threads({{1, 7, 43}}, keys);
    const auto stream = KevStream::open({.name = "t.kev", .bytes = support::source_of(file.bytes)}, {}, diagnostics);
    auto batch = stream.value()->next_batch();
    while (batch.front().metadata) {
        batch = stream.value()->next_batch();
    }
    EXPECT_EQ(batch.front().par1, 42);
    EXPECT_FALSE(trace::is_foreign(batch.front()));
}

} // namespace

} // namespace host::formats::kev
