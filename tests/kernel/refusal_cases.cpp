// SPDX-License-Identifier: MIT
// The published functions refuse in the running kernel: they return -1, state the reason with name, argument and value,
// and leave the chunk table, the counts and the filter as they were. The hosted
// tests/unit/tracer/ftrace_refusals_test.cpp looks deeper.
#include "tests/kernel/recording.hpp"

#include <string_view>

namespace {

namespace refusal_cases {

using namespace guest;

constexpr FTrace_flags kFree = FTRACE_CHUNK_FLAG_FREE;
constexpr int kTooMuch = 1000 * 1024 * 1024;

struct Snapshot {
    std::uint32_t chunks = 0;
    std::uint64_t flags = 0; // of all chunks, mixed
    std::uint32_t filter = 0;
    tracer::Totals totals;

    friend bool operator==(const Snapshot&, const Snapshot&) = default;
};

Snapshot snapshot() {
    Snapshot snapshot;
    FTrace_Chunk_Ptr* const table = FTrace_get_chunk_table();
    for (int i = 0; i < FTRACE_MAX_CHUNK; ++i) {
        if (table[i] != nullptr) {
            ++snapshot.chunks;
            snapshot.flags = snapshot.flags * 257 + table[i]->flags + table[i]->size + table[i]->emergency;
        }
    }
    snapshot.filter = tracer::instance().cpu.filter;
    snapshot.totals = tracer::totals(0);
    return snapshot;
}

template <typename Call>
void refused(Call call, std::string_view function, std::string_view argument, long long value) {
    const arch::IrqGuard guard; // nothing else records meanwhile
    const Snapshot before = snapshot();
    const bool failed = call() == -1;
    const FTrace_Error error = FTrace_last_error();
    const bool reported = error.function == function && error.argument != nullptr && error.argument == argument &&
                          error.value == value && error.text != nullptr;
    if (!failed || !reported || snapshot() != before) {
        ++failures;
        kernel::console().line("failed: ", function, " ", argument, " ", value);
    }
}

int arguments(const kernel::AppArguments&) {
    check(FTrace_enable() == -1, "enable without a chunk");
    for (int flags = 0; flags < 0x80; ++flags) {
        check(FTrace_get_first_chunk(static_cast<FTrace_flags>(flags)) == -1, "the table is empty");
    }
    const int current = FTrace_chunk_create(168, 40, kFree | FTRACE_CHUNK_FLAG_STOP);
    const int kept = FTrace_chunk_create(64, 0, kFree | FTRACE_CHUNK_FLAG_NODEL);
    ASSERT(FTrace_actual_chunk_select(current) == 0 && FTrace_enable() == 0);
    for (const int size : {15, 0, -1, kTooMuch}) {
        refused([size] { return FTrace_chunk_create(size, 0, kFree); }, "FTrace_chunk_create", "normal_size", size);
    }
    for (const int size : {-1, kTooMuch}) {
        refused([size] { return FTrace_chunk_create(64, size, kFree); }, "FTrace_chunk_create", "emergency_size", size);
    }
    refused([] { return FTrace_chunk_create(64, 0, 0x0C); }, "FTrace_chunk_create", "flags", 0x0C);
    for (const int number : {-1, 256, 255}) {
        FTrace_flags flags = 0;
        refused([=] { return FTrace_chunk_delete(number); }, "FTrace_chunk_delete", "number", number);
        refused([=] { return FTrace_set_chunk_flags(number, 0); }, "FTrace_set_chunk_flags", "number", number);
        refused([&] { return FTrace_get_chunk_flags(number, &flags); }, "FTrace_get_chunk_flags", "number", number);
        refused([=] { return FTrace_actual_chunk_select(number); }, "FTrace_actual_chunk_select", "number", number);
        refused([=] { return FTrace_chunk_link(number, kept); }, "FTrace_chunk_link", "chunk_A", number);
        refused([=] { return FTrace_chunk_link(kept, number); }, "FTrace_chunk_link", "chunk_B", number);
        refused([=] { return FTrace_send_chunk(number, 0, kFree); }, "FTrace_send_chunk", "number", number);
    }
    refused([=] { return FTrace_chunk_delete(current); }, "FTrace_chunk_delete", "number", current);
    refused([=] { return FTrace_chunk_delete(kept); }, "FTrace_chunk_delete", "number", kept);
    refused([=] { return FTrace_chunk_link(kept, current); }, "FTrace_chunk_link", "chunk_B", current);
    refused([=] { return FTrace_get_chunk_flags(kept, nullptr); }, "FTrace_get_chunk_flags", "flags", 0);
    refused([=] { return FTrace_set_chunk_flags(current, kFree); }, "FTrace_set_chunk_flags", "flags", kFree);
    refused([] { return FTrace_set_filter(0xFC, 1), -1; }, "FTrace_set_filter", "family", 0xFC);
    refused([] { return FTrace_set_filter(FTrace_filter_task, 2), -1; }, "FTrace_set_filter", "status", 2);
    return failures;
}

// 168 bytes hold ten records, an emergency area of 40 bytes two: only the remainder is lost.
int remainder(const kernel::AppArguments&) {
    filter_the_kernel();
    const int chunk = FTrace_chunk_create(168, 40, kFree | FTRACE_CHUNK_FLAG_STOP);
    ASSERT(FTrace_actual_chunk_select(chunk) == 0);
    ASSERT(FTrace_enable() == 0);
    for (std::uint32_t i = 0; i < 20; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, i);
    }
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 1);
    FTrace_disable();
    const auto contents = tracer::ChunkStore::contents(*must(tracer::instance().store.find(chunk)));
    check(contents.newer.size() == 160 && contents.older.empty(), "ten records in the main area");
    check(contents.emergency.size() == 32, "blackout_start and one more in the emergency area");
    return failures;
}

// The trace of this case is verified from outside: what describes a chunk elsewhere is here a record like any other.
int codes(const kernel::AppArguments&) {
    TRACER_LOGEVENT(FTrace_EVT_numevents, 0, 5);
    TRACER_LOGEVENT(FTrace_EVT_cycles_per_msec, 0, 5);
    const std::uint64_t before = tracer::totals(0).refused;
    std::uint64_t without_a_row = 0;
    for (unsigned number = 0; number < 0x200; ++number) {
        if (number > 0xFF || tracer::find_event(static_cast<std::uint8_t>(number)) == nullptr) {
            const volatile unsigned type = number; // not a constant to the compiler
            TRACER_LOGEVENT(type, 1, 2);
            ++without_a_row;
        }
    }
    check(without_a_row > 0x100, "there are codes without a row");
    check(tracer::totals(0).refused == before + without_a_row, "each of them is refused, and counted");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_chunk_arguments", "every bad argument is refused, reported, and changes nothing", &checked<&arguments>, true},
    {"t_chunk_remainder", "a size that is no multiple of 16 loses the remainder", &checked<&remainder>, true},
    {"t_chunk_codes", "every published code may be logged, every other one is refused", &checked<&codes>, false},
};

} // namespace refusal_cases

} // namespace
