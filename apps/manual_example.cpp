// SPDX-License-Identifier: MIT
// Follows the usage example of the S.Ha.R.K. user manual, volume V ("Example of Tracer usage"): it has three linked
// chunks, a filter that is set and removed, a jump to the next chunk, and instrumentation points, and at the end sends
// the two chunks that hold records to the configured sinks. "Do something" is a periodic task and a timer event.
//
//   a (CYC) --next_chunk--> b (JTN) --when full--> c (CYC)
#include "apps/work.hpp"
#include "kernel/config.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tracer/ftrace.hpp"

#include <cstdint>

namespace apps {

namespace {

constexpr int kChunkBytes = 1'000'000;
constexpr lib::Nanoseconds kPartDefault = lib::milliseconds(50); // each of the two "do something"
constexpr lib::Nanoseconds kBlink = lib::milliseconds(5);

void print_last_error(std::string_view call) {
    const FTrace_Error error = FTrace_last_error();
    kernel::console().line("manual_example: ", call, ": ", error.text != nullptr ? error.text : "no reason given");
}

[[nodiscard]] bool succeeded(int returned, std::string_view call) {
    if (returned < 0) {
        print_last_error(call);
    }
    return returned >= 0;
}

void worker(void*) {
    for (std::uint32_t round = 0;; ++round) {
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 1000, round);
        compute(lib::milliseconds(1));
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 1001, round);
        kernel::task_endcycle();
    }
}

void blink(void* count) {
    std::uint32_t& blinks = *static_cast<std::uint32_t*>(count);
    ++blinks;
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, blinks);
}

// Starts task and timer event; returns false if a call failed.
bool start_something() {
    static constinit std::uint32_t blinks = 0;
    constexpr kernel::HardModel kModel{lib::milliseconds(2), lib::milliseconds(10), {}, {}};
    const auto pid = kernel::task_create({.name = "worker", .body = &worker, .argument = nullptr, .model = kModel});
    return pid.ok() && kernel::task_activate(pid.value()).ok() &&
           kernel::kern_event_post_periodic(kernel::after(kBlink), kBlink, &blink, &blinks).ok();
}

void log_ids() {
    for (std::uint16_t pid = 0; pid < kernel::kTasksMax; ++pid) {
        const auto info = kernel::task_info({pid});
        if (info.ok()) {
            TRACER_LOGEVENT(FTrace_EVT_id, info.value().context, pid);
        }
    }
}

bool open_sinks(const kernel::AppArguments& arguments) {
    const bool both = arguments.sink == "both";
    if ((both || arguments.sink == "udp") &&
        !succeeded(FTrace_OSD_init_udp(1, arguments.local_address, arguments.target_address), "FTrace_OSD_init_udp")) {
        return false;
    }
    return !(both || arguments.sink == "disk") ||
           succeeded(FTrace_init_disk_writer("trace.dat", 0, nullptr, nullptr), "FTrace_init_disk_writer");
}

[[nodiscard]] bool send(int chunk, FTrace_flags mode) {
    return succeeded(FTrace_send_chunk(chunk, 0, static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode)),
                     "FTrace_send_chunk");
}

struct Chunks {
    int a = -1;
    int b = -1;
    int c = -1;
};

bool create_and_link(Chunks& chunks) {
    chunks.a = FTrace_chunk_create(kChunkBytes, kChunkBytes, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    chunks.b = FTrace_chunk_create(kChunkBytes, kChunkBytes, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
    chunks.c = FTrace_chunk_create(kChunkBytes, kChunkBytes, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    return succeeded(chunks.a, "FTrace_chunk_create") && succeeded(chunks.b, "FTrace_chunk_create") &&
           succeeded(chunks.c, "FTrace_chunk_create") &&
           succeeded(FTrace_chunk_link(chunks.a, chunks.b), "FTrace_chunk_link") &&
           succeeded(FTrace_chunk_link(chunks.b, chunks.c), "FTrace_chunk_link") &&
           succeeded(FTrace_actual_chunk_select(chunks.a), "FTrace_actual_chunk_select");
}

int start(const kernel::AppArguments& arguments) {
    const lib::Nanoseconds part =
        arguments.duration.value != 0 ? lib::Nanoseconds{arguments.duration.value / 2} : kPartDefault;
    Chunks chunks;
    if (!create_and_link(chunks) || !start_something() || !succeeded(FTrace_enable(), "FTrace_enable")) {
        return 1;
    }
    FTrace_set_filter(FTrace_filter_timer, 1);
    TRACER_LOGEVENT(FTrace_EVT_trace_start, kernel::task_info(kernel::task_self()).value().context,
                    arch::tick_rate().khz);
    log_ids();
    kernel::task_delay(part);

    FTrace_set_filter(FTrace_filter_timer, 0);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 0);
    kernel::task_delay(part);

    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    if (!succeeded(FTrace_disable(), "FTrace_disable") || !open_sinks(arguments)) {
        return 1;
    }
    if (arguments.sink == "none") {
        return 0;
    }
    return send(chunks.a, FTRACE_CHUNK_FLAG_CYC) && send(chunks.b, FTRACE_CHUNK_FLAG_JTN) ? 0 : 1;
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kManualExample{
    "manual_example", "the S.Ha.R.K. manual's example: three linked chunks, a filter, a jump, sending", &start, true};

} // namespace apps
