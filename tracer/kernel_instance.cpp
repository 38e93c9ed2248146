// SPDX-License-Identifier: MIT
// Defines the kernel's one tracer, in the only file of the tracer with global state. The arena, and what a reader of
// the memory needs beside it (black_box/descriptor.hpp), have sections of their own, which the linker script places at
// 32 MiB, neither loaded nor cleared, so that they survive a reset. Everything else is zero-initialised (.bss); no
// constructor runs before start().
#include "tracer/black_box/black_box.hpp"
#include "tracer/instance.hpp"

#include <array>
#include <new>

namespace tracer {

namespace {

constexpr std::size_t kArenaBytes = std::size_t{16} * 1024 * 1024;

// The attribute's tail makes the section @nobits in the object file too: its 16 MiB need not be stored.
[[gnu::section(".arena,\"aw\",@nobits#")]] alignas(64) std::byte arena[kArenaBytes]; // NOLINT(modernize-avoid-c-arrays)

// Before clear() these hold what an earlier boot left: their initial values, all zeros, are not loaded.
[[gnu::section(".arena.black_box,\"aw\",@nobits#")]] constinit ChunkStore::Slots slots{};
[[gnu::section(".arena.black_box,\"aw\",@nobits#")]] constinit NameRegistry names;
// The linker script places it first, at black_box::kAddress.
[[gnu::section(".arena.descriptor,\"aw\",@nobits#"),
  gnu::aligned(black_box::kAlignment)]] constinit black_box::Descriptor descriptor{};
constinit Exporter::Preamble preamble{};
constinit compact::Encoder encoder;
// start() constructs it: the counts of the processor and of retired chunks survive with the rest.
[[gnu::section(".arena.black_box,\"aw\",@nobits#"),
  gnu::aligned(alignof(Instance))]] constinit std::array<std::byte, sizeof(Instance)>
    place_of_instance{};

void construct() {
    ::new (place_of_instance.data()) Instance({slots, preamble, arena, encoder}, names);
}

// Holds what the instance of the last boot counted outside of its chunks, if there was one.
struct Counts {
    std::uint64_t dropped_bytes = 0;
    std::uint64_t refused_bytes = 0;
    std::uint64_t reported_bytes = 0;
    ChunkCounts retired;
};

constinit Counts former_counts{};

} // namespace

Instance& instance() {
    return *std::launder(static_cast<Instance*>(static_cast<void*>(place_of_instance.data())));
}

namespace black_box {

void start() {
    const CpuTrace& cpu = instance().cpu;
    former_counts = {cpu.dropped_bytes, cpu.refused_bytes, cpu.reported_bytes, instance().store.retired()};
    construct();
}

std::optional<Former> recover_former() {
    if (std::string_view(descriptor.magic.data(), descriptor.magic.size()) != kMagic ||
        descriptor.state == State::carried) {
        return std::nullopt;
    }
    Instance& tracer = instance();
    Descriptor own;
    describe(tracer, own);
    own.address = reinterpret_cast<std::uintptr_t>(&descriptor);
    Former former;
    former.ended = descriptor.state == State::ended;
    former.defect = descriptor_defect(descriptor, own);
    if (!former.defect.empty()) {
        return former;
    }
    former.setup = setup_of(descriptor);
    names.recover();
    former.recovered = recover_chunks(tracer.store);
    tracer.store.continue_from(former_counts.retired);
    tracer.cpu.dropped_bytes = former_counts.dropped_bytes;
    tracer.cpu.refused_bytes = former_counts.refused_bytes;
    tracer.cpu.reported_bytes = former_counts.reported_bytes;
    return former;
}

void clear() {
    construct();
    ::new (&descriptor) Descriptor();
    ::new (&slots) ChunkStore::Slots();
    ::new (&names) NameRegistry();
}

void publish() {
    describe(instance(), descriptor);
}

void mark_ended() {
    descriptor.state = State::ended;
}

void mark_carried() {
    descriptor.state = State::carried;
}

} // namespace black_box

} // namespace tracer
