// SPDX-License-Identifier: MIT
// Takes full chunks to the sinks: builds the image (preamble, records in time order), hands it to one sink after the
// other, and puts the chunk back into use when all have carried it. Not a sender itself: a sink is a ChunkSink.
//
//   request(chunk) --> frozen, BUSY --> sink 1 --> sink 2 --> flags = new_flags
//                                        ^ deferred sinks wait for begin_exit()
//
// Each chunk goes to each sink exactly once, and every sink gets the same bytes: what the preamble tells besides the
// records (number of names, losses) is frozen with the chunk, and its stamp is that of the chunk's first record.
// A sink that fails is left alone from then on; chunks that it did not carry do not become FREE.
//
// step() does a bounded piece of work and never waits: an NRT task calls it while the application runs, a polling loop
// calls it with interrupts off once the run level has exited. Everything: task context or irq-off.
#pragma once

#include "lib/result.hpp"
#include "tracer/control.hpp"
#include "tracer/names.hpp"
#include "tracer/sink.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// What the composition root knows about machine and build. tsc_khz must not be 0.
struct Setup {
    std::uint32_t tsc_khz = 0;
    TscSource tsc_source = TscSource::unknown;
    std::uint32_t tsc_error_ppm = 0;
    ClockMode clock_mode = ClockMode::unknown;
    std::uint64_t boot_id = 0;
    Build build{};
    TraceCost cost{}; // with 0 rounds it is not told
};

// When a sink may work: a stream at once, a file writer only when the run level has exited.
enum class SinkTime : std::uint8_t {
    at_once,
    after_exit,
};

enum class StepResult : std::uint8_t {
    idle, // nothing to do (what waits for begin_exit() does not count)
    more, // call again
};

class Exporter {
  public:
    static constexpr std::size_t kSinksMax = 2;

    // Slots of the longest possible preamble: chunk_begin, build, trace_cost, cycles_per_msec, numevents, for each
    // entry of a full registry id, name and parameters, and the declarations.
    static constexpr std::size_t kPreambleSlotsMax = 14 + 28 + 3 + 2 + NameRegistry::kCapacity * (1 + 9 + 8) +
                                                     NameRegistry::kDeclarationsMax * EncodedDeclaration::kSlotsMax;
    using Preamble = std::array<std::byte, kPreambleSlotsMax * kRecordBytes>;

    struct Parts {
        ChunkStore& store;
        Control& control;
        ControlLock& lock;
        const CpuTrace& cpu;
        const NameRegistry& names;
        Preamble& preamble;
    };

    constexpr explicit Exporter(const Parts& parts)
        : m_parts(parts) {}

    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    void configure(const Setup& setup) { m_setup = setup; }

    [[nodiscard]] const Setup& setup() const { return m_setup; }

    // Attaching the same sink again is no error. no_space: kSinksMax are attached.
    [[nodiscard]] lib::Result<void> attach(ChunkSink& sink, SinkTime time);

    // Queues a chunk for every attached sink that has not carried its present contents, and freezes it; it gets
    // new_flags when it is carried. An empty chunk gets them at once. The caller holds the lock.
    //   refused: no sink takes it (none attached, all failed or all have it); busy: queued already, or being recorded
    //   into; invalid_argument: new_flags are no flags to ask for.
    [[nodiscard]] lib::Result<void> request(Chunk& chunk, ChunkFlags new_flags) {
        return request_for(chunk, new_flags, kAllSinks);
    }

    // Likewise, for the deferred sinks only.
    [[nodiscard]] lib::Result<void> request_deferred(Chunk& chunk, ChunkFlags new_flags) {
        return request_for(chunk, new_flags, deferred_sinks());
    }

    // A bounded piece of work. Takes the lock where it changes chunks; if that is taken it does so next time. A call
    // that meets another one (of a task that was preempted in it) does nothing and returns more.
    [[nodiscard]] StepResult step();

    // A step has begun and not ended: its task was preempted in it. Context: any.
    [[nodiscard]] bool stepping() const { return m_stepping.taken(); }

    // The run level has exited, or the kernel gave up: recording stops, deferred sinks may work. Nobody else will call
    // the tracer any more; locks whose holders are gone are opened.
    void begin_exit();

    // Queues every chunk with records that some working sink has not carried. Returns how many chunks were queued.
    std::size_t export_unsent();

    // After everything queued: each sink gets the totals. step() does it.
    void finish(RunResult result);

    // How the last request for this chunk stands. busy: a sink that may work now still owes it; ok: those sinks have it
    // (a deferred sink may come later); another error: that of a sink that failed to carry it.
    [[nodiscard]] lib::Result<void> outcome(const Chunk& chunk) const;

    struct SinkReport {
        const ChunkSink* sink = nullptr; // null: nothing attached here
        std::uint32_t chunks = 0;        // carried
        std::uint64_t records = 0;       // in them, preambles not counted
        std::uint32_t chunks_lost = 0;   // that it failed to carry
        bool failed = false;
        lib::Error error{}; // meaningful if failed
        bool finished = false;
    };

    // Precondition: index < kSinksMax.
    [[nodiscard]] const SinkReport& report(std::size_t index) const { return m_sinks[index].report; }

  private:
    using SinkSet = std::uint8_t; // one bit per attached sink
    static constexpr SinkSet kAllSinks = 0xFF;

    struct Sink {
        ChunkSink* sink = nullptr;
        SinkTime time = SinkTime::at_once;
        SinkReport report;
    };

    // What is known about a chunk's present contents; `uses` tells whether it still is about them.
    struct Freight {
        std::uint32_t uses = 0;
        SinkSet pending = 0;
        SinkSet carried = 0;
        SinkSet failed = 0;
        ChunkFlags new_flags = 0;
        std::uint32_t order = 0; // requests are served in this order
        std::uint32_t names = 0; // frozen with the chunk
        std::uint32_t declarations = 0;
        std::uint64_t dropped = 0;
        std::uint64_t refused = 0;
    };

    enum class Outcome : std::uint8_t {
        carried,
        failed,
    };

    enum class Work : std::uint8_t {
        none,
        claimed, // chosen, perhaps not handed over yet: a step may have been cut short
        chunk,
        end,
    };

    [[nodiscard]] lib::Result<void> request_for(Chunk& chunk, ChunkFlags new_flags, SinkSet sinks);
    [[nodiscard]] SinkSet deferred_sinks() const;
    [[nodiscard]] SinkSet sinks_without(const Chunk& chunk) const;
    [[nodiscard]] bool may_work(std::size_t sink) const;
    [[nodiscard]] const Freight* known_freight(const Chunk& chunk) const;
    [[nodiscard]] bool begin_chunk();
    [[nodiscard]] bool begin_end();
    [[nodiscard]] StepResult step_alone();
    void end_transfer(SinkState state);
    void settle(Chunk& chunk, SinkSet sink, Outcome outcome);
    void build_image(const Chunk& chunk, const Freight& freight);
    void give_up(Sink& place, lib::Error error);

    Parts m_parts;
    Setup m_setup;
    std::array<Sink, kSinksMax> m_sinks{};
    std::array<Freight, kChunksMax> m_freight{};
    ChunkImage m_image;
    std::uint32_t m_next_order = 0;
    Work m_work = Work::none; // in flight
    std::size_t m_sink = 0;   // that has it
    Chunk* m_chunk = nullptr;
    ControlLock m_stepping;
    bool m_exiting = false;
    bool m_finish_wanted = false;
    RunResult m_result = RunResult::unknown;
};

} // namespace tracer
