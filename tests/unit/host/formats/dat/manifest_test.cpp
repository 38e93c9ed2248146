// SPDX-License-Identifier: MIT
// Tests the text of a manifest, every key of it, and what is read back; what is refused, and why.
#include "host/formats/dat/manifest.hpp"

#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gmock/gmock.h>

namespace host::formats::dat::manifest_test {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ManifestChunk described_chunk() {
    ManifestChunk chunk{.file = "12trace.dat", .described = true, .bytes = 21, .preamble = 22, .records = 23};
    chunk.description.chunk = 12;
    chunk.description.cpu = 1;
    chunk.description.generation = 2;
    chunk.description.mode = 4;
    chunk.description.dropped = 3;
    chunk.description.refused = 5;
    chunk.description.overwritten = 6;
    chunk.description.records = 7;
    chunk.description.encoding = tracer::Encoding::compact;
    chunk.description.layout = 1;
    chunk.description.events = 8;
    chunk.missing = 24;
    chunk.first_tsc = 25;
    chunk.last_tsc = 26;
    chunk.crc32c = 0xABC;
    chunk.gaps.push_back(
        {.offset = 31, .slots = 32, .first_packet = 33, .packets = 34, .tsc_before = 35, .tsc_after = 36});
    chunk.gaps.push_back(
        {.offset = 41, .slots = 42, .first_packet = 43, .packets = 44, .tsc_before = {}, .tsc_after = {}});
    return chunk;
}

Manifest whole_manifest() {
    Manifest manifest{.origin = "udp", .reason = "lost"};
    manifest.clock_mode = tracer::ClockMode::hardware;
    manifest.tsc_source = tracer::TscSource::cpuid;
    manifest.tsc_khz = 2000;
    manifest.tsc_error_ppm = 41;
    manifest.boot_id = 0xB007;
    manifest.started_s = 1'700'000'000;
    manifest.build = tracer::Build{{"kernel"}, {"compiler"}, {"application"}, 51, 0x52, {}, 0};
    manifest.announced = tracer::ExportEnd{61, tracer::RunResult::panicked, 62, 63, 64, 65, 66, 67};
    manifest.transfer = ManifestTransfer{71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81};
    manifest.formats = ManifestFormats{.image_id = 0x91, .crc32c = 0x92};
    manifest.chunks = {described_chunk(), {.file = "3TRACE.DAT", .bytes = 16, .preamble = 0, .records = 1}};
    return manifest;
}

constexpr std::string_view kText = R"({
  "format": "remora-session",
  "version": 1,
  "origin": "udp",
  "complete": false,
  "reason": "lost",
  "clock": {
    "tsc_khz": 2000,
    "source": "cpuid",
    "error_ppm": 41,
    "mode": "hardware"
  },
  "boot_id": "000000000000b007",
  "started": 1700000000,
  "build": {
    "kernel": "kernel",
    "compiler": "compiler",
    "application": "application",
    "seed": 51,
    "image": "0000000000000052"
  },
  "announced": {
    "chunks": 61,
    "result": "panicked",
    "records": 62,
    "dropped": 63,
    "refused": 64,
    "overwritten": 65,
    "committed": 66,
    "tracer_made": 67
  },
  "transfer": {
    "packets": 71,
    "lost": 72,
    "late": 73,
    "duplicate": 74,
    "reordered": 76,
    "malformed": 77,
    "other_senders": 78,
    "socket_overflow": 79,
    "stray_records": 80,
    "records": 81,
    "conflicts": 75
  },
  "formats": {
    "file": "formats.json",
    "image": "0000000000000091",
    "crc32c": "00000092"
  },
  "chunks": [
    {
      "file": "12trace.dat",
      "described": true,
      "chunk": 12,
      "cpu": 1,
      "generation": 2,
      "mode": "jump",
      "flags": 4,
      "dropped": 3,
      "refused": 5,
      "overwritten": 6,
      "announced_records": 7,
      "encoding": "compact B",
      "events": 8,
      "bytes": 21,
      "preamble": 22,
      "records": 23,
      "missing": 24,
      "first_tsc": 25,
      "last_tsc": 26,
      "crc32c": "00000abc",
      "gaps": [
        {
          "offset": 31,
          "slots": 32,
          "first_packet": 33,
          "packets": 34,
          "tsc_before": 35,
          "tsc_after": 36
        },
        {
          "offset": 41,
          "slots": 42,
          "first_packet": 43,
          "packets": 44,
          "tsc_before": null,
          "tsc_after": null
        }
      ]
    },
    {
      "file": "3TRACE.DAT",
      "described": false,
      "bytes": 16,
      "preamble": 0,
      "records": 1,
      "missing": 0,
      "first_tsc": null,
      "last_tsc": null,
      "crc32c": "00000000",
      "gaps": []
    }
  ]
}
)";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// The text of what is read of a text.
std::string reread(std::string_view text) {
    const auto manifest = parse_manifest(std::string(text));
    return manifest ? to_json_text(manifest.value()) : manifest.error().text;
}

TEST(ManifestText, HasEveryField) {
    EXPECT_EQ(to_json_text(whole_manifest()), kText);
}

TEST(ManifestText, IsReadBackAsItWas) {
    EXPECT_EQ(reread(kText), kText);
    const std::string complete = replaced(replaced(std::string(kText), "false", "true"), "\"lost\"", "\"\"");
    EXPECT_EQ(reread(complete), complete);
    const std::string empty = to_json_text({});
    EXPECT_EQ(reread(empty), empty);
    EXPECT_THAT(empty,
                HasSubstr("\"build\": null,\n  \"announced\": null,\n  \"transfer\": null,\n  \"formats\": null,\n"
                          "  \"chunks\": []\n"));
}

// In any order, with keys that no version of ours writes, and with blanks or without.
TEST(ManifestText, IsReadHoweverItIsWritten) {
    std::string text = replaced(std::string(kText), "\"version\": 1,", "");
    text = replaced(text, "\"chunks\": [", R"("a": [{"b": "\\"}, -1.5e9], "chunks": [)");
    text.replace(text.rfind(']'), 1, "],\"version\": 1, \"z\": {}");
    EXPECT_EQ(reread(text), kText);
    std::erase_if(text, [](char character) { return character == ' ' || character == '\n'; });
    text = replaced(text, "compactB", "compact B");
    EXPECT_EQ(reread(text), kText);
}

// Each enumerator has its word, and an unknown word is the first.
TEST(ManifestText, NamesEnumeratorsByTheirWords) {
    for (const auto& [word, others] :
         {std::pair<std::string, std::vector<std::string>>{"hardware", {"unknown", "emulated", "icount", "hardware"}},
          {"cpuid", {"unknown", "pit", "pm_timer", "hpet", "cpuid"}},
          {"panicked", {"unknown", "completed", "failed", "panicked"}},
          {"compact B", {"records", "compact A", "compact B"}}}) {
        for (const std::string& other : others) {
            const std::string text = replaced(std::string(kText), '"' + word + '"', '"' + other + '"');
            EXPECT_EQ(reread(text), text);
        }
        EXPECT_EQ(reread(replaced(std::string(kText), '"' + word + '"', "\"other\"")),
                  replaced(std::string(kText), '"' + word + '"', '"' + others.front() + '"'));
    }
}

TEST(ManifestText, NamesTheModeOfAChunkByItsFlags) {
    EXPECT_EQ(chunk_mode_name(0xF3), "cyclic");
    EXPECT_EQ(chunk_mode_name(0x07), "jump");
    EXPECT_EQ(chunk_mode_name(0x08), "stop");
    EXPECT_EQ(chunk_mode_name(0x0C), "stop");
    EXPECT_EQ(clock_mode_name(static_cast<tracer::ClockMode>(4)), "unknown");
    EXPECT_EQ(layout_name(200), "?");
}

// Keys that came later.
TEST(ManifestText, OfAnEarlierVersionIsRead) {
    constexpr std::string_view kFormats = R"(  "formats": {
    "file": "formats.json",
    "image": "0000000000000091",
    "crc32c": "00000092"
  },
)";
    std::string text(kText);
    for (const std::string_view later : std::initializer_list<std::string_view>{
             ",\n    \"image\": \"0000000000000052\"", ",\n    \"committed\": 66,\n    \"tracer_made\": 67",
             ",\n    \"conflicts\": 75", "      \"encoding\": \"compact B\",\n      \"events\": 8,\n", kFormats,
             ",\n      \"gaps\": []"}) {
        text = replaced(text, later, "");
    }
    const auto manifest = parse_manifest(std::string(text));
    ASSERT_TRUE(manifest.ok()) << manifest.error().text;
    EXPECT_EQ(manifest.value().build->image_id, 0U);
    EXPECT_EQ(manifest.value().announced->committed, 0U);
    EXPECT_EQ(manifest.value().announced->tracer_made, 0U);
    EXPECT_EQ(manifest.value().transfer->conflicts, 0U);
    EXPECT_EQ(manifest.value().formats.has_value(), false);
    EXPECT_EQ(encoding_name(manifest.value().chunks[0].description), "records");
    EXPECT_EQ(manifest.value().chunks[0].gaps.size(), 2U);
    EXPECT_TRUE(manifest.value().chunks[1].gaps.empty());
}

TEST(ManifestText, MayHaveAMarkAndMoreKeys) {
    EXPECT_EQ(reread("\xEF\xBB\xBF" + std::string(kText)), kText);
    EXPECT_EQ(reread(fmt::format("{{\"x\": [1, {{}}],{}", kText.substr(1))), kText);
}

TEST(ManifestText, IsRefusedForWhatItIsNot) {
    EXPECT_EQ(reread(replaced(std::string(kText), "remora-session", "remora-formats")),
              "it is not a session's manifest");
    EXPECT_EQ(reread(replaced(std::string(kText), "\"version\": 1", "\"version\": 2")),
              "it was written by a newer version");
    EXPECT_EQ(reread(replaced(std::string(kText), "3TRACE.DAT", "../3trace.dat")),
              "file name \"../3trace.dat\" is not of the form Ntrace.dat");
    EXPECT_EQ(reread(replaced(std::string(kText), "3TRACE.DAT", "12trace.dat")),
              "the file 12trace.dat is listed twice");
    EXPECT_THAT(reread(""), HasSubstr("parse error: "));
    EXPECT_THAT(reread("[]"), HasSubstr("parse error in line 1: "));
    EXPECT_THAT(reread(kText.substr(0, 100)), HasSubstr("parse error"));
    EXPECT_THAT(reread(std::string(kText) + "{}"), HasSubstr("parse error: "));
    for (const std::string_view skipped : {"tru", "01", "[1 2]", "[1,2}", "\"\\q\""}) { // values of no known key
        EXPECT_THAT(reread(fmt::format("{{\"x\": {},{}", skipped, kText.substr(1))), HasSubstr("parse error"))
            << skipped;
    }
    EXPECT_THAT(reread(replaced(std::string(kText), "\"gaps\": []\n    }\n  ]", "\"gaps\": []\n    }\n  ], 1")),
                HasSubstr("parse error"));
    EXPECT_THAT(reread(replaced(std::string(kText), "\"bytes\": 21", "\"bytes\" 21")),
                HasSubstr("parse error in line 65: "));
    EXPECT_THAT(reread(replaced(std::string(kText), "\"bytes\": 21", "\"bytes\": \"21\"")), HasSubstr("key 'bytes': "));
    EXPECT_THAT(reread(replaced(std::string(kText), "\"bytes\": 21", "\"bytes\": -21")), HasSubstr("key 'bytes': "));
    EXPECT_THAT(reread(replaced(std::string(kText), "\"cpu\": 1", "\"cpu\": 65536")), HasSubstr("key 'cpu': "));
    EXPECT_THAT(reread(replaced(std::string(kText), "\"missing\": 24,", "")), HasSubstr("'missing' not found"));
    EXPECT_THAT(reread(replaced(std::string(kText), "\"origin\": \"udp\",", "")), HasSubstr("'origin' not found"));
    // A number that is none is 0.
    EXPECT_THAT(reread(replaced(std::string(kText), "000000000000b007", "b007 ")),
                HasSubstr("\"boot_id\": \"0000000000000000\""));
}

TEST(ManifestText, HoldsOnlyFileNamesOfChunks) {
    for (const std::string_view name : {"0trace.dat", "999999999trace.dat", "9TRACE.DAT", "007trace.dat"}) {
        EXPECT_TRUE(is_chunk_file_name(name)) << name;
    }
    for (const std::string_view name : {"", "trace.dat", "1000000000trace.dat", "1Trace.dat", "1trace.dat2",
                                        "/trace.dat", ":trace.dat", "1", "a1trace.dat"}) {
        EXPECT_FALSE(is_chunk_file_name(name)) << name;
    }
}

TEST(ManifestFile, IsWrittenBesideAndReadBack) {
    const support::TemporaryDirectory directory;
    const auto nothing = load_manifest(directory.path());
    ASSERT_FALSE(nothing.ok());
    EXPECT_EQ(nothing.error().cause, lib::Error::not_found);
    EXPECT_EQ(nothing.error().text,
              "the directory holds no manifest.json, so it is no session; if Ntrace.dat files were copied into it, run "
              "`remora adopt` on it first");
    std::filesystem::create_directory(directory / "udp");
    ASSERT_TRUE(save_manifest(whole_manifest(), directory / "udp").ok());
    EXPECT_EQ(load_manifest(directory.path()).error().text,
              "the directory is that of a run; its session is " + directory.path() + "/udp");
    ASSERT_TRUE(save_manifest(whole_manifest(), directory.path()).ok());
    EXPECT_EQ(support::read_text(directory / "manifest.json"), kText);
    EXPECT_FALSE(std::filesystem::exists(directory / "manifest.json.new"));
    const auto manifest = load_manifest(directory.path());
    ASSERT_TRUE(manifest.ok());
    EXPECT_EQ(to_json_text(manifest.value()), kText);
    ASSERT_TRUE(save_text("{}", directory.path(), kManifestName).ok());
    const auto other = load_manifest(directory.path());
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().cause, lib::Error::corrupt);
    EXPECT_THAT(other.error().text, HasSubstr("'format' not found"));
    EXPECT_EQ(save_manifest({}, directory / "none").error(), lib::Error::io);
    std::filesystem::create_directory(directory / "manifest.json.new"); // cannot be replaced
    EXPECT_EQ(save_manifest({}, directory.path()).error(), lib::Error::io);
    EXPECT_EQ(support::read_text(directory / "manifest.json"), "{}");
}

TEST(ManifestFile, HasTheChecksumOfAWholeFile) {
    const support::TemporaryDirectory directory;
    const std::string text = "123456789";
    const auto checksum = checksum_file(directory.write("nine", std::as_bytes(std::span(text))));
    ASSERT_TRUE(checksum.ok());
    EXPECT_EQ(checksum.value().bytes, 9U);
    EXPECT_EQ(checksum.value().crc32c, 0xE3069283U);
    const support::Bytes large(1'500'000, std::byte{7});
    EXPECT_EQ(checksum_file(directory.write("large", large)).value().crc32c, lib::crc32c(large));
    EXPECT_EQ(checksum_file(directory.write("large", large)).value().bytes, large.size());
    EXPECT_EQ(checksum_file(directory / "none").error(), lib::Error::not_found);
}

// Of a file with two chunks: the description of the first, and the sums.
TEST(ManifestChunkRead, IsOfAllChunksOfTheFile) {
    trace::TraceFacts facts;
    facts.chunks.resize(4);
    facts.chunks[0].file = "other";
    facts.chunks[0].records = 100;
    for (std::size_t i = 1; i < 4; ++i) {
        facts.chunks[i].file = "1trace.dat";
        facts.chunks[i].described = i == 1;
        facts.chunks[i].description.chunk = static_cast<std::uint16_t>(i);
        facts.chunks[i].preamble = i;
        facts.chunks[i].records = 10 * i;
        facts.chunks[i].missing = 20 * i;
    }
    facts.chunks[1].first_stamp = lib::Ticks{500};
    facts.chunks[2].last_stamp = lib::Ticks{700};
    const auto chunk = ReadChunks(facts).of("1trace.dat");
    ASSERT_TRUE(chunk.has_value());
    EXPECT_TRUE(chunk->described);
    EXPECT_EQ(chunk->description.chunk, 1U);
    EXPECT_EQ(chunk->preamble, 6U);
    EXPECT_EQ(chunk->records, 60U);
    EXPECT_EQ(chunk->missing, 120U);
    EXPECT_EQ(chunk->first_tsc, 500U);
    EXPECT_EQ(chunk->last_tsc, 700U);
    EXPECT_FALSE(ReadChunks(facts).of("2trace.dat").has_value());
}

TEST(SessionFiles, AreListedByTheirNumbers) {
    const support::TemporaryDirectory directory;
    for (const std::string_view name : {"10trace.dat", "2trace.dat", "0TRACE.DAT", "xtrace.dat", "manifest.json"}) {
        directory.write(name, {});
    }
    EXPECT_THAT(list_chunk_files(directory.path()).value(), ElementsAre("0TRACE.DAT", "2trace.dat", "10trace.dat"));
    EXPECT_EQ(list_chunk_files(directory / "none").error(), lib::Error::not_found);
    Manifest manifest;
    manifest.chunks = {{.file = "2trace.dat"}};
    EXPECT_THAT(unlisted_files(directory.path(), manifest), ElementsAre("0TRACE.DAT", "10trace.dat"));
    manifest.complete = true;
    EXPECT_TRUE(unlisted_files(directory.path(), manifest).empty());
    manifest.complete = false;
    EXPECT_TRUE(unlisted_files(directory / "none", manifest).empty());
}

TEST(SessionFiles, HoldTheTotalsUnderEitherName) {
    const support::TemporaryDirectory directory;
    EXPECT_EQ(read_totals(directory.path()).error(), lib::Error::not_found);
    directory.write("ENDTRACE.DAT", support::export_end({.chunks = 2, .records = 7}));
    EXPECT_EQ(read_totals(directory.path()).value().records, 7U);
    directory.write("endtrace.dat", support::export_end({.chunks = 2, .records = 8}));
    EXPECT_EQ(read_totals(directory.path()).value().records, 8U);
    directory.write("endtrace.dat", support::Bytes(64));
    EXPECT_EQ(read_totals(directory.path()).error(), lib::Error::corrupt);
    EXPECT_TRUE(is_totals_file_name("endtrace.dat") && is_totals_file_name("ENDTRACE.DAT"));
    EXPECT_FALSE(is_totals_file_name("Endtrace.dat"));
}

} // namespace

} // namespace host::formats::dat::manifest_test
