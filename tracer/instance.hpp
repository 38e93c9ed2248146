// SPDX-License-Identifier: MIT
// The tracer as one object, used by the FTrace_* functions and the kernel's composition root. The kernel has one
// instance, in kernel_instance.cpp, the tracer's only file with global state; each test builds its own.
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

// Why the last FTrace_* call returned -1; the strings are literals. See FTrace_Error in ftrace.hpp.
struct LastError {
    const char* function = nullptr;
    const char* argument = nullptr;
    long long value = 0;
    const char* text = nullptr;
};

// Opens sinks for FTrace_OSD_init_udp and FTrace_init_disk_writer; given by the composition root.
class SinkProvider {
  public:
    SinkProvider(const SinkProvider&) = delete;
    SinkProvider& operator=(const SinkProvider&) = delete;

    // Addresses are in dotted decimal. With start_network the driver is brought up first; otherwise it is already up.
    // invalid_argument: an address; refused: it is not up; exists: a flow between other addresses is open.
    [[nodiscard]] virtual lib::Result<ChunkSink*> open_udp(bool start_network, std::string_view local,
                                                           std::string_view target) = 0;
    // Chooses the protocol for the chunks of this run. exists: one has already been sent by another protocol; refused:
    // V1, although there is a key.
    [[nodiscard]] virtual lib::Result<void> choose_protocol(reliable::Protocol protocol) = 0;

    // The chunks become files 0<name>, 1<name>, ... invalid_argument: the name; refused: files were written already.
    [[nodiscard]] virtual lib::Result<ChunkSink*> open_disk(std::string_view name) = 0;

  protected:
    constexpr SinkProvider() = default;
    ~SinkProvider() = default;
};

// How FTrace_send_chunk waits between two looks: sleeps briefly while RUNNING; steps the exporter if no other context
// does. Returns false when waiting is pointless (then the call fails with a timeout).
struct WaitHook {
    bool (*wait)(void* context) = nullptr; // null: step the exporter
    void* context = nullptr;
};

struct Instance {
    struct Storage {
        ChunkStore::Slots& slots;
        Exporter::Preamble& preamble;
        std::span<std::byte> arena;
        compact::Encoder& encoder;
    };

    constexpr explicit Instance(const Storage& storage, NameRegistry& registry)
        : store(storage.slots, storage.arena, cpu)
        , control(cpu, store)
        , names(registry)
        , exporter({store, control, lock, cpu, registry, storage.preamble})
        , compressor(store, storage.encoder) {}

    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    CpuTrace cpu;
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
    LastError last_error;
};

// The one instance of this program. Hosted tests define it themselves.
[[nodiscard]] Instance& instance();

// --- for the composition root ----------------------------------------------------------------------------------------

// Must be called before the first chunk is exported. Precondition: setup.tsc_khz != 0.
void configure(const Setup& setup);

// GS must point to this on this processor before the first record. Precondition: cpu is 0 (one processor so far).
[[nodiscard]] CpuTrace* cpu_trace(std::uint32_t cpu);

// Precondition: cpu is 0. Exact if nothing is recorded meanwhile.
[[nodiscard]] Totals totals(std::uint32_t cpu);

} // namespace tracer
