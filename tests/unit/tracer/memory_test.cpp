// SPDX-License-Identifier: MIT
// Tests a tracer in a small piece of memory that its user gives, and that of a second processor.
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"
#include "tracer/black_box/memory.hpp"

namespace {

using tracer::black_box::Memory;
using tracer::black_box::Sizes;

constexpr Sizes kSmall{
    .chunks = 2, .names = 4, .declarations = 1, .exports = false, .compresses = false, .steps = false};
constexpr std::size_t kBytes = std::size_t{64} * 1024;

struct alignas(4096) Piece {
    std::array<std::byte, kBytes> bytes{};
};

class TracerMemory : public testing::Test {
  protected:
    std::unique_ptr<Piece> m_piece = std::make_unique<Piece>();
    Memory m_memory{m_piece->bytes, kSmall, tracer::black_box::places_of(kSmall)};
    tracer::Instance& m_tracer = m_memory.construct(m_memory.construct_names());
};

TEST_F(TracerMemory, HasPlaceForRecordsBesideSmallTables) {
    constexpr std::size_t kRecordsMin = 3'880;
    EXPECT_GE(m_tracer.store.arena().size(), kRecordsMin * tracer::kRecordBytes);
    const std::byte* const end = m_piece->bytes.data() + kBytes;
    EXPECT_EQ(m_tracer.store.arena().data() + m_tracer.store.arena().size(), end);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(m_tracer.store.arena().data()) % alignof(tracer::Chunk), 0U);
    EXPECT_EQ(static_cast<void*>(&m_memory.descriptor()), m_piece->bytes.data());
    EXPECT_EQ(&m_memory.instance(), &m_tracer);
}

TEST_F(TracerMemory, RefusesWhatItsTablesCannotHold) {
    constexpr auto kFlags = static_cast<tracer::ChunkFlags>(tracer::kFlagFree | tracer::kFlagStop);
    EXPECT_TRUE(m_tracer.store.create(160, 0, kFlags).ok());
    const auto second = m_tracer.store.create(160, 0, kFlags);
    EXPECT_EQ(m_tracer.store.create(160, 0, kFlags).error(), lib::Error::no_space);
    EXPECT_EQ(m_tracer.store.find(2).error(), lib::Error::invalid_argument);
    for (std::uint16_t i = 0; i < 5; ++i) {
        m_tracer.names.add_name(tracer::NameKind::mutex, i, "lock");
    }
    EXPECT_EQ(m_tracer.names.size(), 4U);
    EXPECT_EQ(m_tracer.names.lost(), 1U);
    tests::FakeSink sink;
    EXPECT_EQ(m_tracer.exporter.attach(sink, tracer::SinkTime::at_once).error(), lib::Error::unsupported);
    EXPECT_EQ(m_tracer.compressor.begin(*second.value(), tracer::compact::Layout::a).error(), lib::Error::unsupported);
}

TEST_F(TracerMemory, ClearsWhatAnEarlierBootLeft) {
    m_tracer.names.add_name(tracer::NameKind::mutex, 1, "lock");
    EXPECT_TRUE(m_tracer.store.create(160, 0, tracer::kFlagFree).ok());
    tracer::Instance& kept = m_memory.construct(m_memory.construct_names());
    EXPECT_EQ(kept.names.size(), 1U) << "so that it can be recovered";
    EXPECT_TRUE(kept.store.find(0).ok());
    m_memory.clear();
    tracer::Instance& cleared = m_memory.construct(m_memory.construct_names());
    EXPECT_EQ(cleared.names.size(), 0U);
    EXPECT_FALSE(cleared.store.find(0).ok());
}

TEST_F(TracerMemory, OfAFurtherProcessorHasNoNamesOfItsOwn) {
    constexpr Sizes kFurther{
        .chunks = 1, .names = 0, .declarations = 0, .exports = false, .compresses = false, .steps = false};
    const auto piece = std::make_unique<Piece>();
    tracer::CpuTrace own(0);
    tracer::Instance& second = Memory(piece->bytes, kFurther, tracer::black_box::places_of(kFurther))
                                   .construct(m_tracer.names, {.number = 1, .own_cpu = &own});
    EXPECT_EQ(&second.cpu, &own);
    EXPECT_EQ(own.cpu, 1U);
    second.names.add_name(tracer::NameKind::mutex, 1, "lock");
    EXPECT_EQ(m_tracer.names.size(), 1U);
}

} // namespace
