// SPDX-License-Identifier: MIT
// Takes full chunks to the sinks: builds the image (preamble, records in time order), seals it with a checksum, submits
// it to one sink after the other, and releases the chunk when all have carried it. It does not send itself: a sink is a
// ChunkSink.
//
//   request(chunk) --> frozen, BUSY --> sealed --> sink 1 --> sink 2 --> flags = new_flags
//                                                   ^ deferred sinks wait for begin_exit()
//
// Each chunk goes to each sink exactly once, and every sink gets the same bytes: the other contents of the preamble
// (number of names, losses) are frozen with the chunk, and its stamp is that of the chunk's first record. A sink that
// fails is not used any more; chunks that it did not carry do not become FREE.
//
// step() does a bounded piece of work and never waits. An NRT task calls it while the application runs; a polling loop
// calls it with interrupts off once the run level has exited. All functions must be called in task context or irq-off.
#pragma once

#include "lib/result.hpp"
#include "tracer/chunk/control.hpp"
#include "tracer/export/sink.hpp"
#include "tracer/names/names.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

// Holds what the composition root knows about the machine and the build. tsc_khz must not be 0.
struct Setup {
    std::uint32_t tsc_khz = 0;
    TscSource tsc_source = TscSource::unknown;
    std::uint32_t tsc_error_ppm = 0;
    ClockMode clock_mode = ClockMode::unknown;
    std::uint64_t boot_id = 0;
    Build build{};
    TraceCost cost{};           // not exported if rounds is 0
    std::string_view formats{}; // texts of trace_printf, each ends with a zero; its address is its number. Empty: none
};

// States when a sink may work: a stream immediately, a file writer only after the run level has exited.
enum class SinkTime : std::uint8_t {
    at_once,
    after_exit,
};

enum class StepResult : std::uint8_t {
    idle, // nothing to do (jobs that wait for begin_exit() do not count)
    more, // call again
};

using SinkSet = std::uint8_t; // one bit per attached sink

// Describes one chunk on its way to the sinks. It is valid if `uses` equals that of the chunk, else it is about
// earlier contents.
struct ExportJob {
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
    bool sealed = false; // the checksum is known
    std::uint32_t crc32c = 0;
};

class Exporter {
  public:
    static constexpr std::size_t kSinksMax = 2;

    // A step of sealing takes this much of an image, because each byte costs a few instructions.
    static constexpr std::size_t kSealBytesPerStep = std::size_t{16} * 1024;

    // The longest possible preamble has slots for chunk_begin, build, trace_cost, cycles_per_msec, numevents; id, name
    // and parameters for each entry of a full registry; and the declarations.
    [[nodiscard]] static constexpr std::size_t preamble_bytes(std::size_t names, std::size_t declarations) {
        return (15 + 34 + 3 + 2 + names * (1 + 9 + 8) + declarations * EncodedDeclaration::kSlotsMax) * kRecordBytes;
    }

    struct Parts {
        ChunkStore& store;
        Control& control;
        ControlLock& lock;
        const CpuTrace& cpu;
        const NameRegistry& names;
        std::span<ExportJob> jobs;     // one for each slot of the store
        std::span<std::byte> preamble; // preamble_bytes(), for the capacities of the registry
    };

    constexpr explicit Exporter(const Parts& parts)
        : m_parts(parts) {}

    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    void configure(const Setup& setup) { m_setup = setup; }

    [[nodiscard]] const Setup& setup() const { return m_setup; }

    // Another exporter may use it while this one has nothing to do.
    [[nodiscard]] std::span<std::byte> preamble() const { return m_parts.preamble; }

    // Attaches a sink; attaching it again is allowed. no_space: kSinksMax are attached;
    // unsupported: there is no memory for preambles.
    [[nodiscard]] lib::Result<void> attach(ChunkSink& sink, SinkTime time);

    // Queues a chunk for every attached sink that has not carried its present contents, and freezes it; it gets
    // new_flags when it is carried. An empty chunk gets them immediately. The caller holds the lock. refused: no sink
    // takes it (none is attached, all failed or all have it); busy: it is queued already, or being recorded into;
    // invalid_argument: new_flags cannot be requested.
    [[nodiscard]] lib::Result<void> request(Chunk& chunk, ChunkFlags new_flags) {
        return request_for(chunk, new_flags, kAllSinks);
    }

    // Queues a chunk like request(), but only for the deferred sinks.
    [[nodiscard]] lib::Result<void> request_deferred(Chunk& chunk, ChunkFlags new_flags) {
        return request_for(chunk, new_flags, deferred_sinks());
    }

    // Does a bounded piece of work. It takes the lock where it changes chunks; if the lock is taken, it does so in a
    // later call. A call that interrupts another one (of a preempted task) does nothing and returns more.
    [[nodiscard]] StepResult step();

    // Returns true if a step has begun and not ended, because its task was preempted. Context: any.
    [[nodiscard]] bool stepping() const { return m_stepping.taken(); }

    // Must be called when the run level has exited or the kernel panicked: recording stops, and deferred sinks may
    // work. No other context will call the tracer any more; locks whose holders are gone are opened.
    void begin_exit();

    // Returns the name of the sink that has a chunk or the totals in hand, empty if none has. Context: any.
    [[nodiscard]] std::string_view at_work() const;

    // Marks the sink of this name as failed, whatever it was doing, after begin_exit(). Does nothing if there is none.
    void give_up(std::string_view name, lib::Error error);

    // Queues every chunk with records that a working sink has not carried. Returns the number of chunks queued.
    std::size_t export_unsent();

    // Gives every sink the totals after everything that is queued; step() does the work.
    void finish(RunResult result);

    // Returns the state of the last request for this chunk. busy: a sink that may work now has not carried it yet; ok:
    // those sinks have it (a deferred sink may follow later); another error: that of a sink that failed to carry it.
    [[nodiscard]] lib::Result<void> outcome(const Chunk& chunk) const;

    struct SinkReport {
        const ChunkSink* sink = nullptr; // null: nothing attached here
        std::uint32_t chunks = 0;        // carried
        std::uint64_t records = 0;       // in them, preambles not counted
        std::uint64_t events = 0;        // the same, as Totals count them: more in a compact chunk
        std::uint32_t chunks_lost = 0;   // not carried because the sink failed
        bool failed = false;
        lib::Error error{}; // valid if failed
        bool finished = false;
    };

    // Returns the report of a sink. Precondition: index < kSinksMax.
    [[nodiscard]] const SinkReport& report(std::size_t index) const { return m_sinks[index].report; }

  private:
    static constexpr SinkSet kAllSinks = 0xFF;

    struct Sink {
        ChunkSink* sink = nullptr;
        SinkTime time = SinkTime::at_once;
        SinkReport report;
    };

    enum class Outcome : std::uint8_t {
        carried,
        failed,
    };

    enum class Work : std::uint8_t {
        none,
        sealing, // chosen, and its checksum is being computed
        claimed, // perhaps not yet submitted: the step may have been interrupted
        chunk,
        end,
    };

    [[nodiscard]] lib::Result<void> request_for(Chunk& chunk, ChunkFlags new_flags, SinkSet sinks);
    [[nodiscard]] SinkSet deferred_sinks() const;
    [[nodiscard]] SinkSet sinks_without(const Chunk& chunk) const;
    [[nodiscard]] bool may_work(std::size_t sink) const;
    [[nodiscard]] const ExportJob* known_job(const Chunk& chunk) const;
    [[nodiscard]] bool begin_chunk();
    void seal_piece();
    void submit_chunk();
    [[nodiscard]] bool begin_end();
    [[nodiscard]] StepResult step_alone();
    void end_transfer(SinkState state);
    void settle(Chunk& chunk, SinkSet sink, Outcome outcome);
    void build_image(const Chunk& chunk, const ExportJob& job);
    void write_header();
    void give_up(Sink& place, lib::Error error);

    Parts m_parts;
    Setup m_setup;
    std::array<Sink, kSinksMax> m_sinks{};
    ChunkImage m_image;
    lib::Ticks m_image_stamp;          // of its preamble
    std::size_t m_sealed_bytes = 0;    // of the image, so far
    std::uint32_t m_sealed_crc32c = 0; // of them
    std::uint32_t m_next_order = 0;
    Work m_work = Work::none; // the transfer in flight
    std::size_t m_sink = 0;   // the sink of that transfer
    Chunk* m_chunk = nullptr;
    ControlLock m_stepping;
    bool m_exiting = false;
    bool m_finish_wanted = false;
    RunResult m_result = RunResult::unknown;
};

} // namespace tracer
