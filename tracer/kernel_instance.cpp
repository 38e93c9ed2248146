// SPDX-License-Identifier: MIT
// The kernel's one tracer: the only file of the tracer with global state. The arena, and what a reader of the memory
// needs beside it (black_box/descriptor.hpp), have sections of their own, which the linker script places at 32 MiB,
// neither loaded nor cleared, so that they survive a reset. Everything else is zero-initialised (.bss); no constructor
// runs.
#include "tracer/black_box/describe.hpp"
#include "tracer/instance.hpp"

#include <new>

namespace tracer {

namespace {

constexpr std::size_t kArenaBytes = std::size_t{16} * 1024 * 1024;

// The attribute's tail makes the section @nobits in the object file too: its 16 MiB need not be stored.
[[gnu::section(".arena,\"aw\",@nobits#")]] alignas(64) std::byte arena[kArenaBytes]; // NOLINT(modernize-avoid-c-arrays)

// What these hold before clear() is what an earlier boot left: their initial values, all zeros, are not loaded.
[[gnu::section(".arena.black_box,\"aw\",@nobits#")]] constinit ChunkStore::Slots slots{};
[[gnu::section(".arena.black_box,\"aw\",@nobits#")]] constinit NameRegistry names;
// The linker script places it first, at black_box::kAddress.
[[gnu::section(".arena.descriptor,\"aw\",@nobits#"),
  gnu::aligned(black_box::kAlignment)]] constinit black_box::Descriptor descriptor{};
constinit Exporter::Preamble preamble{};
constinit compact::Encoder encoder;
constinit Instance kernel_tracer({slots, preamble, arena, encoder}, names);

} // namespace

Instance& instance() {
    return kernel_tracer;
}

namespace black_box {

void clear() {
    ::new (&descriptor) Descriptor();
    ::new (&slots) ChunkStore::Slots();
    ::new (&names) NameRegistry();
}

void publish() {
    describe(kernel_tracer, descriptor);
}

void mark_ended() {
    descriptor.state = State::ended;
}

} // namespace black_box

} // namespace tracer
