// SPDX-License-Identifier: MIT
// Tests session directories as messages.
#include "fleet/local/directory_source.hpp"

#include "tests/support/fleet/runs.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::fleet::local {
namespace {

using support::fleet::run_of;
using support::fleet::RunOfChunks;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kBoot = 0xB007;
constexpr std::size_t kMany = 100;
constexpr std::size_t kBytes = 1 << 20;

class DirectorySourceTest : public testing::Test {
  protected:
    void write(const std::string& name, const RunOfChunks& run) {
        std::filesystem::create_directories(root / name);
        for (std::size_t i = 0; i < run.chunks.size(); ++i) {
            std::ofstream(root / (name + "/" + run.manifest.chunks[i].file)) << run.chunks[i].body;
        }
        std::ofstream(root / (name + "/manifest.json")) << to_json_text(run.manifest);
    }

    std::unique_ptr<DirectorySource> open(const std::string& name, const NodeName& names = {}) {
        auto source = DirectorySource::open(root / name, names, {.site = "default", .node = "host"});
        EXPECT_TRUE(source) << source.error().text;
        return std::move(source.value());
    }

    support::TemporaryDirectory root;
};

TEST_F(DirectorySourceTest, GivesTheChunksAndThenTheManifest) {
    const RunOfChunks run = run_of(kBoot, 2);
    write("lab/pi-1/s", run);
    const auto source = open("");
    const auto messages = source->take(kMany, kBytes, {});
    ASSERT_TRUE(messages);
    ASSERT_EQ(messages->size(), 3);
    for (std::size_t i = 0; i < 3; ++i) {
        const Message& message = messages.value()[i];
        EXPECT_EQ(message.from, (NodeName{"lab", "pi-1"}));
        EXPECT_EQ(message.id, i < 2 ? run.chunks[i].id : run.session().id);
        EXPECT_EQ(message.body, i < 2 ? run.chunks[i].body : to_json_text(run.manifest));
        EXPECT_EQ(message.sequence, i + 1);
        EXPECT_EQ(message.deliveries, 1);
    }
    EXPECT_EQ(source->fetch(2)->body, run.chunks[1].body);
    EXPECT_EQ(source->fetch(9).error().cause, lib::Error::not_found);
}

TEST_F(DirectorySourceTest, GivesTheFormatsBeforeTheManifest) {
    RunOfChunks run = run_of(kBoot, 1);
    const Message formats = run.formats(support::fleet::kFormats);
    write("s", run);
    std::ofstream(root / "s/formats.json") << formats.body;
    const auto messages = open("s")->take(kMany, kBytes, {});
    ASSERT_EQ(messages->size(), 3);
    EXPECT_EQ(messages.value()[1].id, formats.id);
    EXPECT_EQ(messages.value()[1].kind, MessageKind::formats);
    EXPECT_EQ(messages.value()[1].body, formats.body);
    std::ofstream(root / "s/formats.json") << "{}";
    const auto source = open("s");
    EXPECT_EQ(source->take(kMany, kBytes, {})->size(), 2);
    EXPECT_THAT(source->take_rejected(), ElementsAre(HasSubstr("s/formats.json: its checksum")));
}

TEST_F(DirectorySourceTest, IsEmptyWhenAllIsAcknowledgedOrRejected) {
    write("s", run_of(kBoot, 2));
    const auto source = open("s");
    const auto messages = source->take(kMany, kBytes, {});
    EXPECT_FALSE(source->settled_before(3).value());
    ASSERT_TRUE(source->acknowledge({&messages.value()[0], 1}));
    EXPECT_TRUE(source->settled_before(2).value());
    EXPECT_FALSE(source->settled_before(3).value());
    ASSERT_TRUE(source->reject(messages.value()[1], "damaged"));
    EXPECT_TRUE(source->settled_before(3).value());
    EXPECT_EQ(source->pending().value(), 1);
    source->give_back(messages.value()[2], {});
    EXPECT_EQ(source->take(kMany, kBytes, {})->front().deliveries, 2);
}

TEST_F(DirectorySourceTest, NamesAreTheUsersOrOfTheDirectoriesOrTheDefault) {
    write("t/pi-1/s", run_of(kBoot, 1));
    EXPECT_EQ(open("t")->take(1, kBytes, {})->front().from, (NodeName{"default", "pi-1"}));
    EXPECT_EQ(open("t", {.site = "lab", .node = "x"})->take(1, kBytes, {})->front().from, (NodeName{"lab", "x"}));
    EXPECT_EQ(open("t/pi-1/s")->take(1, kBytes, {})->front().from, (NodeName{"default", "host"}));
}

// The loader says so, and ends with the status of damage.
TEST_F(DirectorySourceTest, StatesWhatCannotBeRead) {
    write("t/a", run_of(kBoot, 2));
    write("t/b", run_of(kBoot + 1, 1));
    std::filesystem::remove(root / "t/a/0trace.dat");
    std::ofstream(root / "t/b/manifest.json") << "{";
    const auto source = open("t");
    EXPECT_EQ(source->take(kMany, kBytes, {})->size(), 2);
    EXPECT_THAT(source->take_rejected(), ElementsAre(HasSubstr("t/b/manifest.json: "), HasSubstr("t/a/0trace.dat: ")));
    EXPECT_THAT(source->take_rejected(), ElementsAre());
    EXPECT_TRUE(source->settled_before(2).value());
}

TEST_F(DirectorySourceTest, APlaceWithoutASessionIsRefused) {
    EXPECT_THAT(DirectorySource::open(root / "none", {}, {}).error().text, HasSubstr("no session is in it"));
    std::filesystem::create_directories(root / "s");
    std::ofstream(root / "s/manifest.json") << "{";
    EXPECT_THAT(DirectorySource::open(root / "s", {}, {}).error().text, HasSubstr("manifest.json"));
}

} // namespace
} // namespace host::fleet::local
