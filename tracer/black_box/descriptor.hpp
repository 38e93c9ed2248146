// SPDX-License-Identifier: MIT
// The descriptor of the black box states where in the machine's memory the trace is, so that a reader of that memory
// needs neither symbols nor the image. It is at one fixed physical address, in memory that no loader writes or clears,
// and so are the tables of chunks and names and the chunks themselves; docs/black-box.md describes how a reader uses
// it. Host-safe: kernel and tools share this header.
//
//   32 MiB  | descriptor | chunks (ChunkControl in each) | names | ... arena ...
//
// All numbers are little-endian, all addresses of the descriptor physical; those in ChunkControl and CpuTrace are
// virtual, and differ by virt_minus_phys. The version of the descriptor implies the offsets of what the record path
// changes (record_path_layout.h); the others are stated, field by field. A kernel that uses the tracer as a library has
// a descriptor for each processor, on whatever page it likes: the first one leads to the others.
#pragma once

#include "lib/crc32c.hpp"
#include "tracer/names/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace tracer::black_box {

inline constexpr std::uint64_t kAddress = 0x200'0000; // linker.ld places it
inline constexpr std::size_t kAlignment = 4096;       // a reader without the descriptor's address tries all multiples
inline constexpr std::uint32_t kVersion = 2;          // also of the layout of ChunkControl and CpuTrace
inline constexpr std::string_view kMagic = "REMORA BLACK BOX";

struct Table {
    std::uint64_t address = 0;
    std::uint32_t entries = 0;
    std::uint32_t entry_bytes = 0;
};

struct Area {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
};

// These structures state where the fields of an entry of each table are, in bytes from its beginning.
struct ChunkFields {
    std::uint16_t control = 0;         // ChunkControl
    std::uint16_t size_bytes = 0;      // u32
    std::uint16_t emergency_bytes = 0; // u32
    std::uint16_t uses = 0;            // u32
    std::uint16_t number = 0;          // u8
    std::uint16_t flags = 0;           // u8
    std::uint16_t exists = 0;          // u8
    std::uint16_t compressed = 0;      // u8: 1 if a compact stream has replaced the records; then what follows is valid
    std::uint16_t stream_bytes = 0;    // u32
    std::uint16_t written = 0;         // u64
    std::uint16_t overwritten = 0;     // u64
    std::uint16_t reserved = 0;
};

struct NameFields {
    std::uint16_t kind = 0;       // u8, NameKind
    std::uint16_t id = 0;         // u16
    std::uint16_t pid = 0;        // u32
    std::uint16_t characters = 0; // kNameBytesMax
    std::uint16_t size = 0;       // u8
    std::uint16_t level = 0;      // u16
    std::uint16_t times = 0;      // u64 each: wcet, period, deadline, budget, offset
    std::uint16_t reserved = 0;
};

struct DeclarationFields {
    std::uint16_t bytes = 0; // EncodedDeclaration::kBytesMax
    std::uint16_t size = 0;  // u16
};

enum class State : std::uint32_t {
    none = 0,
    running = 1, // the run continues, or ended without the kernel's doing
    ended = 2,   // nothing is recorded any more
    carried = 3, // and every record has left the machine, or no sink was asked for
};

struct Descriptor {
    std::array<char, kMagic.size()> magic{};
    std::uint32_t version = 0;
    std::uint32_t size_bytes = 0; // of this structure
    std::uint64_t address = 0;    // of this structure: it places the memory of a file without addresses
    std::uint64_t boot_id = 0;
    std::uint64_t image_id = 0; // of the kernel image, as in Build
    std::uint64_t seed = 0;
    std::uint32_t tsc_khz = 0;
    std::uint32_t tsc_error_ppm = 0;
    std::uint8_t tsc_source = 0; // TscSource
    std::uint8_t clock_mode = 0; // ClockMode
    std::uint8_t layout_choice = 0;
    std::uint8_t layout = 0;
    std::uint32_t enabled_ticks_x256 = 0; // this and the next five: TraceCost
    std::uint32_t filtered_ticks_x256 = 0;
    std::uint32_t disabled_ticks_x256 = 0;
    std::uint32_t cost_rounds = 0;
    std::uint32_t plain_ticks_x256 = 0;
    std::uint32_t timer_ticks = 0;
    Name kernel;
    Name compiler;
    Name application;
    Table processors;          // CpuTrace: the cursor (active chunk) and the counts of each processor
    Table chunks;              // Chunk, by number
    Area arena;                // every area of every chunk is in it
    Table names;               // NameEntry, in no order
    Area names_order;          // u16: index in names plus 1, in the order of publication; ends with 0
    Table declarations;        // EncodedDeclaration
    Area declarations_order;   // u16: the same for declarations
    Area formats;              // texts of trace_printf, each ends with a zero; its address is its number
    std::uint64_t retired = 0; // address of three u64: records written, made by the tracer and overwritten in chunks
                               // that were emptied or deleted
    ChunkFields chunk;
    NameFields name;
    DeclarationFields declaration;
    std::uint32_t cpu = 0; // whose chunks these are
    std::uint32_t reserved = 0;
    std::uint64_t virt_minus_phys = 0;
    std::uint64_t names_lost = 0; // address of a u32: names that the table had no space for
    Hooks hooks{};
    std::uint32_t crc32c = 0;  // of all bytes before it
    State state = State::none; // changes, as what follows; not in the checksum
    std::uint64_t next = 0;    // address of the descriptor of a further processor; 0: there is none
};

static_assert(std::is_trivially_copyable_v<Descriptor> && std::is_standard_layout_v<Descriptor>);
static_assert(sizeof(Descriptor) == 496 && sizeof(Descriptor) <= kAlignment);

// Computes the checksum of a descriptor. Precondition: there are sizeof(Descriptor) bytes.
[[nodiscard]] inline std::uint32_t checksum(std::span<const std::byte> bytes) {
    return lib::crc32c(bytes.first(offsetof(Descriptor, crc32c)));
}

} // namespace tracer::black_box
