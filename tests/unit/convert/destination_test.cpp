// SPDX-License-Identifier: MIT
// Tests where a conversion may write and where not, and what is there when it has ended early, failed, or is complete.
#include "convert/writer/writer.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace host::convert {

namespace {

namespace fs = std::filesystem;

using testing::ElementsAre;
using testing::IsEmpty;
using Shape = Destination::Shape;

class DestinationTest : public testing::Test {
  protected:
    DestinationTest() {
        ::umask(022);
        fs::create_directories(at("empty"));
        fs::create_directories(at("full"));
        fs::create_directories(at("session/inner"));
        write("trace.dat", "trace");
        write("full/file", "x");
        write("session/manifest.json", "{}");
        write("session/0trace.dat", "trace");
        write("old", "old");
    }

    [[nodiscard]] std::string at(const std::string& name) const { return m_directory / name; }

    void write(const std::string& name, const std::string& text) const {
        m_directory.write(name, std::as_bytes(std::span(text)));
    }

    // The reason against; empty: it was opened.
    std::string refused(const std::string& output, Shape shape = Shape::file, const std::string& input = "trace.dat") {
        m_made = {};
        auto opened = Destination::open(output.empty() || output == "-" ? output : at(output), shape, at(input));
        if (!opened) {
            EXPECT_EQ(opened.error().cause, Fault::unusable);
            return opened.error().text;
        }
        m_made = std::move(opened.value());
        return "";
    }

    // Files that grow.
    [[nodiscard]] std::vector<std::string> partial() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(m_directory.path())) {
            const std::string name = entry.path().filename();
            if (name.starts_with("out.")) {
                names.push_back(name.ends_with(".partial") ? "out.*.partial" : "out.*");
            }
        }
        return names;
    }

    support::TemporaryDirectory m_directory;
    std::unique_ptr<Destination> m_made;
};

TEST_F(DestinationTest, AnInputIsNoOutput) {
    const std::string reason = "it is the input: name another output";
    EXPECT_EQ(refused("trace.dat"), reason);
    EXPECT_EQ(refused("./trace.dat"), reason);
    EXPECT_EQ(refused("session", Shape::directory, "session"), reason);
    fs::create_symlink(at("trace.dat"), at("link"));
    EXPECT_EQ(refused("link"), reason);
    fs::create_hard_link(at("trace.dat"), at("hard"));
    EXPECT_EQ(refused("hard"), reason);
    EXPECT_EQ(support::read_text(at("trace.dat")), "trace");
}

TEST_F(DestinationTest, AnyOfSeveralInputsCounts) {
    const std::vector<std::string> inputs = {at("old"), at("trace.dat")};
    EXPECT_FALSE(Destination::open(at("trace.dat"), Shape::file, inputs).ok());
    EXPECT_FALSE(Destination::open(at("old"), Shape::file, inputs).ok());
    EXPECT_TRUE(Destination::open(at("other"), Shape::file, inputs).ok());
}

TEST_F(DestinationTest, ASessionOfTheInputHoldsNoOutput) {
    const std::string part = "it is inside the session that the input is part of: name an output outside of it";
    EXPECT_EQ(refused("session/new", Shape::file, "session/0trace.dat"), part);
    EXPECT_EQ(refused("session/inner/new", Shape::file, "session/0trace.dat"), part);
    EXPECT_EQ(refused("session2", Shape::file, "session/0trace.dat"), "");
    EXPECT_EQ(refused("full/new", Shape::file, "trace.dat"), "") << "no manifest is there";
    const std::string inside = "it is inside the input session: name an output outside of it";
    EXPECT_EQ(refused("session/new", Shape::file, "session"), inside);
    EXPECT_EQ(refused("session/new/deep", Shape::directory, "session"), inside);
}

TEST_F(DestinationTest, AFileReplacesAFileAndADirectoryAnEmptyOne) {
    EXPECT_EQ(refused(""), "no name: name a file, or - for standard output");
    EXPECT_EQ(refused("empty"), "it is a directory: name a file");
    EXPECT_EQ(refused("full", Shape::library_file), "it is a directory: name a file");
    EXPECT_EQ(refused("full", Shape::directory), "the directory exists and is not empty: remove it, or name another");
    EXPECT_EQ(refused("old", Shape::directory), "it is a file: this format is a directory");
    EXPECT_EQ(refused("session", Shape::directory, "session/inner"), "it holds the input: name another output");
    EXPECT_EQ(refused("new"), "");
    EXPECT_FALSE(m_made->replaces());
    EXPECT_EQ(refused("new/", Shape::directory), "");
    EXPECT_FALSE(m_made->replaces());
    EXPECT_EQ(refused("old"), "");
    EXPECT_TRUE(m_made->replaces());
    EXPECT_EQ(refused("empty//", Shape::directory), "");
    EXPECT_TRUE(m_made->replaces());
}

TEST_F(DestinationTest, StandardOutputIsForFiles) {
    EXPECT_EQ(refused("-", Shape::directory), "this format is a directory of files: name one with --output");
    EXPECT_EQ(refused("-", Shape::library_file),
              "this format is written by a library: name a regular file with --output");
    EXPECT_EQ(refused("-"), "");
    EXPECT_FALSE(m_made->replaces());
    EXPECT_TRUE(m_made->partial_path().empty());
}

TEST_F(DestinationTest, AFileHasItsNameWhenItIsComplete) {
    ASSERT_EQ(refused("out"), "");
    m_made->file().append("new text");
    EXPECT_FALSE(fs::exists(at("out")));
    EXPECT_THAT(partial(), ElementsAre("out.*.partial"));
    ASSERT_TRUE(m_made->commit().ok());
    EXPECT_EQ(support::read_text(at("out")), "new text");
    EXPECT_THAT(partial(), IsEmpty());
    EXPECT_EQ(fs::status(at("out")).permissions(), fs::perms{0644}) << "as any new file";
    m_made = nullptr;
    EXPECT_TRUE(fs::exists(at("out")));
}

TEST_F(DestinationTest, WhatEndsEarlyLeavesNothing) {
    ASSERT_EQ(refused("out"), "");
    m_made->file().append("new text");
    m_made = nullptr;
    EXPECT_THAT(partial(), IsEmpty());
    EXPECT_FALSE(fs::exists(at("out")));
    ASSERT_EQ(refused("old"), "");
    m_made->file().append("new text");
    m_made = nullptr;
    EXPECT_EQ(support::read_text(at("old")), "old");
}

TEST_F(DestinationTest, WhatASignalEndsLeavesNothing) {
    const auto interrupted = [&](Shape shape, int signal) {
        std::signal(signal, SIG_DFL);
        ASSERT_EQ(refused(shape == Shape::directory ? "empty" : "old", shape), "");
        for (int i = 0; shape == Shape::directory && i < 200; ++i) { // more than one call lists
            ASSERT_TRUE(m_made->add_file("a long name, of which few fit into a list " + std::to_string(i)));
        }
        ::raise(signal);
    };
    for (const auto& [shape, signal] :
         {std::pair(Shape::file, SIGINT), {Shape::library_file, SIGTERM}, {Shape::directory, SIGHUP}}) {
        EXPECT_EXIT(interrupted(shape, signal), testing::KilledBySignal(signal), "");
        EXPECT_THAT(partial(), IsEmpty());
        EXPECT_EQ(support::read_text(at("old")), "old");
    }
    std::signal(SIGHUP, SIG_IGN); // as nohup does
    ASSERT_EQ(refused("out"), "");
    ::raise(SIGHUP);
    EXPECT_TRUE(m_made->commit().ok());
    std::signal(SIGHUP, SIG_DFL);
}

TEST_F(DestinationTest, ADirectoryHasItsNameWhenItsFilesAreComplete) {
    fs::create_directories(at("out"));
    ASSERT_EQ(refused("out/", Shape::directory), "");
    EXPECT_THAT(partial(), ElementsAre("out.*"));
    OutputFile& one = *m_made->add_file("one").value();
    OutputFile& two = *m_made->add_file("two").value();
    one.append("1");
    two.append("22");
    EXPECT_EQ(m_made->add_file("no/slash").error().text, "not found");
    ASSERT_TRUE(m_made->commit().ok());
    EXPECT_EQ(support::read_text(at("out/one")), "1");
    EXPECT_EQ(support::read_text(at("out/two")), "22");
    EXPECT_EQ(fs::status(at("out")).permissions(), fs::perms{0755});
    EXPECT_THAT(partial(), IsEmpty());
    ASSERT_EQ(refused("out2", Shape::directory), "");
    (void)m_made->add_file("one");
    m_made = nullptr;
    EXPECT_FALSE(fs::exists(at("out2")));
}

TEST_F(DestinationTest, ALibraryWritesAFileThatIsThere) {
    ASSERT_EQ(refused("out", Shape::library_file), "");
    EXPECT_TRUE(fs::is_empty(m_made->partial_path()));
    fs::resize_file(m_made->partial_path(), 5);
    ASSERT_TRUE(m_made->commit().ok());
    EXPECT_EQ(fs::file_size(at("out")), 5U);
    EXPECT_EQ(fs::status(at("out")).permissions(), fs::perms{0644});
}

TEST_F(DestinationTest, ASymbolicLinkIsFollowed) {
    fs::create_symlink(at("old"), at("link"));
    ASSERT_EQ(refused("link"), "");
    EXPECT_TRUE(m_made->replaces());
    m_made->file().append("new");
    ASSERT_TRUE(m_made->commit().ok());
    EXPECT_EQ(support::read_text(at("old")), "new");
    EXPECT_TRUE(fs::is_symlink(at("link")));
}

TEST_F(DestinationTest, ADeviceIsWrittenAsItIs) {
    const std::string input = at("trace.dat");
    const auto made = Destination::open("/dev/null", Shape::file, input);
    ASSERT_TRUE(made.ok());
    EXPECT_FALSE(made.value()->replaces());
    made.value()->file().append("text");
    EXPECT_TRUE(made.value()->commit().ok());
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_FALSE(Destination::open("/dev/null", Shape::directory, input).ok());
}

TEST_F(DestinationTest, AFailedWriteIsReportedAtTheEnd) {
    const auto full = Destination::open("/dev/full", Shape::file, at("trace.dat"));
    ASSERT_TRUE(full.ok());
    full.value()->file().append("text");
    EXPECT_FALSE(full.value()->failed()) << "it is in the buffer";
    full.value()->file().flush();
    EXPECT_TRUE(full.value()->failed());
    EXPECT_EQ(full.value()->file().error_number(), ENOSPC);
    full.value()->file().append("more");
    EXPECT_EQ(full.value()->commit().error().cause, Fault::no_space);
    const auto unmade = Destination::open(at("nowhere/out"), Shape::file, at("trace.dat"));
    ASSERT_FALSE(unmade.ok());
    EXPECT_EQ(unmade.error().cause, Fault::unusable);
    EXPECT_EQ(unmade.error().text, "No such file or directory");
}

TEST_F(DestinationTest, AReaderThatHasGoneClosesTheStream) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    ::close(ends[0]);
    OutputFile file(ends[1], true);
    file.append("text");
    const auto ignored = ::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(file.close().error(), lib::Error::closed);
    ::signal(SIGPIPE, ignored);
}

TEST_F(DestinationTest, WhatWasWrittenCanBePatched) {
    const auto file = std::move(OutputFile::create(at("out")).value());
    file->append("0123456789");
    const std::string patch = "abc";
    file->patch(4, std::as_bytes(std::span(patch)));
    file->append("x");
    file->patch(10, std::as_bytes(std::span(patch)));
    EXPECT_EQ(file->position_bytes(), 11U);
    EXPECT_TRUE(file->close().ok());
    EXPECT_EQ(support::read_text(at("out")), "0123abc789abc");
}

} // namespace

} // namespace host::convert
