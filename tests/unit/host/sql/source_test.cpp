// SPDX-License-Identifier: MIT
// Tests the trace that statements ask: how many records it has about, that a pipe is read as often as a file, that
// damage is reported once, and that the watch ends walks.
#include "host/sql/database.hpp"

#include "tests/support/kev_builder.hpp"
#include "tests/support/sql_question.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>

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
    std::unique_ptr<Source> opened() {
        auto source = Source::open({.path = m_path, .open = m_open},
                                   [this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        return source.ok() ? std::move(source.value()) : nullptr;
    }

    static std::uint64_t walked(Source& source) {
        std::uint64_t events = 0;
        for (Walk walk(source); walk.next() != nullptr;) {
            ++events;
        }
        return events;
    }
};

TEST_F(SqlSource, EstimatesTheRecordsByTheSize) {
    const Bytes bytes = chunk_at(1000, 100).bytes();
    write(bytes);
    EXPECT_EQ(opened()->records_estimate(), bytes.size() / 16);
    write(support::KevBuilder({.system = "x"}).buffer(0, 0x1000, 0).time(0, 0x1000).bytes);
    EXPECT_EQ(opened()->records_estimate(), 1'000'000U);
}

TEST_F(SqlSource, ASessionHasTheRecordsOfItsFiles) {
    formats::dat::Manifest manifest{.origin = "files", .complete = true};
    std::uint64_t bytes = 0;
    for (std::uint16_t number = 0; number < 3; ++number) {
        ChunkBuilder chunk = chunk_at(1000 + 1000 * std::uint64_t{number}, 100);
        chunk.begin.chunk = number;
        const Bytes image = chunk.bytes();
        bytes += image.size();
        const std::string file = std::to_string(number) + "trace.dat";
        m_directory.write(file, image);
        manifest.chunks.push_back(
            {.file = file, .described = true, .bytes = image.size(), .records = 100, .crc32c = lib::crc32c(image)});
    }
    ASSERT_TRUE(save_manifest(manifest, m_directory.path()).ok());
    m_path = m_directory.path();
    const auto source = opened();
    ASSERT_NE(source, nullptr);
    EXPECT_EQ(source->records_estimate(), bytes / 16);
    EXPECT_EQ(walked(*source), 300U);
    EXPECT_EQ(walked(*source), 300U);
    EXPECT_EQ(source->statistics().chunks, 6U);
    EXPECT_EQ(m_lines, "");
}

TEST_F(SqlSource, WhatCannotBeOpenedIsReported) {
    m_path = m_directory / "nothing.dat";
    EXPECT_EQ(opened(), nullptr);
    EXPECT_THAT(m_lines, HasSubstr("E-IO"));
}

TEST_F(SqlSource, ATraceOfNoKnownEventIsUnusable) {
    write(ChunkBuilder().bytes());
    const auto answer = ask("select count(*) from events");
    EXPECT_THAT(answer.rows, ElementsAre("0 "));
    EXPECT_THAT(m_lines, HasSubstr("E-NOTHING"));
    EXPECT_NE(answer.status, trace::ExitStatus::clean);
    write(chunk_at(1000, 1).bytes());
    m_lines.clear();
    EXPECT_EQ(ask("select count(*) from events").status, trace::ExitStatus::clean);
    EXPECT_EQ(ask("select * from events limit 1").status, trace::ExitStatus::clean) << "it has not ended";
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
    EXPECT_EQ(walked(*source), 50U);
    EXPECT_EQ(walked(*source), 50U);
    EXPECT_EQ(source->records_estimate(), bytes.size() / 16);
    EXPECT_EQ(m_lines, "");
}

TEST_F(SqlSource, DamageIsReportedByTheFirstWalkAlone) {
    Bytes bytes = chunk_at(1000, 40).bytes();
    bytes.resize(bytes.size() - 16);
    write(bytes);
    const auto source = opened();
    EXPECT_EQ(walked(*source), 39U);
    const std::string once = m_lines;
    EXPECT_THAT(once, HasSubstr("W-SHORT"));
    EXPECT_EQ(walked(*source), 39U);
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
    EXPECT_EQ(walked(*source), 0U);
}

TEST_F(SqlSource, ARateThatTheUserStatesHolds) {
    write(chunk_at(1000, 40).bytes());
    m_open.tsc_khz = 500'000;
    EXPECT_THAT(ask("select time_ns from events where time_ns > 73").rows, ElementsAre("74 ", "76 ", "78 "));
    EXPECT_THAT(ask("select value from meta where key = 'tsc_khz'").rows, ElementsAre("500000 "));
}

} // namespace

} // namespace host::sql
