// SPDX-License-Identifier: MIT
// Tests the reader: round trips through the exporter's own encoders. Damaged input: malformed/ and readings_test.cpp.
#include "host/formats/trace.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/trace/names.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <cstring>
#include <gmock/gmock.h>
#include <random>

namespace host::formats::trace_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using testing::HasSubstr;

// What a consumer may keep of an event.
struct Seen {
    std::string name;
    std::uint64_t ticks;
    std::int64_t time_ns;
    std::uint16_t cpu;
    std::uint16_t par1;
    std::uint32_t par2;
    trace::EventState state;
    std::string task;
};

class TraceReading : public testing::Test {
  protected:
    trace::ExitStatus read_path(const std::string& path, const trace::OpenOptions& options = {}) {
        trace::Diagnostics diagnostics([this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        const auto opened = Trace::open(path, options, diagnostics);
        if (!opened) {
            return diagnostics.exit_status(false);
        }
        opened.value()->for_each([&](const trace::Event& event) {
            if (!event.metadata) {
                m_seen.push_back({event.row != nullptr ? std::string(event.row->name) : "unknown", event.ticks.value,
                                  event.time_ns, event.cpu, event.par1, event.par2, event.state,
                                  std::string(event.names->find(tracer::Unit::context, event.par1))});
            }
            m_timed = event.timed;
        });
        diagnostics.finish();
        m_chunks = opened.value()->facts().chunks;
        return diagnostics.exit_status(opened.value()->facts().usable_events != 0);
    }

    trace::ExitStatus read(std::span<const std::byte> bytes) {
        return read_path(m_directory.write("0trace.dat", bytes));
    }

    static ChunkBuilder small() {
        ChunkBuilder chunk(3);
        chunk.name("task", 12, "sensor").name("level", 0, "EDF").build("control", 7);
        chunk.event(1000, "task_dispatch", 12, 0)
            .event(1500, "task_end_cycle", 12, 0)
            .event(2000, "context_switch", 13);
        return chunk;
    }

    TemporaryDirectory m_directory;
    std::string m_lines;
    std::vector<Seen> m_seen;
    std::vector<trace::ChunkReport> m_chunks;
    bool m_timed = false;
};

TEST_F(TraceReading, YieldsWhatTheExporterWroteWithNamesAndTimesFromTheStart) {
    EXPECT_EQ(read(small().bytes()), trace::ExitStatus::clean);
    EXPECT_EQ(m_lines, "");
    ASSERT_EQ(m_seen.size(), 3U);
    EXPECT_EQ(m_seen[0].name, "task_dispatch");
    EXPECT_EQ(m_seen[0].task, "sensor");
    EXPECT_EQ(m_seen[0].time_ns, 0);
    EXPECT_EQ(m_seen[1].time_ns, 500);
    EXPECT_EQ(m_seen[2].task, "");
    ASSERT_EQ(m_chunks.size(), 1U);
    EXPECT_EQ(m_chunks[0].description.chunk, 3);
    EXPECT_EQ(m_chunks[0].records, 3U);
}

// An application may log what describes a chunk if it is in a preamble; elsewhere it is a record like any other.
TEST_F(TraceReading, TakesMetadataOnlyFromThePreamble) {
    ChunkBuilder chunk = small();
    chunk.event(2100, "numevents", 0, 5).event(2200, "cycles_per_msec", 0, 5).event(2300, "trace_start", 0, 5);
    chunk.raw(tracer::make_record(0xFC, 1, 2, {2400})).raw(tracer::make_record(0xFC, 1, 2, {2500}));
    EXPECT_EQ(read(chunk.bytes()), trace::ExitStatus::clean);
    EXPECT_THAT(m_lines, testing::AllOf(Not(HasSubstr("E-")), HasSubstr("W-UNKNOWN"))) << "a code without a row";
    EXPECT_EQ(m_seen.size(), 8U);
    EXPECT_EQ(m_chunks[0].preamble, chunk.description().preamble_slots);
    EXPECT_EQ(m_chunks[0].records, 8U);
    EXPECT_EQ(m_chunks[0].numevents, 8U);
}

// A long event of the preamble in another place was not written there by the tracer: it names nothing.
TEST_F(TraceReading, BelievesNoNameOutsideThePreamble) {
    ChunkBuilder chunk = small();
    for (const tracer::Record& slot :
         support::metadata("task_name", tracer::NameOf{13, support::name_of("forged")}, {2100})) {
        chunk.raw(slot);
    }
    chunk.event(2200, "context_switch", 13);
    EXPECT_EQ(read(chunk.bytes()), trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("E-META"));
    EXPECT_EQ(m_seen.back().task, "");
    EXPECT_EQ(m_chunks[0].extra, 0U);
}

TEST_F(TraceReading, ConvertsTicksFarBeyond64BitProductsWithoutOverflow) {
    ChunkBuilder chunk;
    chunk.begin.tsc_khz = 3'200'000;
    chunk.event(0, "ipoint", 1).event(320'000'000'000'000'000, "ipoint", 2);
    EXPECT_EQ(read(chunk.bytes()), trace::ExitStatus::clean);
    EXPECT_EQ(m_seen.at(1).time_ns, 100'000'000'000'000'000);
}

TEST_F(TraceReading, MergesChunksOfSeveralCpusByStampAndKeepsTheOrderOfEach) {
    ChunkBuilder first(0);
    ChunkBuilder second(1);
    second.begin.cpu = 1;
    first.event(10, "ipoint", 1).event(30, "ipoint", 3).event(50, "ipoint", 5);
    second.event(20, "ipoint", 2).event(30, "ipoint", 4).event(60, "ipoint", 6);
    Bytes both = second.bytes();
    const Bytes other = first.bytes();
    both.insert(both.end(), other.begin(), other.end());
    EXPECT_EQ(read(both), trace::ExitStatus::clean);
    ASSERT_EQ(m_seen.size(), 6U);
    for (std::size_t i = 0; i < m_seen.size(); ++i) {
        EXPECT_EQ(m_seen[i].par1, i + 1);
        EXPECT_EQ(m_seen[i].cpu, i % 2);
    }
}

TEST_F(TraceReading, ReadsAPlainFileAndTakesTheManualsMisprintForUnlock) {
    ChunkBuilder chunk;
    chunk.event(100, "cycles_per_msec", 0, 1'000'000);
    chunk.raw(tracer::make_record(0x8001, 9, 0, {200})); // fast path
    chunk.raw(tracer::make_record(0x0043, 5, 6, {300}));
    EXPECT_EQ(read(chunk.plain()), trace::ExitStatus::clean);
    ASSERT_EQ(m_seen.size(), 3U);
    EXPECT_EQ(m_seen[1].name, "ipoint");
    EXPECT_EQ(m_seen[2].name, "set_mutex_unlock");
    EXPECT_EQ(m_seen[2].time_ns, 200);
}

TEST_F(TraceReading, ReportsHowManyEventsWereTakenAndTheEnd) {
    constexpr std::size_t kEvents = (std::size_t{1} << 17) + 5;
    Bytes file(kEvents * sizeof(tracer::Record));
    for (std::size_t i = 0; i < kEvents; ++i) {
        const tracer::Record record = tracer::make_record(0x0019, 0, 0, {i + 1});
        std::memcpy(&file[i * sizeof(record)], &record, sizeof(record));
    }
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto trace = Trace::open(m_directory.write("plain.dat", file), {}, diagnostics);
    ASSERT_TRUE(trace);
    std::vector<std::uint64_t> reports;
    std::vector<bool> ends;
    trace.value()->report_to([&](std::uint64_t events) {
        reports.push_back(events);
        ends.push_back(trace.value()->exhausted());
    });
    trace.value()->for_each([](const trace::Event&) {});
    ASSERT_GE(reports.size(), 3U);
    EXPECT_EQ(reports.back(), kEvents);
    EXPECT_TRUE(ends.back());
    EXPECT_EQ(std::ranges::count(ends, true), 1);
}

TEST_F(TraceReading, StartsAPlainCyclicFileAtItsOldestRecord) {
    ChunkBuilder chunk;
    chunk.event(300, "ipoint", 3).event(400, "ipoint", 4);
    chunk.unordered(100, "ipoint", 1).unordered(200, "ipoint", 2);
    EXPECT_EQ(read(chunk.plain()), trace::ExitStatus::clean);
    EXPECT_THAT(m_lines, HasSubstr("W-ROTATED"));
    ASSERT_EQ(m_seen.size(), 4U);
    for (std::uint16_t i = 0; i < 4; ++i) {
        EXPECT_EQ(m_seen[i].par1, i + 1);
    }
}

TEST_F(TraceReading, FindsTheNextChunkAfterADamagedHeader) {
    tracer::ChunkBegin liar = small().description();
    liar.records = 1'000'000;
    Bytes bytes = small().with(liar);
    ChunkBuilder next(4);
    next.event(5000, "ipoint", 42);
    const Bytes second = next.bytes();
    bytes.insert(bytes.end(), second.begin(), second.end());
    EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
    EXPECT_EQ(m_seen.size(), 4U);
    EXPECT_EQ(m_seen.back().par1, 42);
}

// Wherever in the preamble a byte is lost: every record of the workload is read and counted, and nothing else.
TEST_F(TraceReading, FindsTheRecordsAfterAByteThatWasLost) {
    ChunkBuilder chunk(3);
    chunk.name("task", 12, "sensor").name("level", 0, "EDF").build("control", 7);
    for (std::uint16_t i = 0; i < 20; ++i) {
        chunk.event(10'000'000 + i, "ipoint", i, i * 0x1'0001U);
    }
    const Bytes whole = chunk.bytes();
    const std::size_t preamble = whole.size() - chunk.records() * tracer::kRecordBytes;
    for (std::size_t lost = 0; lost < preamble; ++lost) {
        SCOPED_TRACE(lost);
        Bytes bytes = whole;
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(lost));
        m_seen.clear();
        m_lines.clear();
        EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
        EXPECT_THAT(m_lines, HasSubstr("bytes were lost or added here"));
        ASSERT_EQ(m_seen.size(), 20U) << m_lines;
        for (std::uint16_t i = 0; i < 20; ++i) {
            EXPECT_EQ(m_seen[i].ticks, 10'000'000U + i);
            EXPECT_EQ(m_seen[i].par1, i);
        }
        std::uint64_t events = 0;
        std::uint64_t missing = 0; // slots of a preamble are no records
        for (const trace::ChunkReport& read_chunk : m_chunks) {
            events += read_chunk.events;
            missing += read_chunk.missing;
        }
        EXPECT_EQ(events, 20U) << m_lines;
        EXPECT_EQ(missing, 0U) << m_lines;
    }
}

// A byte of a record: that record alone is missing of those that the chunk announces.
TEST_F(TraceReading, CountsTheRecordsAfterALostByteForTheirChunk) {
    ChunkBuilder chunk = small();
    for (std::uint16_t i = 0; i < 20; ++i) {
        chunk.event(3000 + i, "ipoint", i, i * 0x1'0001U);
    }
    const Bytes whole = chunk.bytes();
    const std::size_t lost = whole.size() - 12 * tracer::kRecordBytes + 5;
    Bytes bytes = whole;
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(lost));
    EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
    EXPECT_THAT(m_lines, HasSubstr("1 of the 23 records that the chunk announces are missing"));
    EXPECT_EQ(m_seen.size(), 22U);
    ASSERT_EQ(m_chunks.size(), 1U);
    EXPECT_EQ(m_chunks[0].records, 22U);
    EXPECT_EQ(m_chunks[0].missing, 1U);

    ChunkBuilder next(4);
    next.event(4000, "ipoint", 1).event(4001, "ipoint", 2).event(4002, "ipoint", 3);
    // The chunk after it is read as if nothing had happened.
    m_seen.clear();
    const Bytes added = next.bytes();
    bytes.insert(bytes.end(), added.begin(), added.end());
    EXPECT_EQ(read(bytes), trace::ExitStatus::damaged);
    EXPECT_EQ(m_seen.size(), 25U);
    ASSERT_EQ(m_chunks.size(), 2U);
    EXPECT_EQ(m_chunks[0].missing, 1U);
    EXPECT_EQ(m_chunks[1].description.chunk, 4);
    EXPECT_EQ(m_chunks[1].missing, 0U);
}

TEST_F(TraceReading, TakesAFileThatWasCutForNoOther) {
    for (std::size_t cut = 1; cut < tracer::kRecordBytes; ++cut) {
        Bytes bytes = small().bytes();
        bytes.resize(bytes.size() - cut);
        m_lines.clear();
        read(bytes);
        EXPECT_THAT(m_lines, testing::AllOf(HasSubstr("W-TAIL"), Not(HasSubstr("lost or added"))));
    }
}

TEST_F(TraceReading, LimitsTheLinesOfOneCodeAndTotalsTheRest) {
    ChunkBuilder chunk = small();
    for (int i = 0; i < 150; ++i) {
        chunk.raw(tracer::make_record(0x4001, 1, 0, {3000}));
    }
    read(chunk.bytes());
    EXPECT_EQ(std::ranges::count(m_lines, '\n'), 101);
    EXPECT_THAT(m_lines, HasSubstr("W-RESERVED 150 in all, 50 not shown"));
}

TEST_F(TraceReading, TakesTheRateFromTheCommandLineIfTheTraceHasNone) {
    ChunkBuilder chunk;
    chunk.event(100, "ipoint", 1).event(300, "ipoint", 2);
    const std::string path = m_directory.write("0trace.dat", chunk.plain());
    EXPECT_EQ(read_path(path), trace::ExitStatus::clean);
    EXPECT_FALSE(m_timed);
    m_seen.clear();
    EXPECT_EQ(read_path(path, {.tsc_khz = 2'000'000}), trace::ExitStatus::clean);
    EXPECT_EQ(m_seen.at(1).time_ns, 100);
}

TEST(ManifestText, RoundTripsAndRefusesNamesThatAreNotOurs) {
    dat::Manifest manifest;
    manifest.origin = "udp";
    manifest.complete = true;
    manifest.clock_mode = tracer::ClockMode::icount;
    manifest.tsc_source = tracer::TscSource::pm_timer;
    manifest.tsc_khz = 1'000'000;
    manifest.boot_id = 0xFFFF'0000'1111'2222;
    manifest.build =
        tracer::Build{support::name_of("k"), support::name_of("c"), support::name_of("a\x1b"), 9, 0, {}, 0};
    manifest.announced = tracer::ExportEnd{1, tracer::RunResult::panicked, 2, 3, 4, 5};
    manifest.transfer = dat::ManifestTransfer{.packets = 11, .lost = 12, .records = 13};
    dat::ManifestChunk chunk;
    chunk.file = "0trace.dat";
    chunk.described = true;
    chunk.description.records = 77;
    chunk.first_tsc = ~std::uint64_t{0};
    chunk.crc32c = 0xE306'9283;
    manifest.chunks.push_back(chunk);

    const std::string text = dat::to_json_text(manifest);
    const auto parsed = dat::parse_manifest(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text;
    EXPECT_EQ(dat::to_json_text(parsed.value()), text);
    EXPECT_EQ(parsed.value().build->application, manifest.build->application);
    EXPECT_EQ(parsed.value().boot_id, manifest.boot_id);
    EXPECT_EQ(parsed.value().announced->result, tracer::RunResult::panicked);
    EXPECT_EQ(parsed.value().chunks.at(0).first_tsc, ~std::uint64_t{0});
    EXPECT_EQ(parsed.value().chunks.at(0).crc32c, 0xE306'9283U);

    manifest.chunks[0].file = "../0trace.dat";
    const auto foreign = dat::parse_manifest(dat::to_json_text(manifest));
    ASSERT_FALSE(foreign.ok());
    EXPECT_THAT(foreign.error().text, HasSubstr("Ntrace.dat"));
    EXPECT_FALSE(dat::parse_manifest("{").ok());
    EXPECT_FALSE(dat::parse_manifest("[]").ok());
    EXPECT_FALSE(dat::parse_manifest(R"({"format":"remora-session","version":"x"})").ok());
}

// host/trace/event_stream.hpp promises it.
TEST(EventStream, HasOnlyPlainEventsOfOneChunkInABatchOfSeveral) {
    TemporaryDirectory directory;
    std::mt19937_64 random(1);
    Bytes bytes;
    for (std::uint16_t chunk = 0; chunk < 4; ++chunk) { // two processors, interleaved
        ChunkBuilder builder;
        builder.begin.cpu = chunk % 2;
        builder.begin.chunk = chunk;
        for (std::uint64_t i = 0; i < 500; ++i) {
            const tracer::EventRow& row = tracer::kEvents[random() % tracer::kEvents.size()];
            if (row.shape == tracer::Shape::simple && row.family() != tracer::Family::metadata) {
                builder.event(1000 * (chunk / 2) + 2 * i + random() % 2, row.name, random() % 3, random() % 3);
            }
        }
        const Bytes more = builder.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    for (int round = 0; round < 20; ++round) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = Trace::open(directory.write("0trace.dat", bytes), {}, diagnostics);
        ASSERT_TRUE(opened.ok());
        std::size_t several = 0;
        for (auto batch = opened.value()->next_batch(); !batch.empty(); batch = opened.value()->next_batch()) {
            const trace::Event* before = &batch.front();
            for (const trace::Event& event : batch.subspan(1)) {
                EXPECT_NE(dat::plain_row(event.raw_code), nullptr);
                EXPECT_EQ(event.row, dat::plain_row(event.raw_code));
                EXPECT_TRUE(event.state == trace::EventState::ok && !event.metadata && !trace::is_foreign(event));
                EXPECT_TRUE(event.source == before->source && event.generation == before->generation);
                EXPECT_TRUE(event.cpu == before->cpu && event.names == before->names);
                EXPECT_GE(event.ticks, before->ticks);
                before = &event;
            }
            several += batch.size() > 1 ? 1U : 0U;
        }
        EXPECT_GT(several, 10U);
        bytes[random() % bytes.size()] ^= std::byte{0x41}; // from round to round more damaged
    }
}

} // namespace

} // namespace host::formats::trace_test
