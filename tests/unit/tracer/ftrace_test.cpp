// SPDX-License-Identifier: MIT
// Tests the published interface: its example, its list of peculiarities (each implemented correctly), and that a
// refused call changes nothing and returns a reason.
#include "tracer/ftrace.hpp"

#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"

#include <string_view>

namespace ftrace_test {

using tests::main_records;
using tests::TracerFixture;

class FTrace : public testing::Test {
  protected:
    static int create(int records, FTrace_flags flags) { return FTrace_chunk_create(records * 16, 32, flags); }

    static FTrace_flags flags_of(int number) {
        FTrace_flags flags = 0;
        EXPECT_EQ(FTrace_get_chunk_flags(number, &flags), 0);
        return flags;
    }

    tracer::Chunk& chunk(int number) { return *m_fixture.tracer().store.find(number).value(); }

    std::vector<std::uint8_t> codes(int number) {
        std::vector<std::uint8_t> codes;
        for (const tracer::Record& record : main_records(chunk(number))) {
            codes.push_back(record.event_code());
        }
        return codes;
    }

    static void expect_error(std::string_view function, std::string_view argument) {
        const FTrace_Error error = FTrace_last_error();
        ASSERT_NE(error.function, nullptr);
        EXPECT_EQ(error.function, function);
        EXPECT_EQ(error.argument == nullptr ? "" : error.argument, argument);
        EXPECT_NE(error.text, nullptr);
    }

    TracerFixture m_fixture;
};

TEST_F(FTrace, ConstantsHaveThePublishedValues) {
    EXPECT_EQ(FTrace_EVT_set_mutex_unlock, 0x36); // the manual's 0x43 is a misprint
    EXPECT_EQ(FTrace_EVT_task_wcet_violation, 0xC2);
    EXPECT_EQ(FTrace_EVT_user_event_14, 0xE9);
    EXPECT_EQ(FTrace_EVT_data_pointer, 0x1A);
    EXPECT_EQ(FTrace_EVT_timer_wakeup_end, 0x3B);
    EXPECT_EQ(FTrace_EVT_next_chunk, 0xFF);
    EXPECT_EQ(FTrace_filter_trace_Events, 0xF0);
    EXPECT_EQ(FTrace_filter_timer, 0xFB);
    EXPECT_EQ(FTrace_family_mask, 0x0F);
}

TEST_F(FTrace, EveryPublishedCodeRoundTrips) {
    const int number = create(128, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    std::vector<std::uint8_t> expected;
    for (const tracer::EventRow& row : tracer::kEvents) {
        if (tracer::is_loggable(row)) {
            const volatile WORD code = row.code; // not a constant to the compiler
            TRACER_LOGEVENT(code, 1, 2);
            expected.push_back(row.code);
        }
    }
    EXPECT_EQ(codes(number), expected);
}

TEST_F(FTrace, UnloggableTypesAreRefusedAtRunTime) {
    const int number = create(8, FTRACE_CHUNK_FLAG_FREE);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    // The empty slot, long events, codes without a row, a code with other bits set.
    constexpr std::array<WORD, 10> kTypes = {0x00, 0x0C, 0x1E, 0xEC, 0xFC, 0x0F, 0x80, 0x8000, 0x8022, 0x0122};
    for (const WORD type : kTypes) {
        const volatile WORD code = type;
        TRACER_LOGEVENT(code, 1, 2);
        FAST_TRACER_LOGEVENT(code, 1, 2);
    }
    EXPECT_TRUE(codes(number).empty());
    EXPECT_EQ(m_fixture.tracer().control.totals().refused, 2 * kTypes.size());
    expect_error("TRACER_LOGEVENT", "type");
}

TEST_F(FTrace, RunsTheManualsExample) {
    const int a = create(16, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    const int b = create(16, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
    const int c = create(16, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    EXPECT_EQ(FTrace_chunk_link(a, b), 0);
    EXPECT_EQ(FTrace_chunk_link(b, c), 0);
    EXPECT_EQ(FTrace_actual_chunk_select(a), 0);
    EXPECT_EQ(FTrace_enable(), 0);
    FTrace_set_filter(FTrace_filter_timer, 1);
    TRACER_LOGEVENT(FTrace_EVT_trace_start, 1, 1000);
    TRACER_LOGEVENT(FTrace_EVT_timer_post, 0, 7);
    FTrace_set_filter(FTrace_filter_timer, 0);
    TRACER_LOGEVENT(FTrace_EVT_timer_post, 0, 8);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 0);
    TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);
    EXPECT_EQ(FTrace_disable(), 0);
    EXPECT_EQ(codes(a), (std::vector<std::uint8_t>{0xFB, 0x20, 0xFB, 0x0B}));
    EXPECT_EQ(main_records(chunk(a))[0].par1, 1);
    EXPECT_EQ(main_records(chunk(a))[2].par1, 0);
    EXPECT_EQ(codes(b), (std::vector<std::uint8_t>{0x01, 0x30})); // what follows next_chunk is first in the next chunk
    EXPECT_EQ(main_records(chunk(b))[0].par1, 6000);
    EXPECT_EQ(flags_of(a) & FTRACE_CHUNK_FLAG_FULL, FTRACE_CHUNK_FLAG_FULL);
}

TEST_F(FTrace, FastRecordsPassFiltersAndSaySo) {
    const int number = create(8, FTRACE_CHUNK_FLAG_FREE);
    FTrace_set_filter(FTrace_filter_ipoint, 1);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 0);
    FAST_TRACER_LOGEVENT(FTrace_EVT_ipoint, 2, 0);
    ASSERT_EQ(main_records(chunk(number)).size(), 2U); // the first one states the filter
    EXPECT_EQ(main_records(chunk(number))[1].code, 0x8001);
}

TEST_F(FTrace, EnableWithoutAChunkFails) {
    EXPECT_EQ(FTrace_enable(), -1);
    expect_error("FTrace_enable", "");
}

TEST_F(FTrace, NumbersOutsideTheTableAreRefusedEverywhere) {
    FTrace_flags flags = 0;
    for (const int number : {-1, 256, 3}) {
        EXPECT_EQ(FTrace_chunk_delete(number), -1);
        EXPECT_EQ(FTrace_set_chunk_flags(number, 0), -1);
        EXPECT_EQ(FTrace_get_chunk_flags(number, &flags), -1);
        EXPECT_EQ(FTrace_actual_chunk_select(number), -1);
        EXPECT_EQ(FTrace_chunk_link(number, number), -1);
        EXPECT_EQ(FTrace_compress_chunk(number, 0), -1);
        EXPECT_EQ(FTrace_send_chunk(number, 0, 0), -1);
        expect_error("FTrace_send_chunk", "number");
        EXPECT_EQ(FTrace_last_error().value, number);
    }
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_CYC), -1);
}

TEST_F(FTrace, CreateChecksSizesAndFlags) {
    EXPECT_EQ(FTrace_chunk_create(15, 0, FTRACE_CHUNK_FLAG_FREE), -1);
    EXPECT_EQ(FTrace_chunk_create(-16, 0, FTRACE_CHUNK_FLAG_FREE), -1);
    EXPECT_EQ(FTrace_chunk_create(16, -1, FTRACE_CHUNK_FLAG_FREE), -1);
    expect_error("FTrace_chunk_create", "emergency_size");
    EXPECT_EQ(FTrace_chunk_create(16, 0, FTRACE_CHUNK_FLAG_JTN | FTRACE_CHUNK_FLAG_STOP), -1);
    EXPECT_EQ(FTrace_chunk_create(16, 0, FTRACE_CHUNK_FLAG_FULL), -1);
    EXPECT_EQ(FTrace_chunk_create(16, 0, 0x80), -1);
    EXPECT_EQ(FTrace_chunk_create(1 << 21, 0, FTRACE_CHUNK_FLAG_FREE), -1); // larger than the arena
    EXPECT_EQ(FTrace_chunk_create(16, 0, FTRACE_CHUNK_FLAG_FREE), 0);       // none of these had an effect
}

TEST_F(FTrace, SelectAndLinkNeedFreeAndTakeIt) {
    const int a = create(4, FTRACE_CHUNK_FLAG_FREE);
    const int b = create(4, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
    const int not_free = create(4, FTRACE_CHUNK_FLAG_CYC);
    EXPECT_EQ(FTrace_actual_chunk_select(not_free), -1);
    EXPECT_EQ(FTrace_chunk_link(a, not_free), -1);
    EXPECT_EQ(FTrace_chunk_link(a, a), -1);
    EXPECT_EQ(FTrace_chunk_link(a, b), 0);
    EXPECT_EQ(flags_of(b), FTRACE_CHUNK_FLAG_JTN);
    EXPECT_EQ(FTrace_chunk_link(a, b), -1);
    EXPECT_EQ(FTrace_actual_chunk_select(a), 0);
    EXPECT_EQ(flags_of(a), FTRACE_CHUNK_FLAG_CYC);
    EXPECT_EQ(FTrace_actual_chunk_select(a), -1);
}

TEST_F(FTrace, FullCanBeReadButNotSet) {
    const int number = create(2, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    EXPECT_EQ(FTrace_set_chunk_flags(number, FTRACE_CHUNK_FLAG_FULL | FTRACE_CHUNK_FLAG_STOP), -1);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 0);
    EXPECT_EQ(flags_of(number), FTRACE_CHUNK_FLAG_STOP);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 0);
    EXPECT_EQ(flags_of(number), FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_FULL);
    EXPECT_EQ(flags_of(number), FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_FULL); // reading does not clear it
    EXPECT_EQ(FTrace_set_chunk_flags(number, flags_of(number)), 0);               // as it is, it may be given
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_FULL), number);
    EXPECT_EQ(FTrace_get_chunk_table()[number]->flags, FTRACE_CHUNK_FLAG_STOP | FTRACE_CHUNK_FLAG_FULL);
}

TEST_F(FTrace, FirstChunkMatchesAnyFlagAndCycMatchesItself) {
    const int stop = create(2, FTRACE_CHUNK_FLAG_STOP);
    const int cyclic = create(2, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_CYC), cyclic);
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_STOP), stop);
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP), stop);
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_BUSY), -1);
    ASSERT_TRUE(m_fixture.tracer().store.begin_conversion(chunk(stop)).ok());
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_BUSY), stop);
    EXPECT_EQ(FTrace_get_first_chunk(FTRACE_CHUNK_FLAG_STOP), stop);
    m_fixture.tracer().store.abandon_conversion();
}

TEST_F(FTrace, DeleteRefusesWhatIsNeeded) {
    const int a = create(4, FTRACE_CHUNK_FLAG_FREE);
    const int b = create(4, FTRACE_CHUNK_FLAG_FREE);
    const int c = create(4, FTRACE_CHUNK_FLAG_FREE);
    const int kept = create(4, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_NODEL);
    ASSERT_EQ(FTrace_chunk_link(a, b), 0);
    ASSERT_EQ(FTrace_chunk_link(b, c), 0);
    ASSERT_EQ(FTrace_actual_chunk_select(a), 0);
    EXPECT_EQ(FTrace_chunk_delete(kept), -1);
    for (const int needed : {a, b, c}) {
        EXPECT_EQ(FTrace_chunk_delete(needed), -1);
    }
    ASSERT_EQ(FTrace_enable(), 0);
    EXPECT_EQ(FTrace_chunk_delete(a), -1);
    ASSERT_EQ(FTrace_set_chunk_flags(kept, FTRACE_CHUNK_FLAG_FREE), 0);
    ASSERT_EQ(FTrace_actual_chunk_select(kept), 0);
    EXPECT_EQ(FTrace_chunk_delete(b), 0);
    EXPECT_EQ(FTrace_get_chunk_table()[b], nullptr);
    EXPECT_EQ(chunk(a).control.next, nullptr); // the link was removed with it
}

TEST_F(FTrace, CompressRefusesAndChangesNothing) {
    const int number = create(4, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
    EXPECT_EQ(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_FREE), -1);
    expect_error("FTrace_compress_chunk", "number"); // it is FREE
    EXPECT_EQ(flags_of(number), FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
}

TEST_F(FTrace, NextChunkWithoutSuccessorIsAnErrorAndCounted) {
    const int number = create(4, FTRACE_CHUNK_FLAG_FREE);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    expect_error("TRACER_LOGEVENT", "type");
    EXPECT_EQ(m_fixture.tracer().control.totals().refused, 1U);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 0);
    EXPECT_EQ(codes(number), (std::vector<std::uint8_t>{0x01}));
}

TEST_F(FTrace, FilterRefusesWhatIsNoFamily) {
    for (const BYTE family : {BYTE{0x02}, BYTE{0xFC}, BYTE{0xFF}}) {
        m_fixture.tracer().last_error = {};
        FTrace_set_filter(family, 1);
        expect_error("FTrace_set_filter", "family");
    }
    FTrace_set_filter(FTrace_filter_task, 2);
    expect_error("FTrace_set_filter", "status");
    EXPECT_EQ(m_fixture.tracer().cpu.filter, 0U);
}

TEST_F(FTrace, TableShowsWhatExists) {
    const int number = FTrace_chunk_create(100, 40, FTRACE_CHUNK_FLAG_FREE);
    FTrace_Chunk_Ptr* const table = FTrace_get_chunk_table();
    ASSERT_NE(table[number], nullptr);
    EXPECT_EQ(table[number]->id, FTRACE_CHUNK_ID);
    EXPECT_EQ(table[number]->size, 100U);
    EXPECT_EQ(table[number]->emergency, 40U);
    EXPECT_EQ(table[number]->osd, chunk(number).control.data);
    EXPECT_EQ(table[number + 1], nullptr);
}

TEST_F(FTrace, ACallThatMeetsAnotherOneFails) {
    ASSERT_TRUE(m_fixture.tracer().lock.try_take());
    EXPECT_EQ(FTrace_chunk_create(16, 0, FTRACE_CHUNK_FLAG_FREE), -1);
    expect_error("FTrace_chunk_create", "");
    m_fixture.tracer().lock.release();
    EXPECT_EQ(FTrace_chunk_create(16, 0, FTRACE_CHUNK_FLAG_FREE), 0);
}

// Another context calls while a sink is being opened, which holds no lock.
TEST_F(FTrace, OpeningASinkFailsIfAnotherCallHasTheLockAfterwards) {
    class Provider final : public tracer::SinkProvider {
      public:
        explicit Provider(tracer::ControlLock& lock)
            : m_lock(lock) {}

        [[nodiscard]] lib::Result<tracer::ChunkSink*> open_udp(bool, std::string_view, std::string_view) override {
            return lib::Error::not_found;
        }

        [[nodiscard]] lib::Result<void> choose_protocol(tracer::reliable::Protocol) override { return {}; }

        [[nodiscard]] lib::Result<tracer::ChunkSink*> open_disk(std::string_view) override {
            EXPECT_TRUE(m_lock.try_take());
            return &m_sink;
        }

      private:
        tracer::ControlLock& m_lock;
        tests::FakeSink m_sink;
    };

    Provider provider(m_fixture.tracer().lock);
    m_fixture.tracer().sinks = &provider;
    EXPECT_EQ(FTrace_init_disk_writer("trace", 0, nullptr, nullptr), -1);
    expect_error("FTrace_init_disk_writer", "");
    EXPECT_STREQ(FTrace_last_error().text, "another tracer call is in progress");
    EXPECT_FALSE(m_fixture.tracer().lock.try_take()) << "it is still the other's";
    m_fixture.tracer().lock.release();
    EXPECT_EQ(FTrace_enable(), -1);
    EXPECT_STREQ(FTrace_last_error().text, "no chunk is selected");
    m_fixture.tracer().sinks = nullptr;
}

TEST_F(FTrace, SendWithoutASinkFails) {
    const int number = create(4, FTRACE_CHUNK_FLAG_FREE);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 0);
    ASSERT_EQ(FTrace_disable(), 0);
    EXPECT_EQ(FTrace_send_chunk(number, 0, FTRACE_CHUNK_FLAG_FREE), -1);
    EXPECT_EQ(FTrace_OSD_init_udp(1, "192.168.1.10", "192.168.1.1"), -1);
    EXPECT_EQ(FTrace_OSD_init_udp(1, nullptr, "192.168.1.1"), -1);
    expect_error("FTrace_OSD_init_udp", "l_ip");
    EXPECT_EQ(FTrace_init_disk_writer("", 0, nullptr, nullptr), -1);
    expect_error("FTrace_init_disk_writer", "fname");
}

TEST_F(FTrace, AChunkMayBeWrittenCompactlyFromTheStart) {
    constexpr FTrace_flags kCompact = FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_COMPR;
    EXPECT_EQ(create(128, kCompact | FTRACE_CHUNK_FLAG_CYC), -1);
    expect_error("FTrace_chunk_create", "flags");
    EXPECT_EQ(create(16, kCompact | FTRACE_CHUNK_FLAG_STOP), -1); // not even one long event
    expect_error("FTrace_chunk_create", "normal_size");
    const int number = create(128, kCompact | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_GE(number, 0);
    EXPECT_EQ(flags_of(number), kCompact | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    EXPECT_EQ(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_ipoint, FTRACE_ANY, FTRACE_ANY, 1), -1);
    std::uint32_t logged = 0;
    while ((flags_of(number) & FTRACE_CHUNK_FLAG_FULL) == 0) {
        TRACER_LOGEVENT(FTrace_EVT_task_schedule, 1, logged++);
    }
    FTrace_disable();
    const tracer::Totals totals = m_fixture.tracer().control.totals();
    EXPECT_GT(totals.committed, 128U); // more than records would fit
    EXPECT_EQ(totals.committed + totals.dropped, logged);
    EXPECT_EQ(FTrace_set_chunk_flags(number, FTRACE_CHUNK_FLAG_CYC | FTRACE_CHUNK_FLAG_COMPR), -1);
    EXPECT_EQ(FTrace_compress_chunk(number, 0), -1); // it is compact already
    EXPECT_EQ(FTrace_set_chunk_flags(number, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP), 0);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0); // and it starts empty
    ASSERT_EQ(FTrace_enable(), 0);
    TRACER_LOGEVENT(FTrace_EVT_task_schedule, 1, 1);
    EXPECT_EQ(tracer::ChunkStore::contents(chunk(number)).events(), 3U); // blackout_end, trace_start, and the event
}

// A mode of 0 is CYC, which is invalid for a chunk that is written compactly: reported immediately, not after sending.
TEST_F(FTrace, SendRefusesToMakeACompactChunkCyclic) {
    const int number = create(128, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_COMPR | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_GE(number, 0);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    ASSERT_EQ(FTrace_enable(), 0);
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 1);
    FTrace_disable();
    EXPECT_EQ(FTrace_send_chunk(number, 0, FTRACE_CHUNK_FLAG_FREE), -1);
    EXPECT_EQ(FTrace_send_chunk(number, 0, 0), -1);
    EXPECT_EQ(flags_of(number), FTRACE_CHUNK_FLAG_COMPR | FTRACE_CHUNK_FLAG_STOP); // nothing changed
}

TEST_F(FTrace, AnEmptyCompactChunkIsNothingToExport) {
    ASSERT_EQ(FTrace_set_compact_layout(FTRACE_LAYOUT_96), 0);
    const int number = create(128, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_COMPR | FTRACE_CHUNK_FLAG_STOP);
    ASSERT_GE(number, 0);
    EXPECT_EQ(flags_of(number) & FTRACE_CHUNK_FLAG_FULL, 0);
    ASSERT_EQ(FTrace_actual_chunk_select(number), 0);
    m_fixture.tracer().exporter.begin_exit();
    EXPECT_EQ(m_fixture.tracer().exporter.export_unsent(), 0U);
}

} // namespace ftrace_test
