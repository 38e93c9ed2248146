// SPDX-License-Identifier: MIT
// Places a tracer, its tables and the arena of its chunks in one piece of memory, which whoever uses the tracer gives.
//
//   | descriptor | chunks | names | declarations | CpuTrace | registry | Instance | links | jobs | ... | arena ... |
//   +--- what a reader of the memory, or a later boot, finds there ----------------+--- zeros before each start ---+
//
// The memory of a further processor has neither names nor a registry: those of the first one hold for all.
#pragma once

#include "tracer/black_box/descriptor.hpp"
#include "tracer/instance.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

namespace tracer::black_box {

// States how large the tables are. A table that is full refuses and counts.
struct Sizes {
    std::size_t chunks = kChunksMax; // 1 to kChunksMax
    std::size_t names =
        512; // 0 (of a further processor) to NameRegistry::Names::kCapacityMax: one for each name, task and level
    std::size_t declarations = 128; // 0 (the same) to NameRegistry::Declarations::kCapacityMax, of typed events
    bool exports = true;            // else no sink can be attached: the chunks are read in memory
    bool compresses = true;         // else no chunk can be compressed after it was recorded
    bool steps = true;              // else no task can run in steps
};

// States where each part begins, in bytes from the beginning of the memory.
struct Places {
    std::size_t chunks = 0; // the descriptor is before them
    std::size_t names = 0;
    std::size_t names_order = 0;
    std::size_t declarations = 0;
    std::size_t declarations_order = 0;
    std::size_t cpu = 0;
    std::size_t registry = 0;
    std::size_t instance = 0;
    std::size_t links = 0; // of both lists: the beginning of what is zeros before each start
    std::size_t jobs = 0;
    std::size_t encoder = 0;
    std::size_t stepped = 0;
    std::size_t preamble = 0;
    std::size_t arena = 0; // all that remains
};

[[nodiscard]] constexpr Places places_of(const Sizes& sizes) {
    Places places;
    std::size_t end = sizeof(Descriptor);
    const auto place = [&end](std::size_t& begin, std::size_t count, std::size_t bytes, std::size_t alignment) {
        begin = (end + alignment - 1) / alignment * alignment;
        end = begin + count * bytes;
    };
    place(places.chunks, sizes.chunks, sizeof(Chunk), alignof(Chunk));
    place(places.names, sizes.names, sizeof(NameEntry), alignof(NameEntry));
    place(places.names_order, sizes.names, sizeof(std::uint16_t), alignof(std::uint16_t));
    place(places.declarations, sizes.declarations, sizeof(EncodedDeclaration), alignof(EncodedDeclaration));
    place(places.declarations_order, sizes.declarations, sizeof(std::uint16_t), alignof(std::uint16_t));
    place(places.cpu, 1, sizeof(CpuTrace), alignof(CpuTrace));
    place(places.registry, 1, sizeof(NameRegistry), alignof(NameRegistry));
    place(places.instance, 1, sizeof(Instance), alignof(Instance));
    place(places.links, 2 * (sizes.names + sizes.declarations), sizeof(std::uint16_t), alignof(std::uint16_t));
    place(places.jobs, sizes.chunks, sizeof(ExportJob), alignof(ExportJob));
    place(places.encoder, sizes.compresses ? 1 : 0, sizeof(compact::Encoder), alignof(compact::Encoder));
    place(places.stepped, sizes.steps ? 1 : 0, sizeof(SteppedTasks), alignof(SteppedTasks));
    place(places.preamble, sizes.exports ? 1 : 0, Exporter::preamble_bytes(sizes.names, sizes.declarations),
          kRecordBytes);
    place(places.arena, 0, 0, alignof(Chunk));
    return places;
}

// Which processor an instance is of, and what it has elsewhere.
struct Processor {
    std::uint32_t number = 0;
    CpuTrace* own_cpu = nullptr;     // where GS leads already; null: in the memory
    std::span<std::byte> preamble{}; // of the first processor, whose exporter does not work at the same time
};

// A tracer in memory of this layout. The memory is aligned to kAlignment, larger than places.arena, and
// outlives it; its beginning may be what an earlier boot left.
class Memory {
  public:
    constexpr Memory(std::span<std::byte> bytes, const Sizes& sizes, const Places& places)
        : m_bytes(bytes)
        , m_sizes(sizes)
        , m_places(places) {}

    // Constructs the registry of names. What an earlier boot left is not changed, except for its links.
    NameRegistry& construct_names() const {
        std::ranges::fill(m_bytes.subspan(m_places.links, m_places.jobs - m_places.links), std::byte{0});
        const std::span<std::uint16_t> links =
            table<std::uint16_t>(m_places.links, 2 * (m_sizes.names + m_sizes.declarations));
        const auto of_declarations = links.subspan(2 * m_sizes.names);
        return *::new (m_bytes.data() + m_places.registry)
            NameRegistry({.entries = table<NameEntry>(m_places.names, m_sizes.names),
                          .order = table<std::uint16_t>(m_places.names_order, m_sizes.names),
                          .next = links.first(m_sizes.names),
                          .buckets = links.subspan(m_sizes.names, m_sizes.names)},
                         {.entries = table<EncodedDeclaration>(m_places.declarations, m_sizes.declarations),
                          .order = table<std::uint16_t>(m_places.declarations_order, m_sizes.declarations),
                          .next = of_declarations.first(m_sizes.declarations),
                          .buckets = of_declarations.subspan(m_sizes.declarations)});
    }

    // Constructs the instance of a processor. What an earlier boot left is not changed, except for its instance.
    Instance& construct(NameRegistry& names, const Processor& processor = {}) const {
        std::ranges::fill(m_bytes.subspan(m_places.jobs, m_places.arena - m_places.jobs), std::byte{0});
        void* const place =
            processor.own_cpu != nullptr ? static_cast<void*>(processor.own_cpu) : m_bytes.data() + m_places.cpu;
        auto& cpu = *::new (place) CpuTrace(processor.number);
        const auto preamble =
            m_bytes.subspan(m_places.preamble, m_sizes.exports ? m_places.arena - m_places.preamble : 0);
        auto* const encoder = m_sizes.compresses ? ::new (m_bytes.data() + m_places.encoder) compact::Encoder : nullptr;
        auto* const stepped = m_sizes.steps ? ::new (m_bytes.data() + m_places.stepped) SteppedTasks : nullptr;
        return *::new (m_bytes.data() + m_places.instance)
            Instance({.slots = table<Chunk>(m_places.chunks, m_sizes.chunks),
                      .jobs = table<ExportJob>(m_places.jobs, m_sizes.chunks),
                      .preamble = m_sizes.exports ? preamble : processor.preamble,
                      .arena = m_bytes.subspan(m_places.arena),
                      .encoder = encoder,
                      .stepped = stepped},
                     names, cpu);
    }

    // Clears all that an earlier boot left, the descriptor included.
    void clear() const { std::ranges::fill(m_bytes.first(m_places.instance), std::byte{0}); }

    [[nodiscard]] Instance& instance() const { return table<Instance>(m_places.instance, 1).front(); }

    [[nodiscard]] Descriptor& descriptor() const { return table<Descriptor>(0, 1).front(); }

  private:
    // The elements are aggregates whose initial values are zeros.
    template <typename Element>
    [[nodiscard]] std::span<Element> table(std::size_t place, std::size_t count) const {
        return {std::launder(static_cast<Element*>(static_cast<void*>(m_bytes.data() + place))), count};
    }

    std::span<std::byte> m_bytes;
    Sizes m_sizes;
    Places m_places;
};

} // namespace tracer::black_box
