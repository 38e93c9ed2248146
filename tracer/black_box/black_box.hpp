// SPDX-License-Identifier: MIT
// The kernel's side of the black box: it describes the trace in memory for readers from outside, and recovers the trace
// that an earlier boot left. Nothing of it is on the record path.
#pragma once

#include "tracer/black_box/descriptor.hpp"
#include "tracer/chunk/chunk_store.hpp"
#include "tracer/instance.hpp"
#include "tracer/names/names.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tracer::black_box {

// Describes the trace. The magic is written last, so that a reader finds a whole descriptor or none. virt_minus_phys
// is the same for all memory of the tracer; 0: it is mapped one to one. Precondition: the exporter is configured.
// Context: boot, irq-off.
void describe(const Instance& tracer, Descriptor& out, std::uint64_t virt_minus_phys = 0);

// --- the kernel's one black box (kernel_instance.cpp) ----------------------------------------------------------------

// Constructs the tracer's instance; its tables and chunks stay as the last boot left them. Must be called before
// anything else of the tracer is used. Context: boot, irq-off.
void start();

// Clears the memory for this boot: it has no chunk and no name until publish(). Context: boot, irq-off.
void clear();

// Publishes the descriptor, after configure(). Context: boot, irq-off.
void publish();

// States that nothing is recorded any more, so that a reader that follows stops. Context: task or irq-off.
void mark_ended();

// States also that every record is elsewhere, so that the next boot finds no trace. Context: irq-off.
void mark_carried();

// States where the fields of the black box's tables are in this build's types. Host-safe.

inline constexpr ChunkFields kChunkFields{
    .control = offsetof(Chunk, control),
    .size_bytes = offsetof(Chunk, size_bytes),
    .emergency_bytes = offsetof(Chunk, emergency_bytes),
    .uses = offsetof(Chunk, uses),
    .number = offsetof(Chunk, number),
    .flags = offsetof(Chunk, flags),
    .exists = offsetof(Chunk, exists),
    .compressed = offsetof(Chunk, compressed) + offsetof(CompressedArea, present),
    .stream_bytes = offsetof(Chunk, compressed) + offsetof(CompressedArea, stream_bytes),
    .written = offsetof(Chunk, compressed) + offsetof(CompressedArea, counts) + offsetof(ChunkCounts, written),
    .overwritten = offsetof(Chunk, compressed) + offsetof(CompressedArea, counts) + offsetof(ChunkCounts, overwritten)};

inline constexpr NameFields kNameFields{.kind = offsetof(NameEntry, kind),
                                        .id = offsetof(NameEntry, id),
                                        .pid = offsetof(NameEntry, pid),
                                        .characters = offsetof(NameEntry, name) + offsetof(Name, characters),
                                        .size = offsetof(NameEntry, name) + offsetof(Name, size),
                                        .level = offsetof(NameEntry, parameters) + offsetof(TaskParameters, level),
                                        .times = offsetof(NameEntry, parameters) + offsetof(TaskParameters, wcet_ns)};
static_assert(offsetof(TaskParameters, offset_ns) == offsetof(TaskParameters, wcet_ns) + 4 * sizeof(std::uint64_t));
static_assert(sizeof(Chunk::exists) == 1 && sizeof(CompressedArea::present) == 1);
static_assert(offsetof(ChunkCounts, tracer_made) == 8 && offsetof(ChunkCounts, overwritten) == 16);

inline constexpr DeclarationFields kDeclarationFields{.bytes = offsetof(EncodedDeclaration, bytes),
                                                      .size = offsetof(EncodedDeclaration, size)};

// A reset leaves the trace of an earlier boot in this machine's memory, which is made exportable again here. Nothing in
// it is trusted: the descriptor is checked by its checksum, every head by its lengths and places before they are used,
// and the records by their form and the order of their stamps. A damaged chunk is dropped, the others are kept. What a
// record says cannot be checked, because memory has no checksum of it. Context: boot, irq-off.

// Returns an empty text if `former` describes a trace of the same kernel image in the same places as `own`, which
// describes this one; else a phrase that says why not.
[[nodiscard]] std::string_view descriptor_defect(const Descriptor& former, const Descriptor& own);

// Returns the setup of that boot as it was configured. Precondition: its descriptor has no defect.
[[nodiscard]] Setup setup_of(const Descriptor& former);

// Returns an empty text if this head, number `number` of its table, can be exported, or is that of no chunk; else the
// field or the place that is damaged. The head is read as bytes until each field is known to have a value of its type.
[[nodiscard]] std::string_view chunk_defect(const Chunk& chunk_untrusted, std::size_t number,
                                            std::span<const std::byte> arena);

struct Recovered {
    std::uint32_t chunks = 0;
    std::uint32_t damaged = 0;
    std::string_view defect; // that of the last damaged chunk
    std::size_t number = 0;  // its number
};

// Drops the damaged chunks, and the later one of two that overlap; closes the others, so that the exporter takes them.
[[nodiscard]] Recovered recover_chunks(ChunkStore& store);

// --- the kernel's one black box (kernel_instance.cpp) ----------------------------------------------------------------

struct Former {
    std::string_view defect; // not empty: nothing can be recovered, and this is why
    Setup setup;
    Recovered recovered;
    bool ended = false; // recording had ended: a panic, or the end of a run
};

// Takes a trace of an earlier boot that was not exported whole into the tracer's instance; returns nullopt if there is
// none. The instance must be configured, and nothing recorded yet. An export must follow, and clear().
[[nodiscard]] std::optional<Former> recover_former();

} // namespace tracer::black_box
