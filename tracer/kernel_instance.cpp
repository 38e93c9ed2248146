// SPDX-License-Identifier: MIT
// The kernel's one tracer: the only file of the tracer with global state. The arena has a section of its own, which the
// linker script places at 32 MiB, neither loaded nor cleared, so that it survives a reset. Everything large is
// zero-initialised (.bss); no constructor runs.
#include "tracer/instance.hpp"

namespace tracer {

namespace {

constexpr std::size_t kArenaBytes = std::size_t{16} * 1024 * 1024;

// The attribute's tail makes the section @nobits in the object file too: its 16 MiB need not be stored.
[[gnu::section(".arena,\"aw\",@nobits#")]] alignas(64) std::byte arena[kArenaBytes]; // NOLINT(modernize-avoid-c-arrays)

constinit ChunkStore::Slots slots{};
constinit Exporter::Preamble preamble{};
constinit NameRegistry names;
constinit compact::Encoder encoder;
constinit Instance kernel_tracer({slots, preamble, arena, encoder}, names);

} // namespace

Instance& instance() {
    return kernel_tracer;
}

} // namespace tracer
