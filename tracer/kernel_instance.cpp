// SPDX-License-Identifier: MIT
// Defines the kernel's one tracer, in the only file of the tracer with global state. Its memory (memory.hpp) has a
// section of its own, which the linker script places at 32 MiB, neither loaded nor cleared, so that it survives a
// reset. No constructor runs before start().
#include "tracer/black_box/black_box.hpp"
#include "tracer/black_box/memory.hpp"
#include "tracer/instance.hpp"

#include <array>
#include <new>

namespace tracer {

namespace {

constexpr std::size_t kArenaBytes = std::size_t{16} * 1024 * 1024;
constexpr black_box::Sizes kSizes{};
constexpr black_box::Places kPlaces = places_of(kSizes);

// The attribute's tail makes the section @nobits in the object file too: its 16 MiB need not be stored. The linker
// script places it first, at black_box::kAddress. Before clear() it holds what an earlier boot left.
[[gnu::section(".arena.black_box,\"aw\",@nobits#"),
  gnu::aligned(black_box::kAlignment)]] constinit std::array<std::byte, kPlaces.arena + kArenaBytes>
    g_bytes{};

constinit black_box::Memory g_memory(g_bytes, kSizes, kPlaces);

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
    return g_memory.instance();
}

namespace black_box {

void start() {
    const CpuTrace& cpu = instance().cpu;
    former_counts = {cpu.dropped_bytes, cpu.refused_bytes, cpu.reported_bytes, instance().store.retired()};
    g_memory.construct(g_memory.construct_names());
}

std::optional<Former> recover_former() {
    const Descriptor& descriptor = g_memory.descriptor();
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
    tracer.names.recover();
    former.recovered = recover_chunks(tracer.store);
    tracer.store.continue_from(former_counts.retired);
    tracer.cpu.dropped_bytes = former_counts.dropped_bytes;
    tracer.cpu.refused_bytes = former_counts.refused_bytes;
    tracer.cpu.reported_bytes = former_counts.reported_bytes;
    return former;
}

void clear() {
    g_memory.clear();
    g_memory.construct(g_memory.construct_names());
}

void publish() {
    describe(instance(), g_memory.descriptor());
}

void mark_ended() {
    g_memory.descriptor().state = State::ended;
}

void mark_carried() {
    g_memory.descriptor().state = State::carried;
}

} // namespace black_box

} // namespace tracer
