// SPDX-License-Identifier: MIT
// Tests the directories of sessions: their names, how many there may be, and what earlier ones count.
#include "host/collector/session_table.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace host::collector {

namespace session_places_test {

using support::Bytes;
using support::TemporaryDirectory;
namespace filesystem = std::filesystem;

class Places : public testing::Test {
  protected:
    std::shared_ptr<SessionDirectory> open(const std::string& name, OldSession old) {
        return SessionDirectory::open(m_directory / name, old).value();
    }

    TemporaryDirectory m_directory;
    Usage m_usage;
};

TEST_F(Places, AreNamedAfterTheBootAndNumbered) {
    auto places = SessionPlaces::served(open("all", OldSession::leave), m_usage);
    const auto first = places.make(0xAB, 10);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first.value()->path(), m_directory / "all/00000000000000ab-0");
    const auto second = places.make(0xAB, 10);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(second.value()->path(), m_directory / "all/00000000000000ab-1");
    EXPECT_EQ(places.make(0xAC, 10).value()->path(), m_directory / "all/00000000000000ac-0");
    EXPECT_TRUE(filesystem::is_directory(m_directory / "all/00000000000000ab-1"));
}

TEST_F(Places, BesideASessionAreNamedAfterItToo) {
    const auto run = open("run", OldSession::keep);
    auto places = SessionPlaces::beside(*run);
    EXPECT_EQ(places.make(1, 10).value()->path(), m_directory / "run-0000000000000001-0");
    EXPECT_TRUE(filesystem::is_directory(m_directory / "run-0000000000000001-0"));
    EXPECT_EQ(places.make(1, 10).value()->path(), m_directory / "run-0000000000000001-1");
}

TEST_F(Places, BesideASessionAreBesideWhatALinkLeadsTo) {
    filesystem::create_directory(m_directory / "elsewhere");
    filesystem::create_directory_symlink(m_directory / "elsewhere", m_directory / "link");
    const auto run = open("link", OldSession::keep);
    auto places = SessionPlaces::beside(*run);
    EXPECT_TRUE(places.make(1, 10).ok());
    EXPECT_TRUE(filesystem::is_directory(m_directory / "elsewhere-0000000000000001-0"));
}

TEST_F(Places, AreAsManyAsTheLimit) {
    auto places = SessionPlaces::served(open("all", OldSession::leave), m_usage);
    EXPECT_TRUE(places.make(1, 2).ok());
    EXPECT_TRUE(places.make(1, 2).ok());
    const auto refused = places.make(1, 2);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().cause, lib::Error::no_space);
    EXPECT_EQ(refused.error().text,
              "there are 2 sessions in " + (m_directory / "all") + " already: move some elsewhere");
    EXPECT_FALSE(filesystem::exists(m_directory / "all/0000000000000001-2"));
}

// Files directly in an earlier session; the lock is none.
TEST_F(Places, CountEarlierSessionsAndTheirBytes) {
    filesystem::create_directories(m_directory / "all/one/deep");
    filesystem::create_directories(m_directory / "all/two");
    m_directory.write("all/one/0trace.dat", Bytes(100));
    m_directory.write("all/one/manifest.json", Bytes(20));
    m_directory.write("all/one/deep/hidden", Bytes(4'000));
    m_directory.write("all/two/0trace.dat", Bytes(3));
    m_directory.write("all/file", Bytes(7'000));
    ASSERT_EQ(::mkfifo((m_directory / "all/pipe").c_str(), 0600), 0);
    filesystem::create_symlink(m_directory / "all/file", m_directory / "all/two/link");
    filesystem::create_directory_symlink(m_directory / "all/one", m_directory / "all/linked");
    m_usage.bytes = 1'000;
    auto places = SessionPlaces::served(open("all", OldSession::leave), m_usage);
    EXPECT_EQ(m_usage.bytes, 1'123U);
    EXPECT_FALSE(places.make(1, 5).ok()) << "five names";
    EXPECT_TRUE(places.make(1, 6).ok());
}

// A failed attempt takes no place.
TEST_F(Places, ThatCannotBeMadeSayWhy) {
    const auto root = open("all", OldSession::leave);
    auto places = SessionPlaces::served(root, m_usage);
    for (int i = 0; i < 3; ++i) {
        filesystem::create_directory(m_directory / ("all/0000000000000001-" + std::to_string(i)));
    }
    EXPECT_EQ(places.make(1, 2).error().cause, lib::Error::exists);
    EXPECT_EQ(places.make(1, 2).error().text, "every name is taken");
    const auto fourth = places.make(1, 3);
    ASSERT_TRUE(fourth.ok());
    EXPECT_EQ(fourth.value()->path(), m_directory / "all/0000000000000001-3");
    EXPECT_TRUE(places.make(2, 3).ok());
    EXPECT_TRUE(places.make(2, 3).ok());
    EXPECT_EQ(places.make(2, 3).error().cause, lib::Error::no_space);
}

} // namespace session_places_test

} // namespace host::collector
