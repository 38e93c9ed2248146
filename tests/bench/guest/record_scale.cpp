// SPDX-License-Identifier: MIT
// Whether the cost of a record depends on anything: on the number of tasks, of chunks, of families that are recorded.
// In clock ticks; under CLOCK=icount a tick is an instruction. `make bench-scale` reads the console.
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/log_in_a_row.hpp"
#include "tracer/ftrace.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bench {

namespace {

// A chunk has space for these, and the changes to the next chunk count.
constexpr std::size_t kInARow = 50;
constexpr std::size_t kRowsPerChunk = 2;
constexpr int kChunkBytes = static_cast<int>(kInARow * kRowsPerChunk * 16);
constexpr std::size_t kRows = 32;

// In hundredths of a tick for each record.
void print(std::string_view what, std::size_t count, std::size_t rows) {
    const std::uint64_t hundredths = tests::ticks_of_records<kInARow>(rows) * 100 / (rows * kInARow);
    kernel::console().mark("scale record_by_", what, " ", count, " ", hundredths / 100, ".", hundredths % 100 / 10,
                           hundredths % 10);
}

template <std::size_t Count>
int beside_tasks(const kernel::AppArguments&) {
    for (std::size_t i = 0; i < Count; ++i) {
        const auto pid = kernel::task_create({.name = "other", .body = [](void*) {}, .model = kernel::NrtModel{}});
        if (!pid.ok() || !kernel::task_activate(pid.value()).ok()) {
            return 1;
        }
    }
    print("tasks", Count, kRows);
    return 0;
}

// One after the other is filled, and none is left over.
template <std::size_t Count>
int through_chunks(const kernel::AppArguments&) {
    for (std::size_t i = 0; i < Count; ++i) {
        const auto number = static_cast<int>(i);
        if (FTrace_chunk_create(kChunkBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN) != number ||
            (i > 0 && FTrace_chunk_link(number - 1, number) != 0)) {
            return 1;
        }
    }
    if (FTrace_actual_chunk_select(0) != 0 || FTrace_enable() != 0) {
        return 1;
    }
    print("chunks", Count, Count * kRowsPerChunk);
    return FTrace_disable();
}

// The family of the record, and as many more.
template <std::size_t Count>
int among_families(const kernel::AppArguments&) {
    const int chunk = FTrace_chunk_create(kChunkBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    if (chunk < 0 || FTrace_actual_chunk_select(chunk) != 0 || FTrace_enable() != 0) {
        return 1;
    }
    std::size_t shown = tracer::kFamilies;
    for (std::size_t family = 0; family < tracer::kFamilies && shown > Count; ++family) {
        if (family != static_cast<std::size_t>(tracer::Family::user) &&
            family != static_cast<std::size_t>(tracer::Family::metadata)) {
            FTrace_set_filter(static_cast<BYTE>(0xF0U | family), 1);
            --shown;
        }
    }
    print("families", Count, kRows);
    return FTrace_disable();
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kScales[] = {
    {"b_scale_tasks_10", "a record beside 10 tasks", &beside_tasks<10>, false},
    {"b_scale_tasks_100", "a record beside 100 tasks", &beside_tasks<100>, false},
    {"b_scale_tasks_1000", "a record beside 1000 tasks", &beside_tasks<1000>, false},
    {"b_scale_chunks_3", "records into 3 chunks", &through_chunks<3>, true},
    {"b_scale_chunks_10", "records into 10 chunks", &through_chunks<10>, true},
    {"b_scale_chunks_30", "records into 30 chunks", &through_chunks<30>, true},
    {"b_scale_chunks_100", "records into 100 chunks", &through_chunks<100>, true},
    {"b_scale_families_2", "a record where 2 families are recorded", &among_families<2>, true},
    {"b_scale_families_8", "a record where 8 families are recorded", &among_families<8>, true},
    {"b_scale_families_16", "a record where all families are recorded", &among_families<16>, true},
};

} // namespace

} // namespace bench
