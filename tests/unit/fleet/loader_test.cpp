// SPDX-License-Identifier: MIT
// Tests a loader between a source and a store that fail, or end, at any call.
#include "fleet/loader.hpp"

#include "fleet/chunk_events.hpp"
#include "tests/support/fleet/fake_stream.hpp"
#include "tests/support/fleet/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet {
namespace loader_test {

using support::fleet::Failures;
using support::fleet::FakeStore;
using support::fleet::FakeStream;
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
    const RunOfChunks run = run_of(kBoot, 3);
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
            EXPECT_EQ(again.settled.size(), 4) << "call " << at;
        }
    }
}

// A loader ends at each of its calls, before or after the effect, and another one continues.
TEST_F(LoaderTest, ALoaderMayEndAtAnyCall) {
    const RunOfChunks run = run_of(kBoot, 3);
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
            EXPECT_EQ(again.settled.size(), 4) << "call " << at;
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

} // namespace loader_test
} // namespace host::fleet
