// SPDX-License-Identifier: MIT
// Tests what is published of a session, in which order, and what is left after a failure at any message.
#include "fleet/session_publisher.hpp"

#include "host/trace/byte_source.hpp"
#include "tests/support/fleet/fake_outlet.hpp"
#include "tests/support/fleet/runs.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet {
namespace session_publisher_test {

using formats::dat::Manifest;
using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using support::fleet::FakeOutlet;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kBoot = 0xB007;
constexpr std::size_t kOneChunk = 1; // a batch of one

class SessionPublisherTest : public testing::Test {
  protected:
    SessionPublisherTest() {
        std::filesystem::create_directory(path);
        manifest.origin = "udp";
        manifest.boot_id = kBoot;
        manifest.started_s = 1'700'000'000;
    }

    // As a collector lists it.
    void add(std::uint64_t boot_id = kBoot, bool described = true) {
        const std::size_t number = manifest.chunks.size();
        ChunkBuilder builder(static_cast<std::uint16_t>(number));
        builder.begin.boot_id = boot_id;
        builder.event(100 * number, "ipoint");
        const Bytes bytes = described ? builder.bytes() : builder.plain();
        const std::string file = std::to_string(number) + "trace.dat";
        directory.write("session/" + file, bytes);
        formats::dat::ManifestChunk chunk;
        chunk.file = file;
        chunk.described = described;
        chunk.description = builder.description();
        chunk.bytes = bytes.size();
        chunk.crc32c = trace::checksum(bytes);
        manifest.chunks.push_back(chunk);
        save();
    }

    void save() { EXPECT_TRUE(formats::dat::save_manifest(manifest, path).ok()); }

    // A new publisher, as after a restart.
    SessionPublisher publisher() {
        return {path, from, outlet, [this](std::string_view line) { reports.emplace_back(line); }};
    }

    std::vector<std::string> ids() const {
        std::vector<std::string> found;
        for (const Message& message : outlet.messages) {
            found.push_back(message.id);
        }
        return found;
    }

    TemporaryDirectory directory;
    std::string path = directory / "session";
    NodeName from{.site = "lab", .node = "board-7"};
    Manifest manifest;
    FakeOutlet outlet;
    std::vector<std::string> reports;
};

const std::vector<std::string> kThreeAndSession = {"000000000000b007/0/0/0", "000000000000b007/0/1/0",
                                                   "000000000000b007/0/2/0", "000000000000b007/session"};

TEST_F(SessionPublisherTest, PublishesChunksInTheirOrderAndThenTheManifest) {
    for (int i = 0; i < 3; ++i) {
        add();
    }
    auto publishing = publisher();
    EXPECT_FALSE(publishing.next(kOneChunk, true).value());
    EXPECT_EQ(outlet.messages.size(), 1U);
    EXPECT_FALSE(publishing.next(kOneChunk, true).value());
    EXPECT_TRUE(publishing.next(kOneChunk, true).value());
    EXPECT_EQ(ids(), kThreeAndSession);
    EXPECT_EQ(outlet.messages[1].body, support::read_text(path + "/1trace.dat"));
    EXPECT_EQ(outlet.messages[3].body, support::read_text(path + "/manifest.json"));
    for (const Message& message : outlet.messages) {
        EXPECT_EQ(message.started_s, 1'700'000'000);
        EXPECT_EQ(message.from, from);
    }
}

TEST_F(SessionPublisherTest, PublishesTheFormatsBeforeTheManifestUnlessTheyAreUnusable) {
    const std::string& texts = support::fleet::kFormats;
    manifest.formats = {.image_id = 9, .crc32c = trace::checksum(std::as_bytes(std::span(texts)))};
    add();
    const std::string large(outlet.body_max + 1, ' ');
    const auto publish = [this](const std::string& found) {
        directory.write("session/formats.json", std::as_bytes(std::span(found)));
        std::filesystem::remove(progress_file_of(path));
        outlet.messages.clear();
        reports.clear();
        EXPECT_TRUE(publisher().next(1'000'000, true).value());
        EXPECT_EQ(outlet.messages.back().body, support::read_text(path + "/manifest.json"));
        return outlet.messages.size();
    };
    EXPECT_EQ(publish(texts), 3U);
    EXPECT_EQ(ids(), (std::vector<std::string>{kThreeAndSession[0], "000000000000b007/formats", kThreeAndSession[3]}));
    EXPECT_EQ(outlet.messages[1].body, texts);
    EXPECT_EQ(outlet.messages[1].kind, MessageKind::formats);
    EXPECT_THAT(reports, ElementsAre());
    EXPECT_EQ(publish("{}"), 2U);
    EXPECT_THAT(reports, ElementsAre(HasSubstr("formats.json is not published: its checksum")));
    manifest.formats->crc32c = trace::checksum(std::as_bytes(std::span(large)));
    save();
    EXPECT_EQ(publish(large), 2U);
    EXPECT_THAT(reports, ElementsAre(HasSubstr("formats.json is not published: ")));
}

TEST_F(SessionPublisherTest, LeavesTheManifestUntilTheSessionIsClosed) {
    add();
    auto publishing = publisher();
    EXPECT_TRUE(publishing.next(1'000'000, false).value());
    EXPECT_EQ(ids(), (std::vector<std::string>{kThreeAndSession[0]}));
    add(); // the same publisher sees what came later
    EXPECT_TRUE(publishing.next(1'000'000, false).value());
    EXPECT_EQ(outlet.messages.size(), 2U);
    EXPECT_TRUE(publishing.next(1'000'000, true).value());
    EXPECT_EQ(ids().back(), "000000000000b007/session");
}

// At every message, with its acknowledgement or without, and with a new publisher or the same one.
TEST_F(SessionPublisherTest, ContinuesInOrderAfterAFailureAtAnyMessage) {
    for (int i = 0; i < 3; ++i) {
        add();
    }
    for (std::size_t failure = 0; failure < 4; ++failure) {
        for (const bool lost : {false, true}) {
            outlet.messages.clear();
            outlet.attempts = 0;
            outlet.acknowledgement_lost = lost;
            outlet.stores_before_failure = failure;
            std::filesystem::remove(progress_file_of(path));
            {
                auto first = publisher();
                const auto failed = first.next(1'000'000, true);
                ASSERT_FALSE(failed.ok());
                EXPECT_EQ(failed.error().cause, lib::Error::unreachable);
                EXPECT_EQ(first.published().chunks, std::min<std::size_t>(failure, 3));
                EXPECT_EQ(first.counts().chunks, std::min<std::size_t>(failure, 3)) << "what was stored counts";
                EXPECT_EQ(first.counts().bytes, first.counts().chunks * manifest.chunks[0].bytes);
            }
            auto second = publisher();
            EXPECT_TRUE(second.next(1'000'000, true).value());
            EXPECT_EQ(second.counts().chunks, 3 - std::min<std::size_t>(failure, 3));
            EXPECT_EQ(ids(), kThreeAndSession) << "failure at " << failure;
            EXPECT_EQ(outlet.attempts, lost ? 5U : 4U) << "what was acknowledged is not sent again";
        }
    }
}

TEST_F(SessionPublisherTest, PublishesNothingTwiceAfterARestart) {
    add();
    EXPECT_TRUE(publisher().next(1'000'000, true).value());
    auto again = publisher();
    EXPECT_TRUE(again.next(1'000'000, true).value());
    EXPECT_EQ(outlet.attempts, 2U);
    EXPECT_TRUE(again.published_before());
}

// To another server, or after its stream was deleted and made again.
TEST_F(SessionPublisherTest, BeginsAnewForAnotherStream) {
    add();
    EXPECT_TRUE(publisher().next(1'000'000, true).value());
    outlet.name = "REMORA again";
    outlet.messages.clear();
    auto again = publisher();
    EXPECT_TRUE(again.next(1'000'000, true).value());
    EXPECT_FALSE(again.published_before());
    EXPECT_EQ(ids(), (std::vector<std::string>{kThreeAndSession.front(), kThreeAndSession.back()}));
    EXPECT_TRUE(publisher().next(1'000'000, true).value());
    EXPECT_EQ(outlet.attempts, 4U) << "there already";
}

TEST_F(SessionPublisherTest, BeginsAnewForAnotherNodeOrAnotherBoot) {
    add();
    EXPECT_TRUE(publisher().next(1'000'000, true).value());
    from.node = "board-8";
    EXPECT_TRUE(publisher().next(1'000'000, true).value());
    EXPECT_EQ(outlet.attempts, 4U);
    EXPECT_EQ(node_of_session(path), from);
}

TEST_F(SessionPublisherTest, LeavesOutAChunkThatDiffersFromTheManifest) {
    for (int i = 0; i < 3; ++i) {
        add();
    }
    std::string changed = support::read_text(path + "/1trace.dat");
    changed.back() = static_cast<char>(changed.back() ^ 1);
    directory.write("session/1trace.dat", std::as_bytes(std::span(changed)));
    auto publishing = publisher();
    EXPECT_TRUE(publishing.next(1'000'000, true).value());
    EXPECT_THAT(ids(), ElementsAre(kThreeAndSession[0], kThreeAndSession[2], kThreeAndSession[3]));
    EXPECT_EQ(publishing.published().differing, 1U);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_THAT(reports[0], HasSubstr("session/1trace.dat is not published"));
}

// The chunk is examined again after a failure, and counts once all the same.
TEST_F(SessionPublisherTest, CountsAChunkThatDiffersOnceThoughTheNextOneFails) {
    for (int i = 0; i < 3; ++i) {
        add();
    }
    directory.write("session/1trace.dat", {});
    outlet.stores_before_failure = 1;
    auto publishing = publisher();
    EXPECT_FALSE(publishing.next(1'000'000, true).ok());
    EXPECT_EQ(publishing.published().chunks, 1U);
    EXPECT_EQ(publishing.published().differing, 0U);
    EXPECT_TRUE(publishing.next(1'000'000, true).value());
    EXPECT_EQ(publishing.published().differing, 1U);
    EXPECT_THAT(ids(), ElementsAre(kThreeAndSession[0], kThreeAndSession[2], kThreeAndSession[3]));
}

TEST_F(SessionPublisherTest, LeavesOutChunksThatDoNotSayWhatTheyAre) {
    add();
    add(kBoot, false);
    add(kBoot + 1);
    auto publishing = publisher();
    EXPECT_TRUE(publishing.next(1'000'000, true).value());
    EXPECT_THAT(ids(), ElementsAre(kThreeAndSession[0], kThreeAndSession[3]));
    EXPECT_EQ(publishing.counts().undescribed, 2U);
}

TEST_F(SessionPublisherTest, RefusesASessionWithoutABootId) {
    manifest.boot_id = 0;
    add(0);
    const auto refused = publisher().next(1'000'000, true);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().cause, lib::Error::refused);
    EXPECT_TRUE(outlet.messages.empty());
}

TEST_F(SessionPublisherTest, NamesTheChunkThatIsTooLarge) {
    add();
    outlet.body_max = 100;
    const auto refused = publisher().next(1'000'000, true);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().cause, lib::Error::too_small);
    EXPECT_THAT(refused.error().text, HasSubstr("0trace.dat"));
}

TEST_F(SessionPublisherTest, SendsALongManifestWithoutBlanks) {
    add();
    const std::string text = support::read_text(path + "/manifest.json");
    outlet.body_max = text.size() - 1;
    EXPECT_TRUE(publisher().next(1'000'000, true).value());
    EXPECT_LT(outlet.messages.back().body.size(), text.size());
    const auto sent = formats::dat::parse_manifest(outlet.messages.back().body);
    ASSERT_TRUE(sent.ok());
    EXPECT_EQ(to_json_text(sent.value()), text);
}

TEST_F(SessionPublisherTest, RemembersWhoseASessionIsBeforeAnythingIsPublished) {
    EXPECT_FALSE(node_of_session(path).has_value());
    EXPECT_TRUE(announce_session(path, from).ok());
    EXPECT_EQ(node_of_session(path), from);
}

} // namespace session_publisher_test
} // namespace host::fleet
