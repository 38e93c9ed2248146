// SPDX-License-Identifier: MIT
// Tests the statements that make the schema, for the oldest and for current releases. That servers take them is in
// tests/fleet/clickhouse.py.
#include "fleet/clickhouse/schema.hpp"

#include "fleet/clickhouse/clickhouse_store.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet::clickhouse {

namespace schema_test {

using testing::HasSubstr;
using testing::Not;

const Place kOld{.database = "fleet", .cluster = "", .version = {18, 16}};
const Place kNew{.database = "fleet", .cluster = "", .version = {23, 8}};
const Place kShards{.database = "fleet", .cluster = "all", .version = {18, 16}};

std::string create_of(const Place& place, std::string_view name) {
    for (const Object& object : derived_objects(place)) {
        if (object.name == name) {
            return object.create;
        }
    }
    return "none";
}

TEST(ClickHouseSchema, KnowsReleases) {
    EXPECT_EQ(version_of("18.16.1"), (Version{18, 16}));
    EXPECT_EQ(version_of("24.10.2.80"), (Version{24, 10}));
    EXPECT_EQ(version_of("?"), (Version{0, 0}));
    EXPECT_LT((Version{18, 16}), (Version{19, 1}));
}

TEST(ClickHouseSchema, OfAnOldReleaseIsPlain) {
    EXPECT_EQ(
        create_rows(kOld, Table::chunks),
        "CREATE TABLE IF NOT EXISTS `fleet`.`chunks_rows` (site String, node String, boot String, started_s UInt32, "
        "cpu UInt16, chunk UInt16, generation UInt32, encoding String, records UInt64, events UInt64, bytes UInt64, "
        "crc32c UInt32, first_ticks Nullable(Int64), last_ticks Nullable(Int64), dropped UInt64, refused UInt64, "
        "overwritten UInt64, sequence UInt64) ENGINE = ReplacingMergeTree PARTITION BY "
        "toYYYYMMDD(toDateTime(started_s, 'UTC')) ORDER BY (site, node, boot, cpu, chunk, generation)");
}

TEST(ClickHouseSchema, OfACurrentReleaseIsCompressedColumnByColumn) {
    const std::string events = create_rows(kNew, Table::events);
    EXPECT_THAT(events, HasSubstr("site LowCardinality(String) CODEC(ZSTD(1))"));
    EXPECT_THAT(events, HasSubstr("ticks_high UInt64 CODEC(Delta, ZSTD(1)), ticks_low UInt16 CODEC(ZSTD(1)), turn "));
    EXPECT_THAT(events, HasSubstr("payload String CODEC(ZSTD(1))"));
    EXPECT_THAT(events, HasSubstr("fsync_after_insert"));
    EXPECT_EQ(plain_type("LowCardinality(String)"), "String");
    EXPECT_EQ(plain_type("Nullable(UInt8)"), "Nullable(UInt8)");
}

TEST(ClickHouseSchema, HasAViewOfEachTable) {
    for (const TableRow& row : kTableRows) {
        EXPECT_THAT(create_of(kOld, row.name),
                    HasSubstr(std::string("FROM `fleet`.`") + std::string(row.name) + "_rows` FINAL"))
            << row.name;
    }
    EXPECT_EQ(
        create_of(kOld, "listed"),
        "CREATE VIEW IF NOT EXISTS `fleet`.`listed` AS SELECT site, node, boot, started_s, position, file, described, "
        "cpu, chunk, generation, records, missing, bytes, crc32c FROM `fleet`.`listed_rows` FINAL");
}

// An event that gets a name later is in the rows already, by its code.
TEST(ClickHouseSchema, ShowsEventsByTheirNames) {
    EXPECT_THAT(create_rows(kOld, Table::events), HasSubstr(" code UInt8, "));
    const std::string view = create_of(kOld, "events");
    EXPECT_THAT(view,
                HasSubstr("CAST(toInt8(code), 'Enum8(\\'empty\\' = 0, \\'ipoint\\' = 1, \\'task_create\\' = 2, "));
    EXPECT_THAT(view, HasSubstr("\\'filter_typed\\' = -2, \\'next_chunk\\' = -1)') AS event"));
    EXPECT_THAT(view, HasSubstr("\\'code_0x"));
    EXPECT_EQ(std::ranges::count(view, '='), 256);
}

TEST(ClickHouseSchema, DerivesRowsFromThoseOfJobs) {
    for (const char* name : {"task_minutes", "response_classes", "worst_jobs"}) {
        const std::string text = create_of(kOld, std::string(name) + "_of_jobs");
        EXPECT_THAT(text, HasSubstr(std::string(" TO `fleet`.`") + name +
                                    "_rows` AS SELECT site, node, boot, started_s, part"));
        EXPECT_THAT(text, HasSubstr(" FROM `fleet`.`jobs_rows` "));
    }
    EXPECT_THAT(create_of(kOld, "worst_jobs_of_jobs"), HasSubstr("LIMIT 5 BY site, node, boot, part, task"));
}

// A shard groups and filters its own rows.
TEST(ClickHouseSchema, OfAClusterAsksTheViewsOfItsShards) {
    EXPECT_THAT(create_of(kShards, "jobs_here"), HasSubstr("FROM `fleet`.`jobs_rows` FINAL"));
    const std::string jobs = create_of(kShards, "jobs");
    EXPECT_THAT(jobs, HasSubstr("ENGINE = Distributed('all', 'fleet', 'jobs_here')"));
    EXPECT_THAT(create_of(kShards, "events"), HasSubstr("event Enum8('empty' = 0, "));
    EXPECT_THAT(create_of(kShards, "task_minutes_of_jobs"), HasSubstr("CREATE MATERIALIZED VIEW"));
    EXPECT_EQ(create_of(kOld, "jobs_here"), "none");
}

TEST(ClickHouseSchema, InsertsIntoAllColumnsByName) {
    EXPECT_EQ(insert_statement(kOld, Table::events), "INSERT INTO `fleet`.`events_rows` (site, node, boot, started_s, "
                                                     "cpu, chunk, generation, ticks_high, ticks_low, "
                                                     "turn, code, "
                                                     "par1, par2, payload) FORMAT RowBinary");
}

// What is stored is in these places: they must not change.
TEST(ClickHouseShard, OfARunIsAlwaysTheSame) {
    const auto shard = [](std::string site, std::string node, std::uint64_t boot, std::size_t shards) {
        return shard_of({.from = {.site = std::move(site), .node = std::move(node)}, .boot_id = boot}, shards);
    };
    EXPECT_EQ(shard("plant", "press", 0xB007, 1), 0U);
    EXPECT_EQ(shard("plant", "press", 0xB007, 1000), 863U);
    EXPECT_EQ(shard("plant", "press", 0xB008, 1000), 216U);
    EXPECT_EQ(shard("", "", 0, 1000), 212U);
}

TEST(ClickHouseShard, OfSimilarRunsDiffer) {
    std::size_t first = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const fleet::Run run{
            .from = {.site = "plant", .node = "node" + std::to_string(i)}, .boot_id = i, .started_s = 0};
        first += shard_of(run, 2) == 0 ? 1U : 0U;
    }
    EXPECT_GT(first, 400U);
    EXPECT_LT(first, 600U);
}

} // namespace schema_test

} // namespace host::fleet::clickhouse
