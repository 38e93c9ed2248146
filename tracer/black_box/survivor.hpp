// SPDX-License-Identifier: MIT
// What a reset leaves: the trace of an earlier boot in this machine's memory, made exportable again. Nothing in it is
// trusted: the descriptor is checked by its checksum, every head by its lengths and places before they are used, and
// the records by their form and the order of their stamps. A damaged chunk is dropped, the others are kept. What a
// record says cannot be checked, because memory has no checksum of it. Context: boot, irq-off.
#pragma once

#include "tracer/black_box/descriptor.hpp"
#include "tracer/instance.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tracer::black_box {

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
    std::string_view defect; // of the last damaged one
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

// Makes the trace of an earlier boot that was not exported whole that of the tracer's instance; nullopt if there is
// none. The instance must be configured, and nothing recorded yet. An export must follow, and clear().
[[nodiscard]] std::optional<Former> recover_former();

} // namespace tracer::black_box
