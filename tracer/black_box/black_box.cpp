// SPDX-License-Identifier: MIT
// Fills the descriptor, and checks everything that an earlier boot left before it is used.
#include "tracer/black_box/black_box.hpp"

#include "tracer/compact/decoder.hpp"
#include "tracer/compact/event_walk.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace tracer::black_box {

namespace {

// Makes physical addresses.
struct Physical {
    std::uint64_t virt_minus_phys;

    [[nodiscard]] std::uint64_t address(const void* place) const {
        return reinterpret_cast<std::uintptr_t>(place) - virt_minus_phys;
    }

    template <typename Entry>
    [[nodiscard]] Table table(std::span<const Entry> entries) const {
        return {.address = address(entries.data()),
                .entries = static_cast<std::uint32_t>(entries.size()),
                .entry_bytes = sizeof(Entry)};
    }

    template <typename Element>
    [[nodiscard]] Area area(std::span<const Element> elements) const {
        return {.address = address(elements.data()), .bytes = elements.size_bytes()};
    }
};

} // namespace

void describe(const Instance& tracer, Descriptor& out, std::uint64_t virt_minus_phys) {
    const Physical physical{virt_minus_phys};
    const Setup& setup = tracer.exporter.setup();
    ASSERT(setup.tsc_khz != 0);
    const auto names = tracer.names.name_places();
    const auto declarations = tracer.names.declaration_places();
    out = {.version = kVersion,
           .size_bytes = sizeof(Descriptor),
           .address = physical.address(&out),
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
           .processors = physical.table(std::span<const CpuTrace>(&tracer.cpu, 1)),
           .chunks = physical.table(tracer.store.slots()),
           .arena = physical.area(tracer.store.arena()),
           .names = physical.table(names.entries),
           .names_order = physical.area(names.order),
           .declarations = physical.table(declarations.entries),
           .declarations_order = physical.area(declarations.order),
           .formats = physical.area(std::span(setup.formats)),
           .retired = physical.address(&tracer.store.retired()),
           .chunk = kChunkFields,
           .name = kNameFields,
           .declaration = kDeclarationFields,
           .cpu = tracer.cpu.cpu,
           .virt_minus_phys = virt_minus_phys,
           .names_lost = physical.address(&tracer.names.names_lost()),
           .hooks = setup.build.hooks,
           .state = State::running};
    // The checksum is that of the whole, magic included.
    Descriptor whole = out;
    std::copy(kMagic.begin(), kMagic.end(), whole.magic.begin());
    out.crc32c = checksum(std::as_bytes(std::span(&whole, 1)));
    __atomic_signal_fence(__ATOMIC_RELEASE); // this processor's stores are seen in their order
    out.magic = whole.magic;
}

namespace {

constexpr std::size_t whole_records(std::size_t bytes) {
    return bytes / kRecordBytes * kRecordBytes;
}

constexpr std::size_t allocated(std::size_t bytes) {
    return whole_records(bytes + kRecordBytes - 1);
}

// Returns a byte of an object whose type does not have every value.
template <typename Field>
std::uint8_t raw(const Field& field, std::size_t at = 0) {
    std::uint8_t value = 0;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(&field) + at, 1);
    return value;
}

// libstdc++ and libc++ store the value, then whether there is one.
static_assert(sizeof(std::optional<compact::Layout>) == 2);

bool layout_whole(const std::optional<compact::Layout>& layout) {
    return raw(layout, 1) <= 1 && (raw(layout, 1) == 0 || raw(layout) < compact::kLayouts);
}

// Returns where a part of an arena is, relative to it; the offset wraps for an address before the arena.
std::size_t place_in(std::span<const std::byte> arena, const std::byte* address) {
    return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(arena.data());
}

bool holds(std::span<const std::byte> arena, std::size_t place, std::size_t bytes) {
    return place % kRecordBytes == 0 && place <= arena.size() && bytes <= arena.size() - place;
}

std::size_t footprint(const Chunk& chunk) {
    return allocated(chunk.size_bytes) + allocated(chunk.emergency_bytes);
}

std::string_view areas_defect(const Chunk& chunk, std::span<const std::byte> arena) {
    const ChunkControl& control = chunk.control;
    if (chunk.size_bytes < kRecordBytes || chunk.size_bytes > kAreaBytesMax || chunk.emergency_bytes > kAreaBytesMax) {
        return "sizes of its areas";
    }
    if (!holds(arena, place_in(arena, control.data), footprint(chunk))) {
        return "place of its areas";
    }
    if (place_in(arena, control.emergency_data) != place_in(arena, control.data) + allocated(chunk.size_bytes)) {
        return "place of its emergency area";
    }
    return {};
}

std::string_view positions_defect(const Chunk& chunk) {
    const ChunkControl& control = chunk.control;
    const std::size_t size = whole_records(chunk.size_bytes);
    const std::size_t position = control.word & TRACER_WORD_POSITION_MASK;
    const std::size_t grain = chunk.written_as ? 4 : kRecordBytes;
    if (control.limit > size || control.compact_limit > size || position > size || position % grain != 0) {
        return "position";
    }
    const std::size_t emergency = control.emergency_word & 0xFFFF'FFFF;
    if (control.emergency_limit > chunk.emergency_bytes || emergency > control.emergency_limit ||
        emergency % kRecordBytes != 0) {
        return "position in its emergency area";
    }
    const std::uint64_t lap = control.word >> 32;
    const bool cyclic = (chunk.flags & kModeMask) == kFlagCyclic;
    if (!chunk.written_as && lap != 0 && (!cyclic || control.lap_end[lap & 1] > size)) {
        return "laps";
    }
    if (chunk.compressed.present && chunk.compressed.stream_bytes > position) {
        return "length of its stream";
    }
    return {};
}

std::string_view head_defect(const Chunk& chunk, std::size_t number, std::span<const std::byte> arena) {
    if (chunk.number != number || chunk.uses == 0) {
        return "number";
    }
    if (raw(chunk.busy) > 1 || raw(chunk.carried) > 1 || raw(chunk.compressed.present) > 1 ||
        raw(chunk.compressed.layout) >= compact::kLayouts || !layout_whole(chunk.written_as)) {
        return "state";
    }
    constexpr ChunkFlags kOther = kDerivedFlags | static_cast<ChunkFlags>(~kValidFlags);
    const bool compact = chunk.written_as || chunk.compressed.present;
    if ((chunk.flags & kOther) != 0 || (chunk.flags & kModeMask) == kModeMask ||
        (chunk.written_as && (chunk.compressed.present || (chunk.flags & kModeMask) == kFlagCyclic)) ||
        (!compact && chunk.control.limit == 0)) {
        return "mode";
    }
    const std::string_view areas = areas_defect(chunk, arena);
    return areas.empty() ? positions_defect(chunk) : areas;
}

// Returns whether the records are well formed. Stamps never decrease; `before` is that of the record before these.
bool records_whole(std::span<const std::byte> records, std::uint64_t& before) {
    for (; !records.empty(); records = records.subspan(kRecordBytes)) {
        const Record record = decode_record(records);
        if ((record.code & compact::kReservedBits) != 0 || (record.code & kCodeMask) == 0 ||
            record.stamp().value < before) {
            return false;
        }
        before = record.stamp().value;
    }
    return true;
}

bool stream_whole(std::span<const std::byte> stream) {
    static constinit compact::Decoder decoder; // too large for a stack
    decoder.restart(stream.size());
    auto step = compact::Decoder::Step::records;
    while (step == compact::Decoder::Step::records && decoder.offset() <= stream.size()) {
        step = decoder.next(stream.subspan(decoder.offset()));
    }
    return step == compact::Decoder::Step::end;
}

std::string_view contents_defect(const Chunk& chunk) {
    const ChunkControl& control = chunk.control;
    if (chunk.written_as || chunk.compressed.present) {
        const std::size_t bytes =
            chunk.written_as ? control.word & TRACER_WORD_POSITION_MASK : chunk.compressed.stream_bytes;
        if (bytes != 0 && !stream_whole({control.data, bytes})) {
            return "compact stream";
        }
    }
    const ChunkContents contents = ChunkStore::contents(chunk);
    std::uint64_t before = 0;
    if (!contents.compact && !(records_whole(contents.older, before) && records_whole(contents.newer, before))) {
        return "records";
    }
    before = 0;
    return records_whole(contents.emergency, before) ? std::string_view{} : "records of its emergency area";
}

bool overlaps_earlier(std::span<const Chunk> slots, const Chunk& chunk) {
    const auto begin = reinterpret_cast<std::uintptr_t>(chunk.control.data);
    for (const Chunk& other : slots) {
        if (&other == &chunk) {
            return false;
        }
        const auto its_begin = reinterpret_cast<std::uintptr_t>(other.control.data);
        if (other.exists && begin < its_begin + footprint(other) && its_begin < begin + footprint(chunk)) {
            return true;
        }
    }
    return false;
}

} // namespace

std::string_view descriptor_defect(const Descriptor& former, const Descriptor& own) {
    if (former.version != own.version || former.size_bytes != own.size_bytes) {
        return "its descriptor has another version";
    }
    if (former.crc32c != checksum(std::as_bytes(std::span(&former, 1)))) {
        return "its descriptor is damaged";
    }
    if (former.image_id != own.image_id) {
        return "it is that of another kernel image";
    }
    constexpr std::size_t kPlaces = offsetof(Descriptor, processors); // without padding up to the checksum
    if (former.address != own.address || former.tsc_khz == 0 ||
        std::memcmp(reinterpret_cast<const std::byte*>(&former) + kPlaces,
                    reinterpret_cast<const std::byte*>(&own) + kPlaces, offsetof(Descriptor, crc32c) - kPlaces) != 0) {
        return "it is in other places";
    }
    return {};
}

Setup setup_of(const Descriptor& former) {
    return {.tsc_khz = former.tsc_khz,
            .tsc_source = static_cast<TscSource>(former.tsc_source),
            .tsc_error_ppm = former.tsc_error_ppm,
            .clock_mode = static_cast<ClockMode>(former.clock_mode),
            .boot_id = former.boot_id,
            .build = {.kernel = former.kernel,
                      .compiler = former.compiler,
                      .application = former.application,
                      .seed = former.seed,
                      .image_id = former.image_id,
                      .hooks = former.hooks},
            .cost = {.enabled_ticks_x256 = former.enabled_ticks_x256,
                     .filtered_ticks_x256 = former.filtered_ticks_x256,
                     .disabled_ticks_x256 = former.disabled_ticks_x256,
                     .rounds = former.cost_rounds,
                     .choice = static_cast<LayoutChoice>(former.layout_choice),
                     .layout = former.layout,
                     .plain_ticks_x256 = former.plain_ticks_x256,
                     .timer_ticks = former.timer_ticks},
            .formats = {reinterpret_cast<const char*>(former.formats.address), former.formats.bytes}};
}

std::string_view chunk_defect(const Chunk& chunk_untrusted, std::size_t number, std::span<const std::byte> arena) {
    if (raw(chunk_untrusted.exists) == 0) {
        return {};
    }
    if (raw(chunk_untrusted.exists) != 1) {
        return "state";
    }
    const std::string_view head = head_defect(chunk_untrusted, number, arena);
    return head.empty() ? contents_defect(chunk_untrusted) : head;
}

Recovered recover_chunks(ChunkStore& store) {
    Recovered recovered;
    std::size_t number = 0;
    for (Chunk& chunk : store.slots()) {
        std::string_view defect = chunk_defect(chunk, number, store.arena());
        if (defect.empty() && raw(chunk.exists) != 0 && overlaps_earlier(store.slots(), chunk)) {
            defect = "place of its areas";
        }
        if (!defect.empty()) {
            ++recovered.damaged;
            recovered.defect = defect;
            recovered.number = number;
        }
        if (!defect.empty() || raw(chunk.exists) == 0) {
            ::new (&chunk) Chunk();
        } else {
            ++recovered.chunks;
            chunk.busy = false;
            chunk.carried = false;
            chunk.control.next = nullptr;
            set_shared_bits(chunk.control.word, TRACER_WORD_CLOSED);
        }
        ++number;
    }
    return recovered;
}

} // namespace tracer::black_box
