// SPDX-License-Identifier: MIT
// Tests chunk modes, filters and refusals through the published functions, in the running kernel.
#include "tests/kernel/recording.hpp"

namespace {

namespace chunk_cases {

using namespace guest;

constinit Recording recording;

int chunk(int slots, FTrace_flags mode) {
    const int number = FTrace_chunk_create(slots * kRecordBytes, 8 * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0);
    return number;
}

void begin(int first) {
    filter_the_kernel();
    ASSERT(FTrace_actual_chunk_select(first) == 0 && enable_bare());
}

void log_numbers(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t number = from; number < to; ++number) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, number);
    }
}

bool is_full(int number) {
    FTrace_flags flags = 0;
    ASSERT(FTrace_get_chunk_flags(number, &flags) == 0);
    return (flags & FTRACE_CHUNK_FLAG_FULL) != 0;
}

// The user events of the chunk are consecutive numbers that begin with `first`; returns the number after the last.
std::uint32_t consecutive_from(int number, std::uint32_t first) {
    recording.read(number);
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() == FTrace_EVT_user_event_0) {
            check(record.par2 == first, "a number is missing or out of order");
            first = record.par2 + 1;
        }
    }
    return first;
}

int cyclic(const kernel::AppArguments&) {
    constexpr int kSlots = 16;
    const int ring = chunk(kSlots, FTRACE_CHUNK_FLAG_CYC);
    begin(ring);
    log_numbers(0, 40);
    FTrace_disable();
    recording.read(ring);
    const std::size_t kept = recording.records().size();
    check(kept == kSlots || kept == kSlots - 1, "the newest records fill the chunk");
    check(consecutive_from(ring, static_cast<std::uint32_t>(40 - kept)) == 40, "the newest is the last");
    check(!is_full(ring), "a cyclic chunk is never full");
    return failures;
}

int jump_to_next(const kernel::AppArguments&) {
    const int a = chunk(4, FTRACE_CHUNK_FLAG_JTN);
    const int b = chunk(4, FTRACE_CHUNK_FLAG_JTN);
    const int c = chunk(4, FTRACE_CHUNK_FLAG_JTN);
    check(FTrace_chunk_link(a, b) == 0 && FTrace_chunk_link(b, c) == 0, "FREE chunks can be linked");
    begin(a);
    const std::uint64_t dropped = tracer::totals(0).dropped;
    log_numbers(0, 10);
    check(is_full(a) && is_full(b) && !is_full(c), "FULL can be read back");
    log_numbers(10, 20);
    FTrace_disable();
    const std::uint32_t last = consecutive_from(c, consecutive_from(b, consecutive_from(a, 0)));
    check(last >= 10, "no number is lost on a jump");
    check(is_full(c), "the last chunk is full");
    check(tracer::totals(0).dropped - dropped == 20 - last, "what had no room is counted");
    return failures;
}

int stop(const kernel::AppArguments&) {
    constexpr int kSlots = 12;
    const int only = chunk(kSlots, FTRACE_CHUNK_FLAG_STOP);
    begin(only);
    log_numbers(0, 30);
    check(is_full(only), "FULL can be read back");
    FTrace_disable();
    const std::uint32_t kept = consecutive_from(only, 0);
    check(kept > 0 && kept <= kSlots, "the oldest records stay");
    check(recording.count(FTrace_EVT_blackout_start) == 1, "the loss is recorded in the emergency area");
    return failures;
}

int next_chunk(const kernel::AppArguments&) {
    const int a = chunk(32, FTRACE_CHUNK_FLAG_CYC);
    const int b = chunk(32, FTRACE_CHUNK_FLAG_CYC);
    check(FTrace_chunk_link(a, b) == 0, "FREE chunks can be linked");
    begin(a);
    log_numbers(0, 3);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    log_numbers(3, 5);
    FTrace_disable();
    check(consecutive_from(a, 0) == 3, "what came before stays");
    check(consecutive_from(b, 3) == 5, "what follows is in the next chunk");
    check(!recording.records().empty() && recording.records().front().par2 == 3, "and comes first there");
    return failures;
}

int filter(const kernel::AppArguments&) {
    const int only = chunk(64, FTRACE_CHUNK_FLAG_STOP);
    begin(only);
    FTrace_set_filter(FTrace_filter_user, 1);
    log_numbers(0, 3);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 7, 0);
    check(!arch::interrupts_disabled(), "a filtered call leaves interrupts on");
    FTrace_set_filter(FTrace_filter_user, 0);
    log_numbers(100, 102);
    FTrace_disable();
    recording.read(only);
    check(recording.count(FTrace_EVT_user_event_0) == 2, "filtered events are absent, later ones present");
    check(recording.count(FTrace_EVT_ipoint) == 1, "other families are present");
    check(recording.count(FTrace_filter_user) == 2, "the filter itself is recorded");
    return failures;
}

int refusals(const kernel::AppArguments&) {
    check(FTrace_enable() == -1, "enable without a chunk");
    check(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_FREE) == -1, "there is no chunk yet");
    const int a = chunk(16, FTRACE_CHUNK_FLAG_CYC);
    const int kept = chunk(16, FTRACE_CHUNK_FLAG_NODEL);
    check(FTrace_actual_chunk_select(a) == 0, "a FREE chunk can be selected");
    check(FTrace_actual_chunk_select(a) == -1, "a chunk that is not FREE cannot");
    check(FTrace_chunk_link(kept, a) == -1, "nor linked");
    check(FTrace_chunk_delete(a) == -1, "the current chunk cannot be deleted");
    check(FTrace_chunk_delete(kept) == -1, "nor one that is NODEL");
    for (const int number : {-1, 256, 255}) {
        FTrace_flags flags = 0;
        check(FTrace_get_chunk_flags(number, &flags) == -1, "no such chunk");
    }
    check(FTrace_compress_chunk(a, 0) == -1, "an empty chunk is not compressed");
    check(FTrace_last_error().text != nullptr, "every refusal has a reason");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_chunk_cyclic", "CYC keeps the newest records", &guest::checked<&cyclic>, true},
    {"t_chunk_jump", "JTN loses nothing on a jump and counts what has no room", &guest::checked<&jump_to_next>, true},
    {"t_chunk_stop", "STOP keeps the oldest records", &guest::checked<&stop>, true},
    {"t_chunk_next", "next_chunk switches at once", &guest::checked<&next_chunk>, true},
    {"t_chunk_filter", "a filter hides its family only", &guest::checked<&filter>, true},
    {"t_chunk_refusals", "what the published functions refuse", &guest::checked<&refusals>, true},
};

} // namespace chunk_cases

} // namespace
