// SPDX-License-Identifier: MIT
#include "host/formats/memory/black_box.hpp"

#include "host/text/format.hpp"
#include "lib/endian.hpp"
#include "tracer/record/cpu_trace.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace host::formats::memory {

namespace {

using tracer::black_box::Area;
using tracer::black_box::Descriptor;
using tracer::black_box::Table;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kNameTimes = 5; // names of a task
constexpr std::uint8_t kNameKinds = 8;

template <typename T>
T field(Bytes entry, std::size_t at) {
    return lib::load_le<T>(entry.subspan(at));
}

bool is_free_of_wrap(std::uint64_t address, std::uint64_t bytes) {
    return bytes <= ~std::uint64_t{0} - address;
}

std::string fault_of(const Table& table, std::string_view name, std::size_t entry_bytes_min) {
    const bool entry_fits = table.entry_bytes >= entry_bytes_min && table.entry_bytes <= BlackBox::kEntryBytesMax;
    if (table.entries > BlackBox::kEntriesMax || !entry_fits ||
        !is_free_of_wrap(table.address, std::uint64_t{table.entries} * table.entry_bytes)) {
        return fmt::format("{}: {} entries of {} bytes at 0x{:x}; up to {} of {} to {} bytes can be read", name,
                           table.entries, table.entry_bytes, table.address, BlackBox::kEntriesMax, entry_bytes_min,
                           BlackBox::kEntryBytesMax);
    }
    return "";
}

std::string fault_of_order(const Area& order, const Table& table, std::string_view name) {
    const std::uint64_t bytes_max = table.entries * sizeof(std::uint16_t);
    return order.bytes <= bytes_max && is_free_of_wrap(order.address, order.bytes)
               ? ""
               : fmt::format("{}: {} bytes for {} entries", name, order.bytes, table.entries);
}

// Returns the end of the last field. Offsets are 16 bits wide.
std::size_t end_of_chunk_fields(const Descriptor& of) {
    const auto& chunk = of.chunk;
    const std::size_t words =
        std::max({chunk.size_bytes, chunk.emergency_bytes, chunk.uses, chunk.stream_bytes}) + sizeof(std::uint32_t);
    const std::size_t bytes = std::max({chunk.number, chunk.flags, chunk.exists, chunk.compressed}) + std::size_t{1};
    const std::size_t counts = std::max({chunk.written, chunk.overwritten}) + sizeof(std::uint64_t);
    return std::max({words, bytes, counts, chunk.control + sizeof(tracer::ChunkControl)});
}

std::size_t end_of_name_fields(const Descriptor& of) {
    const auto& name = of.name;
    return std::max({std::max(name.kind, name.size) + std::size_t{1},
                     std::max(name.id, name.level) + sizeof(std::uint16_t), name.pid + sizeof(std::uint32_t),
                     name.characters + tracer::kNameBytesMax, name.times + kNameTimes * sizeof(std::uint64_t)});
}

std::size_t end_of_declaration_fields(const Descriptor& of) {
    return std::max(of.declaration.bytes + tracer::EncodedDeclaration::kBytesMax,
                    of.declaration.size + sizeof(std::uint16_t));
}

// Returns the first field that contradicts itself or a limit; empty if all are valid.
std::string fault_of(const Descriptor& of) {
    if (of.arena.bytes > BlackBox::kArenaBytesMax || !is_free_of_wrap(of.arena.address, of.arena.bytes)) {
        return fmt::format("arena: {} bytes at 0x{:x}; up to {} can be read", of.arena.bytes, of.arena.address,
                           BlackBox::kArenaBytesMax);
    }
    if (of.formats.bytes > BlackBox::kFormatsBytesMax || !is_free_of_wrap(of.formats.address, of.formats.bytes)) {
        return fmt::format("formats: {} bytes; up to {} can be read", of.formats.bytes, BlackBox::kFormatsBytesMax);
    }
    for (const std::string& fault :
         {fault_of(of.processors, "processors", sizeof(tracer::CpuTrace)),
          fault_of(of.chunks, "chunks", end_of_chunk_fields(of)), fault_of(of.names, "names", end_of_name_fields(of)),
          fault_of(of.declarations, "declarations", end_of_declaration_fields(of)),
          fault_of_order(of.names_order, of.names, "names_order"),
          fault_of_order(of.declarations_order, of.declarations, "declarations_order")}) {
        if (!fault.empty()) {
            return fault;
        }
    }
    for (const tracer::Name* name : {&of.kernel, &of.compiler, &of.application}) {
        if (name->size > tracer::kNameBytesMax) {
            return fmt::format("build: a name of {} characters; {} fit", name->size, tracer::kNameBytesMax);
        }
    }
    return "";
}

// --- a head ----------------------------------------------------------------------------------------------------------

constexpr std::uint64_t allocated(std::uint64_t bytes) {
    return (bytes + tracer::kRecordBytes - 1) / tracer::kRecordBytes * tracer::kRecordBytes;
}

bool is_inside(const Area& arena, std::uint64_t address, std::uint64_t bytes) {
    return address >= arena.address && address - arena.address <= arena.bytes &&
           bytes <= arena.bytes - (address - arena.address);
}

ChunkHead decode_head(const Descriptor& of, Bytes entry) {
    const tracer::black_box::ChunkFields& at = of.chunk;
    const Bytes control = entry.subspan(at.control);
    ChunkHead head;
    head.word = field<std::uint64_t>(control, TRACER_CHUNK_WORD);
    head.number = field<std::uint8_t>(entry, at.number);
    head.uses = field<std::uint32_t>(entry, at.uses);
    head.flags = field<std::uint8_t>(entry, at.flags);
    head.compressed = field<std::uint8_t>(entry, at.compressed) != 0;
    head.stream_bytes = field<std::uint32_t>(entry, at.stream_bytes);
    head.written = field<std::uint64_t>(entry, at.written);
    head.overwritten = field<std::uint64_t>(entry, at.overwritten);
    head.data = field<std::uint64_t>(control, TRACER_CHUNK_DATA) - of.virt_minus_phys;
    head.emergency_data = field<std::uint64_t>(control, TRACER_CHUNK_EMERGENCY_DATA) - of.virt_minus_phys;
    head.size_bytes = field<std::uint32_t>(entry, at.size_bytes);
    head.mode = field<std::uint32_t>(control, TRACER_CHUNK_MODE);
    head.emergency_word = field<std::uint64_t>(control, TRACER_CHUNK_EMERGENCY_WORD);
    for (std::size_t parity = 0; parity < 2; ++parity) {
        head.lap_base.at(parity) = field<std::uint64_t>(control, TRACER_CHUNK_LAP_BASE + 8 * parity);
        head.lap_end.at(parity) = field<std::uint32_t>(control, TRACER_CHUNK_LAP_END + 4 * parity);
    }
    head.scribbled = field<std::uint64_t>(control, TRACER_CHUNK_SCRIBBLED);
    return head;
}

// Returns the first invalid field; empty if all are valid.
std::string fault_of(const ChunkHead& head, std::uint32_t index, std::uint32_t emergency_bytes, const Area& arena) {
    const std::uint64_t main = allocated(head.size_bytes);
    const std::size_t unit = head.compact() ? 4 : tracer::kRecordBytes;
    if (head.number != index) {
        return fmt::format("number {}", head.number);
    }
    if (!is_inside(arena, head.data, main)) {
        return fmt::format("data 0x{:x} with size {}: outside of the arena", head.data, head.size_bytes);
    }
    if (!is_inside(arena, head.emergency_data, allocated(emergency_bytes))) {
        return fmt::format("emergency_data 0x{:x} with emergency size {}: outside of the arena", head.emergency_data,
                           emergency_bytes);
    }
    if (head.position() > main || head.position() % unit != 0) {
        return fmt::format("position {} of an area of {} bytes", head.position(), head.size_bytes);
    }
    if (head.emergency_position() > emergency_bytes || head.emergency_position() % tracer::kRecordBytes != 0) {
        return fmt::format("emergency position {} of an area of {} bytes", head.emergency_position(), emergency_bytes);
    }
    for (const std::uint32_t end : head.lap_end) {
        if (end > main || end % tracer::kRecordBytes != 0) {
            return fmt::format("lap_end {} of an area of {} bytes", end, head.size_bytes);
        }
    }
    if (head.compressed && (head.compact() || head.stream_bytes > head.position())) {
        return fmt::format("stream_bytes {} of an area of {} bytes", head.stream_bytes, head.position());
    }
    return "";
}

// Reads the descriptor and reports what is wrong with it.
bool read_descriptor(const Image& image, std::string_view file, Descriptor& out, trace::Diagnostics& diagnostics) {
    const std::uint64_t address = image.descriptor_address();
    const trace::Place place{.file = file, .offset_bytes = image.offset_of(address)};
    std::array<std::byte, sizeof(Descriptor)> bytes{};
    if (!image.read(address, bytes)) {
        diagnostics.report("E-TRUNC", place, "the file ends inside the descriptor of the black box");
        return false;
    }
    std::memcpy(&out, bytes.data(), bytes.size());
    if (out.version != tracer::black_box::kVersion || out.size_bytes != sizeof(Descriptor)) {
        diagnostics.report("E-VERSION", place,
                           fmt::format("a black box of version {} with {} bytes; this program reads version {} with "
                                       "{}: use the program that was built with the kernel",
                                       out.version, out.size_bytes, tracer::black_box::kVersion, sizeof(Descriptor)));
        return false;
    }
    if (out.crc32c != tracer::black_box::checksum(bytes)) {
        diagnostics.report("E-HCRC", place, "the descriptor of the black box has another checksum than it states");
        return false;
    }
    const std::string fault =
        out.address != address ? fmt::format("address 0x{:x}: it is at 0x{:x}", out.address, address) : fault_of(out);
    if (!fault.empty()) {
        diagnostics.report("E-HEADER", place, fmt::format("the descriptor of the black box: {}", fault));
    }
    return fault.empty();
}

} // namespace

std::uint64_t ChunkHead::records_held() const {
    const std::uint64_t emergency = emergency_position() / tracer::kRecordBytes;
    if (compressed) {
        return written - std::min(written, overwritten) + emergency;
    }
    return (compact() ? 0 : std::min<std::uint64_t>(end(), size_bytes) / tracer::kRecordBytes) + emergency;
}

bool ChunkHead::continues(const ChunkHead& earlier) const {
    const bool same_use = uses == earlier.uses && data == earlier.data && size_bytes == earlier.size_bytes &&
                          compressed == earlier.compressed && compact() == earlier.compact();
    // The word never decreases: it has laps and position of a plain chunk, or the position of a compact one.
    const bool later = lap() != earlier.lap() ? lap() > earlier.lap() : position() >= earlier.position();
    return same_use && later && emergency_position() >= earlier.emergency_position();
}

lib::Result<BlackBox> BlackBox::open(const trace::NamedSource& input, trace::Diagnostics& diagnostics) {
    BlackBox box;
    auto image = Image::open(input.bytes);
    if (!image) {
        const bool missing = image.error().cause == lib::Error::not_found;
        diagnostics.report(missing ? trace::Code("E-MAGIC") : trace::Code("E-HEADER"), {.file = input.name},
                           image.error().text);
        return lib::Error::corrupt;
    }
    box.m_image = std::move(image.value());
    if (!read_descriptor(box.m_image, input.name, box.m_descriptor, diagnostics)) {
        return lib::Error::corrupt;
    }
    box.m_held_arena = box.holds_arena();
    return box;
}

std::uint64_t BlackBox::next_address() const {
    std::array<std::byte, sizeof(Descriptor)> bytes{};
    return m_image.read(m_image.descriptor_address(), bytes) ? field<std::uint64_t>(bytes, offsetof(Descriptor, next))
                                                             : 0;
}

lib::Result<BlackBox> BlackBox::open_next(std::string_view file, trace::Diagnostics& diagnostics) const {
    BlackBox box;
    box.m_image = m_image;
    box.m_image.move_to(next_address());
    if (!read_descriptor(box.m_image, file, box.m_descriptor, diagnostics)) {
        return lib::Error::corrupt;
    }
    if (box.m_descriptor.boot_id != m_descriptor.boot_id || box.m_descriptor.cpu <= m_descriptor.cpu) {
        diagnostics.report("E-HEADER", {.file = file, .offset_bytes = m_image.offset_of(next_address())},
                           fmt::format("the descriptor of processor {} leads to that of processor {} of boot {:016x}",
                                       m_descriptor.cpu, box.m_descriptor.cpu, box.m_descriptor.boot_id));
        return lib::Error::corrupt;
    }
    box.m_held_arena = box.holds_arena();
    return box;
}

// Returns whether the file extends to the end of the arena: it may be cut while it is followed.
bool BlackBox::holds_arena() const {
    std::array<std::byte, 1> last{};
    const tracer::black_box::Area& arena = m_descriptor.arena;
    return arena.bytes != 0 && m_image.read(arena.address + arena.bytes - 1, last);
}

std::optional<tracer::black_box::State> BlackBox::state() const {
    std::array<std::byte, sizeof(Descriptor)> bytes{};
    if (!m_image.read(m_image.descriptor_address(), bytes) || holds_arena() != m_held_arena ||
        tracer::black_box::checksum(bytes) != m_descriptor.crc32c ||
        field<std::uint64_t>(bytes, offsetof(Descriptor, boot_id)) != m_descriptor.boot_id) {
        return std::nullopt;
    }
    return static_cast<tracer::black_box::State>(field<std::uint32_t>(bytes, offsetof(Descriptor, state)));
}

bool BlackBox::read_entry(const Table& table, std::uint32_t index, std::vector<std::byte>& entry) const {
    entry.resize(table.entry_bytes);
    return index < table.entries && m_image.read(table.address + std::uint64_t{index} * table.entry_bytes, entry);
}

lib::Result<std::optional<ChunkHead>, trace::Refusal> BlackBox::head(std::uint32_t index) const {
    std::vector<std::byte> entry;
    if (!read_entry(m_descriptor.chunks, index, entry)) {
        return trace::Refusal{"its head is not in the file"};
    }
    const auto exists = field<std::uint8_t>(entry, m_descriptor.chunk.exists);
    if (exists > 1) {
        return trace::Refusal{fmt::format("exists {}", exists)};
    }
    const ChunkHead head = decode_head(m_descriptor, entry);
    if (exists == 0 || head.uses == 0) {
        return std::optional<ChunkHead>();
    }
    const auto emergency_bytes = field<std::uint32_t>(entry, m_descriptor.chunk.emergency_bytes);
    if (std::string fault = fault_of(head, index, emergency_bytes, m_descriptor.arena); !fault.empty()) {
        return trace::Refusal{std::move(fault)};
    }
    return std::optional(head);
}

bool BlackBox::read_table(std::vector<std::byte>& table) const {
    table.resize(std::size_t{m_descriptor.chunks.entries} * m_descriptor.chunks.entry_bytes);
    return m_image.read(m_descriptor.chunks.address, table);
}

BlackBox::Mark BlackBox::mark(Bytes table, std::uint32_t index) const {
    const std::size_t entry_bytes = m_descriptor.chunks.entry_bytes;
    const Bytes entry = table.subspan(index * entry_bytes, entry_bytes);
    if (field<std::uint8_t>(entry, m_descriptor.chunk.exists) == 0) {
        return {};
    }
    const ChunkHead head = decode_head(m_descriptor, entry);
    return {.uses = head.uses, .word = head.word, .emergency_position = head.emergency_position()};
}

ProcessorCounts BlackBox::processor(std::uint32_t index) const {
    std::vector<std::byte> entry;
    if (!read_entry(m_descriptor.processors, index, entry)) {
        return {};
    }
    return {.active = field<std::uint64_t>(entry, TRACER_CPU_ACTIVE) - m_descriptor.virt_minus_phys,
            .dropped = field<std::uint64_t>(entry, TRACER_CPU_DROPPED) / tracer::kRecordBytes,
            .refused = field<std::uint64_t>(entry, TRACER_CPU_REFUSED) / tracer::kRecordBytes};
}

std::uint32_t BlackBox::active_chunk() const {
    const std::uint64_t first = m_descriptor.chunks.address + m_descriptor.chunk.control;
    const std::uint64_t active = processor(0).active;
    const std::uint64_t entries = m_descriptor.chunks.entries;
    const std::uint64_t index = active >= first ? (active - first) / m_descriptor.chunks.entry_bytes : entries;
    return static_cast<std::uint32_t>(std::min(index, entries));
}

std::uint32_t BlackBox::names_lost() const {
    std::array<std::byte, sizeof(std::uint32_t)> bytes{};
    return m_image.read(m_descriptor.names_lost, bytes) ? lib::load_le<std::uint32_t>(bytes) : 0;
}

std::uint64_t BlackBox::retired_records() const {
    std::array<std::byte, sizeof(std::uint64_t)> bytes{};
    return m_image.read(m_descriptor.retired, bytes) ? lib::load_le<std::uint64_t>(bytes) : 0;
}

std::optional<std::vector<std::byte>> BlackBox::published(const Table& table, const Area& order, std::size_t place,
                                                          std::string& why) const {
    std::array<std::byte, sizeof(std::uint16_t)> bytes{};
    if (place * bytes.size() >= order.bytes) {
        return std::nullopt;
    }
    if (!m_image.read(order.address + place * bytes.size(), bytes)) {
        why = fmt::format("entry {}: its order is not in the file", place);
        return std::nullopt;
    }
    const auto index = lib::load_le<std::uint16_t>(bytes);
    std::vector<std::byte> entry;
    if (index != 0 && !read_entry(table, index - 1U, entry)) {
        why = fmt::format("entry {}: number {} of {} is not in the file", place, index, table.entries);
    }
    return index != 0 && why.empty() ? std::optional(std::move(entry)) : std::nullopt;
}

BlackBox::Listed<tracer::NameEntry> BlackBox::names() const {
    const auto& at = m_descriptor.name;
    Listed<tracer::NameEntry> names;
    while (const auto entry =
               published(m_descriptor.names, m_descriptor.names_order, names.entries.size(), names.fault)) {
        const auto kind = field<std::uint8_t>(*entry, at.kind);
        const auto size = field<std::uint8_t>(*entry, at.size);
        if (kind >= kNameKinds || size > tracer::kNameBytesMax) {
            names.fault = fmt::format("entry {}: kind {}, {} characters", names.entries.size(), kind, size);
            break;
        }
        const auto text = Bytes(*entry).subspan(at.characters, size);
        const auto time = [&](std::size_t i) { return field<std::uint64_t>(*entry, at.times + i * 8); };
        const auto id = field<std::uint16_t>(*entry, at.id);
        names.entries.push_back({.kind = static_cast<tracer::NameKind>(kind),
                                 .id = id,
                                 .pid = field<std::uint32_t>(*entry, at.pid),
                                 .name = std::string_view(reinterpret_cast<const char*>(text.data()), text.size()),
                                 .parameters = {.context = id,
                                                .level = field<std::uint16_t>(*entry, at.level),
                                                .wcet_ns = time(0),
                                                .period_ns = time(1),
                                                .deadline_ns = time(2),
                                                .budget_ns = time(3),
                                                .offset_ns = time(4)}});
    }
    return names;
}

BlackBox::Listed<tracer::EncodedDeclaration> BlackBox::declarations() const {
    const auto& at = m_descriptor.declaration;
    Listed<tracer::EncodedDeclaration> declarations;
    while (const auto entry = published(m_descriptor.declarations, m_descriptor.declarations_order,
                                        declarations.entries.size(), declarations.fault)) {
        tracer::EncodedDeclaration declaration;
        declaration.size = field<std::uint16_t>(*entry, at.size);
        if (declaration.size > declaration.bytes.size() || declaration.size < 2 * sizeof(std::uint16_t)) {
            declarations.fault = fmt::format("entry {}: {} bytes", declarations.entries.size(), declaration.size);
            break;
        }
        std::ranges::copy(Bytes(*entry).subspan(at.bytes, declaration.bytes.size()), declaration.bytes.begin());
        // The id of a declaration is its place, as in NameRegistry::declaration().
        lib::store_le(std::span(declaration.bytes).subspan(sizeof(std::uint16_t)),
                      static_cast<std::uint16_t>(declarations.entries.size()));
        declarations.entries.push_back(declaration);
    }
    return declarations;
}

std::vector<std::byte> BlackBox::formats() const {
    std::vector<std::byte> texts(m_descriptor.formats.bytes);
    return m_image.read(m_descriptor.formats.address, texts) ? texts : std::vector<std::byte>();
}

} // namespace host::formats::memory
