// SPDX-License-Identifier: MIT
// An Instance is the tracer of one processor as one object, which the FTrace_* functions and the kernel's composition
// root use. black_box/memory.hpp makes it.
#pragma once

#include "tracer/chunk/compact_chunk.hpp"
#include "tracer/export/exporter.hpp"
#include "tracer/record/instruction_trace.hpp"
#include "tracer/reliable/datagram_peer.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer {

// States why the last FTrace_* call returned -1 (FTrace_Error in ftrace.hpp).
struct LastError {
    const char* function = nullptr;
    const char* argument = nullptr;
    long long value = 0;
    const char* text = nullptr;
};

// Opens sinks for FTrace_OSD_init_udp and FTrace_init_disk_writer; the composition root provides it.
class SinkProvider {
  public:
    SinkProvider(const SinkProvider&) = delete;
    SinkProvider& operator=(const SinkProvider&) = delete;

    // Opens the network between two addresses in dotted decimal; start_network first starts the driver. refused: it is
    // not started; invalid_argument: an address is invalid; exists: a flow between other addresses is open.
    [[nodiscard]] virtual lib::Result<ChunkSink*> open_udp(bool start_network, std::string_view local,
                                                           std::string_view target) = 0;
    // Chooses the protocol for the chunks of this run. exists: one has already been sent by another protocol; refused:
    // it is V1, although there is a key.
    [[nodiscard]] virtual lib::Result<void> choose_protocol(reliable::Protocol protocol) = 0;

    // Opens the disk: chunks become 0<name>, 1<name>, ... invalid_argument: the name is invalid; refused: files exist.
    [[nodiscard]] virtual lib::Result<ChunkSink*> open_disk(std::string_view name) = 0;

  protected:
    constexpr SinkProvider() = default;
    ~SinkProvider() = default;
};

// States how FTrace_send_chunk waits between two looks: it sleeps briefly while RUNNING, and steps the exporter if no
// other context does. wait() returns false when waiting is pointless (then the call fails with a timeout).
struct WaitHook {
    bool (*wait)(void* context) = nullptr; // null: step the exporter
    void* context = nullptr;
};

// Holds what the records state of pauses and filters (ftrace_statements.hpp).
struct Statements {
    bool begun = false;        // recording was enabled before
    std::uint32_t filters = 0; // those that the records state, by family
};

struct Instance {
    // black_box/memory.hpp has the sizes.
    struct Storage {
        ChunkStore::Slots slots;
        std::span<ExportJob> jobs;
        std::span<std::byte> preamble; // empty: no sink can be attached
        std::span<std::byte> arena;
        compact::Encoder* encoder; // null: no chunk can be compressed
        SteppedTasks* stepped;     // null: no task can run in steps
    };

    constexpr Instance(const Storage& storage, NameRegistry& registry, CpuTrace& processor)
        : cpu(processor)
        , store(storage.slots, storage.arena, cpu)
        , control(cpu, store)
        , names(registry)
        , exporter({store, control, lock, cpu, registry, storage.jobs, storage.preamble})
        , compressor(store, storage.encoder)
        , instructions(storage.stepped) {}

    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    CpuTrace& cpu; // to which GS leads on its processor
    ChunkStore store;
    Control control;
    ControlLock lock;
    NameRegistry& names;
    Exporter exporter;
    ChunkCompressor compressor;
    compact::Layout compact_layout = compact::Layout::a; // of further compact chunks; initially exact in time
    SinkProvider* sinks = nullptr;                       // null: FTrace_OSD_init_udp and FTrace_init_disk_writer fail
    WaitHook wait;
    InstructionTrace instructions;
    Statements statements;
    LastError last_error;
};

// Returns the one instance of this program. Hosted tests define it themselves.
[[nodiscard]] Instance& instance();

// --- for the composition root ----------------------------------------------------------------------------------------

// Configures the tracer, before the first chunk is exported. Precondition: setup.tsc_khz != 0.
void configure(const Setup& setup);

// Returns what GS must point to on this processor before the first record. Precondition: cpu is 0.
[[nodiscard]] CpuTrace* cpu_trace(std::uint32_t cpu);

// Returns the totals, which are exact if nothing is recorded meanwhile. Precondition: cpu is 0.
[[nodiscard]] Totals totals(std::uint32_t cpu);

} // namespace tracer
