// SPDX-License-Identifier: MIT
// Tests the store in a directory: what is added twice is there once, writers wait for each other, an earlier version's
// tables get their columns, and a process that ends in the middle leaves nothing half done.
#include "fleet/local/directory_store.hpp"

#include "fleet/local/schema.hpp"
#include "fleet/network/network.hpp"
#include "host/formats/packed/archive.hpp"
#include "host/text/format.hpp"
#include "tests/support/fleet_run.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace host::fleet::local {

namespace {

using support::FleetRun;

class DirectoryStoreTest : public testing::Test {
  protected:
    [[nodiscard]] std::string place() const { return m_scratch / "fleet"; }

    [[nodiscard]] std::string file() const { return place() + "/fleet.sqlite"; }

    [[nodiscard]] std::shared_ptr<Store> prepared() const {
        auto store = DirectoryStore::open(place(), Access::write).value();
        const auto made = store->prepare();
        EXPECT_TRUE(made) << made.error().text;
        return store;
    }

    // Rows as "a|b, c|d".
    static std::string rows_of(Store& store, const std::string& statement) {
        const auto answer = store.query(statement);
        if (!answer) {
            return answer.error().text;
        }
        std::string text;
        for (const auto& row : answer.value().rows) {
            text += &row == &answer.value().rows.front() ? "" : ", ";
            for (std::size_t i = 0; i < row.size(); ++i) {
                text += fmt::format("{}{}", i == 0 ? "" : "|",
                                    row[i].index() == 0   ? "NULL"
                                    : row[i].index() == 1 ? std::to_string(std::get<1>(row[i]))
                                                          : std::get<2>(row[i]));
            }
        }
        return text;
    }

    void change(const std::string& statements) const {
        const auto done = caught([&] { Connection(file(), Access::write).run(statements); });
        ASSERT_TRUE(done) << done.error().text;
    }

    static FleetRun sample() {
        FleetRun run("lab", "pi-1", 0xA1, 1'000);
        run.chunk(0, 0, 0, 10, 7, "first").chunk(1, 1, 2, 20, 8, "second").listed(0, 0, 0, 10, 7);
        run.listed(1, 1, 2, 20, 8).ended({{"events", 30}});
        for (std::int64_t job = 1; job <= 8; ++job) {
            run.job("control", job, 1'000 + 10 * job, 100 * (job % 4), 112 * (job % 4), job == 8);
        }
        return run;
    }

    support::TemporaryDirectory m_scratch;
};

constexpr const char* kCounts = "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM images), (SELECT count(*) "
                                "FROM nodes), (SELECT count(*) FROM jobs), (SELECT sum(jobs) FROM task_minutes), "
                                "(SELECT sum(jobs) FROM response_classes), (SELECT count(*) FROM worst_jobs)";

TEST_F(DirectoryStoreTest, KeepsAChunkWithItsFileUntilItsSessionIsStored) {
    const auto store = prepared();
    FleetRun run = sample();
    run.store_chunks(*store);
    EXPECT_EQ(
        rows_of(*store, "SELECT site, node, boot, started_s, cpu, chunk, generation, records, crc32c FROM chunks"),
        "lab|pi-1|00000000000000a1|1000|0|0|0|10|7, lab|pi-1|00000000000000a1|1000|1|1|2|20|8");
    EXPECT_EQ(store->image_of(run.run(), {0xA1, 1, 1, 2}).value(), "second");
    EXPECT_EQ(store->image_of(run.run(), {0xA1, 1, 1, 3}).value(), std::nullopt);
    EXPECT_EQ(store->chunks_of(run.run()).value().size(), 2U);
    EXPECT_FALSE(store->has_session(run.run()).value());
    run.store(*store, m_scratch);
    EXPECT_TRUE(store->has_session(run.run()).value());
    EXPECT_EQ(store->image_of(run.run(), {0xA1, 1, 1, 2}).value(), std::nullopt);
    EXPECT_EQ(rows_of(*store, kCounts), "2|0|1|8|8|8|5");
}

TEST_F(DirectoryStoreTest, WhatIsAddedTwiceIsThereOnce) {
    const auto store = prepared();
    FleetRun run = sample();
    run.store_chunks(*store);
    run.store_chunks(*store);
    EXPECT_EQ(rows_of(*store, "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM images)"), "2|2");
    run.store(*store, m_scratch);
    run.store(*store, m_scratch);
    EXPECT_EQ(rows_of(*store, kCounts), "2|0|1|8|8|8|5");
}

TEST_F(DirectoryStoreTest, KeepsTheFormatsOfARunUntilItsSessionIsStored) {
    const auto store = prepared();
    FleetRun run = sample();
    EXPECT_EQ(store->formats_of(run.run()).value(), std::nullopt);
    for (const std::string_view text : {"{}", "{\"formats\": []}"}) {
        ASSERT_TRUE(store->add_formats(run.run(), text));
        EXPECT_EQ(store->formats_of(run.run()).value(), text);
    }
    EXPECT_EQ(store->formats_of(FleetRun("lab", "pi-2", 0xA1, 1'000).run()).value(), std::nullopt);
    EXPECT_EQ(rows_of(*store, "SELECT count(*) FROM images"), "1") << "the later ones replace the earlier ones";
    run.store(*store, m_scratch);
    EXPECT_EQ(store->formats_of(run.run()).value(), std::nullopt);
    EXPECT_EQ(rows_of(*store, kCounts), "2|0|1|8|8|8|5");
}

TEST_F(DirectoryStoreTest, DerivesMinutesClassesAndTheLongestResponses) {
    const auto store = prepared();
    sample().store(*store, m_scratch);
    EXPECT_EQ(rows_of(*store, "SELECT task, minute_s, jobs, missed, worst_ns FROM task_minutes"),
              "control|960|1|0|100, control|1020|6|0|300, control|1080|1|1|0");
    EXPECT_EQ(rows_of(*store, "SELECT class_ns, jobs FROM response_classes"), "0|2, 112|2, 224|2, 336|2");
    EXPECT_EQ(rows_of(*store, "SELECT job, response_ns FROM worst_jobs ORDER BY response_ns DESC, job"),
              "3|300, 7|300, 2|200, 6|200, 1|100")
        << "of equal ones the earliest jobs";
}

TEST_F(DirectoryStoreTest, PacksTheSession) {
    const auto store = prepared();
    sample().store(*store, m_scratch);
    const std::string path = place() + "/lab/pi-1/00000000000000a1.rpk";
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto bytes = trace::ByteSource::open(path);
    ASSERT_TRUE(bytes);
    const auto reader = formats::packed::ArchiveReader::open({.name = path, .bytes = bytes.value()}, {}, diagnostics);
    ASSERT_TRUE(reader);
    ASSERT_EQ(reader.value()->files().size(), 1U);
    EXPECT_EQ(reader.value()->files().front().name, "manifest.json");
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(place() + "/lab/pi-1")) {
        ++entries;
    }
    EXPECT_EQ(entries, 1U) << "nothing partial is left";
}

TEST_F(DirectoryStoreTest, AChunkThatComesAfterItsSessionKeepsItsFile) {
    const auto store = prepared();
    FleetRun run("lab", "pi-1", 0xA1, 1'000);
    run.chunk(0, 0, 0, 10, 7, "first").listed(0, 0, 0, 10, 7).ended({}).store(*store, m_scratch);
    run.chunk(0, 5, 0, 10, 7, "late").store_chunks(*store);
    EXPECT_EQ(store->image_of(run.run(), {0xA1, 0, 5, 0}).value(), "late");
    EXPECT_EQ(store->image_of(run.run(), {0xA1, 0, 0, 0}).value(), std::nullopt) << "it is in the packed session";
    run.store(*store, m_scratch);
    EXPECT_EQ(store->image_of(run.run(), {0xA1, 0, 5, 0}).value(), "late") << "the session does not list it";
}

TEST_F(DirectoryStoreTest, TwoStoresTakeTheSameChunksAndSessionsAtOnce) {
    constexpr std::uint64_t kRuns = 12;
    const auto load = [this] {
        const auto store = prepared();
        for (std::uint64_t boot = 1; boot <= kRuns; ++boot) {
            FleetRun run("lab", "pi-1", boot, 1'000);
            run.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended({}).job("control", 1, 1'000, 5, 5);
            run.store(*store, m_scratch);
        }
    };
    std::thread other(load);
    load();
    other.join();
    EXPECT_EQ(rows_of(*prepared(), kCounts), "12|0|12|12|12|12|12");
}

TEST_F(DirectoryStoreTest, AWriterThatEndsInTheMiddleOfASessionLeavesNothingOfIt) {
    FleetRun run = sample();
    {
        const auto store = prepared();
        run.store_chunks(*store);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        const auto store = prepared();
        std::filesystem::create_directories(m_scratch / "session");
        std::ofstream(m_scratch / "session" + "/manifest.json") << "{}";
        ReadSession session = run.session(m_scratch / "session");
        session.rows = [&](const RowSink& sink) -> lib::Result<void, trace::Refusal> {
            FleetRun many("lab", "pi-1", 0xA1, 1'000);
            for (int i = 0; i < 1'000; ++i) {
                many.job("control", i, 1'000, 5, 5);
            }
            many.write_rows(sink);
            ::_exit(7);
        };
        (void)store->add_session(session);
        ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(WEXITSTATUS(status), 7);
    EXPECT_TRUE(std::filesystem::exists(place() + "/lab/pi-1/00000000000000a1.rpk")) << "it comes first";
    const auto store = prepared();
    EXPECT_EQ(rows_of(*store, kCounts), "2|2|0|0|NULL|NULL|0");
    run.store(*store, m_scratch);
    EXPECT_EQ(rows_of(*store, kCounts), "2|0|1|8|8|8|5");
}

TEST_F(DirectoryStoreTest, ASessionWhoseRowsCannotBeMadeIsNotStored) {
    const auto store = prepared();
    FleetRun run = sample();
    run.store_chunks(*store);
    std::filesystem::create_directories(m_scratch / "session");
    std::ofstream(m_scratch / "session" + "/manifest.json") << "{}";
    ReadSession session = run.session(m_scratch / "session");
    session.rows = [&](const RowSink& sink) -> lib::Result<void, trace::Refusal> {
        run.write_rows(sink);
        return trace::Refusal{"a chunk is damaged"};
    };
    const auto added = store->add_session(session);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().cause, lib::Error::corrupt);
    EXPECT_EQ(added.error().text, "a chunk is damaged");
    EXPECT_EQ(rows_of(*store, kCounts), "2|2|0|0|NULL|NULL|0");
}

TEST_F(DirectoryStoreTest, AddsTheColumnsThatAnEarlierVersionDidNotHave) {
    {
        const auto store = prepared();
        sample().store(*store, m_scratch);
    }
    change("ALTER TABLE nodes DROP COLUMN kernel; ALTER TABLE nodes DROP COLUMN duration_ns; DROP TABLE losses; "
           "PRAGMA user_version = 0");
    const auto early = DirectoryStore::open(place(), Access::read);
    ASSERT_FALSE(early);
    EXPECT_EQ(early.error().text, file() + ": an earlier remora made it: `remora load --to` this directory changes it "
                                           "once");
    const auto store = prepared();
    EXPECT_EQ(rows_of(*store, "SELECT kernel, duration_ns, application FROM nodes"), "|NULL|control");
    EXPECT_EQ(rows_of(*store, "SELECT count(*) FROM losses"), "0");
    FleetRun next("lab", "pi-1", 0xA2, 2'000);
    next.ended({{"kernel", "remora 2"}}).store(*store, m_scratch);
    EXPECT_EQ(rows_of(*store, "SELECT kernel FROM nodes ORDER BY boot"), ", remora 2");
    EXPECT_TRUE(DirectoryStore::open(place(), Access::read));
}

TEST_F(DirectoryStoreTest, RefusesTheTablesOfALaterVersion) {
    (void)prepared();
    change("PRAGMA user_version = 2");
    const std::string text = file() + ": a later remora made it (version 2 of the tables, this one knows 1): use that "
                                      "one";
    const auto made = DirectoryStore::open(place(), Access::write).value()->prepare();
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().cause, lib::Error::refused);
    EXPECT_EQ(made.error().text, text);
    EXPECT_EQ(DirectoryStore::open(place(), Access::read).error().text, text);
}

TEST_F(DirectoryStoreTest, RefusesAnotherProgramsFileAndLeavesItAsItIs) {
    std::filesystem::create_directories(place());
    change("CREATE TABLE theirs(a)");
    const auto size = std::filesystem::file_size(file());
    const auto made = DirectoryStore::open(place(), Access::write).value()->prepare();
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text, file() + ": another program's database: name another directory");
    EXPECT_EQ(std::filesystem::file_size(file()), size);
    std::ofstream(file(), std::ios::trunc) << std::string(4096, 'x');
    EXPECT_EQ(DirectoryStore::open(place(), Access::write).value()->prepare().error().text,
              file() + ": this is no SQLite database: name another directory");
}

TEST_F(DirectoryStoreTest, MakesNothingWhereThereIsNoStoreToRead) {
    std::filesystem::create_directories(place());
    const auto store = DirectoryStore::open(place(), Access::read);
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().text, place() +
                                      ": this is no store of a fleet (no fleet.sqlite in it): `remora load --from "
                                      "SESSIONS --to " +
                                      place() + "` makes one");
    EXPECT_TRUE(std::filesystem::is_empty(place()));
}

TEST_F(DirectoryStoreTest, AnswersOneStatementWithNullsNumbersAndTexts) {
    const auto store = prepared();
    EXPECT_EQ(rows_of(*store, "SELECT NULL, 1 + 1, 'it''s' UNION ALL SELECT 3, 4, " + store->quoted("it's")),
              "NULL|2|it's, 3|4|it's");
    EXPECT_EQ(store->query("SELECT 5 AS five").value().columns, std::vector<std::string>{"five"});
    EXPECT_EQ(store->query("SELECT 1; SELECT 2").error().text, "one statement at a time");
    EXPECT_EQ(store->query("SELECT 1; ").value().rows.size(), 1U);
    EXPECT_EQ(store->query("SELECT nothing").error().cause, lib::Error::refused);
}

TEST_F(DirectoryStoreTest, WithoutSpaceNothingIsStoredAndItSaysSo) {
    const auto store = prepared();
    const Connection connection(file(), Access::write);
    connection.run("PRAGMA max_page_count = 1"); // no more than there are
    const Transaction transaction(connection);
    const auto full =
        caught([&] { connection.run("INSERT INTO images(site, bytes) VALUES('lab', zeroblob(1000000))"); });
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().cause, lib::Error::no_space);
    EXPECT_EQ(full.error().text,
              file() + ": no space left there: make room, and start again; what is stored stays valid");
}

TEST_F(DirectoryStoreTest, APlaceIsADirectoryOrAServer) {
    EXPECT_EQ(open_store(place(), {}, OpenMode::read).error().cause, lib::Error::refused);
    EXPECT_TRUE(open_store(place(), {}, OpenMode::write));
    EXPECT_TRUE(open_store(place(), {}, OpenMode::read)) << "it was made";
    EXPECT_EQ(open_store("nats://host", {}, OpenMode::read).error().text,
              "nats://host: traces come from there; a store is a directory, or clickhouse://HOST[:PORT]/DATABASE");
    EXPECT_EQ(open_store("http://user:secret@host/x", {}, OpenMode::write).error().text,
              "http://host/x: no store is of this kind; a store is a directory, or clickhouse://HOST[:PORT]/DATABASE");
    EXPECT_EQ(open_store("nats://user:secret@host", {}, OpenMode::read).error().text.find("secret"), std::string::npos);
    EXPECT_EQ(open_store("", {}, OpenMode::write).error().cause, lib::Error::refused);
    std::ofstream(m_scratch / "file") << "text";
    EXPECT_THAT(open_store(m_scratch / "file", {}, OpenMode::write).error().text,
                testing::HasSubstr("Not a directory"));
}

} // namespace

} // namespace host::fleet::local
