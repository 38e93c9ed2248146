// SPDX-License-Identifier: MIT
// Tests what a collector leaves that was killed: files that its manifest does not list. Readers read them and say so,
// and `remora adopt --force` lists them.
#include "tests/support/host_command_line.hpp"

#include "host/collector/session_directory.hpp"
#include "host/formats/dat/manifest.hpp"

#include <gmock/gmock.h>

namespace host::cli {

namespace unlisted_files_test {

using testing::HasSubstr;
using testing::Not;

class UnlistedFiles : public support::CommandLine {
  protected:
    // The manifest of a session that has just begun, and one chunk.
    void leave_killed(bool complete = false) {
        formats::dat::Manifest manifest;
        manifest.origin = "udp";
        manifest.complete = complete;
        manifest.reason = complete ? "" : "the collector was still receiving, or was killed";
        manifest.transfer = formats::dat::ManifestTransfer{};
        EXPECT_TRUE(formats::dat::save_manifest(manifest, m_directory.path()).ok());
        write(sample().bytes());
    }
};

TEST_F(UnlistedFiles, AreReadWithAWarningThatNamesThemAndTheRemedy) {
    leave_killed();
    EXPECT_EQ(remora({"print", m_directory.path()}), 2);
    EXPECT_THAT(m_out, HasSubstr("set_mutex_lock"));
    EXPECT_THAT(m_err, HasSubstr("0trace.dat"));
    EXPECT_THAT(m_err, HasSubstr("remora adopt --force " + m_directory.path()));
    EXPECT_EQ(remora({"verify", m_directory.path()}), 2);
    EXPECT_EQ(remora({"summary", m_directory.path()}), 2);
    EXPECT_THAT(m_out, Not(HasSubstr("nothing lost")));
}

// What was judged may be right, but not all was.
TEST_F(UnlistedFiles, OfAnIncompleteSessionAreNoneThatCheckPasses) {
    leave_killed();
    ASSERT_EQ(remora({"adopt", "--force", m_directory.path()}), 2);
    const std::string said = "incomplete: the collector was still receiving, or was killed";
    EXPECT_EQ(remora({"check", m_directory.path(), "--junit", "-"}), 2);
    EXPECT_THAT(m_out, HasSubstr("name=\"complete\">\n      <error message=\"" + said));
    EXPECT_EQ(remora({"check", m_directory.path()}), 2);
    EXPECT_THAT(m_out, HasSubstr("not judged: what the missing records would show; " + said));
    EXPECT_THAT(m_out, Not(HasSubstr("as the theory says")));
    EXPECT_EQ(remora({"why", m_directory.path()}), 0);
    EXPECT_THAT(m_out, HasSubstr("no job that is whole missed its deadline, but " + said));
    for (const auto& shows : std::vector<std::vector<std::string>>{
             {"count"}, {"schedule"}, {"sql", "select count(*) from events"}, {"convert", "--to", "csv"}}) {
        std::vector<std::string> words = shows;
        words.insert(words.begin() + 1, m_directory.path());
        EXPECT_EQ(remora(words), 0) << shows.front();
        EXPECT_THAT(m_err, HasSubstr(said)) << shows.front();
    }
}

TEST_F(UnlistedFiles, AreAdoptedAndTheTransferStaysIncomplete) {
    leave_killed();
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(remora({"adopt", "--force", m_directory.path()}), 2);
        EXPECT_THAT(m_out, HasSubstr("1 files adopted; the collector was still receiving, or was killed"));
    }
    EXPECT_EQ(remora({"print", m_directory.path()}), 0);
    EXPECT_THAT(m_err, Not(HasSubstr("adopt")));
    const auto manifest = formats::dat::load_manifest(m_directory.path());
    ASSERT_TRUE(manifest.ok());
    EXPECT_EQ(manifest.value().chunks.size(), 1U);
    EXPECT_FALSE(manifest.value().complete);
}

// A complete manifest lists all that the machine sent: what else is there is no part of the session.
TEST_F(UnlistedFiles, BelongToNoCompleteSession) {
    leave_killed(true);
    (void)remora({"print", m_directory.path()});
    EXPECT_THAT(m_out, Not(HasSubstr("set_mutex_lock")));
}

TEST_F(UnlistedFiles, OfSeveralBootsAreNoCompleteSession) {
    support::ChunkBuilder other = sample();
    other.begin.boot_id = 0xB008;
    other.begin.chunk = 1;
    write(sample().bytes());
    m_directory.write("1trace.dat", other.bytes());
    EXPECT_EQ(remora({"adopt", m_directory.path()}), 2);
    EXPECT_THAT(m_out, HasSubstr("the files are of several runs"));
}

TEST_F(UnlistedFiles, AreNotAdoptedFromACollectorThatLives) {
    leave_killed();
    const auto live = collector::SessionDirectory::open(m_directory.path(), collector::OldSession::leave);
    ASSERT_TRUE(live.ok());
    EXPECT_EQ(remora({"adopt", "--force", m_directory.path()}), 1);
    EXPECT_THAT(m_err, HasSubstr("another collector (process "));
    EXPECT_EQ(remora({"record", "--out", m_directory.path(), "--force", "--listen", "127.0.0.1:0"}), 1);
    EXPECT_THAT(m_err, HasSubstr("another collector (process "));
}

} // namespace unlisted_files_test

} // namespace host::cli
