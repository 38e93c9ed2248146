// SPDX-License-Identifier: MIT
// Recording is switched on and off a hundred thousand times, by a task and by the timer interrupts that come in
// between, and the chunk is given back and taken anew every so often: nothing leaks, and no record of an earlier
// recording turns up in a later one.
#include "kernel/time/timer.hpp"
#include "tests/kernel/recording.hpp"

namespace {

namespace switch_storm_cases {

using namespace guest;

constexpr std::uint32_t kSwitches = 100'000;
constexpr std::uint32_t kSwitchesPerChunk = 500;
constexpr int kSlots = 64;

constinit Recording recording;
constinit std::uint32_t g_random = 1;
constinit std::uint32_t g_generation = 0;
constinit std::uint32_t g_by_interrupt = 0;

// One step of a task may come between the reading and the writing of an interrupt's: random either way.
std::uint32_t next_random() {
    g_random = g_random * 1'103'515'245U + 12'345U;
    return g_random >> 16;
}

void switch_at_random() {
    const std::uint32_t random = next_random();
    if (random % 3 == 0) {
        FTrace_disable();
    } else {
        FTrace_enable();
    }
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, g_generation);
}

int fresh_chunk() {
    const int number = FTrace_chunk_create(kSlots * kRecordBytes, 4 * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC));
    ASSERT(number >= 0);
    return number;
}

// Checks that all that the chunk holds was recorded after it was selected.
void check_chunk(int chunk) {
    recording.read(chunk);
    for (const tracer::Record& record : recording.records()) {
        check(record.event_code() != FTrace_EVT_user_event_0 || record.par2 == g_generation,
              "a record of an earlier recording");
    }
}

int chunks_that_fit() {
    static constinit std::array<int, 256> numbers{};
    std::size_t count = 0;
    for (; count < numbers.size(); ++count) {
        const int number = FTrace_chunk_create(kSlots * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE);
        if (number < 0) {
            break;
        }
        numbers[count] = number;
    }
    for (std::size_t i = 0; i < count; ++i) {
        check(FTrace_chunk_delete(numbers[i]) == 0, "a chunk that is not in use goes");
    }
    return static_cast<int>(count);
}

int switch_storm(const kernel::AppArguments&) {
    filter_the_kernel();
    const int keeper = fresh_chunk();
    const int room = chunks_that_fit();
    const auto timer = must(kernel::kern_event_post_periodic(
        kernel::now(), lib::microseconds(100),
        [](void*) {
            ++g_by_interrupt;
            switch_at_random();
        },
        nullptr));
    std::uint32_t records = 0;
    while (g_generation < kSwitches / kSwitchesPerChunk) {
        const int chunk = fresh_chunk();
        {
            const arch::IrqGuard guard;
            check(FTrace_actual_chunk_select(chunk) == 0, "a fresh chunk is selected");
            ++g_generation;
        }
        for (std::uint32_t i = 0; i < kSwitchesPerChunk; ++i) {
            switch_at_random();
        }
        {
            const arch::IrqGuard guard;
            check(FTrace_set_chunk_flags(
                      keeper, static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC)) == 0 &&
                      FTrace_actual_chunk_select(keeper) == 0,
                  "the chunk is left");
            check_chunk(chunk);
            records += static_cast<std::uint32_t>(recording.records().size());
            check(FTrace_chunk_delete(chunk) == 0, "and given back");
        }
    }
    must(kernel::kern_event_delete(timer));
    FTrace_disable();
    check(records > kSwitches / kSwitchesPerChunk * 10, "there was something to look at");
    check(g_by_interrupt > 10, "interrupts switched as well");
    check(chunks_that_fit() == room, "no chunk has leaked");
    kernel::console().line("switched ", kSwitches, " times by a task, ", g_by_interrupt, " times in interrupts");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kSwitchStormCase{
    "t_switch_storm", "recording is switched on and off by everybody", &checked<&switch_storm>, true};

} // namespace switch_storm_cases

} // namespace
