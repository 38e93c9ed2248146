// SPDX-License-Identifier: MIT
// Tests a trace that an earlier boot left: a whole one is recovered record by record, and every damaged field is named
// and costs its own chunk alone.
#include "tracer/black_box/black_box.hpp"

#include "tests/support/tracer/fixture.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace survivor_test {

using tests::TracerFixture;
using tracer::Chunk;
using tracer::black_box::chunk_defect;
using tracer::black_box::Descriptor;
using tracer::black_box::descriptor_defect;

// Two chunks, as a reset finds them: the first full, the second open, with records in both.
class SurvivingTrace : public testing::Test {
  protected:
    void SetUp() override {
        m_first = &m_fixture.chunk(8, 4, tracer::kFlagJumpToNext);
        m_second = &m_fixture.chunk(16, 4, tracer::kFlagCyclic);
        m_fixture.link(*m_first, *m_second);
        m_fixture.select_and_enable(*m_first);
        for (std::uint16_t i = 0; i < 40; ++i) {
            tracer::log<"ipoint">(i, i);
        }
        m_fixture.expect_miscounts(); // the tests rewrite the chunks that account for the attempts
    }

    std::string_view defect(std::size_t number) {
        return chunk_defect(m_fixture.tracer().store.slots()[number], number, arena());
    }

    // Where the first chunk is; both are empty.
    void move_the_second_onto_the_first() {
        m_second->control.data = m_first->control.data;
        m_second->control.emergency_data = m_second->control.data + m_second->size_bytes;
        std::ranges::fill(std::span(m_first->control.data, 512), std::byte{0});
        for (Chunk* const chunk : {m_first, m_second}) {
            chunk->control.word = 0;
            chunk->control.emergency_word = 0;
        }
    }

    std::span<const std::byte> arena() { return m_fixture.tracer().store.arena(); }

    TracerFixture m_fixture;
    Chunk* m_first = nullptr;
    Chunk* m_second = nullptr;
};

void store_byte(void* object, std::size_t at, std::uint8_t value) {
    std::memcpy(static_cast<std::byte*>(object) + at, &value, 1);
}

constexpr auto kLayouts = static_cast<std::uint8_t>(tracer::compact::kLayouts);

void write_as(Chunk& chunk, std::uint8_t layout) {
    store_byte(&chunk.written_as, 0, layout);
    store_byte(&chunk.written_as, 1, 1);
}

// With a stream so much longer than the records that it has.
void compress(Chunk& chunk, std::uint32_t longer_by) {
    chunk.compressed.present = true;
    chunk.compressed.stream_bytes =
        static_cast<std::uint32_t>(chunk.control.word & TRACER_WORD_POSITION_MASK) + longer_by;
}

TEST_F(SurvivingTrace, IsRecoveredWithEveryRecord) {
    const auto first = tests::main_records(*m_first);
    const auto second = tests::main_records(*m_second);
    ASSERT_FALSE(first.empty() || second.empty());
    m_fixture.tracer().control.disable();
    const auto recovered = tracer::black_box::recover_chunks(m_fixture.tracer().store);
    EXPECT_EQ(recovered.chunks, 2U);
    EXPECT_EQ(recovered.damaged, 0U);
    EXPECT_EQ(tests::main_records(*m_first), first);
    EXPECT_EQ(tests::main_records(*m_second), second);
    EXPECT_TRUE((m_second->control.word & TRACER_WORD_CLOSED) != 0);
}

// One that was written compactly, and one that was compressed.
TEST_F(SurvivingTrace, IsRecoveredWithItsStreams) {
    auto& tracer = m_fixture.tracer();
    tracer.control.disable();
    const auto made = tracer.store.create(2048, 0, tracer::kFlagFree | tracer::kFlagStop | tracer::kFlagCompressed,
                                          tracer::compact::Layout::a);
    ASSERT_TRUE(made.ok());
    Chunk& written = *made.value();
    Chunk& compressed = m_fixture.chunk(200, 0, tracer::kFlagStop);
    for (Chunk* const chunk : {&written, &compressed}) {
        m_fixture.select_and_enable(*chunk);
        for (std::uint32_t i = 0; i < 150; ++i) {
            tracer::log<"task_schedule">(1, i % 3);
        }
        tracer.control.disable();
    }
    ASSERT_EQ(FTrace_compress_chunk(compressed.number, FTRACE_CHUNK_FLAG_STOP), 0);
    const auto streams = [&] {
        std::vector<std::vector<std::byte>> found;
        for (const Chunk* const chunk : {&written, &compressed}) {
            const auto contents = tracer::ChunkStore::contents(*chunk);
            EXPECT_TRUE(contents.compact);
            EXPECT_EQ(contents.stream_records, 150U);
            const auto stream = contents.newer.first(contents.stream_bytes);
            found.emplace_back(stream.begin(), stream.end());
        }
        return found;
    };
    const auto before = streams();
    const auto recovered = tracer::black_box::recover_chunks(tracer.store);
    EXPECT_EQ(recovered.chunks, 4U);
    EXPECT_EQ(recovered.damaged, 0U) << recovered.defect;
    EXPECT_EQ(streams(), before);
    written.control.data[0] ^= std::byte{0x01};     // what it begins with
    compressed.control.data[40] ^= std::byte{0x01}; // anywhere: it has a checksum
    EXPECT_EQ(defect(written.number), "compact stream");
    EXPECT_EQ(defect(compressed.number), "compact stream");
}

TEST_F(SurvivingTrace, LosesADamagedChunkAndKeepsTheOthers) {
    const auto second = tests::main_records(*m_second);
    m_fixture.tracer().control.disable();
    m_first->size_bytes = 0;
    const auto recovered = tracer::black_box::recover_chunks(m_fixture.tracer().store);
    EXPECT_EQ(recovered.chunks, 1U);
    EXPECT_EQ(recovered.damaged, 1U);
    EXPECT_EQ(recovered.number, 0U);
    EXPECT_EQ(recovered.defect, "sizes of its areas");
    EXPECT_FALSE(m_first->exists);
    EXPECT_EQ(tests::main_records(*m_second), second);
}

TEST_F(SurvivingTrace, LosesTheLaterOfTwoChunksInOnePlace) {
    m_fixture.tracer().control.disable();
    move_the_second_onto_the_first();
    const auto recovered = tracer::black_box::recover_chunks(m_fixture.tracer().store);
    EXPECT_EQ(recovered.chunks, 1U);
    EXPECT_TRUE(m_first->exists);
    EXPECT_EQ(recovered.defect, "place of its areas");
}

TEST_F(SurvivingTrace, NamesTheFirstDefectOfAChunkThatIsInTheWrongPlaceAsWell) {
    m_fixture.tracer().control.disable();
    move_the_second_onto_the_first();
    m_second->uses = 0;
    const auto recovered = tracer::black_box::recover_chunks(m_fixture.tracer().store);
    EXPECT_EQ(recovered.damaged, 1U);
    EXPECT_EQ(recovered.number, 1U);
    EXPECT_EQ(recovered.defect, "number");
}

// The reset came after its place was entered, before it existed.
TEST_F(SurvivingTrace, TakesAChunkThatWasJustBeingCreatedForNone) {
    m_fixture.tracer().control.disable();
    move_the_second_onto_the_first();
    m_second->exists = false;
    const auto recovered = tracer::black_box::recover_chunks(m_fixture.tracer().store);
    EXPECT_EQ(recovered.chunks, 1U);
    EXPECT_EQ(recovered.damaged, 0U);
    EXPECT_EQ(recovered.defect, "");
    EXPECT_TRUE(m_first->exists);
    EXPECT_EQ(m_second->control.data, nullptr) << "as if it had never been";
}

TEST_F(SurvivingTrace, NamesEachDamagedField) {
    const auto at = [](auto member) { return static_cast<std::size_t>(member); };

    struct Row {
        std::function<void(Chunk&)> damage;
        std::string_view named;
    };

    const std::vector<Row> rows = {
        {[&](Chunk& c) { store_byte(&c, at(offsetof(Chunk, exists)), 2); }, "state"},
        {[&](Chunk& c) { store_byte(&c, at(offsetof(Chunk, busy)), 7); }, "state"},
        {[&](Chunk& c) { store_byte(&c, at(offsetof(Chunk, carried)), 7); }, "state"},
        {[&](Chunk& c) { store_byte(&c.compressed, at(offsetof(tracer::CompressedArea, present)), 9); }, "state"},
        {[&](Chunk& c) { store_byte(&c.compressed, at(offsetof(tracer::CompressedArea, layout)), 200); }, "state"},
        {[&](Chunk& c) { store_byte(&c.compressed, at(offsetof(tracer::CompressedArea, layout)), kLayouts); }, "state"},
        {[&](Chunk& c) { store_byte(&c.written_as, 1, 3); }, "state"},
        {[&](Chunk& c) { write_as(c, kLayouts); }, "state"},
        {[&](Chunk& c) { write_as(c, kLayouts - 1); }, "compact stream"}, // a layout, but not that of these records
        {[&](Chunk& c) { store_byte(&c.written_as, 0, kLayouts); }, ""},  // the byte of no layout
        {[](Chunk& c) { c.number = 5; }, "number"},
        {[](Chunk& c) { c.uses = 0; }, "number"},
        {[](Chunk& c) { c.flags = 0x80; }, "mode"},
        {[](Chunk& c) { c.flags = tracer::kModeMask; }, "mode"},
        {[](Chunk& c) { c.flags |= tracer::kFlagBusy; }, "mode"},
        {[](Chunk& c) { c.control.limit = 0; }, "mode"},
        {[](Chunk& c) { c.size_bytes = 15; }, "sizes of its areas"},
        {[](Chunk& c) { c.size_bytes = ~0U; }, "sizes of its areas"},
        {[](Chunk& c) { c.emergency_bytes = ~0U; }, "sizes of its areas"},
        {[](Chunk& c) { c.size_bytes = 1U << 26; }, "place of its areas"},
        {[](Chunk& c) { c.control.data = nullptr; }, "place of its areas"},
        {[](Chunk& c) { c.control.data += 8; }, "place of its areas"},
        {[](Chunk& c) { c.control.data += 1U << 20; }, "place of its areas"},
        {[](Chunk& c) { c.control.data -= 1U << 20; }, "place of its areas"},
        {[](Chunk& c) { c.control.emergency_data += 16; }, "place of its emergency area"},
        {[](Chunk& c) { c.control.limit = c.size_bytes + 16; }, "position"},
        {[](Chunk& c) { c.control.compact_limit = ~0U; }, "position"},
        {[](Chunk& c) { c.control.word |= TRACER_WORD_POSITION_MASK; }, "position"},
        {[](Chunk& c) { c.control.word ^= 8; }, "position"},
        {[](Chunk& c) { c.control.emergency_limit = c.emergency_bytes + 1; }, "position in its emergency area"},
        {[](Chunk& c) { c.control.emergency_word |= 0xFFFF'FFF0; }, "position in its emergency area"},
        {[](Chunk& c) { c.control.emergency_word ^= 4; }, "position in its emergency area"},
        {[](Chunk& c) { c.control.emergency_limit = c.control.emergency_word & 0xFFFF'FFFF; }, ""}, // full
        {[](Chunk& c) { c.compressed.stream_bytes = ~0U; }, ""},                                    // of no stream
        {[](Chunk& c) { compress(c, 1); }, "length of its stream"},
        {[](Chunk& c) { compress(c, 0); }, "compact stream"}, // records
        {[](Chunk& c) { compress(c, 0), write_as(c, 0); }, "mode"},
        {[](Chunk& c) { c.flags = tracer::kFlagCyclic, write_as(c, 0); }, "mode"},
        {[](Chunk& c) { c.control.data[16] = std::byte{0}; }, "records"},         // code 0
        {[](Chunk& c) { c.control.data[16 + 1] |= std::byte{0x40}; }, "records"}, // a reserved bit
        {[](Chunk& c) { c.control.data[16 + 7] |= std::byte{0x80}; }, "records"}, // a stamp in the far future
        {[](Chunk& c) { std::fill_n(c.control.data, 64, std::byte{0xC5}); }, "records"},
    };
    const Chunk whole = *m_first;
    const std::vector<std::byte> content(arena().begin(), arena().end());
    ASSERT_EQ(defect(0), "");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].damage(*m_first);
        EXPECT_EQ(defect(0), rows[i].named) << "row " << i;
        EXPECT_EQ(defect(1), "") << "row " << i;
        std::memcpy(m_first, &whole, sizeof(Chunk));
        std::ranges::copy(content, m_fixture.arena().begin());
    }
    ASSERT_EQ(defect(0), "");
}

TEST_F(SurvivingTrace, NamesLapsThatCannotBe) {
    ASSERT_EQ(defect(1), "");
    m_second->control.lap_end = {~0U, ~0U};
    EXPECT_EQ(defect(1), m_second->control.word >> 32 != 0 ? "laps" : "");
    m_first->control.word |= std::uint64_t{1} << 32; // not cyclic
    EXPECT_EQ(defect(0), "laps");
}

// A head of random bytes never leads outside of the arena: the sanitizers watch.
TEST_F(SurvivingTrace, SurvivesRandomHeads) {
    const Chunk whole = *m_first;
    std::uint64_t state = 1;
    std::size_t accepted = 0;
    for (int i = 0; i < 100'000; ++i) {
        std::memcpy(m_first, &whole, sizeof(Chunk));
        for (int flips = 0; flips <= i % 4; ++flips) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            const std::size_t bit = (state >> 33) % (sizeof(Chunk) * 8);
            std::uint8_t byte = 0;
            std::memcpy(&byte, reinterpret_cast<std::byte*>(m_first) + bit / 8, 1);
            store_byte(m_first, bit / 8, static_cast<std::uint8_t>(byte ^ (1U << (bit % 8))));
        }
        if (defect(0).empty()) {
            ++accepted;
            std::uint8_t exists = 0;
            std::memcpy(&exists, reinterpret_cast<std::byte*>(m_first) + offsetof(Chunk, exists), 1);
            if (exists == 1) {
                EXPECT_LE(tests::main_records(*m_first).size(), 8U);
            }
        }
    }
    std::memcpy(m_first, &whole, sizeof(Chunk));
    EXPECT_GT(accepted, 0U);
    EXPECT_LT(accepted, 90'000U);
}

TEST_F(SurvivingTrace, ItsDescriptorIsCheckedFieldByField) {
    Descriptor own;
    tracer::black_box::describe(m_fixture.tracer(), own);
    const auto sealed = [](Descriptor changed) {
        changed.crc32c = tracer::black_box::checksum(std::as_bytes(std::span(&changed, 1)));
        return changed;
    };
    EXPECT_EQ(descriptor_defect(own, own), "");
    Descriptor other = own;
    ++other.version;
    EXPECT_EQ(descriptor_defect(sealed(other), own), "its descriptor has another version");
    other = own;
    other.seed ^= 1;
    EXPECT_EQ(descriptor_defect(other, own), "its descriptor is damaged");
    EXPECT_EQ(descriptor_defect(sealed(other), own), ""); // another run of the same kernel
    other.image_id ^= 1;
    EXPECT_EQ(descriptor_defect(sealed(other), own), "it is that of another kernel image");
    for (auto* const moved : {&other.arena.address, &other.chunks.address, &other.names.address, &other.address,
                              &other.processors.address, &other.formats.address, &other.retired}) {
        const std::uint64_t before = *moved;
        other.image_id = own.image_id;
        *moved += 16;
        EXPECT_EQ(descriptor_defect(sealed(other), own), "it is in other places");
        *moved = before;
    }
}

TEST_F(SurvivingTrace, EveryFlippedBitOfItsDescriptorIsFound) {
    Descriptor own;
    tracer::black_box::describe(m_fixture.tracer(), own);
    for (std::size_t bit = 0; bit < offsetof(Descriptor, state) * 8; ++bit) {
        Descriptor flipped = own;
        auto* const bytes = reinterpret_cast<std::uint8_t*>(&flipped);
        bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
        EXPECT_NE(descriptor_defect(flipped, own), "") << bit;
    }
}

TEST_F(SurvivingTrace, KeepsItsSetup) {
    tracer::Setup setup{.tsc_khz = 2'600'000, .tsc_error_ppm = 17, .boot_id = 4711};
    setup.build.application = std::string_view("control");
    setup.build.seed = 5;
    setup.cost.rounds = 3;
    m_fixture.tracer().exporter.configure(setup);
    Descriptor described;
    tracer::black_box::describe(m_fixture.tracer(), described);
    const tracer::Setup kept = tracer::black_box::setup_of(described);
    EXPECT_EQ(kept.tsc_khz, setup.tsc_khz);
    EXPECT_EQ(kept.tsc_error_ppm, setup.tsc_error_ppm);
    EXPECT_EQ(kept.boot_id, setup.boot_id);
    EXPECT_EQ(kept.build.application.view(), "control");
    EXPECT_EQ(kept.build.seed, 5U);
    EXPECT_EQ(kept.cost, setup.cost);
}

TEST_F(SurvivingTrace, NamesAreKeptUpToTheFirstThatIsNotWhole) {
    tracer::NameRegistry& names = m_fixture.names();
    for (std::uint16_t i = 0; i < 5; ++i) {
        names.add_name(tracer::NameKind::mutex, i, "m" + std::to_string(i));
    }
    names.recover();
    ASSERT_EQ(names.size(), 5U);
    EXPECT_EQ(names.entry(4).name.view(), "m4");
    names.add_name(tracer::NameKind::mutex, 2, "m2");
    EXPECT_EQ(names.size(), 5U);
    EXPECT_EQ(names.lost(), 0U) << "known, though nothing is added";
    auto& entry = const_cast<tracer::NameEntry&>(names.entry(3)); // NOLINT(cppcoreguidelines-pro-type-const-cast)
    entry.name.size = 255;
    names.recover();
    EXPECT_EQ(names.size(), 3U);
}

} // namespace survivor_test
