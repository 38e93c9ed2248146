// SPDX-License-Identifier: MIT
// Tests triggers in the running kernel: a black box that keeps what led to an event, and a window exact to the record.
#include "tests/kernel/recording.hpp"

namespace {

namespace trigger_cases {

using namespace guest;

constinit Recording recording;

constexpr int kMark = 9;

int begin(int slots, FTrace_flags mode) {
    FTrace_disable();
    filter_the_kernel();
    const int number = FTrace_chunk_create(slots * kRecordBytes, 4 * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0 && FTrace_actual_chunk_select(number) == 0 && enable_bare());
    return number;
}

void log_numbers(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t number = from; number < to; ++number) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, number == 50 ? kMark : 0, number);
    }
}

// Checks that the numbers in the chunk are first, first + 1, ..., last and nothing else.
void check_numbers(int chunk, std::uint32_t first, std::uint32_t last) {
    recording.read(chunk);
    std::uint32_t expected = first;
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() == FTrace_EVT_user_event_0) {
            check(record.par2 == expected, "the window is not the one expected");
            expected = record.par2 + 1;
        }
    }
    check(expected == last + 1, "the window ends elsewhere");
}

int stop_after(const kernel::AppArguments&) {
    const int ring = begin(16, FTRACE_CHUNK_FLAG_CYC);
    const tracer::Totals before = tracer::totals(0);
    check(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_user_event_0, kMark, FTRACE_ANY, 4) == 0, "armed");
    log_numbers(0, 100);
    check(FTrace_trigger_state() == FTRACE_TRIGGER_DONE, "the window is complete");
    check(tracer::totals(0).refused - before.refused == 45, "what came later is counted as refused");
    FTrace_disable();
    check_numbers(ring, 40, 54); // 55 records: three laps of 16, and 15 of the newest
    check(FTrace_trigger_disarm() == 0 && FTrace_trigger_state() == FTRACE_TRIGGER_IDLE, "disarmed");
    return failures;
}

int start_with(const kernel::AppArguments&) {
    const int chunk = begin(32, FTRACE_CHUNK_FLAG_STOP);
    check(FTrace_trigger_arm(FTRACE_TRIGGER_START, FTrace_EVT_user_event_0, FTRACE_ANY, 50, 0) == 0, "armed");
    log_numbers(0, 60);
    FTrace_disable();
    check_numbers(chunk, 50, 59);
    return failures;
}

int freeze_after(const kernel::AppArguments&) {
    const int ring = begin(8, FTRACE_CHUNK_FLAG_CYC);
    const int rest = FTrace_chunk_create(64 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    check(FTrace_chunk_link(ring, rest) == 0, "linked");
    check(FTrace_trigger_arm(FTRACE_TRIGGER_FREEZE, FTrace_EVT_user_event_0, kMark, 50, 2) == 0, "armed");
    log_numbers(0, 100);
    FTrace_disable();
    check_numbers(ring, 46, 52);
    check_numbers(rest, 53, 99);
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_trigger_stop", "recording stops exactly n records after an event", &checked<&stop_after>, true},
    {"t_trigger_start", "recording starts with an event", &checked<&start_with>, true},
    {"t_trigger_freeze", "a chunk is frozen n records after an event and the next continues", &checked<&freeze_after>,
     true},
};

} // namespace trigger_cases

} // namespace
