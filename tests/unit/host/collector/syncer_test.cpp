// SPDX-License-Identifier: MIT
// Tests what is flushed, in which order, and what a session gets to know if it fails: with flushes that the test holds
// up, counts and lets fail.
#include "host/collector/syncer.hpp"

#include "tests/support/flushes.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <semaphore>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<const support::Flushes*> g_flushes = nullptr; // NOLINT: of the three functions

} // namespace

support::WithFlushes::WithFlushes(Flushes flushes)
    : m_flushes(std::move(flushes)) {
    g_flushes = &m_flushes;
}

support::WithFlushes::~WithFlushes() {
    g_flushes = nullptr;
}

extern "C" int fdatasync(int file) {
    const support::Flushes* const flushes = g_flushes;
    return flushes != nullptr && flushes->of_file ? flushes->of_file(file)
                                                  : static_cast<int>(::syscall(SYS_fdatasync, file));
}

extern "C" int syncfs(int file) noexcept {
    const support::Flushes* const flushes = g_flushes;
    return flushes != nullptr && flushes->of_file_system ? flushes->of_file_system(file)
                                                         : static_cast<int>(::syscall(SYS_syncfs, file));
}

extern "C" int fsync(int file) {
    const support::Flushes* const flushes = g_flushes;
    return flushes != nullptr && flushes->of_name ? flushes->of_name(file)
                                                  : static_cast<int>(::syscall(SYS_fsync, file));
}

namespace host::collector {

namespace {

using formats::dat::Manifest;
using support::TemporaryDirectory;

class Syncing : public testing::Test {
  protected:
    struct OfSession {
        std::shared_ptr<SessionDirectory> directory;
        std::shared_ptr<Durability> durability = std::make_shared<Durability>();
    };

    OfSession session(const std::string& name) {
        return {.directory = SessionDirectory::open(m_directory / name, OldSession::keep).value()};
    }

    // A job with a file of its own.
    void push_file(const OfSession& session, std::uint64_t bytes, std::optional<Manifest> manifest = {}) {
        { const std::ofstream file(session.directory->path() + "/file"); }
        m_syncer->push({session.directory, session.durability, "file", std::move(manifest), bytes});
    }

    void push_manifest(const OfSession& session, const std::string& reason) {
        m_syncer->push({session.directory, session.durability, {}, saying(reason), 0});
    }

    static Manifest saying(const std::string& reason) {
        Manifest manifest;
        manifest.origin = "udp";
        manifest.complete = reason.empty();
        manifest.reason = reason;
        return manifest;
    }

    [[nodiscard]] std::string stored(const std::string& name) const {
        const auto manifest = formats::dat::load_manifest(m_directory / name);
        return manifest ? manifest.value().reason : "none";
    }

    [[nodiscard]] int on_flush(int file) {
        ++m_flushes;
        if (m_held.exchange(false)) {
            m_is_held.release();
            m_proceed.acquire();
        }
        if (m_error != 0) {
            errno = m_error;
            return -1;
        }
        return ::fcntl(file, F_GETFD) >= 0 ? 0 : -1;
    }

    // Until release(): everything that is pushed meanwhile is one batch.
    void hold(const OfSession& session) {
        m_held = true;
        push_file(session, 0);
        m_is_held.acquire();
        m_flushes = 0;
        m_file_systems = 0;
        m_names = 0;
    }

    void release() {
        m_proceed.release();
        m_syncer->drain();
    }

    TemporaryDirectory m_directory;
    std::atomic<int> m_flushes = 0;
    std::atomic<int> m_file_systems = 0;
    std::atomic<int> m_names = 0;
    std::atomic<int> m_error = 0; // of a flush
    std::function<void()> m_on_file_system;
    std::atomic<bool> m_held = false;
    std::binary_semaphore m_is_held{0};
    std::binary_semaphore m_proceed{0};
    support::WithFlushes m_with{{.of_file = [this](int file) { return on_flush(file); },
                                 .of_file_system =
                                     [this](int /*file*/) {
                                         ++m_file_systems;
                                         if (m_on_file_system) {
                                             m_on_file_system();
                                         }
                                         return 0;
                                     },
                                 .of_name =
                                     [this](int /*file*/) {
                                         ++m_names;
                                         return 0;
                                     }}};
    std::unique_ptr<Syncer> m_syncer = std::make_unique<Syncer>();
};

TEST_F(Syncing, FlushesTheFileBeforeItStoresTheManifest) {
    const OfSession one = session("one");
    hold(one);
    push_file(one, 100, saying("x"));
    EXPECT_EQ(stored("one"), "none");
    EXPECT_FALSE(one.durability->idle());
    EXPECT_FALSE(one.durability->manifest_idle());
    EXPECT_EQ(one.durability->bytes(), 0U);
    release();
    EXPECT_EQ(stored("one"), "x");
    EXPECT_TRUE(one.durability->idle());
    EXPECT_TRUE(one.durability->manifest_idle());
    EXPECT_EQ(one.durability->bytes(), 100U);
    EXPECT_EQ(m_flushes, 1);
    push_manifest(one, "y");
    m_syncer->drain();
    EXPECT_EQ(one.durability->bytes(), 100U) << "what is durable remains so";
    EXPECT_FALSE(one.durability->error());
}

TEST_F(Syncing, FlushesTheDirectoryForAFileWithoutAManifest) {
    const OfSession one = session("one");
    push_file(one, 1);
    m_syncer->drain();
    EXPECT_EQ(m_names, 1);
    EXPECT_EQ(stored("one"), "none");
    EXPECT_TRUE(one.durability->manifest_idle());
}

TEST_F(Syncing, FlushesUpToSixteenFilesOneByOneAndMoreAtOnce) {
    const OfSession one = session("one");
    for (const int files : {16, 17}) {
        hold(one);
        for (int i = 0; i < files; ++i) {
            push_file(one, static_cast<std::uint64_t>(i));
        }
        push_manifest(one, "and no file");
        release();
        EXPECT_EQ(m_flushes, files == 16 ? 16 : 0);
        EXPECT_EQ(m_file_systems, files == 16 ? 0 : 3) << "the files, then the manifest, then its name";
    }
    EXPECT_EQ(one.durability->bytes(), 16U);
}

TEST_F(Syncing, FlushesMoreThanSixteenManifestsAtOnce) {
    const OfSession first = session("first");
    hold(first);
    for (int i = 0; i < 20; ++i) {
        push_manifest(session(std::to_string(i)), std::to_string(i));
    }
    m_names = 0;
    std::vector<std::string> at_flushes;
    m_on_file_system = [&] { at_flushes.push_back(stored("7")); };
    release();
    EXPECT_EQ(at_flushes, (std::vector<std::string>{"none", "7"})) << "it takes its place when its bytes are durable";
    EXPECT_LE(m_names, 1) << "of the file that was held";
    EXPECT_EQ(stored("0"), "0");
    EXPECT_EQ(stored("19"), "19");
}

TEST_F(Syncing, StoresTheLastOfSeveralManifestsOfASession) {
    const OfSession one = session("one");
    const OfSession other = session("other");
    hold(one);
    push_manifest(one, "first");
    push_manifest(other, "of another session");
    push_manifest(one, "second");
    push_manifest(one, "third");
    push_file(one, 7);
    EXPECT_FALSE(one.durability->manifest_idle());
    release();
    EXPECT_EQ(stored("one"), "third");
    EXPECT_EQ(stored("other"), "of another session");
    EXPECT_TRUE(one.durability->manifest_idle());
    EXPECT_EQ(m_names, 2 + 2 + 2) << "two manifests and their directory each; the held file's, and the last one's";
}

TEST_F(Syncing, SaysInTheManifestThatAFlushFailed) {
    for (const auto& [number, error] : {std::pair{EIO, lib::Error::io}, std::pair{ENOSPC, lib::Error::no_space},
                                        std::pair{EDQUOT, lib::Error::no_space}}) {
        const std::string name = std::to_string(number);
        const OfSession one = session(name);
        push_file(one, 10);
        m_syncer->drain();
        m_error = number;
        push_file(one, 20, saying(""));
        m_syncer->drain();
        EXPECT_EQ(one.durability->error(), error);
        EXPECT_EQ(stored(name), "writing failed: " + std::string(error_name(error)));
        EXPECT_FALSE(formats::dat::load_manifest(m_directory / name).value().complete);
        EXPECT_EQ(one.durability->bytes(), 10U) << "no more of it is known to be durable";
        m_error = 0;
        push_file(one, 30);
        m_syncer->drain();
        EXPECT_EQ(one.durability->error(), error) << "the first one";
        EXPECT_EQ(one.durability->bytes(), 10U);
        EXPECT_TRUE(one.durability->idle());
    }
}

TEST_F(Syncing, AFlushThatFailsForAllFilesFailsForEachSession) {
    const OfSession one = session("one");
    const OfSession other = session("other");
    m_file_systems = 0;
    const OfSession third = session("third");
    hold(third);
    for (int i = 0; i < 10; ++i) {
        push_file(one, 1);
        push_file(other, 1);
    }
    release();
    EXPECT_EQ(m_file_systems, 1);
    EXPECT_FALSE(one.durability->error());
    EXPECT_FALSE(other.durability->error());
}

TEST_F(Syncing, ReportsAManifestThatCannotBeStored) {
    const OfSession one = session("one");
    std::filesystem::remove_all(m_directory / "one");
    push_manifest(one, "");
    m_syncer->drain();
    EXPECT_TRUE(one.durability->error());
    EXPECT_TRUE(one.durability->idle());
    EXPECT_TRUE(one.durability->manifest_idle());
}

TEST_F(Syncing, EndsAfterWhatIsPending) {
    const OfSession one = session("one");
    hold(one);
    push_manifest(one, "x");
    m_proceed.release();
    m_syncer.reset();
    EXPECT_EQ(stored("one"), "x");
}

} // namespace

} // namespace host::collector
