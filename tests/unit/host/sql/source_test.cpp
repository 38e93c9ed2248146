// SPDX-License-Identifier: MIT
// Where the events of a query come from: how many records there are about, which walk is chosen, and that no event of
// a stretch of time is missing, at rates that divide nothing.
#include "host/sql/source.hpp"

#include "host/sql/stored_tables.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace host::sql {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

ChunkBuilder chunk_at(std::uint64_t first, std::uint64_t records, std::uint32_t khz = 1'000'000) {
    ChunkBuilder chunk;
    chunk.begin.tsc_khz = khz;
    for (std::uint64_t i = 0; i < records; ++i) {
        chunk.event(first + i, "ipoint", 1, static_cast<std::uint32_t>(i));
    }
    return chunk;
}

class SqlSource : public support::SqlQuestion {
  protected:
    std::unique_ptr<Source> opened(bool whole = false) {
        auto source = Source::open({.path = m_path, .open = m_open, .whole = whole},
                                   [this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        return source.ok() ? std::move(source.value()) : nullptr;
    }

    struct Walked {
        std::set<std::int64_t> times;
        std::uint64_t events = 0;
    };

    static Walked walked(Source& source, const ScanRequest& request) {
        Walked result;
        const auto scan = source.scan(request);
        for (trace::Event event; source.take(*scan, event); ++result.events) {
            result.times.insert(event.time_ns);
        }
        return result;
    }
};

TEST_F(SqlSource, EstimatesTheRecordsByTheSize) {
    const Bytes bytes = chunk_at(1000, 100).bytes();
    write(bytes);
    EXPECT_EQ(opened()->records_estimate(), bytes.size() / 16);
    m_open.strict = true;
    EXPECT_EQ(opened()->records_estimate(), 1'000'000U) << "all is read in order";
    m_open.strict = false;
    m_open.salvage = true;
    EXPECT_EQ(opened()->records_estimate(), 1'000'000U);
    m_open.salvage = false;
    write(support::KevBuilder({.system = "x"}).buffer(0, 0x1000, 0).time(0, 0x1000).bytes);
    EXPECT_EQ(opened()->records_estimate(), 1'000'000U);
}

// Its files are looked through once, and its chunks once something is searched for; strictly, all is read in order.
TEST_F(SqlSource, OfASessionIsIndexedForASearchAlone) {
    formats::dat::Manifest manifest{.origin = "files", .complete = true};
    for (std::uint16_t number = 0; number < 3; ++number) {
        ChunkBuilder chunk = chunk_at(1000 + 1000 * std::uint64_t{number}, 100);
        chunk.begin.chunk = number;
        const Bytes bytes = chunk.bytes();
        const std::string file = std::to_string(number) + "trace.dat";
        m_directory.write(file, bytes);
        manifest.chunks.push_back(
            {.file = file, .described = true, .bytes = bytes.size(), .records = 100, .crc32c = lib::crc32c(bytes)});
    }
    ASSERT_TRUE(save_manifest(manifest, m_directory.path()).ok());
    m_path = m_directory.path();
    const auto source = opened();
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(walked(*source, {}).events, 300U);
    EXPECT_EQ(source->statistics().searched, 0U);
    EXPECT_EQ(walked(*source, {.ticks = {.first = 2010, .last = 2019}}).events, 10U);
    EXPECT_EQ(source->statistics().searched, 1U);
    EXPECT_EQ(source->statistics().skipped, 2U);
    m_open.strict = true;
    const auto strict = opened();
    EXPECT_EQ(walked(*strict, {.ticks = {.first = 2010, .last = 2019}}).events, 300U);
    EXPECT_EQ(strict->statistics().searched, 0U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(SqlSource, WhatCannotBeOpenedIsReported) {
    m_path = m_directory / "nothing.dat";
    EXPECT_EQ(opened(), nullptr);
    EXPECT_THAT(m_lines, HasSubstr("E-IO"));
}

TEST_F(SqlSource, ATraceOfNoKnownEventIsUnusable) {
    write(ChunkBuilder().bytes());
    const auto answer = ask("select count(*) from events", true);
    EXPECT_THAT(answer.rows, ElementsAre("0 "));
    EXPECT_THAT(m_lines, HasSubstr("E-NOTHING"));
    EXPECT_NE(answer.status, trace::ExitStatus::clean);
    write(chunk_at(1000, 1).bytes());
    m_lines.clear();
    EXPECT_EQ(ask("select count(*) from events", true).status, trace::ExitStatus::clean);
    EXPECT_EQ(ask("select * from events limit 1", true).status, trace::ExitStatus::clean) << "it has not ended";
    EXPECT_EQ(m_lines, "");
}

TEST_F(SqlSource, APipeIsKeptAndReadAsOftenAsAFile) {
    const Bytes bytes = chunk_at(1000, 50).bytes();
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ASSERT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(ends[1]);
    m_path = "/dev/fd/" + std::to_string(ends[0]);
    const auto source = opened();
    ASSERT_NE(source, nullptr);
    ::close(ends[0]);
    EXPECT_EQ(walked(*source, {}).events, 50U);
    EXPECT_EQ(walked(*source, {.ticks = {.first = 1010, .last = 1019}}).events, 10U);
    EXPECT_EQ(walked(*source, {}).events, 50U);
    EXPECT_EQ(source->records_estimate(), bytes.size() / 16);
    EXPECT_EQ(source->statistics().searched, 1U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(SqlSource, NoEventOfAStretchOfTimeIsMissing) {
    constexpr std::int64_t kTicks = 40;
    for (const std::uint32_t khz : {700'000U, 1'000'000U, 2'500'000U, 3'333'333U}) {
        write(chunk_at(1000, kTicks, khz).bytes());
        const auto source = opened();
        const std::set<std::int64_t> all = walked(*source, {}).times;
        for (std::int64_t first = -2; first < 20; ++first) {
            for (std::int64_t last = first; last < 20; last += 3) {
                const auto found = walked(*source, {.first_ns = first, .last_ns = last}).times;
                for (const std::int64_t time : all) {
                    EXPECT_TRUE(time < first || time > last || found.contains(time))
                        << time << " of " << first << " to " << last << " at " << khz;
                }
            }
        }
    }
}

TEST_F(SqlSource, FewEventsAreOutsideOfAStretchOfTime) {
    write(chunk_at(1000, 40).bytes());
    const auto source = opened();
    EXPECT_THAT(walked(*source, {.first_ns = 10, .last_ns = 12}).times, ElementsAre(10, 11, 12, 13));
    EXPECT_THAT(walked(*source, {.first_ns = 37}).times, ElementsAre(37, 38, 39));
    EXPECT_THAT(walked(*source, {.last_ns = 1}).times, ElementsAre(0, 1, 2));
    EXPECT_THAT(walked(*source, {.last_ns = 0}).times, ElementsAre(0, 1));
    EXPECT_THAT(walked(*source, {.last_ns = -5}).times, ElementsAre(0, 1)) << "a stamp may fall";
    EXPECT_EQ(walked(*source, {.first_ns = 0}).events, 40U);
    EXPECT_EQ(walked(*source, {.first_ns = 1}).events, 39U);
    EXPECT_EQ(walked(*source, {.last_ns = std::numeric_limits<std::int64_t>::max()}).events, 40U);
    EXPECT_THAT(walked(*source, {.ticks = {.first = 1038}, .first_ns = 5}).times, ElementsAre(38, 39));
    EXPECT_THAT(walked(*source, {.ticks = {.last = 1001}, .last_ns = 5}).times, ElementsAre(0, 1));
}

TEST_F(SqlSource, AStretchThatEndsAfterAllStampsHasAllEvents) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (const std::uint32_t khz : {1'000'000U, 3'000'000U}) {
        write(chunk_at(1000, 40, khz).bytes());
        for (const std::int64_t last : {kMost, kMost - 1, kMost / 2, kMost / 3 * 2}) {
            EXPECT_EQ(walked(*opened(), {.last_ns = last}).events, 40U) << last << " at " << khz;
        }
        EXPECT_THAT(ask("select count(*) from events where time_ns < 9e18").rows, ElementsAre("40 "));
    }
}

TEST_F(SqlSource, DamageIsReportedByTheFirstWalkAlone) {
    Bytes bytes = chunk_at(1000, 40).bytes();
    bytes.resize(bytes.size() - 16);
    write(bytes);
    const auto source = opened();
    EXPECT_EQ(walked(*source, {}).events, 39U);
    const std::string once = m_lines;
    EXPECT_THAT(once, HasSubstr("W-SHORT"));
    EXPECT_EQ(walked(*source, {}).events, 39U);
    EXPECT_EQ(walked(*source, {.ticks = {.first = 1010}}).events, 39U) << "it is read whole";
    EXPECT_EQ(m_lines, once);
}

TEST_F(SqlSource, WhatTheWatchHasEndedDoesNotContinue) {
    write(chunk_at(1000, 40).bytes());
    int asked = 0;
    const auto source = std::move(
        Source::open({.path = m_path, .watch = [&](std::uint64_t) { return ++asked != 2; }}, [](std::string_view) {
        }).value());
    EXPECT_TRUE(source->may_continue());
    EXPECT_FALSE(source->stopped());
    EXPECT_FALSE(source->may_continue());
    EXPECT_FALSE(source->may_continue()) << "it is not asked again";
    EXPECT_TRUE(source->stopped());
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(walked(*source, {}).events, 0U);
    StoredTables tables(*source);
    EXPECT_EQ(tables.rows(Table::intervals), nullptr);
    EXPECT_TRUE(tables.stopped());
}

TEST_F(SqlSource, RowsNeedNotBeWantedBefore) {
    ChunkBuilder chunk;
    write(chunk.event(1000, "context_switch", 1).event(1100, "context_switch", 2).bytes());
    const auto source = opened();
    StoredTables tables(*source);
    for (const Table table : {Table::intervals, Table::tasks, Table::utilisation}) {
        ASSERT_NE(tables.rows(table), nullptr);
    }
    EXPECT_EQ(tables.rows(Table::intervals)->size(), 3U);
    EXPECT_EQ(tables.rows_estimate(Table::intervals), 3);
    EXPECT_EQ(tables.rows_estimate(Table::names), 100);
    EXPECT_EQ(tables.rows_estimate(Table::jobs), 100 + static_cast<double>(source->records_estimate()) / 20);
    EXPECT_FALSE(tables.stopped());
}

TEST_F(SqlSource, ARateThatTheUserStatesHolds) {
    write(chunk_at(1000, 40).bytes());
    m_open.tsc_khz = 500'000;
    EXPECT_THAT(walked(*opened(), {.first_ns = 10, .last_ns = 14}).times, ElementsAre(10, 12, 14));
    EXPECT_THAT(ask("select time_ns from events where time_ns > 73").rows, ElementsAre("74 ", "76 ", "78 "));
    EXPECT_THAT(ask("select value from meta where key = 'tsc_khz'").rows, ElementsAre("500000 "));
}

// searched, skipped, scanned
std::vector<std::uint64_t> walks_of(const Source& source) {
    return {source.statistics().searched, source.statistics().skipped, source.statistics().scanned};
}

TEST_F(SqlSource, SearchesOnlyWhatLeavesSomethingOut) {
    write(chunk_at(1000, 40).bytes());
    const auto after = [&](const ScanRequest& request, bool whole = false) {
        const auto source = opened(whole);
        (void)walked(*source, request);
        return walks_of(*source);
    };
    EXPECT_THAT(after({}), ElementsAre(0, 0, 1));
    EXPECT_THAT(after({.ticks = {.first = 1}}), ElementsAre(1, 0, 0));
    EXPECT_THAT(after({.ticks = {.last = 5000}}), ElementsAre(1, 0, 0));
    EXPECT_THAT(after({.ticks = {.first = 5000}}), ElementsAre(0, 1, 0));
    EXPECT_THAT(after({.first_ns = 1}), ElementsAre(1, 0, 0));
    EXPECT_THAT(after({.first_ns = 1}, true), ElementsAre(0, 0, 1));
    EXPECT_THAT(after({.first_ns = 0}), ElementsAre(0, 0, 1));
    EXPECT_THAT(after({.last_ns = std::numeric_limits<std::int64_t>::max()}), ElementsAre(0, 0, 1));
    EXPECT_THAT(after({.cpu = 0}), ElementsAre(0, 0, 1)) << "all chunks are of this processor";
    EXPECT_THAT(after({.cpu = 1}), ElementsAre(0, 1, 0));
}

TEST_F(SqlSource, TheMetadataAloneIsReadForItsTables) {
    ChunkBuilder chunk = chunk_at(1, 40);
    chunk.name("mutex", 7, "bus").event(2000, "task_create", 3, 33);
    write(chunk.bytes());
    const auto source = opened();
    EXPECT_EQ(source->facts(Source::FactsOf::metadata).names.find(tracer::Unit::mutex, 7), "bus");
    EXPECT_TRUE(source->facts(Source::FactsOf::metadata).names.tasks().empty());
    EXPECT_THAT(walks_of(*source), ElementsAre(0, 1, 0));
    EXPECT_EQ(source->facts(Source::FactsOf::events).names.tasks().at(3).pid, 33U);
    EXPECT_EQ(source->facts(Source::FactsOf::metadata).names.tasks().at(3).pid, 33U);
    EXPECT_THAT(walks_of(*source), ElementsAre(0, 1, 1));
}

} // namespace

} // namespace host::sql
