// SPDX-License-Identifier: MIT
// Tests a loader between a source and a store that fail, or end, at any call.
#include "fleet/loader.hpp"

#include "fleet/chunk_events.hpp"
#include "fleet/network/network.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "tests/support/fleet/fake_stream.hpp"
#include "tests/support/fleet/runs.hpp"
#include "tests/support/host_command_line.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet {
namespace loader_test {

using support::fleet::Failures;
using support::fleet::FakeStore;
using support::fleet::FakeStream;
using support::fleet::kFormats;
using support::fleet::run_of;
using support::fleet::RunOfChunks;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::uint64_t kBoot = 0xB007;

// A stream with one run in it, and a store. What they hold outlives loaders.
class LoaderTest : public testing::Test {
  protected:
    void publish(const RunOfChunks& run) {
        for (const Message& chunk : run.chunks) {
            stream.publish(chunk);
        }
        stream.publish(run.session());
    }

    lib::Result<void, NetworkFailure> load() {
        Loader loader(
            stream, store,
            {.batch_messages = batch, .until_empty = true, .wait = {}, .report = [this](std::string_view line) {
                 reports.emplace_back(line);
             }});
        auto done = loader.run();
        counts = loader.counts();
        return done;
    }

    void expect_everything(const RunOfChunks& run) {
        EXPECT_EQ(store.chunks.size(), run.chunks.size());
        ASSERT_TRUE(store.sessions.contains(kBoot));
        EXPECT_TRUE(stream.dead.empty());
        EXPECT_EQ(stream.settled.size(), run.chunks.size() + 1);
    }

    std::size_t batch = 2;
    Failures failures;
    FakeStore store{failures};
    FakeStream stream{failures, store};
    Loader::Counts counts;
    std::vector<std::string> reports;
};

TEST_F(LoaderTest, StoresChunksAndThenTheirSession) {
    const RunOfChunks run = run_of(kBoot, 5);
    publish(run);
    ASSERT_TRUE(load());
    expect_everything(run);
    EXPECT_EQ(counts.chunks, 5);
    EXPECT_EQ(counts.events, 20);
    EXPECT_EQ(counts.sessions, 1);
}

TEST_F(LoaderTest, TheSessionWaitsForItsChunksWhateverTheOrder) {
    const RunOfChunks run = run_of(kBoot, 5);
    publish(run);
    stream.reversed = true;
    batch = 1;
    ASSERT_TRUE(load());
    expect_everything(run);
}

// The messages are loaded into a store of their own. Returns formats.json of the session in it.
std::string packed_of(const std::vector<Message>& messages, bool reversed, std::map<std::string, std::string>& dead) {
    Failures none;
    FakeStore store(none);
    FakeStream stream(none, store);
    stream.reversed = reversed;
    for (const Message& message : messages) {
        stream.publish(message);
    }
    EXPECT_TRUE(Loader(stream, store, {.batch_messages = 1, .until_empty = true, .wait = {}}).run());
    EXPECT_EQ(stream.settled.size(), messages.size());
    EXPECT_TRUE(store.sessions.contains(kBoot));
    dead = stream.dead;
    return store.packed_formats;
}

TEST_F(LoaderTest, TheSessionHasItsFormatsWhateverTheOrderAndHowOftenTheyCome) {
    RunOfChunks run = run_of(kBoot, 2);
    const Message formats = run.formats(kFormats);
    std::map<std::string, std::string> dead;
    for (const bool reversed : {false, true}) {
        EXPECT_EQ(packed_of({formats, run.chunks[0], formats, run.chunks[1], run.session(), formats}, reversed, dead),
                  kFormats);
        EXPECT_TRUE(dead.empty());
    }
}

// The publisher is from before this kind of message, or they are damaged, too large, or of another image.
TEST_F(LoaderTest, ASessionWithoutUsableFormatsIsStoredWithout) {
    RunOfChunks run = run_of(kBoot, 1);
    Message formats = run.formats(kFormats);
    std::map<std::string, std::string> dead;
    EXPECT_EQ(packed_of({run.chunks[0], run.session()}, false, dead), "none");
    formats.body += ' ';
    EXPECT_EQ(packed_of({run.chunks[0], formats, run.session()}, false, dead), "none");
    EXPECT_TRUE(dead.empty());
    for (const std::string& damaged : {std::string("{"), std::string(kFormatsBytesMax + 1, ' ')}) {
        formats.body = damaged;
        EXPECT_EQ(packed_of({run.chunks[0], formats, run.session()}, false, dead), "none");
        EXPECT_THAT(dead, ElementsAre(Pair(formats.id, HasSubstr("formats.json"))));
    }
}

// Another loader has the chunks, and stores them while this one asks whether the session can be stored.
TEST_F(LoaderTest, WhatAnotherLoaderStoresMeanwhileIsNotMissingInTheSession) {
    const RunOfChunks run = run_of(kBoot, 2);
    publish(run);
    ASSERT_TRUE(load());
    const auto rows = store.sessions.at(kBoot);
    FakeStore other_store(failures);
    FakeStream other(failures, other_store);
    for (const Message& message : stream.all) {
        other.publish(message);
    }
    const auto taken = other.take(2, 0, {});
    other.meanwhile = [&] {
        std::vector<ReadChunk> chunks;
        for (const Message& message : taken.value()) {
            chunks.push_back(read_chunk(message).value());
        }
        ASSERT_TRUE(other_store.add_chunks(chunks));
        ASSERT_TRUE(other.acknowledge(taken.value()));
    };
    ASSERT_TRUE(Loader(other, other_store, {.until_empty = true, .wait = {}}).run());
    EXPECT_EQ(other_store.sessions.at(kBoot), rows);
}

// Each call fails once, before or after its effect. A server that is away is waited for.
TEST_F(LoaderTest, AnyCallMayFailOnceAndNothingIsLostOrDoubled) {
    RunOfChunks run = run_of(kBoot, 3);
    stream.publish(run.formats(kFormats));
    publish(run);
    ASSERT_TRUE(load());
    const std::uint64_t calls = failures.calls;
    const auto rows = store.sessions.at(kBoot);
    for (const auto kind : {Failures::Kind::before, Failures::Kind::after}) {
        for (std::uint64_t at = 1; at <= calls; ++at) {
            Failures once{.at = at, .kind = kind};
            FakeStore other(once);
            FakeStream again(once, other);
            for (const Message& message : stream.all) {
                again.publish(message);
            }
            Loader loader(again, other, {.batch_messages = 2, .until_empty = true, .wait = {}});
            ASSERT_TRUE(loader.run()) << "call " << at;
            EXPECT_EQ(other.chunks.size(), 3) << "call " << at;
            EXPECT_EQ(other.sessions.at(kBoot), rows) << "call " << at;
            EXPECT_EQ(other.packed_formats, kFormats) << "call " << at;
            EXPECT_EQ(again.settled.size(), 5) << "call " << at;
        }
    }
}

// A loader ends at each of its calls, before or after the effect, and another one continues.
TEST_F(LoaderTest, ALoaderMayEndAtAnyCall) {
    RunOfChunks run = run_of(kBoot, 3);
    stream.publish(run.formats(kFormats));
    publish(run);
    ASSERT_TRUE(load());
    const std::uint64_t calls = failures.calls;
    const auto rows = store.sessions.at(kBoot);
    for (const auto kind : {Failures::Kind::before, Failures::Kind::after}) {
        for (std::uint64_t at = 1; at <= calls; ++at) {
            Failures once{.at = at, .kind = kind, .error = lib::Error::io};
            FakeStore other(once);
            FakeStream again(once, other);
            for (const Message& message : stream.all) {
                again.publish(message);
            }
            const Loader::Options options{.batch_messages = 2, .until_empty = true, .wait = {}};
            static_cast<void>(Loader(again, other, options).run()); // io is no reason to wait: it ends
            Loader next(again, other, options);
            ASSERT_TRUE(next.run()) << "call " << at;
            EXPECT_EQ(other.chunks.size(), 3) << "call " << at;
            EXPECT_EQ(other.sessions.at(kBoot), rows) << "call " << at;
            EXPECT_EQ(other.packed_formats, kFormats) << "call " << at;
            EXPECT_EQ(again.settled.size(), 5) << "call " << at;
        }
    }
}

TEST_F(LoaderTest, ADamagedChunkIsRejectedWithItsReasonAndTheSessionLacksIt) {
    RunOfChunks run = run_of(kBoot, 3);
    char& last = run.chunks[1].body.back(); // of a record
    last = static_cast<char>(last ^ 1);
    publish(run);
    ASSERT_TRUE(load());
    EXPECT_THAT(stream.dead, ElementsAre(Pair(run.chunks[1].id, HasSubstr("checksum"))));
    EXPECT_EQ(store.chunks.size(), 2);
    EXPECT_TRUE(store.sessions.contains(kBoot));
    EXPECT_EQ(counts.rejected, 1);
    EXPECT_THAT(reports, ElementsAre(HasSubstr(run.chunks[1].id)));
}

TEST_F(LoaderTest, AChunkOfAnotherIdIsRejected) {
    RunOfChunks run = run_of(kBoot, 2);
    std::swap(run.chunks[0].id, run.chunks[1].id);
    publish(run);
    ASSERT_TRUE(load());
    EXPECT_EQ(stream.dead.size(), 2);
    EXPECT_TRUE(store.chunks.empty());
}

TEST_F(LoaderTest, ASessionThatIsNoManifestIsRejected) {
    Message session = run_of(kBoot, 1).session();
    session.body = "{}";
    stream.publish(session);
    ASSERT_TRUE(load());
    EXPECT_EQ(stream.dead.size(), 1);
}

TEST_F(LoaderTest, ASessionOfAnotherBootIsRejected) {
    Message session = run_of(kBoot, 1).session();
    session.id = session_message_id(kBoot + 1);
    stream.publish(session);
    ASSERT_TRUE(load());
    EXPECT_THAT(stream.dead, ElementsAre(Pair(session.id, HasSubstr("boot"))));
}

// Without the bytes no rows can be made: that is said, instead of rows of a part of the run.
TEST_F(LoaderTest, ASessionWhoseChunksLeftTheStreamIsRejected) {
    const RunOfChunks run = run_of(kBoot, 2);
    publish(run);
    stream.gone.insert(2);
    ASSERT_TRUE(load());
    EXPECT_THAT(stream.dead, ElementsAre(Pair(run.session().id, HasSubstr("no more"))));
    EXPECT_EQ(store.chunks.size(), 2);
}

TEST_F(LoaderTest, WhatIsStoredAlreadyIsAcknowledgedAgain) {
    const RunOfChunks run = run_of(kBoot, 2);
    publish(run);
    publish(run); // by another publisher, later
    ASSERT_TRUE(load());
    EXPECT_EQ(store.chunks.size(), 2);
    EXPECT_EQ(counts.sessions, 1);
    EXPECT_EQ(stream.settled.size(), 6);
}

TEST_F(LoaderTest, AStoreThatRefusesEndsTheLoader) {
    publish(run_of(kBoot, 1));
    failures.at = 2;
    failures.error = lib::Error::refused;
    const auto done = load();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().cause, lib::Error::refused);
    EXPECT_TRUE(stream.settled.empty());
}

// Of what the server answers while it starts, or when it resets the connection while its tables are prepared.
TEST_F(LoaderTest, AStoreThatIsAwayAtTheStartIsAwaited) {
    using Opened = lib::Result<std::shared_ptr<Store>, StoreFailure>;
    const std::vector<StoreFailure> failures = {{lib::Error::unreachable, "away"}, {lib::Error::unreachable, "away"},
                                                {lib::Error::timeout, "slow"},     {lib::Error::busy, "busy"},
                                                {lib::Error::refused, "wrong"},    {lib::Error::unreachable, "away"}};
    std::vector<std::string> said;
    std::size_t attempts = 0;
    std::size_t naps = 0;
    const auto open = [&](std::size_t fails) {
        attempts = naps = 0;
        said.clear();
        return open_patiently(
            [&, fails] {
                return attempts++ < fails ? Opened(failures[attempts - 1]) : Opened(std::shared_ptr<Store>());
            },
            [&] { return ++naps < 5; }, [&said](std::string_view line) { said.emplace_back(line); });
    };
    EXPECT_TRUE(open(0).ok());
    EXPECT_EQ(naps, 0U);
    EXPECT_TRUE(open(4).ok());
    EXPECT_EQ(naps, 4U);
    EXPECT_EQ(said, (std::vector<std::string>{"waits: away", "waits: slow", "waits: busy"})) << "once each";
    EXPECT_EQ(open(6).error().text, "wrong") << "waiting does not help";
    EXPECT_EQ(attempts, 5U);
    EXPECT_EQ(
        open_patiently([&] { return Opened(failures[0]); }, [] { return false; }, [](std::string_view) {}).error().text,
        "away")
        << "it is to end";
}

TEST_F(LoaderTest, ALoaderThatIsStoppedWhileTheServerIsAwayAcknowledgesNothing) {
    publish(run_of(kBoot, 1));
    volatile std::sig_atomic_t stop = 0;
    failures.at = 2; // add_chunks
    Loader loader(stream, store,
                  {.until_empty = true, .stop = &stop, .wait = {}, .report = [&stop](std::string_view) { stop = 1; }});
    ASSERT_TRUE(loader.run());
    EXPECT_TRUE(stream.settled.empty());
    EXPECT_TRUE(store.chunks.empty());
}

using FleetCommand = support::CommandLine;

// What a format of trace_printf says is only in formats.json, from a session to its packed file in a store.
TEST_F(FleetCommand, EveryCommandShowsTheTextsOfAStoredSession) {
    support::ChunkBuilder chunk;
    chunk.build("control", 7, 9);
    chunk.begin.boot_id = kBoot;
    std::string payload("\0\0\x68\0\0\0", 6);
    payload += static_cast<char>(tracer::FieldType::text) + std::string("\4fast");
    payload.front() = static_cast<char>(payload.size());
    for (const tracer::Record& record : support::combined(tracer::find_event("formatted_event")->code,
                                                          std::as_bytes(std::span(payload)), lib::Ticks{5'000})) {
        chunk.raw(record);
    }
    const std::string session = m_directory / "session";
    std::filesystem::create_directory(session);
    m_directory.write("session/0trace.dat", chunk.bytes());
    m_directory.write("session/formats.json", std::as_bytes(std::span(kFormats)));
    ASSERT_EQ(remora({"adopt", session}), 0) << m_err;
    auto manifest = formats::dat::load_manifest(session).value();
    manifest.formats = {.image_id = 9, .crc32c = trace::checksum(std::as_bytes(std::span(kFormats)))};
    ASSERT_TRUE(formats::dat::save_manifest(manifest, session).ok());
    ASSERT_EQ(remora({"load", "--from", session, "--site", "lab", "--node", "pi-1", "--to", m_directory / "store"}), 0)
        << m_err;
    const std::string packed = m_directory / "store/lab/pi-1/000000000000b007.rpk";
    EXPECT_EQ(remora({"print", packed}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("speed fast"));
    EXPECT_EQ(remora({"sql", packed, "SELECT * FROM events"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("speed fast"));
    EXPECT_EQ(remora({"load", "--from", session, "--site", "lab", "--node", "pi-1", "--to", m_directory / "store"}), 0)
        << "once more";
    EXPECT_EQ(remora({"sql", packed, "SELECT * FROM events"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("speed fast"));
    std::filesystem::remove(session + "/formats.json");
    EXPECT_EQ(remora({"load", "--from", session, "--to", m_directory / "other"}), 2) << m_err;
    EXPECT_THAT(m_err, HasSubstr("session/formats.json: "));
    EXPECT_THAT(m_out + m_err, HasSubstr("1 session"));
}

TEST_F(FleetCommand, VerifyEndsWithTheStatusOfARunThatEndedBadly) {
    const std::string session = m_directory / "session";
    std::filesystem::create_directory(session);
    support::ChunkBuilder chunk = sample();
    chunk.begin.boot_id = kBoot;
    m_directory.write("session/0trace.dat", chunk.bytes());
    ASSERT_EQ(remora({"adopt", session}), 0) << m_err;
    auto manifest = formats::dat::load_manifest(session).value();
    const std::string store = m_directory / "store";
    for (const auto& [result, status] :
         {std::pair(tracer::RunResult::completed, 6), std::pair(tracer::RunResult::failed, 8)}) {
        manifest.announced = {.chunks = 1, .result = result, .records = manifest.chunks.front().records};
        ASSERT_TRUE(formats::dat::save_manifest(manifest, session).ok());
        EXPECT_LE(remora({"load", "--from", session, "--node", fmt::format("n{}", status), "--to", store}), 0) << m_err;
        EXPECT_EQ(remora({"fleet", "verify", store}), status) << m_out;
    }
    EXPECT_THAT(m_out, HasSubstr("n8/000000000000b007: the run ended badly: failed"));
}

} // namespace loader_test
} // namespace host::fleet
