// SPDX-License-Identifier: MIT
#include "tracer/black_box/describe.hpp"

#include "tracer/black_box/fields.hpp"

#include <algorithm>

namespace tracer::black_box {

namespace {

std::uint64_t address_of(const void* place) {
    return reinterpret_cast<std::uintptr_t>(place);
}

template <typename Entry>
Table table(std::span<const Entry> entries) {
    return {.address = address_of(entries.data()),
            .entries = static_cast<std::uint32_t>(entries.size()),
            .entry_bytes = sizeof(Entry)};
}

template <typename Element>
Area area(std::span<const Element> elements) {
    return {.address = address_of(elements.data()), .bytes = elements.size_bytes()};
}

} // namespace

void describe(const Instance& tracer, Descriptor& out) {
    const Setup& setup = tracer.exporter.setup();
    ASSERT(setup.tsc_khz != 0);
    const auto names = tracer.names.name_places();
    const auto declarations = tracer.names.declaration_places();
    out = {.version = kVersion,
           .size_bytes = sizeof(Descriptor),
           .address = address_of(&out),
           .boot_id = setup.boot_id,
           .image_id = setup.build.image_id,
           .seed = setup.build.seed,
           .tsc_khz = setup.tsc_khz,
           .tsc_error_ppm = setup.tsc_error_ppm,
           .tsc_source = static_cast<std::uint8_t>(setup.tsc_source),
           .clock_mode = static_cast<std::uint8_t>(setup.clock_mode),
           .layout_choice = static_cast<std::uint8_t>(setup.cost.choice),
           .layout = setup.cost.layout,
           .enabled_ticks_x256 = setup.cost.enabled_ticks_x256,
           .filtered_ticks_x256 = setup.cost.filtered_ticks_x256,
           .disabled_ticks_x256 = setup.cost.disabled_ticks_x256,
           .cost_rounds = setup.cost.rounds,
           .plain_ticks_x256 = setup.cost.plain_ticks_x256,
           .timer_ticks = setup.cost.timer_ticks,
           .kernel = setup.build.kernel,
           .compiler = setup.build.compiler,
           .application = setup.build.application,
           .processors = table(std::span(&tracer.cpu, 1)),
           .chunks = table(std::span<const Chunk>(tracer.store.slots())),
           .arena = area(tracer.store.arena()),
           .names = table(names.entries),
           .names_order = area(names.order),
           .declarations = table(declarations.entries),
           .declarations_order = area(declarations.order),
           .formats = area(std::span(setup.formats)),
           .retired = address_of(&tracer.store.retired()),
           .chunk = kChunkFields,
           .name = kNameFields,
           .declaration = kDeclarationFields,
           .state = State::running};
    // The checksum is that of the whole, magic included.
    Descriptor whole = out;
    std::copy(kMagic.begin(), kMagic.end(), whole.magic.begin());
    out.crc32c = checksum(std::as_bytes(std::span(&whole, 1)));
    __atomic_signal_fence(__ATOMIC_RELEASE); // this processor's stores are seen in their order
    out.magic = whole.magic;
}

} // namespace tracer::black_box
