// SPDX-License-Identifier: MIT
// Tests what a page gets of a run that continues, request by request.
#include "host/report/live/feed.hpp"
#include "host/report/live/http_server.hpp"

#include "lib/endian.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

namespace host::report::live {

namespace {

using std::chrono::milliseconds;

// A run of which nothing but the number of its events is known; enough for a cut.
class FeedTest : public testing::Test {
  protected:
    [[nodiscard]] Feed::Tables tables() {
        return [this] {
            return Trace{.head = m_head,
                         .axis = m_axis,
                         .schedule = m_schedule,
                         .events = m_events,
                         .latencies = m_latencies,
                         .facts = m_facts};
        };
    }

    // Asks in another thread, as the server does; the directory of the block, null if there is nothing new.
    [[nodiscard]] nlohmann::json ask(std::optional<std::uint64_t> cut) {
        std::optional<std::vector<std::byte>> block;
        std::thread server([&] { block = m_feed.after(cut); });
        m_feed.answer_for(milliseconds(200));
        server.join();
        if (!block) {
            return nullptr;
        }
        const auto bytes = lib::load_le<std::uint32_t>(std::span(*block));
        const auto* const text = reinterpret_cast<const char*>(block->data()) + sizeof(bytes);
        return nlohmann::json::parse(text, text + bytes);
    }

    Head m_head;
    Axis m_axis{{}};
    ScheduleTables m_schedule{m_axis, 1000};
    EventTables m_events{m_axis};
    analyse::Latencies m_latencies{std::nullopt};
    trace::TraceFacts m_facts;
    Feed m_feed;
};

TEST_F(FeedTest, WaitsForARun) {
    const nlohmann::json live = ask(std::nullopt)["live"];
    EXPECT_EQ(live["state"], "waiting");
    EXPECT_EQ(live["run"], 1);
    EXPECT_EQ(live["first"], true);
}

TEST_F(FeedTest, GivesEverythingThenWhatIsNew) {
    m_feed.begin(tables());
    const nlohmann::json first = ask(std::nullopt)["live"];
    EXPECT_EQ(first["first"], true);
    EXPECT_EQ(first["state"], "running");
    EXPECT_EQ(ask(first["cut"]), nullptr);
    m_head.events = 7;
    const nlohmann::json second = ask(first["cut"])["live"];
    EXPECT_EQ(second["first"], false);
    EXPECT_NE(second["cut"], first["cut"]);
    EXPECT_EQ(ask(first["cut"])["live"], second) << "another page that is as far";
}

TEST_F(FeedTest, TheEndIsNews) {
    m_feed.begin(tables());
    const nlohmann::json running = ask(std::nullopt)["live"];
    m_feed.change(Feed::State::ended);
    const nlohmann::json ended = ask(running["cut"])["live"];
    EXPECT_EQ(ended["state"], "ended");
    EXPECT_EQ(ask(ended["cut"]), nullptr) << "the page knows it now";
}

TEST_F(FeedTest, KeepsNothingOfATraceThatWasRemoved) {
    const auto owner = std::make_shared<int>();
    m_feed.begin([owner, all = tables()] { return all(); });
    EXPECT_EQ(owner.use_count(), 2);
    m_feed.remove();
    EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(FeedTest, ACutOfAnotherRunIsNotKnown) {
    m_feed.begin(tables());
    const nlohmann::json former = ask(std::nullopt)["live"];
    m_feed.remove();
    EXPECT_EQ(ask(former["cut"])["live"]["state"], "waiting");
    m_feed.begin(tables());
    const nlohmann::json next = ask(former["cut"])["live"];
    EXPECT_EQ(next["first"], true);
    EXPECT_EQ(next["run"], 2);
    EXPECT_GT(next["cut"], former["cut"]);
}

TEST_F(FeedTest, ForgetsCutsBeyondItsLimit) {
    m_feed.begin(tables());
    const std::uint64_t first = ask(std::nullopt)["live"]["cut"];
    std::thread server([&] {
        for (std::size_t i = 0; i < Feed::kCutsMax; ++i) {
            ++m_head.events;
            static_cast<void>(m_feed.after(std::nullopt));
        }
    });
    m_feed.answer_for(milliseconds(100));
    std::atomic<bool> done = false;
    std::thread waiting([&] {
        server.join();
        done = true;
    });
    while (!done) {
        m_feed.answer_for(milliseconds(20));
    }
    waiting.join();
    ++m_head.events;
    EXPECT_EQ(ask(first)["live"]["first"], true);
}

TEST_F(FeedTest, NothingWaitsOnceItIsClosed) {
    m_feed.begin(tables());
    std::optional<std::vector<std::byte>> block = std::vector<std::byte>(1);
    std::thread server([&] { block = m_feed.after(std::nullopt); }); // no reader answers it
    m_feed.close();
    server.join();
    EXPECT_FALSE(block);
    EXPECT_FALSE(m_feed.after(std::nullopt));
}

TEST(SameSecret, ComparesAllOfIt) {
    EXPECT_TRUE(is_same_secret("abcd", "abcd"));
    for (const char* const other : {"", "abc", "abcde", "Xbcd", "abcX", "abcdabcd"}) {
        EXPECT_FALSE(is_same_secret(other, "abcd")) << other;
    }
}

} // namespace

} // namespace host::report::live
