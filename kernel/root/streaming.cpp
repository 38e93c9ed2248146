// SPDX-License-Identifier: MIT
// Creates the chunks of a run whose application does not trace by itself, and exports them while the application runs
// (STREAM=ON):
//
//   0 -> 1 -> ... -> last          a chunk that is full leaves by the network, by a task of the lowest level, and is
//   ^                 |            linked after the last one again when the sink has carried it
//   +----- carried <--+
//
// The task does a bounded piece of work, sleeps a millisecond, and longer while nothing answers. It holds no lock that
// a deadline waits for. Without a collector no chunk comes back: the chunks fill up, and what follows is dropped and
// counted, as in a run that is not streamed. A target or a collector that appears later gets what is still there.
#include "kernel/root/tracing_parts.hpp"

#include "kernel/run/runlevel.hpp"
#include "kernel/task/task.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/instance.hpp"

#include <algorithm>

namespace kernel::root {

namespace {

// The chunks of an application that does not trace by itself are linked, so that a long run needs no decision. An
// untouched chunk is not exported. The emergency areas keep what explains a loss. Streamed chunks are smaller, so that
// they leave soon; together they hold what comes while a collector is silent.
struct Shape {
    int chunks = 0;
    int bytes = 0;
};

constexpr Shape kKept{.chunks = 15, .bytes = 1'000'000};
constexpr Shape kStreamed{.chunks = 32, .bytes = 65'536};
constexpr int kEmergencyBytes = 4'096;

constexpr lib::Nanoseconds kPauseMin = lib::milliseconds(1);
constexpr lib::Nanoseconds kPauseMax = lib::milliseconds(100);
constexpr int kStepsPerTurn = 16;
constexpr int kStopLooksMax = 1'000;

struct Stream {
    bool asked = false;
    bool stops = false;
    int first = 0;            // chunks first .. first + kStreamed.chunks - 1, in a ring
    std::uint32_t taken = 0;  // chunks queued since the start of the run
    std::uint32_t linked = 0; // chunks linked again since then
};

constinit Stream g_stream{};
constinit NetworkSetup g_stream_setup{};

tracer::Chunk& chunk_at(std::uint32_t count) {
    const auto number = g_stream.first + static_cast<int>(count % static_cast<std::uint32_t>(kStreamed.chunks));
    const auto chunk = tracer::instance().store.find(number);
    ASSERT(chunk.ok()); // nothing deletes it, because the application does not trace by itself
    return *chunk.value();
}

// Queues the oldest chunk that the writer has left. Returns false if there is none.
bool take_one(tracer::ChunkFlags new_flags) {
    tracer::Instance& tracer = tracer::instance();
    if (g_stream.taken - g_stream.linked == static_cast<std::uint32_t>(kStreamed.chunks)) {
        return false;
    }
    tracer::Chunk& chunk = chunk_at(g_stream.taken);
    if (tracer.store.is_active(chunk) || tracer::ChunkStore::contents(chunk).events() == 0 ||
        !tracer.exporter.request(chunk, new_flags).ok()) {
        return false;
    }
    ++g_stream.taken;
    return true;
}

// Links the oldest chunk that has been carried after the last one.
void return_one() {
    tracer::Instance& tracer = tracer::instance();
    if (g_stream.linked == g_stream.taken) {
        return;
    }
    tracer::Chunk& chunk = chunk_at(g_stream.linked);
    tracer::Chunk& last = chunk_at(g_stream.linked + static_cast<std::uint32_t>(kStreamed.chunks) - 1);
    if ((chunk.flags & tracer::kFlagFree) != 0 && tracer.store.link(last, chunk).ok()) {
        ++g_stream.linked;
    }
}

void exchange_chunks() {
    tracer::ControlLock& lock = tracer::instance().lock;
    if (lock.try_take()) { // interrupts are off while it is held, so only two chunks are handled at a time
        return_one();
        static_cast<void>(take_one(tracer::kFlagFree | tracer::kFlagJumpToNext));
        lock.release();
    }
}

void stream_body(void*) {
    const auto sink = open_network(g_stream_setup);
    if (!sink.ok() || !tracer::instance().exporter.attach(*sink.value(), tracer::SinkTime::at_once).ok()) {
        return; // the console states the reason; the end of the run tries again
    }
    network_sink().wait_for_answer(true);
    lib::Nanoseconds pause = kPauseMin;
    std::uint64_t answers = 0;
    while (!g_stream.stops) {
        exchange_chunks();
        for (int step = 0; step < kStepsPerTurn && !g_stream.stops; ++step) {
            if (tracer::instance().exporter.step() == tracer::StepResult::idle) {
                break;
            }
        }
        const std::uint64_t now = network_sink().v2().counters().acknowledgements;
        pause = now != answers ? kPauseMin : std::min(lib::Nanoseconds{2 * pause.value}, kPauseMax);
        answers = now;
        task_delay(pause);
    }
}

// Runs in SHUTDOWN, in task context: the task must not be ended in the middle of a step.
void stop_stream(void*) {
    g_stream.stops = true;
    await_step_end(kPauseMin);
}

void start_stream(void*) {
    const auto pid =
        task_create({.name = "stream", .body = &stream_body, .argument = nullptr, .model = BackgroundModel{}});
    const bool active = pid.ok() && task_activate(pid.value()).ok();
    ASSERT(active); // it is the first task after the idle task
}

} // namespace

void await_step_end(lib::Nanoseconds pause) {
    for (int look = 0; look < kStopLooksMax && tracer::instance().exporter.stepping(); ++look) {
        task_delay(pause);
    }
}

// The last chunk has no successor: what comes after it is dropped and counted.
int create_linked_chunks(bool streamed) {
    const Shape& shape = streamed ? kStreamed : kKept;
    const bool compact = tracer::instance().exporter.setup().cost.choice != tracer::LayoutChoice::plain;
    const auto flags = static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN |
                                                 (compact ? FTRACE_CHUNK_FLAG_COMPR : 0));
    const int first = FTrace_chunk_create(shape.bytes, kEmergencyBytes, flags);
    for (int i = 1, last = first; i < shape.chunks; ++i) {
        const int next = FTrace_chunk_create(shape.bytes, kEmergencyBytes, flags);
        const int linked = next >= 0 ? FTrace_chunk_link(last, next) : -1;
        ASSERT(linked == 0);
        last = next;
    }
    g_stream.first = first;
    return first;
}

void stream_chunks(const NetworkSetup& setup) {
    g_stream_setup = setup;
    g_stream_setup.wait = false;
    g_stream.asked = sys_atrunlevel(&start_stream, nullptr, RunLevel::init).ok() &&
                     sys_atrunlevel(&stop_stream, nullptr, RunLevel::shutdown).ok();
    ASSERT(g_stream.asked);
}

void stream_rest() {
    if (g_stream.asked) {
        network_sink().wait_for_answer(false);
        while (take_one(tracer::kFlagJumpToNext)) {
        }
    }
}

} // namespace kernel::root
