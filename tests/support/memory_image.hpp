// SPDX-License-Identifier: MIT
// Makes the memory of a machine with a black box by hand: a descriptor at its address, a table of chunks, names, and an
// arena. It has no kernel: what the record path does to a chunk, a test does through write().
#pragma once

#include "tests/support/host_trace_builder.hpp"
#include "tracer/black_box/black_box.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace support {

class MemoryImage {
  public:
    static constexpr std::uint64_t kBase = tracer::black_box::kAddress;
    static constexpr std::uint32_t kChunks = 4;
    static constexpr std::uint32_t kNames = 8;
    static constexpr std::uint64_t kProcessor = kBase + 0x200;
    static constexpr std::uint64_t kTable = kBase + 0x400;
    static constexpr std::uint64_t kNameTable = kBase + 0x800;
    static constexpr std::uint64_t kNameOrder = kBase + 0xC00;
    static constexpr std::uint64_t kRetired = kBase + 0xC80;
    static constexpr std::uint64_t kArena = kBase + 0xD00;

    explicit MemoryImage(std::size_t arena_bytes = 0x10000)
        : m_bytes(kArena - kBase + arena_bytes)
        , m_free(kArena) {
        m_descriptor.version = tracer::black_box::kVersion;
        m_descriptor.size_bytes = sizeof(tracer::black_box::Descriptor);
        m_descriptor.address = kBase;
        m_descriptor.boot_id = 0x1122334455667788;
        m_descriptor.tsc_khz = 1'000'000;
        m_descriptor.kernel = std::string_view("Remora test");
        m_descriptor.processors = {kProcessor, 1, sizeof(tracer::CpuTrace)};
        m_descriptor.chunks = {kTable, kChunks, sizeof(tracer::Chunk)};
        m_descriptor.arena = {kArena, arena_bytes};
        m_descriptor.names = {kNameTable, kNames, sizeof(tracer::NameEntry)};
        m_descriptor.names_order = {kNameOrder, kNames * sizeof(std::uint16_t)};
        m_descriptor.declarations = {kNameTable, 0, sizeof(tracer::EncodedDeclaration)};
        m_descriptor.declarations_order = {kNameOrder, 0};
        m_descriptor.retired = kRetired;
        m_descriptor.chunk = tracer::black_box::kChunkFields;
        m_descriptor.name = tracer::black_box::kNameFields;
        m_descriptor.declaration = tracer::black_box::kDeclarationFields;
        m_descriptor.state = tracer::black_box::State::running;
        seal();
    }

    MemoryImage(const MemoryImage&) = delete;
    MemoryImage& operator=(const MemoryImage&) = delete;
    MemoryImage(MemoryImage&&) = default;
    MemoryImage& operator=(MemoryImage&&) = delete;
    ~MemoryImage() = default;

    // Returns the descriptor, to be changed before seal().
    [[nodiscard]] tracer::black_box::Descriptor& descriptor() { return m_descriptor; }

    // Stores the descriptor with the right checksum.
    void seal() {
        std::copy(tracer::black_box::kMagic.begin(), tracer::black_box::kMagic.end(), m_descriptor.magic.begin());
        m_descriptor.crc32c = tracer::black_box::checksum(std::as_bytes(std::span(&m_descriptor, 1)));
        put(kBase, m_descriptor);
    }

    // Stores a value, visible to other threads and processes in the order of the calls, as on the machine.
    template <typename T>
    void put(std::uint64_t address, const T& value) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::memcpy(at(address, sizeof(T)), &value, sizeof(T));
    }

    // Moves the contents to this memory of the same size, a file that is mapped.
    void move_to(std::span<std::byte> memory) {
        ASSERT_EQ(memory.size(), m_bytes.size());
        std::ranges::copy(m_bytes, memory.begin());
        m_memory = memory;
    }

    template <typename T>
    [[nodiscard]] T get(std::uint64_t address) {
        T value{};
        std::memcpy(&value, at(address, sizeof(T)), sizeof(T));
        return value;
    }

    // Returns where a field of a chunk's control is.
    [[nodiscard]] static std::uint64_t control(std::uint32_t chunk, std::size_t field) {
        return kTable + chunk * sizeof(tracer::Chunk) + tracer::black_box::kChunkFields.control + field;
    }

    [[nodiscard]] static std::uint64_t entry(std::uint32_t chunk, std::size_t field) {
        return kTable + chunk * sizeof(tracer::Chunk) + field;
    }

    // Adds an open, empty chunk of this many records. Its areas are in the arena, one after the other.
    void add_chunk(std::uint32_t number, std::uint32_t records, std::uint32_t emergency_records = 4,
                   tracer::ChunkFlags flags = tracer::kFlagJumpToNext) {
        const tracer::black_box::ChunkFields& at = m_descriptor.chunk;
        const auto bytes = static_cast<std::uint32_t>(records * tracer::kRecordBytes);
        const auto emergency_bytes = static_cast<std::uint32_t>(emergency_records * tracer::kRecordBytes);
        put(entry(number, at.size_bytes), bytes);
        put(entry(number, at.emergency_bytes), emergency_bytes);
        put(entry(number, at.uses), std::uint32_t{1});
        put(entry(number, at.number), static_cast<std::uint8_t>(number));
        put(entry(number, at.flags), flags);
        put(entry(number, at.exists), std::uint8_t{1});
        put(control(number, TRACER_CHUNK_DATA), m_free);
        put(control(number, TRACER_CHUNK_LIMIT), bytes);
        put(control(number, TRACER_CHUNK_MODE), static_cast<std::uint32_t>(flags & tracer::kModeMask));
        put(control(number, TRACER_CHUNK_EMERGENCY_DATA), m_free + bytes);
        put(control(number, TRACER_CHUNK_EMERGENCY_LIMIT), emergency_bytes);
        m_free += bytes + emergency_bytes;
    }

    // Writes one record as the record path does; a cyclic chunk that is full begins its next lap.
    void write(std::uint32_t chunk, const tracer::Record& record) {
        auto word = get<std::uint64_t>(control(chunk, TRACER_CHUNK_WORD));
        const auto limit = get<std::uint32_t>(control(chunk, TRACER_CHUNK_LIMIT));
        if ((word & TRACER_WORD_POSITION_MASK) >= limit) {
            const std::uint64_t lap = word >> 32;
            const auto base = get<std::uint64_t>(control(chunk, TRACER_CHUNK_LAP_BASE + 8 * (lap & 1)));
            put(control(chunk, TRACER_CHUNK_LAP_BASE + 8 * ((lap + 1) & 1)), base + limit);
            put(control(chunk, TRACER_CHUNK_LAP_END + 4 * ((lap + 1) & 1)), limit);
            word = (lap + 1) << 32;
            put(control(chunk, TRACER_CHUNK_WORD), word);
        }
        const std::uint64_t data = get<std::uint64_t>(control(chunk, TRACER_CHUNK_DATA));
        std::array<std::byte, tracer::kRecordBytes> bytes{};
        tracer::encode_record(record, bytes);
        put(data + (word & TRACER_WORD_POSITION_MASK), bytes);
        put(control(chunk, TRACER_CHUNK_WORD), word + tracer::kRecordBytes);
    }

    void write_emergency(std::uint32_t chunk, const tracer::Record& record) {
        const auto word = get<std::uint64_t>(control(chunk, TRACER_CHUNK_EMERGENCY_WORD));
        std::array<std::byte, tracer::kRecordBytes> bytes{};
        tracer::encode_record(record, bytes);
        put(get<std::uint64_t>(control(chunk, TRACER_CHUNK_EMERGENCY_DATA)) + word, bytes);
        put(control(chunk, TRACER_CHUNK_EMERGENCY_WORD), word + tracer::kRecordBytes);
    }

    void add_task(std::uint16_t context, std::string_view name) {
        tracer::NameEntry entry{
            .kind = tracer::NameKind::task, .id = context, .pid = context, .name = name, .parameters = {}};
        entry.parameters.context = context;
        put(kNameTable + m_names * sizeof(tracer::NameEntry), entry);
        put(kNameOrder + m_names * sizeof(std::uint16_t), static_cast<std::uint16_t>(m_names + 1));
        ++m_names;
    }

    void set_active(std::uint32_t chunk) { put(kProcessor + TRACER_CPU_ACTIVE, control(chunk, 0)); }

    // Returns the bytes, which begin at kBase.
    [[nodiscard]] const Bytes& bytes() const { return m_bytes; }

    // Makes the file that pmemsave writes: it begins some bytes before the descriptor.
    [[nodiscard]] Bytes saved(std::size_t before_bytes = 0x3000) const {
        Bytes file(before_bytes, std::byte{0xCC});
        file.insert(file.end(), m_bytes.begin(), m_bytes.end());
        return file;
    }

    // Makes the file that dump-guest-memory writes: an ELF core with a note and two parts of the memory.
    [[nodiscard]] Bytes core() const {
        constexpr std::size_t kHeaders = 64 + 3 * 56;
        Bytes file(kHeaders);
        const auto set = [&file](std::size_t offset, auto value) { std::memcpy(&file[offset], &value, sizeof(value)); };
        const auto header = std::to_array<std::uint8_t>({0x7F, 'E', 'L', 'F', 2, 1, 1});
        std::memcpy(file.data(), header.data(), header.size());
        set(16, std::uint16_t{4});
        set(18, std::uint16_t{62});
        set(32, std::uint64_t{64});
        set(54, std::uint16_t{56});
        set(56, std::uint16_t{3});
        set(64, std::uint32_t{4}); // PT_NOTE
        const std::size_t half = m_bytes.size() / 2;
        for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t at = 64 + (i + 1) * 56;
            const std::uint64_t bytes = i == 0 ? half : m_bytes.size() - half;
            set(at, std::uint32_t{1});
            set(at + 8, std::uint64_t{kHeaders + i * half});
            set(at + 24, std::uint64_t{kBase + i * half});
            set(at + 32, bytes);
            set(at + 40, bytes);
        }
        file.insert(file.end(), m_bytes.begin(), m_bytes.end());
        return file;
    }

  private:
    [[nodiscard]] std::byte* at(std::uint64_t address, std::size_t bytes) {
        EXPECT_TRUE(address >= kBase && address - kBase + bytes <= m_memory.size());
        return &m_memory[address - kBase];
    }

    Bytes m_bytes;
    std::span<std::byte> m_memory{m_bytes};
    tracer::black_box::Descriptor m_descriptor;
    std::uint64_t m_free;
    std::size_t m_names = 0;
};

} // namespace support
