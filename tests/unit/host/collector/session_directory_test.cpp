// SPDX-License-Identifier: MIT
// Tests the directory of a collector: what it may replace, and that no second one writes to it.
#include "host/collector/session_directory.hpp"

#include "host/collector/reliable_sessions.hpp"
#include "host/formats/dat/manifest.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sched.h>
#include <set>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host::collector {

namespace session_directory_test {

using support::Bytes;
using support::TemporaryDirectory;
using testing::HasSubstr;

TEST(SessionDirectory, ReplacesOnlyASessionAndOnlyOnRequest) {
    const TemporaryDirectory directory;
    const std::string session = directory / "new/deep";
    EXPECT_TRUE(SessionDirectory::open(session, OldSession::keep).ok());

    formats::dat::Manifest manifest;
    manifest.origin = "udp";
    ASSERT_TRUE(formats::dat::save_manifest(manifest, session).ok());
    directory.write("new/deep/0trace.dat", Bytes(16));
    EXPECT_EQ(SessionDirectory::open(session, OldSession::keep).error().cause, lib::Error::exists);
    EXPECT_TRUE(SessionDirectory::open(session, OldSession::replace).ok());
    EXPECT_TRUE(std::filesystem::is_empty(session));

    directory.write("new/deep/precious.txt", Bytes(1));
    const auto refused = SessionDirectory::open(session, OldSession::replace);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().cause, lib::Error::refused);
    EXPECT_THAT(refused.error().text, HasSubstr("precious.txt"));
    EXPECT_TRUE(std::filesystem::exists(directory / "new/deep/precious.txt"));
}

TEST(SessionDirectory, RefusesASecondCollectorWithTheProcessOfTheFirst) {
    const TemporaryDirectory directory;
    {
        const auto first = SessionDirectory::open(directory.path(), OldSession::keep);
        ASSERT_TRUE(first.ok());
        for (const OldSession old : {OldSession::keep, OldSession::replace, OldSession::leave}) {
            const auto second = SessionDirectory::open(directory.path(), old);
            ASSERT_FALSE(second.ok());
            EXPECT_EQ(second.error().cause, lib::Error::busy);
            EXPECT_THAT(second.error().text, HasSubstr("process " + std::to_string(::getpid()) + ")"));
        }
    }
    EXPECT_TRUE(SessionDirectory::open(directory.path(), OldSession::keep).ok());
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(SessionDirectory, TakesOverTheLockOfACollectorThatWasKilled) {
    const TemporaryDirectory directory;
    const pid_t killed = ::fork();
    if (killed == 0) {
        const auto opened = SessionDirectory::open(directory.path(), OldSession::keep);
        ::_exit(opened.ok() ? 0 : 1); // without its destructors
    }
    int status = 0;
    ASSERT_EQ(::waitpid(killed, &status, 0), killed);
    ASSERT_EQ(status, 0);
    ASSERT_TRUE(std::filesystem::exists(directory / kLockName));
    EXPECT_TRUE(SessionDirectory::open(directory.path(), OldSession::keep).ok());
}

// Only who may mount a file system can fill one.
TEST(SessionDirectory, DistinguishesAFullDiskFromOneThatRefuses) {
    constexpr int kNotMounted = 77;
    const TemporaryDirectory directory;
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string user = std::to_string(::geteuid());
        const std::string group = std::to_string(::getegid());
        const bool alone = ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
        std::ofstream("/proc/self/setgroups") << "deny";
        std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
        std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
        const bool mounted = alone && ::mount("full", directory.path().c_str(), "tmpfs", 0, "size=4k,nr_inodes=1") == 0;
        const auto taken = SessionDirectory::open(directory.path(), OldSession::keep);
        const auto made = SessionDirectory::open(directory / "new", OldSession::keep);
        const auto journals = ReliableSessions::prepare(directory.path());
        const bool known = !taken && taken.error().cause == lib::Error::no_space && !made &&
                           made.error().cause == lib::Error::no_space && !journals &&
                           journals.error().cause == lib::Error::no_space;
        ::_exit(!mounted ? kNotMounted : known ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == kNotMounted) {
        GTEST_SKIP() << "no file system may be mounted here";
    }
    EXPECT_EQ(status, 0);
}

TEST(SessionDirectory, FollowsNoLinkAndReplacesNoFile) {
    const TemporaryDirectory directory;
    const TemporaryDirectory elsewhere;
    const std::string precious = elsewhere.write("precious", Bytes(5, std::byte{'x'}));
    std::filesystem::create_symlink(precious, directory / kLockName);
    EXPECT_EQ(SessionDirectory::open(directory.path(), OldSession::keep).error().cause, lib::Error::refused);
    std::filesystem::remove(directory / kLockName);
    ASSERT_EQ(::mkfifo((directory / kLockName).c_str(), 0600), 0);
    EXPECT_THAT(SessionDirectory::open(directory.path(), OldSession::keep).error().text, HasSubstr("no regular file"));
    std::filesystem::remove(directory / kLockName);

    const auto opened = SessionDirectory::open(directory.path(), OldSession::keep);
    ASSERT_TRUE(opened.ok());
    std::filesystem::create_symlink(precious, directory / "0trace.dat");
    std::filesystem::create_symlink(elsewhere.path(), directory / "session-0");
    EXPECT_EQ(opened.value()->create_file("0trace.dat").error(), lib::Error::exists);
    const int parent = opened.value()->descriptor();
    EXPECT_EQ(SessionDirectory::create(parent, directory.path(), "session-0").error().cause, lib::Error::exists);
    EXPECT_EQ(support::read_text(precious), "xxxxx");
}

TEST(SessionDirectory, TakesTheEmptyFilesThatALossOfPowerLeaves) {
    const TemporaryDirectory directory;
    directory.write("manifest.json", {});
    directory.write("0trace.dat", {});
    ASSERT_TRUE(SessionDirectory::open(directory.path(), OldSession::keep).ok());
    EXPECT_FALSE(std::filesystem::exists(directory / "manifest.json"));
    directory.write("0trace.dat", {});
    directory.write("manifest.json", Bytes(1));
    EXPECT_FALSE(SessionDirectory::open(directory.path(), OldSession::replace).ok());
    EXPECT_TRUE(std::filesystem::exists(directory / "0trace.dat"));
}

TEST(SessionDirectory, SaysWhyItCannotBeUsed) {
    const TemporaryDirectory directory;
    const std::string file = directory.write("file", Bytes(1));
    const auto refused = SessionDirectory::open(file, OldSession::keep);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().cause, lib::Error::refused);
    EXPECT_EQ(refused.error().text, "Not a directory");
    directory.write("0trace.dat", Bytes(1));
    std::filesystem::remove(file);
    EXPECT_EQ(SessionDirectory::open(directory.path(), OldSession::replace).error().text,
              "it holds Ntrace.dat files without a manifest of ours");
    EXPECT_EQ(SessionDirectory::create(-1, directory.path(), "x").error().cause, lib::Error::io);
    EXPECT_EQ(list_names(-1).error(), lib::Error::io);
}

// A service may be started without one: then the first descriptor is a directory's.
TEST(SessionDirectory, IsListedWithoutAStandardInput) {
    const TemporaryDirectory directory;
    directory.write("one", Bytes(1));
    const int open = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    const auto names = list_names(open);
    ::dup2(input, STDIN_FILENO);
    ::close(input);
    ::close(open);
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names.value(), std::vector<std::string>{"one"});
}

// No program that is started meanwhile keeps a lock or a file open.
TEST(SessionDirectory, LeavesNoDescriptorToOtherPrograms) {
    const TemporaryDirectory directory;
    std::set<std::string> before;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        before.insert(entry.path().filename());
    }
    const auto root = SessionDirectory::open(directory.path(), OldSession::leave);
    ASSERT_TRUE(root.ok());
    const auto made = SessionDirectory::create(root.value()->descriptor(), directory.path(), "made");
    ASSERT_TRUE(made.ok());
    const auto file = made.value()->create_file("0trace.dat");
    ASSERT_TRUE(file.ok());
    int found = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const std::string name = entry.path().filename();
        const int flags = ::fcntl(std::stoi(name), F_GETFD);
        if (!before.contains(name) && flags != -1) {
            ++found;
            EXPECT_EQ(flags & FD_CLOEXEC, FD_CLOEXEC) << std::filesystem::read_symlink(entry.path());
        }
    }
    EXPECT_GE(found, 5) << "two directories, two locks, a file";
    ::close(file.value());
}

// Digits of whatever length: sixteen characters are read.
TEST(SessionDirectory, NamesTheProcessThatHasTheLock) {
    const TemporaryDirectory directory;
    for (const auto& [text, named] : {std::pair{"12345678901234567890", " (process 1234567890123456)"},
                                      std::pair{"77x", " (process 77)"}, std::pair{"x", ""}, std::pair{"", ""}}) {
        const int file = ::open((directory / kLockName).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        ASSERT_EQ(::write(file, text, std::string_view(text).size()),
                  static_cast<ssize_t>(std::string_view(text).size()));
        ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
        EXPECT_EQ(SessionDirectory::open(directory.path(), OldSession::keep).error().text,
                  std::string("another collector") + named + " writes there");
        ::close(file);
    }
}

// Another process that renames the directory leads no file of the session elsewhere.
TEST(SessionDirectory, KeepsWritingToTheDirectoryThatItOpened) {
    const TemporaryDirectory directory;
    const auto opened = SessionDirectory::open(directory / "session", OldSession::keep);
    ASSERT_TRUE(opened.ok());
    std::filesystem::rename(directory / "session", directory / "moved");
    std::filesystem::create_directory(directory / "session");
    const auto file = opened.value()->create_file("0trace.dat");
    ASSERT_TRUE(file.ok());
    ::close(file.value());
    EXPECT_TRUE(std::filesystem::exists(directory / "moved/0trace.dat"));
    EXPECT_TRUE(std::filesystem::is_empty(directory / "session"));
}

} // namespace session_directory_test

} // namespace host::collector
