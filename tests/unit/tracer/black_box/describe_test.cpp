// SPDX-License-Identifier: MIT
// The descriptor leads to what it describes, read as a reader of memory does: by addresses and offsets alone.
#include "tracer/black_box/black_box.hpp"

#include "tests/support/tracer/fixture.hpp"

#include <cstring>
#include <string>

namespace describe_test {

using tests::TracerFixture;
using tracer::black_box::Descriptor;
using tracer::black_box::Table;

template <typename T>
T load(std::uint64_t address) {
    T value{};
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof(T)); // NOLINT(performance-no-int-to-ptr)
    return value;
}

std::uint64_t entry_of(const Table& table, std::uint64_t index) {
    EXPECT_LT(index, table.entries);
    return table.address + index * table.entry_bytes;
}

class BlackBoxDescriptor : public testing::Test {
  protected:
    const Descriptor& described() {
        tracer::black_box::describe(m_fixture.tracer(), m_descriptor);
        return m_descriptor;
    }

    TracerFixture m_fixture;

  private:
    Descriptor m_descriptor;
};

TEST_F(BlackBoxDescriptor, HasItsMagicItsAddressAndItsChecksum) {
    const Descriptor& descriptor = described();
    EXPECT_EQ(std::string_view(descriptor.magic.data(), descriptor.magic.size()), tracer::black_box::kMagic);
    EXPECT_EQ(descriptor.address, reinterpret_cast<std::uintptr_t>(&descriptor));
    EXPECT_EQ(descriptor.size_bytes, sizeof(Descriptor));
    EXPECT_EQ(descriptor.crc32c, tracer::black_box::checksum(std::as_bytes(std::span(&descriptor, 1))));
    EXPECT_EQ(descriptor.state, tracer::black_box::State::running);
    EXPECT_EQ(descriptor.tsc_khz, 1'000'000U);
}

TEST_F(BlackBoxDescriptor, LeadsToTheRecordsOfTheActiveChunk) {
    m_fixture.chunk(8, 2, tracer::kFlagCyclic);
    tracer::Chunk& chunk = m_fixture.chunk(16, 4, tracer::kFlagStop);
    m_fixture.select_and_enable(chunk);
    tracer::log<"ipoint">(7, 99);
    const Descriptor& descriptor = described();

    const std::uint64_t cpu = entry_of(descriptor.processors, 0);
    const std::uint64_t entry = entry_of(descriptor.chunks, 1);
    const std::uint64_t control = entry + descriptor.chunk.control;
    EXPECT_EQ(load<std::uint64_t>(cpu + TRACER_CPU_ACTIVE), control);
    EXPECT_EQ(load<std::uint8_t>(entry + descriptor.chunk.exists), 1);
    EXPECT_EQ(load<std::uint8_t>(entry + descriptor.chunk.number), 1);
    EXPECT_EQ(load<std::uint8_t>(entry + descriptor.chunk.compressed), 0);
    EXPECT_EQ(load<std::uint32_t>(entry + descriptor.chunk.uses), 1U);
    EXPECT_EQ(load<std::uint32_t>(entry + descriptor.chunk.size_bytes), 16 * 16U);
    EXPECT_EQ(load<std::uint32_t>(entry + descriptor.chunk.emergency_bytes), 4 * 16U);
    EXPECT_EQ(load<std::uint64_t>(control + TRACER_CHUNK_WORD), 16U);
    const auto data = load<std::uint64_t>(control + TRACER_CHUNK_DATA);
    EXPECT_GE(data, descriptor.arena.address);
    EXPECT_LT(data, descriptor.arena.address + descriptor.arena.bytes);
    const auto record = tracer::decode_record(load<std::array<std::byte, 16>>(data));
    EXPECT_EQ(record.par1, 7);
    EXPECT_EQ(record.par2, 99U);
}

TEST_F(BlackBoxDescriptor, LeadsToTheNamesInTheOrderOfTheirPublication) {
    m_fixture.names().add_name(tracer::NameKind::mutex, 3, "bus");
    m_fixture.names().add_task(5, 17, "control", {.level = 2, .wcet_ns = 100, .offset_ns = 700});
    const Descriptor& descriptor = described();

    const auto order = [&](std::uint64_t i) { return load<std::uint16_t>(descriptor.names_order.address + 2 * i); };
    ASSERT_NE(order(0), 0);
    ASSERT_NE(order(1), 0);
    ASSERT_EQ(order(2), 0);
    const std::uint64_t mutex = entry_of(descriptor.names, order(0) - 1U);
    const std::uint64_t task = entry_of(descriptor.names, order(1) - 1U);
    EXPECT_EQ(load<std::uint8_t>(mutex + descriptor.name.kind), static_cast<std::uint8_t>(tracer::NameKind::mutex));
    EXPECT_EQ(load<std::uint16_t>(mutex + descriptor.name.id), 3);
    EXPECT_EQ(load<std::uint8_t>(mutex + descriptor.name.size), 3);
    EXPECT_EQ(load<std::uint16_t>(task + descriptor.name.id), 5);
    EXPECT_EQ(load<std::uint32_t>(task + descriptor.name.pid), 17U);
    EXPECT_EQ(load<std::uint16_t>(task + descriptor.name.level), 2);
    EXPECT_EQ(load<std::uint64_t>(task + descriptor.name.times), 100U);
    EXPECT_EQ(load<std::uint64_t>(task + descriptor.name.times + 32), 700U);
    const auto characters = load<std::array<char, tracer::kNameBytesMax>>(task + descriptor.name.characters);
    EXPECT_EQ(std::string(characters.data(), load<std::uint8_t>(task + descriptor.name.size)), "control");
}

} // namespace describe_test
