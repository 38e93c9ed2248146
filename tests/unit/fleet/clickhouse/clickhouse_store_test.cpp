// SPDX-License-Identifier: MIT
// Tests what the store sends to which host, in which order, and what it makes of the answers. The server is a fake.
#include "fleet/clickhouse/clickhouse_store.hpp"

#include "fleet/chunk_events.hpp"
#include "tests/support/fleet/runs.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet::clickhouse {

namespace clickhouse_store_test {

using testing::HasSubstr;

struct Request {
    Endpoint endpoint;
    Http::Parameters parameters;
    std::string body;

    [[nodiscard]] std::string parameter(std::string_view name) const {
        for (const auto& [key, value] : parameters) {
            if (key == name) {
                return value;
            }
        }
        return "";
    }
};

struct Script {
    std::vector<Request> requests;
    std::deque<lib::Result<HttpAnswer, StoreFailure>> answers; // none left: 200 without a body
};

class FakeHttp final : public Http {
  public:
    explicit FakeHttp(Script& script)
        : m_script(script) {}

    lib::Result<HttpAnswer, StoreFailure> post(const Endpoint& endpoint, const Parameters& parameters,
                                               std::string_view body) override {
        m_script.requests.push_back({.endpoint = endpoint, .parameters = parameters, .body = std::string(body)});
        if (m_script.answers.empty()) {
            return HttpAnswer{.status = 200, .body = ""};
        }
        auto answer = m_script.answers.front();
        m_script.answers.pop_front();
        return answer;
    }

  private:
    Script& m_script;
};

class ClickHouseStoreTest : public testing::Test {
  protected:
    ClickHouseStore store(const std::string& url) {
        return {parse_url(url).value(), "loader", std::make_unique<FakeHttp>(m_script)};
    }

    void answer(std::string body, unsigned status = 200) {
        m_script.answers.emplace_back(HttpAnswer{.status = status, .body = std::move(body)});
    }

    // The tables of all INSERTs, in their order.
    [[nodiscard]] std::vector<std::string> inserted() const {
        std::vector<std::string> tables;
        for (const Request& request : m_script.requests) {
            const std::string query = request.parameter("query");
            const std::size_t begin = query.find("`.`") + 3;
            tables.push_back(query.substr(begin, query.find('`', begin) - begin));
        }
        return tables;
    }

    void away() { m_script.answers.emplace_back(StoreFailure{lib::Error::unreachable, "away"}); }

    Script m_script;
    const fleet::Run m_run{.from = {.site = "plant", .node = "press"}, .boot_id = 0xB007, .started_s = 100};
    const Endpoint m_a{"a", 8123};
    const Endpoint m_b{"b", 8123};
};

constexpr const char* kShards = "clickhouse://a,b/fleet?cluster=c";

TEST_F(ClickHouseStoreTest, AsksTheFirstHostThatAnswers) {
    away();
    answer("n\nUInt8\n7\n");
    const auto answer = store(kShards).query("SELECT 7 AS n");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->rows, (std::vector<std::vector<Value>>{{Value(std::int64_t{7})}}));
    ASSERT_EQ(m_script.requests.size(), 2U);
    EXPECT_EQ(m_script.requests[0].endpoint, m_a);
    EXPECT_EQ(m_script.requests[1].endpoint, m_b);
    EXPECT_EQ(m_script.requests[1].body, "SELECT 7 AS n");
    EXPECT_EQ(m_script.requests[1].parameter("database"), "fleet");
    EXPECT_EQ(m_script.requests[1].parameter("wait_end_of_query"), "1");
}

TEST_F(ClickHouseStoreTest, DoesNotAskAnotherHostWhatOneHasRefused) {
    answer("Code: 62. DB::Exception: Syntax error", 400);
    const auto answer = store(kShards).query("SELCT");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().cause, lib::Error::refused);
    EXPECT_EQ(m_script.requests.size(), 1U);
}

TEST_F(ClickHouseStoreTest, AsksForTheChunksOfARunWhereTheRunIs) {
    answer(
        "cpu\tchunk\tgeneration\tsequence\tcrc32c\nUInt16\tUInt16\tUInt32\tUInt64\tUInt32\n1\t2\t3\t4\t4000000000\n");
    const auto chunks = store(kShards).chunks_of(m_run);
    ASSERT_TRUE(chunks);
    ASSERT_EQ(chunks->size(), 1U);
    EXPECT_EQ(chunks->front().key, (formats::dat::ChunkKey{.boot_id = 0xB007, .cpu = 1, .chunk = 2, .generation = 3}));
    EXPECT_EQ(chunks->front().sequence, 4U);
    EXPECT_EQ(chunks->front().crc32c, 4'000'000'000U);
    EXPECT_EQ(m_script.requests[0].endpoint, shard_of(m_run, 2) == 0 ? m_a : m_b);
    EXPECT_THAT(m_script.requests[0].body,
                HasSubstr("chunks_rows FINAL WHERE site = 'plant' AND node = 'press' AND boot = '000000000000b007'"));
}

// Returns the lower bytes of a number as RowBinary has them.
std::string bytes_of(std::uint64_t number, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text += static_cast<char>(number >> (8 * i));
    }
    return text;
}

TEST_F(ClickHouseStoreTest, SendsTheEventsOfAChunkAndThenItsRow) {
    Message message = support::fleet::run_of(0xB007, 1).chunks.front();
    message.sequence = 77;
    auto chunk = read_chunk(message);
    ASSERT_TRUE(chunk);
    chunk->key = {.boot_id = 0xB007, .cpu = 3, .chunk = 4, .generation = 5};
    chunk->description.records = 9;
    chunk->description.dropped = 0x0A;
    chunk->description.refused = 0x0B;
    chunk->description.overwritten = 0x0C;
    chunk->crc32c = 0xDEAD'BEEF;
    chunk->first_ticks = 10;
    chunk->last_ticks.reset();
    ASSERT_TRUE(store("clickhouse://a/fleet").add_chunks(std::array{chunk.value()}));
    ASSERT_THAT(inserted(), testing::ElementsAre("events_rows", "chunks_rows"));

    const std::string prefix = "\3lab\4pi-1\x10"
                               "000000000000b007" +
                               bytes_of(1'700'000'000, 4) + bytes_of(3, 2) + bytes_of(4, 2) + bytes_of(5, 4);
    std::string events;
    const auto add = [&](std::uint64_t ticks, std::string_view event, std::uint16_t par1, std::uint32_t par2) {
        events += prefix + bytes_of(ticks >> 16, 8) + bytes_of(ticks, 2) + bytes_of(0, 2) +
                  bytes_of(tracer::find_event(event)->code, 1) + bytes_of(par1, 2) + bytes_of(par2, 4) + '\0';
    };
    add(1'000'000, "task_activate", 1, 0);
    add(1'000'100, "task_dispatch", 1, 1);
    add(1'005'000, "task_end_cycle", 1, 0);
    add(1'005'100, "task_dispatch", 2, 1);
    EXPECT_EQ(m_script.requests[0].body, events);
    EXPECT_EQ(m_script.requests[1].body, prefix + "\7records" + bytes_of(9, 8) + bytes_of(4, 8) +
                                             bytes_of(message.body.size(), 8) + bytes_of(0xDEAD'BEEF, 4) +
                                             bytes_of(0, 1) + bytes_of(10, 8) + bytes_of(1, 1) + bytes_of(0x0A, 8) +
                                             bytes_of(0x0B, 8) + bytes_of(0x0C, 8) + bytes_of(77, 8));
}

// Puts a row of a part; the other columns are NULL or 0.
void put_row(Table table, std::int64_t part, const RowSink& sink) {
    std::vector<sql::Cell> cells(columns_of(table).size());
    cells[4] = sql::Cell(part);
    sink(table, cells);
}

TEST_F(ClickHouseStoreTest, SendsTheRowsOfSeveralSessionsTogetherAndAtLastTheirNodes) {
    const auto small = [](const RowSink& sink) {
        put_row(Table::nodes, 0, sink);
        put_row(Table::listed, 0, sink);
        put_row(Table::jobs, 0, sink);
        put_row(Table::losses, 0, sink);
        put_row(Table::jobs, 1, sink);
        return lib::Result<void, trace::Refusal>();
    };
    auto one = store("clickhouse://a/fleet");
    const ReadSession session{.run = m_run, .manifest = nullptr, .directory = "", .rows = small};
    ASSERT_TRUE(one.add_sessions(std::array{session, session}));
    EXPECT_THAT(inserted(), testing::ElementsAre("listed_rows", "jobs_rows", "losses_rows", "nodes_rows"));
}

// What a view derives from a part is the same again only if the part is in one INSERT.
TEST_F(ClickHouseStoreTest, DividesNoPartBetweenTwoInserts) {
    const auto rows = [](std::uint32_t last) {
        return [last](const RowSink& sink) {
            put_row(Table::jobs, 0, sink);
            for (std::uint32_t i = 0; i < kRowsPerPart; ++i) {
                put_row(Table::jobs, 1, sink);
            }
            for (std::uint32_t i = 0; i < last; ++i) {
                put_row(Table::jobs, 2, sink);
            }
            return lib::Result<void, trace::Refusal>();
        };
    };
    auto one = store("clickhouse://a/fleet");
    ASSERT_TRUE(
        one.add_sessions(std::array{ReadSession{.run = m_run, .manifest = nullptr, .directory = "", .rows = rows(5)},
                                    ReadSession{.run = m_run, .manifest = nullptr, .directory = "", .rows = rows(0)}}));
    // The first two parts; five rows and the other session's first two parts.
    EXPECT_THAT(inserted(), testing::ElementsAre("jobs_rows", "jobs_rows"));
    EXPECT_EQ(m_script.requests[0].body.size() / (kRowsPerPart + 1) * (kRowsPerPart + 6),
              m_script.requests[1].body.size());
}

TEST_F(ClickHouseStoreTest, DoesNotSayThatASessionIsThereAfterAFailure) {
    answer("Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space", 500);
    auto one = store("clickhouse://a/fleet");
    const auto done =
        one.add_session({.run = m_run, .manifest = nullptr, .directory = "", .rows = [](const RowSink& sink) {
                             sink(Table::listed, std::vector<sql::Cell>(columns_of(Table::listed).size()));
                             sink(Table::nodes, std::vector<sql::Cell>(columns_of(Table::nodes).size()));
                             return lib::Result<void, trace::Refusal>();
                         }});
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().cause, lib::Error::no_space);
    EXPECT_EQ(m_script.requests.size(), 1U);
}

// Old releases send 200 before they know.
TEST_F(ClickHouseStoreTest, TakesABodyAfterAnInsertionForAFailure) {
    answer("Code: 241, e.displayText() = DB::Exception: Memory limit exceeded, e.what() = DB::Exception\n");
    auto one = store("clickhouse://a/fleet");
    const auto done =
        one.add_session({.run = m_run, .manifest = nullptr, .directory = "", .rows = [](const RowSink& sink) {
                             sink(Table::nodes, std::vector<sql::Cell>(columns_of(Table::nodes).size()));
                             return lib::Result<void, trace::Refusal>();
                         }});
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().text, HasSubstr("code 241: Memory limit exceeded"));
}

TEST_F(ClickHouseStoreTest, RefusesANewerSchemaBeforeAnyChange) {
    answer("version\nString\n18.16.1\n");
    answer(""); // the database
    answer(""); // remora_schema
    answer("name\tengine\nString\tString\n");
    answer("table\tname\ttype\nString\tString\tString\n");
    answer("name\tvalue\nString\tString\nversion\t70\n");
    const auto done = store("clickhouse://a/fleet").prepare();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().cause, lib::Error::refused);
    EXPECT_THAT(done.error().text, HasSubstr("version 70"));
    EXPECT_EQ(m_script.requests.size(), 6U);
}

TEST_F(ClickHouseStoreTest, AddsOnlyTheColumnsThatAreMissing) {
    std::string columns = "table\tname\ttype\nString\tString\tString\n";
    std::string engines = "name\tengine\nString\tString\n";
    for (std::size_t i = 0; i < kTables; ++i) {
        const std::string name = rows_name(static_cast<Table>(i));
        engines += name + "\tReplacingMergeTree\n";
        for (const StoredColumn& column : stored_columns(static_cast<Table>(i), {18, 16})) {
            if (column.name != "crc32c" || name != "listed_rows") {
                columns += name + '\t' + column.name + '\t' + column.type + '\n';
            }
        }
    }
    answer("version\nString\n23.8.2.7\n");
    answer("");
    answer("");
    answer(engines);
    answer(columns);
    answer("name\tvalue\nString\tString\nversion\t1\n");
    ASSERT_TRUE(store("clickhouse://a/fleet").prepare());
    EXPECT_EQ(std::ranges::count_if(m_script.requests,
                                    [](const Request& one) { return one.body.starts_with("CREATE TABLE"); }),
              1); // of remora_schema
    std::vector<std::string> changes;
    for (const Request& request : m_script.requests) {
        if (request.body.starts_with("ALTER")) {
            changes.push_back(request.body);
        }
    }
    EXPECT_THAT(changes, testing::ElementsAre(
                             "ALTER TABLE `fleet`.`listed_rows` ADD COLUMN crc32c UInt32 CODEC(ZSTD(1)) AFTER bytes"));
    EXPECT_THAT(m_script.requests.back().body, HasSubstr("INSERT INTO `fleet`.`remora_schema`"));
}

} // namespace clickhouse_store_test

} // namespace host::fleet::clickhouse
