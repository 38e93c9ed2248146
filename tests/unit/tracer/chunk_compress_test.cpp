// SPDX-License-Identifier: MIT
// Tests FTrace_compress_chunk: both sinks get the same records as without it, the counts remain balanced, the memory is
// freed, and a refused call changes nothing.
#include "tests/support/compact_streams.hpp"
#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"

#include <string_view>

namespace chunk_compress_test {

using tests::Bytes;
using tests::FakeSink;
using tests::TracerFixture;
using tracer::Chunk;
using tracer::ChunkStore;
using tracer::Record;

class ChunkCompress : public testing::Test {
  protected:
    // A chunk that is no longer current, with so many records of a periodic kind.
    int recorded(int slots, unsigned records, FTrace_flags mode, int emergency = 64) {
        const int number = FTrace_chunk_create(slots * 16, emergency, static_cast<FTrace_flags>(mode | 1));
        EXPECT_GE(number, 0);
        EXPECT_EQ(FTrace_actual_chunk_select(number), 0);
        EXPECT_TRUE(m_fixture.tracer().control.enable().ok());
        for (unsigned i = 0; i < records; ++i) {
            tracer::log<"task_schedule">(static_cast<std::uint16_t>(i / 4 % 3), i / 4 % 3);
            ++m_attempts;
        }
        EXPECT_EQ(FTrace_disable(), 0);
        return number;
    }

    Chunk& chunk(int number) { return *m_fixture.tracer().store.find(number).value(); }

    FTrace_flags flags(int number) {
        FTrace_flags flags = 0;
        EXPECT_EQ(FTrace_get_chunk_flags(number, &flags), 0);
        return flags;
    }

    void expect_balance() {
        const tracer::Totals totals = m_fixture.tracer().control.totals();
        EXPECT_EQ(totals.committed + totals.dropped + totals.refused, m_attempts);
    }

    std::vector<Record> decoded(const Chunk& chunk) {
        const auto contents = ChunkStore::contents(chunk);
        EXPECT_TRUE(contents.compact);
        const auto stream = contents.newer.first(contents.stream_bytes);
        const auto result = tests::decode(Bytes(stream.begin(), stream.end()));
        EXPECT_EQ(result.fault, tracer::compact::Fault::none) << fault_text(result.fault);
        EXPECT_EQ(result.records.size(), contents.stream_records);
        return result.records;
    }

    static void expect_refused(int result, std::string_view argument, std::string_view text) {
        EXPECT_EQ(result, -1);
        const FTrace_Error error = FTrace_last_error();
        EXPECT_EQ(std::string_view(error.argument), argument);
        EXPECT_NE(std::string_view(error.text).find(text), std::string_view::npos) << error.text;
    }

    TracerFixture m_fixture;
    std::uint64_t m_attempts = 0;
};

TEST_F(ChunkCompress, KeepsRecordsCountsAndEmergencyAreaInEveryMode) {
    for (const FTrace_flags mode : {FTRACE_CHUNK_FLAG_CYC, FTRACE_CHUNK_FLAG_JTN, FTRACE_CHUNK_FLAG_STOP}) {
        for (const unsigned records : {150U, 200U, 777U}) {
            const int number = recorded(200, records, mode);
            Chunk& it = chunk(number);
            const auto before = tests::main_records(it);
            const auto emergency = tests::emergency_records(it);
            const auto counts = ChunkStore::counts(it);
            const std::uint32_t uses = it.uses;
            ASSERT_EQ(FTrace_compress_chunk(number, mode), 0) << FTrace_last_error().text;
            EXPECT_EQ(decoded(it), before);
            EXPECT_EQ(tests::emergency_records(it), emergency);
            EXPECT_EQ(ChunkStore::counts(it).written, counts.written);
            EXPECT_EQ(ChunkStore::counts(it).tracer_made, counts.tracer_made);
            EXPECT_EQ(ChunkStore::counts(it).overwritten, counts.overwritten);
            EXPECT_EQ(it.uses, uses);
            EXPECT_EQ(ChunkStore::contents(it).events(), before.size() + emergency.size());
            EXPECT_EQ(flags(number) & FTRACE_CHUNK_FLAG_COMPR, FTRACE_CHUNK_FLAG_COMPR);
            EXPECT_EQ(flags(number) & FTRACE_CHUNK_FLAG_BUSY, 0);
            EXPECT_LT(it.size_bytes, before.size() * 16 / 2);
            expect_balance();
            ASSERT_EQ(FTrace_chunk_delete(number), 0);
            expect_balance();
        }
    }
}

TEST_F(ChunkCompress, GivesTheOldRegionBack) {
    const int first = recorded(20'000, 20'000, FTRACE_CHUNK_FLAG_STOP); // of 65 536 slots
    const int second = recorded(20'000, 20'000, FTRACE_CHUNK_FLAG_STOP);
    EXPECT_EQ(FTrace_chunk_create(30'000 * 16, 0, FTRACE_CHUNK_FLAG_FREE), -1);
    ASSERT_EQ(FTrace_compress_chunk(first, FTRACE_CHUNK_FLAG_STOP), 0);
    ASSERT_EQ(FTrace_compress_chunk(second, FTRACE_CHUNK_FLAG_STOP), 0);
    EXPECT_GE(FTrace_chunk_create(30'000 * 16, 0, FTRACE_CHUNK_FLAG_FREE), 0);
    EXPECT_EQ(decoded(chunk(first)).size(), 20'000U) << "its memory was not allocated again";
    EXPECT_EQ(decoded(chunk(second)).size(), 20'000U);
}

TEST_F(ChunkCompress, SendsTheSameStreamToBothSinks) {
    const int number = recorded(400, 500, FTRACE_CHUNK_FLAG_STOP);
    const auto main = tests::main_records(chunk(number));
    const auto emergency = tests::emergency_records(chunk(number));
    ASSERT_FALSE(emergency.empty());
    ASSERT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP), 0);
    const auto contents = ChunkStore::contents(chunk(number));
    auto& exporter = m_fixture.tracer().exporter;
    FakeSink stream;
    FakeSink files;
    ASSERT_TRUE(exporter.attach(stream, tracer::SinkTime::at_once).ok());
    ASSERT_TRUE(exporter.attach(files, tracer::SinkTime::after_exit).ok());
    EXPECT_EQ(FTrace_send_chunk(number, 0, FTRACE_CHUNK_FLAG_STOP), 0);
    exporter.begin_exit();
    EXPECT_EQ(exporter.export_unsent(), 0U);
    while (exporter.step() == tracer::StepResult::more) {
    }
    ASSERT_EQ(stream.chunks.size(), 1U);
    ASSERT_EQ(files.chunks.size(), 1U);
    EXPECT_EQ(stream.chunks[0], files.chunks[0]);
    const auto slots = tests::records_in(stream.chunks[0]);
    Bytes payload;
    for (std::size_t i = 0; payload.empty() || slots[i - 1].combine() != tracer::Combine::last; ++i) {
        const auto piece = tracer::slot_payload(slots[i]);
        payload.insert(payload.end(), piece.begin(), piece.end());
    }
    const auto begin = tracer::decode_payload<tracer::ChunkBegin>(payload).value();
    EXPECT_EQ(begin.encoding, tracer::Encoding::compact);
    EXPECT_EQ(begin.layout, FTRACE_LAYOUT_A);
    EXPECT_EQ(begin.events, main.size() + emergency.size());
    EXPECT_EQ(begin.compact_bytes, contents.stream_bytes);
    EXPECT_EQ(begin.records, slots.size() - begin.preamble_slots);
    EXPECT_EQ(slots[0].stamp(), main[0].stamp()) << "the preamble has the first record's stamp";
    const auto from = stream.chunks[0].begin() + static_cast<std::ptrdiff_t>(begin.preamble_slots * 16);
    EXPECT_EQ(tests::decode(Bytes(from, from + static_cast<std::ptrdiff_t>(begin.compact_bytes))).records, main);
    EXPECT_EQ(slots.back(), emergency.back());
}

TEST_F(ChunkCompress, IsSmallerAndPlainAgainWhenItIsReused) {
    const int number = recorded(400, 400, FTRACE_CHUNK_FLAG_STOP);
    ASSERT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_FREE), 0);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    EXPECT_EQ(flags(number) & FTRACE_CHUNK_FLAG_COMPR, 0);
    ASSERT_TRUE(m_fixture.tracer().control.enable().ok());
    tracer::log<"ipoint">(1, 2);
    ++m_attempts;
    EXPECT_EQ(FTrace_disable(), 0);
    EXPECT_EQ(tests::main_records(chunk(number)).size(), 1U);
    expect_balance();
}

TEST_F(ChunkCompress, RefusesAndChangesNothing) {
    expect_refused(FTrace_compress_chunk(7, 0), "number", "no chunk");
    expect_refused(FTrace_compress_chunk(256, 0), "number", "0 to 255");
    const int empty = recorded(10, 0, FTRACE_CHUNK_FLAG_STOP);
    expect_refused(FTrace_compress_chunk(empty, 0), "number", "empty");
    const int fresh = FTrace_chunk_create(64, 0, FTRACE_CHUNK_FLAG_FREE);
    expect_refused(FTrace_compress_chunk(fresh, 0), "number", "FREE");
    const int number = recorded(400, 300, FTRACE_CHUNK_FLAG_STOP);
    expect_refused(FTrace_compress_chunk(number, 0x0C), "new_flags", "exclude");
    expect_refused(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_BUSY), "new_flags", "BUSY");
    ASSERT_TRUE(m_fixture.tracer().control.enable().ok()) << "still selected";
    expect_refused(FTrace_compress_chunk(number, 0), "number", "recorded into");
    ASSERT_EQ(FTrace_disable(), 0);
    // Too few records: header and map would cost more than they save.
    const int small = recorded(4, 2, FTRACE_CHUNK_FLAG_STOP);
    expect_refused(FTrace_compress_chunk(small, 0), "number", "smaller");
    ASSERT_TRUE(m_fixture.tracer().control.enable().ok()) << "it is still selected";
    tracer::log<"ipoint">(1, 2);
    ++m_attempts;
    ASSERT_EQ(FTrace_disable(), 0);
    EXPECT_EQ(tests::main_records(chunk(small)).size(), 3U) << "and still open";
    // Twice.
    ASSERT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP), 0);
    expect_refused(FTrace_compress_chunk(number, 0), "number", "already COMPR");
    expect_balance();
}

TEST_F(ChunkCompress, LeavesAClosedChunkClosedWhenItRefuses) {
    constexpr FTrace_flags kFree = FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP;
    const int first = FTrace_chunk_create(160, 0, kFree);
    const int second = FTrace_chunk_create(160, 0, kFree);
    ASSERT_EQ(FTrace_chunk_link(first, second), 0);
    ASSERT_EQ(FTrace_actual_chunk_select(first), 0);
    ASSERT_TRUE(m_fixture.tracer().control.enable().ok());
    tracer::log<"ipoint">(1, 1);
    ASSERT_TRUE(m_fixture.tracer().control.close_active().ok());
    tracer::log<"ipoint">(1, 2);
    ASSERT_EQ(FTrace_disable(), 0);
    ASSERT_EQ(flags(first), FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_FULL) << "closed";
    expect_refused(FTrace_compress_chunk(first, FTRACE_CHUNK_FLAG_STOP), "number", "smaller");
    EXPECT_EQ(flags(first), FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_FULL);
}

TEST_F(ChunkCompress, RefusesForWantOfAGapAndChangesNothing) {
    const int number = recorded(1000, 1000, FTRACE_CHUNK_FLAG_STOP);
    // Fills the rest of the arena, down to gaps of one record.
    for (int size = 1 << 19; size >= 16; size /= 2) {
        while (FTrace_chunk_create(size, 0, FTRACE_CHUNK_FLAG_FREE) >= 0) {
        }
    }
    const auto before = tests::main_records(chunk(number));
    const auto flags_before = flags(number);
    expect_refused(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP), "number", "gap");
    EXPECT_EQ(tests::main_records(chunk(number)), before);
    EXPECT_EQ(flags(number), flags_before);
    expect_balance();
}

TEST_F(ChunkCompress, UsesTheLayoutThatWasSet) {
    expect_refused(FTrace_set_compact_layout(11), "layout", "0 to 10");
    expect_refused(FTrace_set_compact_layout(-1), "layout", "0 to 10");
    for (int layout = FTRACE_LAYOUT_A; layout <= FTRACE_LAYOUT_64; ++layout) {
        ASSERT_EQ(FTrace_set_compact_layout(layout), 0);
        const int number = recorded(500, 500, FTRACE_CHUNK_FLAG_STOP);
        const auto before = tests::main_records(chunk(number));
        ASSERT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP), 0);
        EXPECT_EQ(static_cast<int>(ChunkStore::contents(chunk(number)).layout), layout);
        tests::expect_same(decoded(chunk(number)), before,
                           tracer::compact::kLayoutRows[static_cast<std::size_t>(layout)].lsb);
        ASSERT_EQ(FTrace_chunk_delete(number), 0);
    }
    ASSERT_EQ(FTrace_set_compact_layout(FTRACE_LAYOUT_96), 0);
    const int number = recorded(500, 500, FTRACE_CHUNK_FLAG_STOP);
    expect_refused(FTrace_compress_chunk(number, 0), "number", "smaller");
}

// Takes the lock when a call has released it for the n-th time, until the call has waited so often.
class OtherCall {
  public:
    OtherCall(tracer::Instance& tracer, int release, int waits)
        : m_tracer(tracer)
        , m_releases_left(release)
        , m_waits(waits) {
        tracer.wait = {.wait =
                           [](void* self) {
                               static_cast<OtherCall*>(self)->wait();
                               return true;
                           },
                       .context = this};
        TracerFixture::on_access() = [this] { look(); };
    }

    ~OtherCall() {
        TracerFixture::on_access() = nullptr;
        m_tracer.wait = {};
        if (m_has_it) {
            m_tracer.lock.release();
        }
    }

    OtherCall(const OtherCall&) = delete;
    OtherCall& operator=(const OtherCall&) = delete;

    [[nodiscard]] int waited() const { return m_waited; }

    [[nodiscard]] bool has_it() const { return m_has_it; }

  private:
    void look() {
        if (!m_tracer.lock.try_take()) {
            m_call_had_it = true;
        } else if (m_call_had_it && --m_releases_left == 0) {
            m_has_it = true;
        } else {
            m_tracer.lock.release();
        }
    }

    void wait() {
        if (++m_waited == m_waits) {
            m_has_it = false;
            m_tracer.lock.release();
        }
    }

    tracer::Instance& m_tracer;
    int m_releases_left;
    int m_waits;
    int m_waited = 0;
    bool m_call_had_it = false;
    bool m_has_it = false;
};

TEST_F(ChunkCompress, WaitsForTheLockThatAnotherCallTookMeanwhile) {
    for (const int release : {1, 2}) { // to measure, to encode
        const int number = recorded(400, 400, FTRACE_CHUNK_FLAG_STOP);
        const auto before = tests::main_records(chunk(number));
        OtherCall other(m_fixture.tracer(), release, 3);
        EXPECT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP), 0);
        EXPECT_EQ(other.waited(), 3);
        EXPECT_FALSE(other.has_it());
        EXPECT_EQ(decoded(chunk(number)), before);
    }
}

TEST_F(ChunkCompress, WaitsForTheLockOnlySoLong) {
    const int number = recorded(400, 400, FTRACE_CHUNK_FLAG_STOP);
    {
        OtherCall other(m_fixture.tracer(), 1, 2000);
        EXPECT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_STOP), -1);
        EXPECT_EQ(other.waited(), 1000);
        EXPECT_TRUE(other.has_it()) << "not released by a call that does not have it";
    }
    EXPECT_STREQ(FTrace_last_error().function, "FTrace_compress_chunk");
    EXPECT_STREQ(FTrace_last_error().text, "another tracer call is in progress");
    EXPECT_NE(flags(number) & FTRACE_CHUNK_FLAG_BUSY, 0);
    m_fixture.tracer().exporter.begin_exit();
    EXPECT_EQ(flags(number) & FTRACE_CHUNK_FLAG_BUSY, 0);
}

TEST_F(ChunkCompress, IsUndoneWhenItsTaskIsCutShort) {
    const int number = recorded(400, 400, FTRACE_CHUNK_FLAG_STOP);
    const auto before = tests::main_records(chunk(number));
    auto& tracer = m_fixture.tracer();
    ASSERT_TRUE(tracer.compressor.begin(chunk(number), tracer::compact::Layout::a).ok());
    EXPECT_NE(flags(number) & FTRACE_CHUNK_FLAG_BUSY, 0);
    EXPECT_EQ(FTrace_chunk_delete(number), -1);
    EXPECT_EQ(FTrace_send_chunk(number, 0, 0), -1);
    ASSERT_TRUE(tracer.compressor.measure().ok());
    ASSERT_TRUE(tracer.compressor.reserve().ok());
    FakeSink sink;
    ASSERT_TRUE(tracer.exporter.attach(sink, tracer::SinkTime::at_once).ok());
    tracer.exporter.begin_exit(); // its task will not continue
    EXPECT_EQ(tracer.exporter.export_unsent(), 1U);
    while (tracer.exporter.step() == tracer::StepResult::more) {
    }
    ASSERT_EQ(sink.chunks.size(), 1U);
    EXPECT_EQ(tests::records_in(sink.chunks[0]).back(), tests::emergency_records(chunk(number)).empty()
                                                            ? before.back()
                                                            : tests::emergency_records(chunk(number)).back());
}

} // namespace chunk_compress_test
