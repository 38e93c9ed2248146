// SPDX-License-Identifier: MIT
// Tests the exported images: in order and complete, each chunk once per sink, the same bytes for both, for any
// interleaving of steps.
#include "tracer/export/exporter.hpp"

#include "lib/crc32c.hpp"
#include "tests/support/tracer/exporting.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>
#include <string>
#include <utility>

namespace exporter_test {

using tests::Bytes;
using tests::FakeSink;
using tests::payload_at;
using tests::payload_bytes;
using tests::places_of;
using tests::TracerFixture;
using tracer::Chunk;
using tracer::ChunkBegin;
using tracer::Exporter;
using tracer::Record;
using tracer::SinkTime;
using tracer::StepResult;

class ExporterTest : public tests::Exporting {};

TEST_F(ExporterTest, PutsThePreambleInFrontOfTheRecords) {
    FakeSink sink;
    tracer::Setup setup{.tsc_khz = 2'500'000, .tsc_source = tracer::TscSource::hpet, .tsc_error_ppm = 12};
    setup.clock_mode = tracer::ClockMode::icount;
    setup.boot_id = 0x0123'4567'89AB'CDEF;
    setup.build.kernel = std::string_view("1.0");
    setup.build.application = std::string_view("control");
    setup.cost = {.enabled_ticks_x256 = 4608, .filtered_ticks_x256 = 512, .disabled_ticks_x256 = 511, .rounds = 16};
    exporter().configure(setup);
    tracer::TaskParameters parameters;
    parameters.wcet_ns = 5;
    m_fixture.names().add_task(3, 1, "producer", parameters);
    m_fixture.names().add_name(tracer::NameKind::mutex, 9, "door");
    Chunk& chunk = filled(8, 3);
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(chunk, tracer::kFlagFree).ok());
    drain();
    ASSERT_EQ(sink.chunks.size(), 1U);
    const auto records = tests::records_in(sink.chunks[0]);
    const auto begin = payload_at<ChunkBegin>(records, 0);
    EXPECT_EQ(begin.chunk, chunk.number);
    EXPECT_EQ(begin.mode, tracer::kFlagStop);
    EXPECT_EQ(begin.records, 3U);
    EXPECT_EQ(begin.preamble_slots + 3, records.size());
    EXPECT_EQ(begin.tsc_khz, 2'500'000U);
    EXPECT_EQ(begin.boot_id, setup.boot_id);
    EXPECT_EQ(begin.clock_mode, tracer::ClockMode::icount);
    EXPECT_EQ(records[begin.preamble_slots - 1].code, FTrace_EVT_numevents);
    EXPECT_EQ(records[begin.preamble_slots - 1].par2, 3U);
    const auto build = places_of(records, tracer::event_code("build"));
    ASSERT_EQ(build.size(), 1U);
    EXPECT_EQ(payload_at<tracer::Build>(records, build[0]).application, tracer::Name(std::string_view("control")));
    const auto cost = places_of(records, tracer::event_code("trace_cost"));
    ASSERT_EQ(cost.size(), 1U);
    EXPECT_EQ(payload_at<tracer::TraceCost>(records, cost[0]), setup.cost);
    const auto task = places_of(records, tracer::event_code("task_name"));
    ASSERT_EQ(task.size(), 1U);
    EXPECT_EQ(payload_at<tracer::NameOf>(records, task[0]), (tracer::NameOf{3, std::string_view("producer")}));
    const auto listed = places_of(records, tracer::event_code("task_parameters"));
    ASSERT_EQ(listed.size(), 1U);
    parameters.context = 3;
    EXPECT_EQ(payload_at<tracer::TaskParameters>(records, listed[0]), parameters);
    EXPECT_EQ(places_of(records, tracer::event_code("mutex_name")).size(), 1U);
    for (std::size_t i = 0; i < records.size(); ++i) {
        EXPECT_FALSE(records[i].empty());
        const bool simple = records[i].combine() == tracer::Combine::simple;
        EXPECT_TRUE(i >= begin.preamble_slots || !simple ||
                    records[i].stamp() == records[begin.preamble_slots].stamp());
    }
    // Neighbours of one kind differ in their stamps, so that two events are not joined if those between them are lost.
    EXPECT_NE(records[task[0]].stamp(), records[listed[0]].stamp());
}

// CRC-32C of the image with the four bytes of the checksum as zeros: bytes 82 to 85 of the header's payload, which are
// the last two of slot 13 and the first two after the code of slot 14, 16 bytes each.
std::uint32_t checksum_of(std::vector<std::byte> image) {
    for (const std::size_t at : {222U, 223U, 226U, 227U}) {
        image[at] = std::byte{0};
    }
    return lib::crc32c(image);
}

TEST_F(ExporterTest, SealsAChunkWithAChecksumInBoundedStepsAndEverySinkGetsTheSameBytes) {
    FakeSink first;
    FakeSink second;
    ASSERT_TRUE(exporter().attach(first, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().attach(second, SinkTime::after_exit).ok());
    constexpr std::size_t kRecords = 3 * tracer::Exporter::kSealBytesPerStep / tracer::kRecordBytes;
    ASSERT_TRUE(exporter().request(filled(kRecords, kRecords), 0).ok());
    for (int step = 0; step < 3; ++step) {
        ASSERT_EQ(exporter().step(), tracer::StepResult::more);
        ASSERT_TRUE(first.chunks.empty() && first.state() == tracer::SinkState::idle) << "sealing, step " << step;
    }
    drain();
    exporter().begin_exit();
    drain();
    ASSERT_EQ(first.chunks.size(), 1U);
    const auto begin = payload_at<ChunkBegin>(tests::records_in(first.chunks[0]), 0);
    EXPECT_EQ(begin.checksum, tracer::ChunkChecksum::crc32c);
    EXPECT_EQ(begin.crc32c, checksum_of(first.chunks[0]));
    EXPECT_EQ(second.chunks, first.chunks);
}

TEST_F(ExporterTest, AnInterruptedSealBeginsAgainAtTheExit) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    constexpr std::size_t kRecords = 2 * tracer::Exporter::kSealBytesPerStep / tracer::kRecordBytes;
    ASSERT_TRUE(exporter().request(filled(kRecords, kRecords), 0).ok());
    ASSERT_EQ(exporter().step(), tracer::StepResult::more);
    exporter().begin_exit();
    drain();
    ASSERT_EQ(sink.chunks.size(), 1U);
    EXPECT_EQ(payload_at<ChunkBegin>(tests::records_in(sink.chunks[0]), 0).crc32c, checksum_of(sink.chunks[0]));
}

TEST_F(ExporterTest, PutsTheTextsOfFormatsIntoThePreamble) {
    FakeSink sink;
    const std::string texts = std::string("\0one %d\0\0\0", 10) + std::string(249, 'x') + std::string("\0two\0", 5);
    exporter().configure({.tsc_khz = 1'000'000, .formats = texts});
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(filled(8, 3), tracer::kFlagFree).ok());
    drain();
    const auto records = tests::records_in(sink.chunks.at(0));
    const auto number = [&](std::size_t offset) {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(texts.data() + offset));
    };
    std::vector<std::pair<std::uint32_t, std::string>> found;
    for (const std::size_t place : places_of(records, tracer::event_code("format_text"))) {
        const Bytes payload = payload_bytes(records, place);
        const auto format = tracer::decode_payload<tracer::FormatText>(payload);
        found.emplace_back(format.value().id, format.value().text);
    }
    using Row = std::pair<std::uint32_t, std::string>;
    EXPECT_THAT(found, testing::ElementsAre(Row(number(1), "one %d"), Row(number(10 + 250), "two")))
        << "the one of 249 characters is in the image alone";
    EXPECT_EQ(records.size(), payload_at<ChunkBegin>(records, 0).preamble_slots + 3U);
}

TEST_F(ExporterTest, PutsACyclicChunkIntoTimeOrderAndTheEmergencyAreaLast) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(filled(4, 10, tracer::kFlagCyclic), 0).ok());
    Chunk& stop = m_fixture.chunk(2, 3, tracer::kFlagStop);
    m_fixture.select_and_enable(stop);
    tracer::log<"ipoint">(1, 100);
    tracer::log<"ipoint">(1, 101);
    tracer::log<"ipoint">(1, 102);
    tracer::log<"panic">(1, 103);
    m_fixture.tracer().control.disable();
    ASSERT_TRUE(exporter().request(stop, 0).ok());
    drain();
    ASSERT_EQ(sink.chunks.size(), 2U);
    const auto cyclic = tests::records_in(sink.chunks[0]);
    const auto begin = payload_at<ChunkBegin>(cyclic, 0);
    EXPECT_TRUE(places_of(cyclic, tracer::event_code("trace_cost")).empty()) << "not measured";
    EXPECT_EQ(begin.overwritten, 7U);
    ASSERT_EQ(begin.records, 3U);
    EXPECT_EQ(cyclic[begin.preamble_slots].par2, 7U);
    EXPECT_EQ(cyclic.back().par2, 9U);
    const auto stopped = tests::records_in(sink.chunks[1]);
    EXPECT_EQ(stopped.back().par2, 103U);
    EXPECT_EQ(stopped[stopped.size() - 2].code, FTrace_EVT_blackout_start);
    EXPECT_EQ(payload_at<ChunkBegin>(stopped, 0).dropped, 1U);
}

TEST_F(ExporterTest, TheLongestPreambleFits) {
    FakeSink sink;
    const std::string longest(tracer::kNameBytesMax + 1, 'x');
    tracer::Setup setup{.tsc_khz = 1'000'000};
    for (tracer::Name* name : {&setup.build.kernel, &setup.build.compiler, &setup.build.application}) {
        *name = std::string_view(longest);
    }
    setup.cost.rounds = 1;
    exporter().configure(setup);
    for (std::uint16_t i = 0; i < tracer::black_box::Sizes{}.names + 1; ++i) {
        m_fixture.names().add_task(i, i, longest, {});
    }
    EXPECT_EQ(m_fixture.names().lost(), 1U);
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter().request(filled(4, 1), 0).ok());
    drain();
    const auto records = tests::records_in(sink.chunks.at(0));
    constexpr std::size_t kBytes =
        Exporter::preamble_bytes(tracer::black_box::Sizes{}.names, 0); // nothing is declared here
    EXPECT_EQ(records.size(), kBytes / tracer::kRecordBytes + 1);
    EXPECT_EQ(payload_at<tracer::NameOf>(records, 15 + 34 + 3 + 1 + 1).name.view().back(), '~');
}

TEST_F(ExporterTest, GivesBothSinksTheSameBytesOnceInAnyInterleaving) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        std::mt19937 random(seed);
        TracerFixture fixture;
        Exporter& exporter = fixture.tracer().exporter;
        FakeSink stream(1 + static_cast<int>(random() % 4));
        FakeSink files(1 + static_cast<int>(random() % 4));
        ASSERT_TRUE(exporter.attach(stream, SinkTime::at_once).ok());
        const bool late = random() % 2 == 0; // the second sink is attached after chunks were sent
        if (!late) {
            ASSERT_TRUE(exporter.attach(files, SinkTime::after_exit).ok());
        }
        std::uint64_t logged = 0;
        std::vector<Chunk*> chunks;
        for (std::uint16_t i = 0; i < 6; ++i) {
            chunks.push_back(&fixture.chunk(8, 1, tracer::kFlagStop));
            fixture.select_and_enable(*chunks.back());
            fixture.names().add_name(tracer::NameKind::server, i, "s"); // the list of names grows meanwhile
            for (auto n = 1 + static_cast<std::uint32_t>(random() % 12); n > 0; --n) {
                tracer::log<"ipoint">(i, n);
                ++logged;
            }
            fixture.tracer().control.disable();
            if (random() % 3 != 0) {
                ASSERT_TRUE(exporter.request(*chunks.back(), tracer::kFlagStop).ok());
            }
            for (auto n = random() % 9; n > 0; --n) {
                static_cast<void>(exporter.step());
            }
        }
        if (late) {
            ASSERT_TRUE(exporter.attach(files, SinkTime::after_exit).ok());
        }
        exporter.begin_exit();
        exporter.export_unsent();
        exporter.finish(tracer::RunResult::completed);
        for (int i = 0; i < 1000 && exporter.step() == StepResult::more; ++i) {
            if (late) {
                exporter.export_unsent(); // chunks that the stream was still carrying when the files were attached
            }
        }
        ASSERT_EQ(exporter.step(), StepResult::idle);
        const auto by_content = [](const Bytes& a, const Bytes& b) {
            return std::ranges::lexicographical_compare(a, b);
        };
        std::ranges::sort(stream.chunks, by_content);
        std::ranges::sort(files.chunks, by_content);
        ASSERT_EQ(stream.chunks.size(), 6U) << "seed " << seed;
        ASSERT_EQ(stream.chunks, files.chunks) << "seed " << seed;
        ASSERT_TRUE(stream.end && files.end);
        EXPECT_EQ(stream.end->records, files.end->records);
        const tracer::Totals totals = fixture.tracer().control.totals();
        EXPECT_EQ(stream.end->records, totals.committed + totals.tracer_made);
        EXPECT_EQ(stream.end->records + totals.dropped, logged + totals.tracer_made);
        for (const Chunk* chunk : chunks) {
            EXPECT_FALSE(chunk->busy);
        }
    }
}

TEST_F(ExporterTest, HoldsAChunkBusyUntilTheDeferredSinkHasIt) {
    FakeSink files;
    ASSERT_TRUE(exporter().attach(files, SinkTime::after_exit).ok());
    Chunk& chunk = filled(4, 2);
    ASSERT_TRUE(exporter().request(chunk, tracer::kFlagFree | tracer::kFlagJumpToNext).ok());
    EXPECT_TRUE(exporter().outcome(chunk).ok());
    drain();
    EXPECT_TRUE(files.chunks.empty());
    EXPECT_NE(m_fixture.tracer().store.flags(chunk) & tracer::kFlagBusy, 0);
    EXPECT_EQ(exporter().request(chunk, 0).error(), lib::Error::busy);
    EXPECT_EQ(m_fixture.tracer().store.remove(chunk).error(), lib::Error::busy);
    exporter().begin_exit();
    drain();
    EXPECT_EQ(files.chunks.size(), 1U);
    EXPECT_EQ(m_fixture.tracer().store.flags(chunk), tracer::kFlagFree | tracer::kFlagJumpToNext);
}

TEST_F(ExporterTest, AFreeChunkOnItsWayIsNotStartedAnew) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    Chunk& chunk = filled(8, 3);
    ASSERT_TRUE(m_fixture.tracer().store.set_flags(chunk, tracer::kFlagFree | tracer::kFlagStop).ok());
    ASSERT_TRUE(exporter().request(chunk, tracer::kFlagFree).ok());
    EXPECT_EQ(m_fixture.tracer().store.start(chunk).error(), lib::Error::busy);
    EXPECT_FALSE(m_fixture.tracer().store.first_with(tracer::kFlagFree).ok()) << "it cannot be started yet";
    drain();
    EXPECT_EQ(m_fixture.tracer().store.first_with(tracer::kFlagFree).value(), &chunk);
    EXPECT_EQ(tests::records_in(sink.chunks.at(0)).back().par2, 2U) << "what was recorded has left";
    EXPECT_TRUE(m_fixture.tracer().store.start(chunk).ok());
}

TEST_F(ExporterTest, KeepsWhatAFailedSinkDidNotCarry) {
    FakeSink sink;
    sink.fail_at_chunk = 1;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    Chunk& first = filled(4, 2);
    Chunk& second = filled(4, 2);
    Chunk& third = filled(4, 2);
    for (Chunk* chunk : {&first, &second, &third}) {
        ASSERT_TRUE(exporter().request(*chunk, tracer::kFlagFree).ok());
    }
    exporter().finish(tracer::RunResult::completed);
    drain();
    EXPECT_EQ(m_fixture.tracer().store.flags(first), tracer::kFlagFree);
    EXPECT_EQ(m_fixture.tracer().store.flags(second), tracer::kFlagFull); // closed, and not to be overwritten
    EXPECT_EQ(exporter().outcome(second).error(), lib::Error::io);
    EXPECT_EQ(exporter().outcome(third).error(), lib::Error::io);
    EXPECT_EQ(exporter().report(0).chunks, 1U);
    EXPECT_EQ(exporter().report(0).chunks_lost, 2U);
    EXPECT_TRUE(exporter().report(0).failed);
    EXPECT_FALSE(sink.end.has_value());
    EXPECT_EQ(exporter().request(second, 0).error(), lib::Error::refused); // no sink is left
}

TEST_F(ExporterTest, RefusesWhatIsBeingRecordedOrWasSent) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    Chunk& chunk = m_fixture.chunk(4, 0, tracer::kFlagCyclic);
    m_fixture.select_and_enable(chunk);
    tracer::log<"ipoint">(1, 2);
    EXPECT_EQ(exporter().request(chunk, 0).error(), lib::Error::busy);
    tracer::log<"ipoint">(1, 3); // and it still records
    EXPECT_EQ(tests::main_records(chunk).size(), 2U);
    m_fixture.tracer().control.disable();
    EXPECT_EQ(exporter().request(chunk, 0x0C).error(), lib::Error::invalid_argument);
    ASSERT_TRUE(exporter().request(chunk, tracer::kFlagFree).ok());
    drain();
    EXPECT_EQ(exporter().request(chunk, 0).error(), lib::Error::refused);
    EXPECT_EQ(m_fixture.tracer().control.enable().error(), lib::Error::refused); // it is no longer selected
    ASSERT_TRUE(m_fixture.tracer().control.select(chunk).ok());                  // new contents
    ASSERT_TRUE(m_fixture.tracer().control.enable().ok());
    tracer::log<"ipoint">(1, 4);
    exporter().begin_exit();
    EXPECT_EQ(exporter().export_unsent(), 1U);
    EXPECT_EQ(exporter().export_unsent(), 0U);
    drain();
    ASSERT_EQ(sink.chunks.size(), 2U);
    EXPECT_EQ(payload_at<ChunkBegin>(tests::records_in(sink.chunks[1]), 0).generation, 1U);
}

TEST_F(ExporterTest, ASinkThatHasFinishedGetsNoChunk) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    exporter().finish({});
    drain();
    ASSERT_TRUE(sink.end.has_value());
    EXPECT_EQ(exporter().request(filled(4, 2), 0).error(), lib::Error::refused);
    EXPECT_EQ(exporter().export_unsent(), 0U);
    drain();
    EXPECT_TRUE(sink.chunks.empty());
}

TEST_F(ExporterTest, CountsWhatAReusedChunkHasLostUnsent) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    Chunk& chunk = filled(8, 3);
    ASSERT_TRUE(exporter().request(chunk, tracer::kFlagFree).ok());
    drain();
    const auto reuse = [&](std::uint32_t records) {
        m_fixture.select_and_enable(chunk);
        for (std::uint32_t i = 0; i < records; ++i) {
            tracer::log<"ipoint">(1, i);
        }
        m_fixture.tracer().control.disable();
        ASSERT_TRUE(m_fixture.tracer().store.set_flags(chunk, tracer::kFlagFree).ok());
    };
    reuse(2);
    EXPECT_EQ(m_fixture.tracer().control.totals(), (tracer::Totals{.committed = 5})) << "the first three were sent";
    reuse(1);
    EXPECT_EQ(m_fixture.tracer().control.totals(), (tracer::Totals{.committed = 6, .overwritten = 2}));
}

TEST_F(ExporterTest, AnEmptyChunkIsFreeAtOnceAndSendsNothing) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    Chunk& chunk = filled(4, 0);
    ASSERT_TRUE(exporter().request(chunk, tracer::kFlagFree).ok());
    EXPECT_EQ(m_fixture.tracer().store.flags(chunk), tracer::kFlagFree);
    drain();
    EXPECT_TRUE(sink.chunks.empty());
}

TEST_F(ExporterTest, ExportsAtExitThoughTheLockHolderIsGone) {
    FakeSink sink;
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    filled(4, 2);
    ASSERT_TRUE(m_fixture.tracer().lock.try_take());
    EXPECT_EQ(exporter().step(), StepResult::more); // waits its turn, changes nothing
    exporter().begin_exit();
    EXPECT_EQ(exporter().export_unsent(), 1U);
    drain();
    EXPECT_EQ(sink.chunks.size(), 1U);
}

TEST_F(ExporterTest, AStepThatMeetsAnotherOneLeavesTheSinkAlone) {
    FakeSink sink(2);
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    int depth = 0;
    sink.on_step = [&] {
        ASSERT_EQ(depth++, 0);
        EXPECT_EQ(exporter().step(), StepResult::more); // from a task that preempted this one
        --depth;
    };
    ASSERT_TRUE(exporter().request(filled(4, 2), tracer::kFlagFree).ok());
    drain();
    EXPECT_EQ(sink.chunks.size(), 1U);
}

TEST_F(ExporterTest, SendChunkWaitsForTheStream) {
    FakeSink sink(3);
    ASSERT_TRUE(exporter().attach(sink, SinkTime::at_once).ok());
    Chunk& chunk = filled(4, 2);
    EXPECT_EQ(FTrace_send_chunk(chunk.number, 0, FTRACE_CHUNK_FLAG_FREE), 0);
    EXPECT_EQ(sink.chunks.size(), 1U);
    m_fixture.tracer().wait = {[](void*) { return false; }, nullptr};
    EXPECT_EQ(FTrace_send_chunk(filled(4, 2).number, 0, FTRACE_CHUNK_FLAG_FREE), -1);
}

} // namespace exporter_test
