// SPDX-License-Identifier: MIT
// Tests what the exporter owes its sinks: whole headers and totals, the order of requests, what a failed sink loses,
// and what it reports.
#include "tests/support/tracer/exporting.hpp"

#include <gmock/gmock.h>

namespace exporter_sinks_test {

using tests::Bytes;
using tests::FakeSink;
using tests::payload_at;
using tests::payload_bytes;
using tests::places_of;
using tracer::Chunk;
using tracer::ChunkBegin;
using tracer::ExportEnd;
using tracer::SinkTime;
using tracer::StepResult;

// As it is written: two are equal if all of their fields are.
template <typename Payload>
Bytes encoded(const Payload& payload) {
    Bytes bytes(512);
    const auto size = tracer::encode_payload(payload, bytes);
    EXPECT_TRUE(size.ok());
    bytes.resize(size.value());
    return bytes;
}

class ExporterSinks : public tests::Exporting {
  protected:
    // Of the image's first event.
    static Bytes header_of(const Bytes& image) {
        Bytes payload = payload_bytes(tests::records_in(image), 0);
        payload.resize(lib::load_le<std::uint16_t>(payload));
        return payload;
    }

    // There is no chunk to close.
    void refuse_one() {
        m_fixture.expect_miscounts();
        EXPECT_EQ(m_fixture.tracer().control.close_active().error(), lib::Error::refused);
    }

    // The last record's number, of each image.
    static std::vector<std::uint32_t> last_of(const FakeSink& sink) {
        std::vector<std::uint32_t> last;
        for (const Bytes& image : sink.chunks) {
            last.push_back(tests::records_in(image).back().par2);
        }
        return last;
    }

    FakeSink m_stream;
    FakeSink m_files;
};

TEST_F(ExporterSinks, StatesEverythingAboutAChunkInItsHeader) {
    exporter().configure({.tsc_khz = 2'500'000,
                          .tsc_source = tracer::TscSource::hpet,
                          .tsc_error_ppm = 12,
                          .clock_mode = tracer::ClockMode::icount,
                          .boot_id = 99});
    m_fixture.tracer().cpu.cpu = 3;
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    Chunk& chunk = filled(4, 10, tracer::kFlagCyclic);
    refuse_one();
    refuse_one();
    ASSERT_TRUE(exporter().request(chunk, 0).ok());
    refuse_one(); // too late to be counted
    m_fixture.names().add_name(tracer::NameKind::mutex, 9, "door");
    drain();
    const auto records = tests::records_in(m_stream.chunks.at(0));
    const auto found = payload_at<ChunkBegin>(records, 0);
    ChunkBegin expected;
    expected.chunk = chunk.number;
    expected.cpu = 3;
    expected.mode = tracer::kFlagCyclic;
    expected.clock_mode = tracer::ClockMode::icount;
    expected.generation = 0;
    expected.preamble_slots = static_cast<std::uint32_t>(records.size() - 3);
    expected.records = 3;
    expected.tsc_khz = 2'500'000;
    expected.tsc_source = tracer::TscSource::hpet;
    expected.checksum = tracer::ChunkChecksum::crc32c;
    expected.tsc_error_ppm = 12;
    expected.refused = 2;
    expected.overwritten = 7;
    expected.boot_id = 99;
    expected.events = 3;
    expected.crc32c = found.crc32c; // another test
    EXPECT_EQ(header_of(m_stream.chunks[0]), encoded(expected));
    EXPECT_TRUE(places_of(records, tracer::event_code("mutex_name")).empty()) << "named after the request";
    const auto clock = places_of(records, tracer::event_code("cycles_per_msec"));
    ASSERT_EQ(clock.size(), 1U);
    EXPECT_EQ(records[clock[0]].par1, 0U);
    EXPECT_EQ(records[clock[0]].par2, 2'500'000U);
    EXPECT_EQ(records[expected.preamble_slots - 1].par1, 0U);
}

TEST_F(ExporterSinks, ListsTheNamesOfTheirKinds) {
    using tracer::NameKind;
    const std::vector<std::pair<NameKind, std::uint8_t>> kinds{
        {NameKind::interrupt, tracer::event_code("interrupt_name")},
        {NameKind::mutex, tracer::event_code("mutex_name")},
        {NameKind::semaphore, tracer::event_code("semaphore_name")},
        {NameKind::server, tracer::event_code("server_name")},
        {NameKind::level, tracer::event_code("level_name")},
        {NameKind::condition, tracer::event_code("condition_name")},
        {NameKind::port, tracer::event_code("port_name")}};
    m_fixture.names().add_task(3, 11, "producer", {});
    for (const auto& [kind, code] : kinds) {
        m_fixture.names().add_name(kind, code, "x");
    }
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    drain();
    const auto records = tests::records_in(m_stream.chunks.at(0));
    for (const auto& [kind, code] : kinds) {
        const auto places = places_of(records, code);
        ASSERT_EQ(places.size(), 1U) << int{code};
        EXPECT_EQ(payload_at<tracer::NameOf>(records, places[0]), (tracer::NameOf{code, std::string_view("x")}));
    }
    const auto id = places_of(records, tracer::event_code("id"));
    ASSERT_EQ(id.size(), 1U);
    EXPECT_EQ(records[id[0]].par1, 3U);
    EXPECT_EQ(records[id[0]].par2, 11U);
}

// A text that may not fit is left out: names and declarations come first.
TEST_F(ExporterSinks, PutsAsManyFormatsIntoThePreambleAsThereIsRoomFor) {
    constexpr std::size_t kSlots = 43; // of the longest text: 248 characters, number and length
    std::string texts;
    for (int i = 0; i < 1'000; ++i) {
        texts += std::string(248, 'x') + '\0';
    }
    exporter().configure({.tsc_khz = 1'000'000, .formats = texts});
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    drain();
    const auto records = tests::records_in(m_stream.chunks.at(0));
    const std::size_t slots = payload_at<ChunkBegin>(records, 0).preamble_slots;
    const std::size_t found = places_of(records, tracer::event_code("format_text")).size();
    const std::size_t others = slots - 1 - found * kSlots;
    std::size_t expected = 0;
    constexpr std::size_t kBytes =
        tracer::Exporter::preamble_bytes(tracer::black_box::Sizes{}.names, tracer::black_box::Sizes{}.declarations);
    while (kBytes / tracer::kRecordBytes - others - expected * kSlots > tracer::kCombineSlotsMax) {
        ++expected;
    }
    EXPECT_EQ(found, expected);
    ASSERT_GT(found, 0U);
}

TEST_F(ExporterSinks, StatesTheTotalsAtTheEndToEverySinkInItsTime) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
    ASSERT_TRUE(exporter().request(filled(4, 10, tracer::kFlagCyclic), 0).ok());
    ASSERT_TRUE(exporter().request(filled(2, 5), 0).ok());
    refuse_one();
    drain();
    EXPECT_FALSE(m_stream.end.has_value()) << "there may be more";
    exporter().finish(tracer::RunResult::failed);
    drain();
    const tracer::Totals totals = m_fixture.tracer().control.totals();
    const ExportEnd expected{.chunks = 2,
                             .result = tracer::RunResult::failed,
                             .records = payload_at<ChunkBegin>(tests::records_in(m_stream.chunks.at(0)), 0).records +
                                        payload_at<ChunkBegin>(tests::records_in(m_stream.chunks.at(1)), 0).records,
                             .dropped = totals.dropped,
                             .refused = 1,
                             .overwritten = 7,
                             .committed = totals.committed,
                             .tracer_made = totals.tracer_made};
    ASSERT_GT(expected.dropped, 0U);
    ASSERT_GT(expected.tracer_made, 0U);
    ASSERT_TRUE(m_stream.end.has_value());
    EXPECT_EQ(encoded(*m_stream.end), encoded(expected));
    EXPECT_FALSE(m_files.end.has_value()) << "not before the exit";
    EXPECT_TRUE(exporter().report(0).finished);
    EXPECT_FALSE(exporter().report(1).finished);
    exporter().begin_exit();
    drain();
    ASSERT_TRUE(m_files.end.has_value());
    EXPECT_EQ(encoded(*m_files.end), encoded(expected));
    EXPECT_TRUE(exporter().report(1).finished);
}

TEST_F(ExporterSinks, ReportsWhatEachSinkHasCarried) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
    ASSERT_TRUE(exporter().request(filled(8, 3), 0).ok());
    ASSERT_TRUE(exporter().request(filled(8, 2), 0).ok());
    drain();
    EXPECT_EQ(exporter().report(0).sink, &m_stream);
    EXPECT_EQ(exporter().report(0).chunks, 2U);
    EXPECT_EQ(exporter().report(0).records, 5U);
    EXPECT_EQ(exporter().report(0).events, 5U);
    EXPECT_EQ(exporter().report(0).chunks_lost, 0U);
    EXPECT_FALSE(exporter().report(0).failed);
    EXPECT_EQ(exporter().report(1).sink, &m_files);
    EXPECT_EQ(exporter().report(1).chunks, 0U);
}

TEST_F(ExporterSinks, HasTwoPlaces) {
    FakeSink third;
    EXPECT_EQ(exporter().report(0).sink, nullptr);
    EXPECT_EQ(exporter().request(filled(4, 1), 0).error(), lib::Error::refused) << "there is no sink";
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    EXPECT_EQ(exporter().report(1).sink, nullptr);
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
    EXPECT_EQ(exporter().attach(third, SinkTime::at_once).error(), lib::Error::no_space);
    EXPECT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
}

TEST_F(ExporterSinks, ServesRequestsInTheirOrder) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    Chunk& first = filled(4, 1);
    Chunk& second = filled(4, 1);
    Chunk& third = filled(4, 1);
    for (Chunk* chunk : {&second, &third, &first}) {
        ASSERT_TRUE(exporter().request(*chunk, 0).ok());
    }
    drain();
    EXPECT_EQ(last_of(m_stream), (std::vector<std::uint32_t>{1, 2, 0}));
}

TEST_F(ExporterSinks, RefusesFlagsThatCannotBeRequested) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    Chunk& chunk = filled(4, 1);
    for (const unsigned flags : {0x0CU, 0x02U, 0x10U, 0x40U, 0x80U, 0x81U}) {
        EXPECT_EQ(exporter().request(chunk, static_cast<tracer::ChunkFlags>(flags)).error(),
                  lib::Error::invalid_argument)
            << flags;
    }
    EXPECT_TRUE(exporter().request(chunk, tracer::kFlagNoDelete | tracer::kFlagStop | tracer::kFlagFree).ok());
}

TEST_F(ExporterSinks, QueuesForDeferredSinksAlone) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    Chunk& chunk = filled(4, 1);
    EXPECT_EQ(exporter().request_deferred(chunk, 0).error(), lib::Error::refused) << "there is none";
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
    ASSERT_TRUE(exporter().request_deferred(chunk, 0).ok());
    exporter().begin_exit();
    drain();
    EXPECT_TRUE(m_stream.chunks.empty());
    EXPECT_EQ(m_files.chunks.size(), 1U);
}

TEST_F(ExporterSinks, SaysWhatBecameOfARequest) {
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    Chunk& chunk = filled(4, 1);
    EXPECT_TRUE(exporter().outcome(chunk).ok()) << "not requested";
    ASSERT_TRUE(exporter().request(chunk, 0).ok());
    EXPECT_EQ(exporter().outcome(chunk).error(), lib::Error::busy);
    drain();
    EXPECT_TRUE(exporter().outcome(chunk).ok()) << "the other one may not work yet";
    exporter().begin_exit();
    EXPECT_EQ(exporter().outcome(chunk).error(), lib::Error::busy);
    m_files.fail_at_chunk = 0;
    drain();
    EXPECT_EQ(exporter().outcome(chunk).error(), lib::Error::io);
    EXPECT_EQ(exporter().report(0).chunks_lost, 1U);
    EXPECT_EQ(exporter().report(1).chunks_lost, 0U);
    ASSERT_TRUE(m_fixture.tracer().store.set_flags(chunk, tracer::kFlagFree | tracer::kFlagStop).ok());
    m_fixture.select_and_enable(chunk);
    EXPECT_TRUE(exporter().outcome(chunk).ok()) << "that was about earlier contents";
    m_fixture.tracer().control.disable();
}

TEST_F(ExporterSinks, LosesWhatASinkDoesNotTake) {
    m_stream.takes = lib::Error::unreachable;
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::at_once).ok());
    Chunk& first = filled(4, 1);
    Chunk& second = filled(4, 1);
    ASSERT_TRUE(exporter().request(first, tracer::kFlagFree).ok());
    ASSERT_TRUE(exporter().request(second, tracer::kFlagFree).ok());
    drain();
    EXPECT_EQ(exporter().report(0).error, lib::Error::unreachable);
    EXPECT_EQ(exporter().report(0).chunks_lost, 2U);
    EXPECT_FALSE(exporter().report(0).finished);
    EXPECT_EQ(exporter().report(1).chunks, 2U);
    EXPECT_EQ(last_of(m_files), (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(m_fixture.tracer().store.flags(first) & tracer::kFlagFree, 0) << "not to be overwritten";
}

TEST_F(ExporterSinks, ASinkThatDoesNotTakeTheTotalsHasFailed) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::at_once).ok());
    m_stream.takes = lib::Error::io;
    exporter().finish(tracer::RunResult::completed);
    drain();
    EXPECT_TRUE(exporter().report(0).failed);
    EXPECT_EQ(exporter().report(0).error, lib::Error::io);
    EXPECT_FALSE(exporter().report(0).finished);
    EXPECT_TRUE(exporter().report(1).finished);
}

// Whoever watches the end of a run names the sink that does not move.
TEST_F(ExporterSinks, SaysWhichSinkIsAtWorkAndCanGiveItUp) {
    FakeSink slow(1'000'000);
    slow.called = "slow";
    m_files.called = "files";
    ASSERT_TRUE(exporter().attach(slow, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::at_once).ok());
    Chunk& first = filled(4, 1);
    Chunk& second = filled(4, 1);
    EXPECT_EQ(exporter().at_work(), "");
    ASSERT_TRUE(exporter().request(first, 0).ok());
    ASSERT_TRUE(exporter().request(second, 0).ok());
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(exporter().step(), StepResult::more);
    }
    EXPECT_EQ(exporter().at_work(), "slow");
    exporter().begin_exit();
    exporter().give_up("another", lib::Error::corrupt);
    EXPECT_EQ(exporter().at_work(), "slow");
    exporter().give_up("slow", lib::Error::timeout);
    exporter().give_up("slow", lib::Error::io);
    EXPECT_EQ(exporter().at_work(), "");
    EXPECT_EQ(exporter().report(0).error, lib::Error::timeout) << "its first error";
    EXPECT_EQ(exporter().report(0).chunks_lost, 2U);
    EXPECT_FALSE(exporter().report(1).failed);
    drain();
    EXPECT_EQ(m_files.chunks.size(), 2U);
    EXPECT_EQ(exporter().at_work(), "");
}

// The same at the end: a sink that takes the totals and never ends.
TEST_F(ExporterSinks, SaysThatASinkIsAtWorkOnTheTotals) {
    std::string_view seen;
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    m_stream.on_step = [&] { seen = exporter().at_work(); };
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    drain();
    EXPECT_EQ(seen, "fake");
    EXPECT_EQ(exporter().at_work(), "");
}

// Whatever has records leaves, and stays in memory as it is.
TEST_F(ExporterSinks, ExportsWhatWasNotRequested) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    filled(4, 0);
    m_fixture.chunk(4, 4, tracer::kFlagStop); // never used
    Chunk& sent = filled(4, 1);
    ASSERT_TRUE(exporter().request(sent, 0).ok());
    drain();
    Chunk& queued = filled(4, 1);
    ASSERT_TRUE(exporter().request(queued, 0).ok());
    Chunk& first = filled(4, 1);
    Chunk& second = filled(4, 1, tracer::kFlagCyclic);
    ASSERT_TRUE(m_fixture.tracer().store.set_flags(first, tracer::kFlagFree | tracer::kFlagStop).ok());
    exporter().begin_exit();
    EXPECT_EQ(exporter().export_unsent(), 2U);
    drain();
    EXPECT_EQ(last_of(m_stream), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(m_fixture.tracer().store.flags(first) & tracer::kFlagFree, 0);
    EXPECT_EQ(m_fixture.tracer().store.flags(second) & tracer::kModeMask, tracer::kFlagCyclic);
}

TEST_F(ExporterSinks, CountsAQueuedChunkForASinkThatIsNew) {
    ASSERT_TRUE(exporter().attach(m_files, SinkTime::after_exit).ok());
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    EXPECT_EQ(exporter().export_unsent(), 0U);
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    EXPECT_EQ(exporter().export_unsent(), 1U);
    EXPECT_EQ(exporter().export_unsent(), 0U);
}

// A step that finds the lock taken does the same work later, and nothing twice.
TEST_F(ExporterSinks, ContinuesWhenTheLockIsFreeAgain) {
    ASSERT_TRUE(exporter().attach(m_stream, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(filled(8, 3), 0).ok());
    auto& lock = m_fixture.tracer().lock;
    for (int i = 0; i < 100 && exporter().report(0).chunks == 0; ++i) {
        ASSERT_TRUE(lock.try_take());
        EXPECT_EQ(exporter().step(), StepResult::more);
        lock.release();
        EXPECT_EQ(exporter().step(), StepResult::more);
        EXPECT_FALSE(lock.taken());
    }
    EXPECT_EQ(m_stream.chunks.size(), 1U);
    EXPECT_EQ(exporter().report(0).chunks, 1U);
    EXPECT_EQ(exporter().report(0).records, 3U);
    EXPECT_EQ(exporter().step(), StepResult::idle);
}

TEST_F(ExporterSinks, RecordsNothingAfterTheExit) {
    Chunk& chunk = m_fixture.chunk(8, 0, tracer::kFlagStop);
    m_fixture.select_and_enable(chunk);
    exporter().begin_exit();
    EXPECT_FALSE(m_fixture.tracer().control.enabled());
    tracer::log<"ipoint">(1, 2);
    EXPECT_TRUE(tests::main_records(chunk).empty());
}

} // namespace exporter_sinks_test
