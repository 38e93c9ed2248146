// SPDX-License-Identifier: MIT
// Tests a session directory as a trace: what is missing, changed or not listed costs its own records and is reported.
#include "host/formats/dat/manifest.hpp"
#include "tests/support/reading_text.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <cstdint>
#include <filesystem>
#include <gmock/gmock.h>

namespace host::formats::dat::session_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::Lines;
using testing::ElementsAre;
using testing::IsEmpty;

Bytes chunk_of(std::uint16_t number, std::uint64_t stamp, bool is_sealed = false) {
    ChunkBuilder chunk(number);
    const Bytes bytes = chunk.event(stamp, "ipoint", number, 1).event(stamp + 5, "ipoint", number, 2).bytes();
    return is_sealed ? support::sealed(bytes) : bytes;
}

constexpr std::size_t kHeaderBytes = 17 * tracer::kRecordBytes; // two events follow

// As a kernel writes it: the header has the stamp of the first record.
Bytes stamped_chunk_of(std::uint16_t number, std::uint64_t stamp) {
    Bytes bytes = chunk_of(number, stamp);
    const auto stamp_of = [&bytes](std::size_t at) { return bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4; };
    for (std::size_t slot = 0; slot < kHeaderBytes; slot += tracer::kRecordBytes) {
        std::copy_n(stamp_of(kHeaderBytes), sizeof(std::uint64_t), stamp_of(slot));
    }
    return support::sealed(bytes);
}

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

class Session : public testing::Test {
  protected:
    void SetUp() override {
        list("0trace.dat", chunk_of(0, 1000));
        list("1trace.dat", chunk_of(1, 1100));
    }

    ManifestChunk& list(const std::string& file, const Bytes& bytes) {
        m_directory.write(file, bytes);
        m_manifest.chunks.push_back(
            {.file = file, .described = true, .bytes = bytes.size(), .records = 2, .crc32c = lib::crc32c(bytes)});
        m_manifest.chunks.back().description.chunk = static_cast<std::uint16_t>(file.front() - '0');
        return m_manifest.chunks.back();
    }

    // Without the directory's name.
    Lines read(const trace::OpenOptions& options = {}) {
        EXPECT_TRUE(save_manifest(m_manifest, m_directory.path()).ok());
        Lines lines = support::reading_of(m_directory.path(), options);
        for (std::string& line : lines) {
            for (std::size_t at = line.find(m_directory.path()); at != std::string::npos;
                 at = line.find(m_directory.path())) {
                line.replace(at, m_directory.path().size(), "d");
            }
        }
        return lines;
    }

    static Lines starting(const Lines& lines, std::string_view begin) {
        Lines found;
        std::ranges::copy_if(lines, std::back_inserter(found),
                             [begin](const std::string& line) { return line.starts_with(begin); });
        return found;
    }

    // What was reported, and the exit status.
    static Lines reports(const Lines& lines) {
        Lines found = starting(lines, "d");
        found.push_back(lines.back());
        return found;
    }

    // Returns those of the session, or of a file in its directory.
    [[nodiscard]] std::vector<std::uint64_t> stamps_after_holes(const std::string& file = {}) const {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = Trace::open(file.empty() ? m_directory.path() : m_directory / file, {}, diagnostics);
        std::vector<std::uint64_t> after;
        opened.value()->for_each([&](const trace::Event& event) {
            if (event.after_hole) {
                after.push_back(event.ticks.value);
            }
        });
        return after;
    }

    support::TemporaryDirectory m_directory;
    Manifest m_manifest{.origin = "files", .complete = true};
};

// A file that has nothing left of its records, in whichever way it lost them.
// The machine's totals say whether a number that does not follow is that of a chunk that was never used.
TEST_F(Session, HasAHoleWhereAChunkIsListedNowhere) {
    list("3trace.dat", chunk_of(3, 1300));
    for (const std::uint32_t chunks : {0U, 3U, 4U}) {
        m_manifest.announced =
            chunks != 0 ? std::optional(tracer::ExportEnd{.chunks = chunks, .records = 6}) : std::nullopt;
        ASSERT_TRUE(save_manifest(m_manifest, m_directory.path()).ok());
        EXPECT_EQ(stamps_after_holes(), chunks == 3 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{1300});
    }
}

// A manifest says that each chunk is there if it is complete, and its totals do not say that records are missing.
TEST_F(Session, HasAHoleWhereItIsNotKnownThatEachChunkIsThere) {
    list("3trace.dat", chunk_of(3, 1300));
    const auto holes = [this](bool is_complete, const tracer::ExportEnd& totals) {
        m_manifest.complete = is_complete;
        m_manifest.announced = totals;
        EXPECT_TRUE(save_manifest(m_manifest, m_directory.path()).ok());
        return stamps_after_holes();
    };
    for (ManifestChunk& chunk : m_manifest.chunks) {
        chunk.description.events = 2;
    }
    const std::vector<std::uint64_t> here{1300};
    EXPECT_TRUE(holes(true, {.chunks = 3, .records = 6, .overwritten = 2, .committed = 7, .tracer_made = 1}).empty());
    EXPECT_EQ(holes(false, {.chunks = 3, .records = 6, .committed = 6}), here);
    EXPECT_EQ(holes(true, {.chunks = 3, .records = 5, .committed = 6}), here);
    EXPECT_EQ(holes(true, {.chunks = 3, .records = 6, .committed = 7}), here);
    EXPECT_EQ(holes(true, {.chunks = 3, .records = 6, .committed = 6, .tracer_made = 1}), here);
}

TEST_F(Session, HasAHoleWhereTheRecordsOfAFileAreMissing) {
    const Bytes whole = chunk_of(2, 1200);
    list("2trace.dat", whole);
    list("3trace.dat", chunk_of(3, 1300));
    ASSERT_TRUE(save_manifest(m_manifest, m_directory.path()).ok());
    const std::string path = m_directory / "2trace.dat";
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{});
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{7}, std::size_t{24}, kHeaderBytes, kHeaderBytes + 9}) {
        std::filesystem::resize_file(path, bytes);
        EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{1300}) << bytes;
    }
    m_directory.write("2trace.dat", Bytes(whole.size()));
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{1300}) << "zeroes";
    Bytes erased = whole;
    std::fill(erased.begin() + kHeaderBytes, erased.end(), std::byte{0});
    m_directory.write("2trace.dat", erased);
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{1300}) << "a header, then zeroes";
    m_directory.write("2trace.dat", chunk_of(0, 1000));
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{1300}) << "another chunk of the session";
    std::filesystem::remove(path);
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{1300}) << "no file";
    std::filesystem::create_directory(path);
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{1300}) << "a directory";
}

// Also if the machine's totals say that each chunk is there: it comes later, or is not used.
TEST_F(Session, HasAHoleWhereAChunkIsNotInItsPlace) {
    const Bytes whole = stamped_chunk_of(2, 1200);
    list("2trace.dat", whole);
    list("4trace.dat", stamped_chunk_of(4, 1400));
    m_manifest.announced = tracer::ExportEnd{.chunks = 4, .records = 8};
    ASSERT_TRUE(save_manifest(m_manifest, m_directory.path()).ok());
    EXPECT_EQ(stamps_after_holes(), std::vector<std::uint64_t>{}) << "number 3 was never used";
    Bytes later = whole;
    later[kHeaderBytes + 11] ^= std::byte{0x10};
    m_directory.write("2trace.dat", later);
    EXPECT_THAT(stamps_after_holes(), testing::Contains(1400U)) << "its first stamp is greater by 2^28";
    for (const std::size_t added : {1U, 4U, 15U, 16U}) {
        Bytes longer = whole;
        longer.insert(longer.begin() + 16 * static_cast<std::ptrdiff_t>(tracer::kRecordBytes), added, std::byte{0x5A});
        m_directory.write("2trace.dat", longer);
        EXPECT_THAT(stamps_after_holes(), testing::Contains(1400U)) << added << " bytes more in its preamble";
    }
    m_directory.write("2trace.dat", stamped_chunk_of(1, 1200));
    EXPECT_THAT(stamps_after_holes(), testing::Contains(1400U)) << "two chunks of number 1, with other contents";
}

TEST_F(Session, HasAHoleWhereOneOfManyChunksInAFileLostRecords) {
    const Bytes first = stamped_chunk_of(0, 1000);
    const auto without = [&first](std::size_t slots) {
        return Bytes(first.begin(), first.end() - static_cast<std::ptrdiff_t>(slots * tracer::kRecordBytes));
    };
    const Bytes second = stamped_chunk_of(1, 1100);
    const Bytes third = stamped_chunk_of(2, 1200);
    m_directory.write("whole.dat", first + second + third);
    EXPECT_EQ(stamps_after_holes("whole.dat"), std::vector<std::uint64_t>{});
    m_directory.write("short.dat", without(1) + second);
    EXPECT_THAT(stamps_after_holes("short.dat"), testing::Contains(1100U)) << "it announces more than the file has";
    const Bytes headless(second.begin() + static_cast<std::ptrdiff_t>(kHeaderBytes), second.end());
    m_directory.write("headless.dat", first + headless + third);
    EXPECT_THAT(stamps_after_holes("headless.dat"), testing::IsSupersetOf({1100U, 1200U}))
        << "the records of the second come after those that the first announces";
}

// A trigger of start refuses the records from there on until its event.
TEST_F(Session, HasAHoleAfterAStopOfTracing) {
    support::ChunkBuilder chunk;
    for (std::uint64_t stamp = 1000; stamp < 1020; ++stamp) {
        chunk.event(stamp, stamp == 1010 ? "trace_stop" : "ipoint", 1);
    }
    m_directory.write("stopped.dat", chunk.bytes());
    EXPECT_EQ(stamps_after_holes("stopped.dat"), std::vector<std::uint64_t>{1011});
}

TEST_F(Session, IsItsFilesInTheOrderOfTime) {
    list("2trace.dat", chunk_of(2, 900, true));
    const Lines lines = read();
    EXPECT_THAT(reports(lines), ElementsAre("exit 0"));
    const Lines chunks = starting(lines, "chunk of");
    ASSERT_EQ(chunks.size(), 3U);
    EXPECT_TRUE(chunks[0].starts_with("chunk of d/2trace.dat at 0x0 order 2 described 1 2 0 0 2 0 17 2 ")) << chunks[0];
    EXPECT_TRUE(chunks[1].starts_with("chunk of d/0trace.dat at 0x0 order 0 described 1 0 0 0 2 0 17 2 ")) << chunks[1];
    EXPECT_TRUE(chunks[2].starts_with("chunk of d/1trace.dat at 0x0 order 1 described 1 1 0 0 2 0 17 2 ")) << chunks[2];
}

TEST_F(Session, WithoutAFileHasTheOthers) {
    std::filesystem::remove(m_directory / "0trace.dat");
    m_manifest.transfer = ManifestTransfer{.lost = 3};
    m_manifest.chunks[0].records = 40;
    const Lines lines = read();
    EXPECT_THAT(reports(lines), ElementsAre("d/0trace.dat:0x0 E-IO not found", "exit 2"));
    EXPECT_THAT(starting(lines, "absent"), ElementsAre("absent 3 packets and 40 records"));
    EXPECT_THAT(starting(lines, "11"), testing::SizeIs(2));
}

TEST_F(Session, CountsTheRecordsOfMissingFilesUpToTheGreatestNumber) {
    std::filesystem::remove(m_directory / "0trace.dat");
    std::filesystem::remove(m_directory / "1trace.dat");
    m_manifest.chunks[0].records = ~std::uint64_t{0} - 1;
    EXPECT_THAT(starting(read(), "absent"), ElementsAre("absent 0 packets and 18446744073709551615 records"));
}

TEST_F(Session, WithAFileOfAnotherSizeReportsBoth) {
    ++m_manifest.chunks[1].bytes;
    const Lines lines = read();
    EXPECT_THAT(reports(lines),
                ElementsAre("d/1trace.dat:0x0 E-SIZE the file has 304 bytes, the manifest says 305", "exit 2"));
    EXPECT_THAT(starting(lines, "1100"), testing::SizeIs(1));
}

TEST_F(Session, WithAFileOfAnotherChecksumIsReadAndTrustedNowhere) {
    ++m_manifest.chunks[1].crc32c;
    const Lines lines = read();
    EXPECT_THAT(reports(lines),
                ElementsAre("d/1trace.dat:0x0 W-CRC the checksum of the file is not that of the manifest: its "
                            "records are read, and nothing is concluded from them",
                            "exit 2"));
    EXPECT_THAT(
        starting(lines, "found:"),
        ElementsAre("found: preamble 17 records 2 events 2 missing 0 extra 0 unused 0 skipped 0 gaps 0 blackout 0 "
                    "numevents 2 stamps 1000 to 1005",
                    "found: preamble 17 records 2 events 2 missing 0 extra 0 unused 0 skipped 0 gaps 0 blackout 0 "
                    "damaged numevents 2 stamps 1100 to 1105"));
}

// The chunk has a checksum of its own, which holds: the manifest's is not compared, unless slots are missing.
TEST_F(Session, ComparesTheManifestsChecksumWhereTheChunkHasNone) {
    ManifestChunk& chunk = list("2trace.dat", chunk_of(2, 900, true));
    ++chunk.crc32c;
    EXPECT_THAT(reports(read()), ElementsAre("exit 0"));
    m_manifest.chunks[2].missing = 1;
    EXPECT_THAT(reports(read()),
                ElementsAre("d/2trace.dat:0x0 W-CRC the checksum of the file is not that of the manifest: its "
                            "records are read, and nothing is concluded from them",
                            "exit 2"));
}

// Empty slots that the receiver lists are no damage of the others; that of one who lists none may be.
TEST_F(Session, ExplainsAWrongChecksumByHolesThatAreListed) {
    Bytes holed = chunk_of(2, 900, true);
    std::fill(holed.end() - 16, holed.end(), std::byte{0});
    list("2trace.dat", holed).missing = 1;
    const Lines lines = read();
    EXPECT_THAT(
        reports(lines),
        ElementsAre("d/2trace.dat:0x120 chunk 2 cpu 0 W-SHORT 1 slots from here on are empty: what they held was "
                    "lost on its way",
                    "exit 2"));
    ++m_manifest.chunks[2].bytes; // of a file that is another than the one that is listed
    EXPECT_THAT(reports(read()), testing::Contains(testing::HasSubstr("W-CRC the checksum of the chunk is wrong")));
    --m_manifest.chunks[2].bytes;
    m_manifest.chunks[2].missing = 0;
    EXPECT_THAT(reports(read()), testing::Contains(testing::HasSubstr("W-CRC the checksum of the chunk is wrong")));
}

TEST_F(Session, ThatIsNotCompleteHasTheFilesThatAreNotListed) {
    m_manifest.complete = false;
    m_directory.write("7trace.dat", chunk_of(7, 1200));
    const Lines lines = read();
    EXPECT_THAT(reports(lines),
                ElementsAre("d/7trace.dat:0x0 W-EXTRA the manifest does not list this file; it is read. The "
                            "collector was ended before it could: `remora adopt --force d` lists what "
                            "there is",
                            "exit 2"));
    EXPECT_THAT(starting(lines, "120"), testing::SizeIs(2));
    m_manifest.complete = true;
    EXPECT_THAT(starting(read(), "120"), IsEmpty());
}

TEST_F(Session, WithoutAManifestIsNone) {
    static_cast<void>(read());
    std::filesystem::remove(m_directory / "manifest.json");
    Lines lines = support::reading_of(m_directory.path(), {});
    EXPECT_THAT(lines, ElementsAre("not opened: not found",
                                   m_directory.path() +
                                       ":0x0 E-DIR the directory holds no manifest.json, so it is no session; "
                                       "if Ntrace.dat files were copied into it, run `remora adopt` on it "
                                       "first",
                                   "exit 1"));
    m_directory.write("manifest.json", {});
    lines = support::reading_of(m_directory.path(), {});
    EXPECT_EQ(lines.front(), "not opened: corrupt data");
    EXPECT_TRUE(lines[1].starts_with(m_directory / "manifest.json:0x0 E-MANIFEST ")) << lines[1];
    EXPECT_EQ(lines.back(), "exit 1");
}

// Of a session about which nothing was to be said: another pass takes the manifest and the places of chunks as they
// are.
TEST_F(Session, IsLookedThroughOnceForSeveralPasses) {
    const Lines lines = read();
    trace::Diagnostics silent([](std::string_view) {});
    const auto first = Trace::open(m_directory.path(), {}, silent);
    ASSERT_TRUE(first.ok());
    ASSERT_NE(first.value()->index(), nullptr);
    std::filesystem::remove(m_directory / "manifest.json");
    const auto again = [&](trace::Diagnostics& diagnostics) {
        auto opened = Trace::open(m_directory.path(), {}, diagnostics, first.value()->index());
        EXPECT_EQ(opened.value()->index(), first.value()->index());
        EXPECT_EQ(opened.value()->manifest(), first.value()->manifest());
        return opened;
    };
    EXPECT_EQ(support::reading_by(again).size(), lines.size());
    EXPECT_EQ(support::reading_by(again), support::reading_by(again));
    // A file that vanishes between the passes costs its records.
    std::filesystem::remove(m_directory / "1trace.dat");
    const Lines less = support::reading_by(again);
    EXPECT_THAT(less, testing::Contains(testing::HasSubstr("1trace.dat:0x0 E-IO not found")));
    EXPECT_EQ(less.back(), "exit 2");
}

TEST_F(Session, IsLookedThroughAgainIfAnythingWasReported) {
    m_manifest.transfer.emplace().lost = 3;
    static_cast<void>(read());
    trace::Diagnostics silent([](std::string_view) {});
    const auto sound = Trace::open(m_directory.path(), {}, silent);
    ASSERT_NE(sound.value()->index(), nullptr);
    EXPECT_EQ(Trace::open(m_directory.path(), {}, silent, sound.value()->index()).value()->facts().absent.parts, 3U);
    std::filesystem::remove(m_directory / "1trace.dat");
    EXPECT_EQ(Trace::open(m_directory.path(), {}, silent).value()->index(), nullptr);
}

TEST_F(Session, IsOfNoOtherFormat) {
    EXPECT_THAT(read({.kind = trace::InputKind::kev}),
                ElementsAre("not opened: invalid argument",
                            "d:0x0 E-DIR a directory is a session, not a kev file: leave out --from, or name a file",
                            "exit 1"));
    EXPECT_EQ(read({.kind = trace::InputKind::records}).back(), "exit 0");
}

// Strictly, nothing is read after the first damage.
TEST_F(Session, EndsAtTheFirstDamageIfThatIsWanted) {
    list("2trace.dat", chunk_of(2, 900) + Bytes(8));
    EXPECT_THAT(starting(read({.strict = true}), "1000"), IsEmpty());
    EXPECT_THAT(starting(read(), "1000"), testing::SizeIs(1));
}

} // namespace

} // namespace host::formats::dat::session_test
