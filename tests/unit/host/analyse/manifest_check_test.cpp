// SPDX-License-Identifier: MIT
// Tests a manifest that says something else than its files, key by key: verify names the key and both numbers, and
// summary never calls such a session complete.
#include "tests/support/host_command_line.hpp"

#include "host/analyse/account.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/trace.hpp"
#include "lib/crc32c.hpp"

#include <functional>
#include <gmock/gmock.h>

namespace host::cli::manifest_check_test {

namespace {

using formats::dat::Manifest;
using testing::HasSubstr;
using testing::Not;

class ManifestChecks : public support::CommandLine {
  protected:
    // As the collector leaves a session of one chunk of nine records.
    Manifest truth() {
        write(sample().bytes());
        const auto file = formats::dat::checksum_file(m_directory / "0trace.dat");
        EXPECT_TRUE(file.ok());
        Manifest manifest;
        manifest.origin = "udp";
        manifest.complete = true;
        manifest.announced = tracer::ExportEnd{1, tracer::RunResult::completed, 9, 0, 0, 0};
        manifest.transfer = formats::dat::ManifestTransfer{.packets = 2, .records = 9};
        formats::dat::ManifestChunk chunk;
        chunk.file = "0trace.dat";
        chunk.described = true;
        chunk.description = sample().description();
        chunk.bytes = file.value().bytes;
        chunk.crc32c = file.value().crc32c;
        chunk.preamble = chunk.description.preamble_slots;
        chunk.records = 9;
        chunk.first_tsc = 5000;
        chunk.last_tsc = 6100;
        manifest.chunks.push_back(chunk);
        return manifest;
    }

    int status_of(const std::string& command, const Manifest& manifest) {
        EXPECT_TRUE(formats::dat::save_manifest(manifest, m_directory.path()).ok());
        return remora({command, m_directory.path()});
    }

    // Does the same, and expects that the session says the same when it is packed.
    int status_of_both(const std::string& command, const Manifest& manifest) {
        EXPECT_TRUE(formats::dat::save_manifest(manifest, m_directory.path()).ok());
        const support::TemporaryDirectory elsewhere;
        const std::string packed = elsewhere / "session.rpk";
        EXPECT_EQ(remora({"pack", m_directory.path(), "-o", packed}), 0) << m_err;
        const int status_of_packed = remora({command, packed});
        const std::string said = without_places(m_out, packed);
        const int status = status_of(command, manifest);
        EXPECT_EQ(status_of_packed, status) << command << m_err;
        EXPECT_EQ(said, without_places(m_out, m_directory.path())) << command;
        return status;
    }

    // Returns the text as if the file or directory were named d, on one line: d/0trace.dat is the name of a file in
    // either.
    static std::string without_places(std::string text, const std::string& path) {
        for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
                 {path, "d"}, {"d(", "d/"}, {".dat)", ".dat"}, {".json)", ".json"}, {"\n", " "}, {"  ", " "}}) {
            for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
                text.replace(at, from.size(), to);
            }
        }
        return text;
    }
};

TEST_F(ManifestChecks, PassWhatIsTrue) {
    EXPECT_EQ(status_of_both("verify", truth()), 6) << m_out << m_err;
    EXPECT_EQ(status_of_both("summary", truth()), 0);
    EXPECT_THAT(m_out, HasSubstr("complete: nothing lost"));
}

// The chunk has no checksum of its own: that of the manifest counts, for every reader.
TEST_F(ManifestChecks, OfTheChecksumAreMadeByEveryReader) {
    Manifest manifest = truth();
    for (const bool is_wrong : {false, true}) {
        for (const char* const command : {"print", "count", "schedule", "summary", "check"}) {
            manifest.chunks[0].crc32c = truth().chunks[0].crc32c ^ (is_wrong ? 1U : 0U);
            EXPECT_EQ(status_of(command, manifest), is_wrong ? 2 : 0) << command;
            EXPECT_EQ(m_err.find("W-CRC") != std::string::npos, is_wrong) << command << m_err;
        }
    }
}

TEST_F(ManifestChecks, StateHowTheSessionEnded) {
    Manifest incomplete = truth();
    incomplete.complete = false;
    incomplete.reason = "the end of the export never came";
    incomplete.announced.reset();
    Manifest failed = truth();
    failed.announced->result = tracer::RunResult::failed;
    for (const char* const command : {"check", "verify", "summary"}) {
        EXPECT_EQ(status_of_both(command, incomplete), 2) << command << m_out;
    }
    for (const char* const command : {"check", "verify"}) {
        EXPECT_EQ(status_of_both(command, failed), 8) << command << m_out;
    }
    Manifest damaged = truth();
    damaged.chunks[0].crc32c ^= 1;
    EXPECT_EQ(status_of_both("verify", damaged), 2) << m_out;
    Manifest fewer = truth();
    fewer.announced->chunks = 2;
    EXPECT_EQ(status_of_both("verify", fewer), 2) << m_out;
}

TEST_F(ManifestChecks, CountTheRecordsOfAFileThatIsNotThere) {
    Manifest manifest = truth();
    manifest.chunks.push_back(manifest.chunks[0]);
    manifest.chunks[1].file = "1trace.dat";
    manifest.chunks[1].records = 41;
    EXPECT_EQ(status_of("summary", manifest), 2);
    EXPECT_THAT(m_err, HasSubstr("1trace.dat"));
    const support::TemporaryDirectory elsewhere;
    const std::string output = elsewhere / "all.json";
    EXPECT_EQ(remora({"convert", m_directory.path(), output, "--to", "chrome-json"}), 2) << m_err;
    EXPECT_THAT(support::read_text(output), HasSubstr("41"));
}

TEST_F(ManifestChecks, UseNoTextsOfAnotherChecksum) {
    Manifest manifest = truth();
    const std::string_view texts = R"({"format":"remora-formats","version":1,"formats":[],"image":"abcd"})";
    const std::string path = m_directory.write("formats.json", std::as_bytes(std::span(texts)));
    const std::uint32_t right = formats::dat::checksum_file(path).value().crc32c;
    for (const std::uint32_t wrong : {0U, 1U}) {
        manifest.formats = formats::dat::ManifestFormats{0xABCD, right ^ wrong};
        status_of("print", manifest);
        EXPECT_EQ(m_err.find("its checksum is not that of the manifest: not used") != std::string::npos, wrong != 0)
            << m_err;
    }
}

TEST_F(ManifestChecks, NameTheKeyAndBothNumbersOfEveryFalseEntry) {
    struct FalseEntry {
        std::string said;
        std::function<void(Manifest&)> make;
    };

    const std::vector<FalseEntry> entries{
        {"transfer.lost: the manifest says 3, but complete promises 0", [](Manifest& m) { m.transfer->lost = 3; }},
        {"transfer.conflicts: the manifest says 1, but complete promises 0",
         [](Manifest& m) { m.transfer->conflicts = 1; }},
        {"transfer.records: the manifest says 8, found 9", [](Manifest& m) { m.transfer->records = 8; }},
        {"announced.records: the manifest says 10, found 9", [](Manifest& m) { m.announced->records = 10; }},
        {"announced.chunks: the manifest says 2, found 1", [](Manifest& m) { m.announced->chunks = 2; }},
        {"missing: the manifest says 4, found 0", [](Manifest& m) { m.chunks[0].missing = 4; }},
        {"records: the manifest says 7, found 9", [](Manifest& m) { m.chunks[0].records = 7; }},
        {"preamble: the manifest says 1, found 40", [](Manifest& m) { m.chunks[0].preamble = 1; }},
        {"announced_records: the manifest says 5, found 9", [](Manifest& m) { m.chunks[0].description.records = 5; }},
        {"first_tsc: the manifest says 1, found 5000", [](Manifest& m) { m.chunks[0].first_tsc = 1; }},
        {"last_tsc: the manifest says 1, found 6100", [](Manifest& m) { m.chunks[0].last_tsc = 1; }},
        {"dropped: the manifest says 6, found 0", [](Manifest& m) { m.chunks[0].description.dropped = 6; }},
        {"crc32c", [](Manifest& m) { m.chunks[0].crc32c ^= 1; }},
        {" bytes, crc32c ", [](Manifest& m) { m.chunks[0].bytes += 1; }},
        {"described: the manifest says 0, found 1", [](Manifest& m) { m.chunks[0].described = false; }},
        {"chunk: the manifest says 3, found 0", [](Manifest& m) { m.chunks[0].description.chunk = 3; }},
        {"cpu: the manifest says 1, found 0", [](Manifest& m) { m.chunks[0].description.cpu = 1; }},
        {"generation: the manifest says 2, found 0", [](Manifest& m) { m.chunks[0].description.generation = 2; }},
        {"refused: the manifest says 6, found 0", [](Manifest& m) { m.chunks[0].description.refused = 6; }},
        {"overwritten: the manifest says 6, found 0", [](Manifest& m) { m.chunks[0].description.overwritten = 6; }},
        {"transfer.stray_records: the manifest says 2, but complete promises 0",
         [](Manifest& m) { m.transfer->stray_records = 2; }},
    };
    for (const FalseEntry& entry : entries) {
        Manifest manifest = truth();
        entry.make(manifest);
        EXPECT_EQ(status_of("verify", manifest), 2) << entry.said;
        EXPECT_THAT(m_out, HasSubstr(entry.said));
        EXPECT_EQ(status_of("summary", manifest), 2) << entry.said;
        EXPECT_THAT(m_out, Not(HasSubstr("nothing lost"))) << entry.said;
    }
}

// Of a chunk that one of both sides does not describe, the records alone are compared.
TEST_F(ManifestChecks, CompareOnlyTheRecordsOfAChunkThatIsNotDescribed) {
    const auto faults = [this](const Manifest& manifest) {
        EXPECT_TRUE(formats::dat::save_manifest(manifest, m_directory.path()).ok());
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto trace = formats::Trace::open(m_directory.path(), {}, diagnostics);
        trace.value()->for_each([&](const trace::Event&) {});
        std::vector<std::string> lines;
        for (const analyse::ManifestFault& fault : analyse::manifest_faults(*trace.value())) {
            lines.push_back(std::string(analyse::rule_name(fault.rule)) + ": " + fault.text);
        }
        return lines;
    };
    EXPECT_THAT(faults(truth()), testing::IsEmpty());
    Manifest undescribed = truth();
    undescribed.chunks[0].described = false;
    EXPECT_THAT(faults(undescribed), testing::ElementsAre("counts: described: the manifest says 0, found 1"));
    Manifest described = truth();
    const support::Bytes plain = sample().plain();
    m_directory.write("0trace.dat", plain);
    described.chunks[0].bytes = plain.size();
    described.chunks[0].crc32c = lib::crc32c(plain);
    EXPECT_THAT(faults(described), testing::ElementsAre("counts: described: the manifest says 1, found 0"));
}

} // namespace

} // namespace host::cli::manifest_check_test
