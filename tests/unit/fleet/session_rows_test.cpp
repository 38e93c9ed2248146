// SPDX-License-Identifier: MIT
// Tests the rows of a run, and the classes of its responses.
#include "fleet/session_rows.hpp"

#include "tests/support/fleet/runs.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>

namespace host::fleet {
namespace session_rows_test {

using support::fleet::run_of;
using support::fleet::RunOfChunks;

TEST(ResponseClass, IsTheResponseUpToFiveBits) {
    for (std::uint64_t response = 0; response < 32; ++response) {
        EXPECT_EQ(response_class(response), response);
    }
    EXPECT_EQ(response_class(32), 32);
    EXPECT_EQ(response_class(33), 34);
    EXPECT_EQ(response_class(34), 34);
    EXPECT_EQ(response_class(63), 64);
    EXPECT_EQ(response_class(64), 64);
    EXPECT_EQ(response_class(65), 68);
}

// Never below, at most a sixteenth above, and never falling.
TEST(ResponseClass, IsNotFarAboveTheResponse) {
    std::uint64_t before = 0;
    for (std::uint64_t response = 1; response < std::uint64_t{1} << 62; response += response / 50 + 1) {
        const std::uint64_t found = response_class(response);
        EXPECT_GE(found, response);
        EXPECT_LE(found - response, response / 16);
        EXPECT_GE(found, before);
        EXPECT_EQ(response_class(found), found);
        before = found;
    }
    EXPECT_EQ(response_class(~std::uint64_t{0}), ~std::uint64_t{0});
}

struct Written {
    // By table: rows, by name of the column.
    std::map<Table, std::vector<std::map<std::string, std::string, std::less<>>>> rows;
    std::vector<Table> order;
};

Written written(const RunOfChunks& run, std::size_t chunks_there) {
    const support::TemporaryDirectory directory;
    for (std::size_t i = 0; i < chunks_there; ++i) {
        std::ofstream(directory / run.manifest.chunks[i].file) << run.chunks[i].body;
    }
    std::ofstream(directory / "manifest.json") << to_json_text(run.manifest);
    const Run of{.from = support::fleet::kNode, .boot_id = run.manifest.boot_id, .started_s = 1'700'000'000};
    const SessionRows rows{.run = of, .manifest = run.manifest, .directory = directory / "", .working = {}};
    Written all;
    EXPECT_TRUE(rows.write([&all](Table table, std::span<const sql::Cell> cells) {
        const std::vector<Column> columns = columns_of(table);
        ASSERT_EQ(cells.size(), columns.size());
        auto& row = all.rows[table].emplace_back();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            row[std::string(columns[i].name)] = cells[i].text()     ? std::string(*cells[i].text())
                                                : cells[i].number() ? std::to_string(*cells[i].number())
                                                                    : "NULL";
        }
        all.order.push_back(table);
    }));
    return all;
}

TEST(SessionRows, ListsTheChunksAndEndsWithTheNode) {
    const Written all = written(run_of(0xB007, 3), 3);
    EXPECT_EQ(all.order.back(), Table::nodes);
    ASSERT_EQ(all.rows.at(Table::nodes).size(), 1);
    const auto& node = all.rows.at(Table::nodes).front();
    EXPECT_EQ(node.at("site") + node.at("node") + node.at("boot"), "labpi-1000000000000b007");
    EXPECT_EQ(node.at("listed_chunks"), "3");
    EXPECT_EQ(node.at("events"), "12");
    EXPECT_EQ(node.at("announced_records"), "NULL");
    EXPECT_EQ(all.rows.at(Table::listed).size(), 3);
}

TEST(SessionRows, ARunWithoutItsChunksHasItsListAndItsNode) {
    const Written all = written(run_of(0xB007, 2), 0);
    EXPECT_EQ(all.rows.at(Table::listed).size(), 2);
    EXPECT_EQ(all.rows.at(Table::nodes).front().at("events"), "0");
    EXPECT_EQ(all.rows.at(Table::nodes).front().at("duration_ns"), "NULL");
    EXPECT_FALSE(all.rows.contains(Table::jobs));
}

TEST(SessionRows, ARunWithoutAnAnnouncedResultEndedAsItsRecordsShow) {
    const auto result = [](bool panics, std::optional<tracer::RunResult> announced) {
        RunOfChunks run = run_of(0xB007, 2, panics);
        if (announced) {
            run.manifest.announced = tracer::ExportEnd{.result = *announced};
        }
        return written(run, 2).rows.at(Table::nodes).front().at("result");
    };
    EXPECT_EQ(result(true, std::nullopt), "panicked");
    EXPECT_EQ(result(true, tracer::RunResult::unknown), "panicked");
    EXPECT_EQ(result(true, tracer::RunResult::completed), "completed") << "the record is the application's";
    EXPECT_EQ(result(false, tracer::RunResult::unknown), "unknown");
    EXPECT_EQ(result(false, std::nullopt), "");
}

} // namespace session_rows_test
} // namespace host::fleet
