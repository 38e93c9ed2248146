// SPDX-License-Identifier: MIT
// The account of a session closes if every line of it holds; each line that does not is named, and what is not known is
// not claimed.
#include "host/analyse/account.hpp"

#include "host/cli/command/exit_table.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"
#include "host/trace/json.hpp"
#include "tests/support/host_command_line.hpp"
#include "tests/support/memory_source.hpp"

#include <gmock/gmock.h>

namespace host::cli::account_test {

namespace {

using formats::dat::Manifest;
using support::Bytes;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Accounts : public support::CommandLine {
  protected:
    // As the collector leaves a session of one chunk of nine records; two more were overwritten, three dropped.
    static Manifest truth(const Bytes& image) {
        Manifest manifest;
        manifest.origin = "udp";
        manifest.complete = true;
        manifest.announced = tracer::ExportEnd{.chunks = 1,
                                               .result = tracer::RunResult::completed,
                                               .records = 9,
                                               .dropped = 3,
                                               .overwritten = 2,
                                               .committed = 10,
                                               .tracer_made = 1};
        manifest.transfer = formats::dat::ManifestTransfer{.packets = 2, .records = 9};
        formats::dat::ManifestChunk chunk;
        chunk.file = "0trace.dat";
        chunk.described = true;
        chunk.description = sample().description();
        chunk.bytes = image.size();
        chunk.crc32c = lib::crc32c(image);
        chunk.preamble = chunk.description.preamble_slots;
        chunk.records = 9;
        manifest.chunks.push_back(chunk);
        return manifest;
    }

    analyse::Account account(const Bytes& image, const Manifest& manifest) {
        write(image);
        EXPECT_TRUE(formats::dat::save_manifest(manifest, m_directory.path()).ok());
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto trace = formats::Trace::open(m_directory.path(), {}, diagnostics);
        EXPECT_TRUE(trace.ok());
        trace.value()->for_each([&](const trace::Event&) {});
        return analyse::account_of(*trace.value());
    }

    Bytes m_image = support::sealed(sample().bytes());
};

TEST_F(Accounts, CloseWhereEveryLineHolds) {
    const analyse::Account found = account(m_image, truth(m_image));
    EXPECT_THAT(found.faults, IsEmpty());
    EXPECT_TRUE(found.closes());
    ASSERT_EQ(found.processors.size(), 1U);
    EXPECT_EQ(found.processors[0].events, 9U);
    EXPECT_EQ(found.processors[0].sealed, 1U);
}

TEST_F(Accounts, NameEachLineThatDoesNotHold) {
    struct Fault {
        std::function<void(Manifest&)> make;
        std::string text;
    };

    const std::vector<Fault> faults{
        {[](Manifest& m) { m.announced->committed = 11; },
         "records committed, and not overwritten: the machine counts 12, here are 11"},
        {[](Manifest& m) { m.announced->tracer_made = 0; },
         "records committed, and not overwritten: the machine counts 10, here are 11"},
        {[](Manifest& m) { m.announced->records = 8; }, "records sent: the machine counts 8, here are 9"},
        {[](Manifest& m) { m.announced->chunks = 2; }, "chunks sent: the machine counts 2, here are 1"},
        {[](Manifest& m) { m.transfer->records = 10; }, "records: 10 were received, 9 are stored"},
        {[](Manifest& m) { m.transfer->lost = 4; }, "4 packets were lost"},
    };
    for (const Fault& fault : faults) {
        Manifest manifest = truth(m_image);
        fault.make(manifest);
        const analyse::Account found = account(m_image, manifest);
        EXPECT_THAT(found.faults, ElementsAre(fault.text));
        EXPECT_FALSE(found.closes());
    }
    const Manifest manifest = truth(m_image);
    m_image.back() ^= std::byte{1};
    EXPECT_THAT(account(m_image, manifest).faults, ElementsAre(HasSubstr("the checksum of")));
}

TEST_F(Accounts, StayOpenWhereSomethingIsNotKnown) {
    const Bytes unsealed = sample().bytes();
    analyse::Account found = account(unsealed, truth(unsealed));
    EXPECT_THAT(found.faults, IsEmpty());
    EXPECT_EQ(found.unknown, "a chunk of processor 0 has no checksum of the machine");
    Manifest manifest = truth(m_image);
    manifest.announced->committed = 0;
    EXPECT_EQ(account(m_image, manifest).unknown, "the machine did not say how many records it committed");
    manifest.announced.reset();
    EXPECT_EQ(account(m_image, manifest).unknown, "the machine's totals did not come with the trace");
    EXPECT_EQ(remora({"verify", m_directory.path()}), 6) << "not known is no violation";
    EXPECT_THAT(m_out, HasSubstr("the account stays open: the machine's totals"));
    EXPECT_THAT(m_out, HasSubstr("remedy: verify a session of `remora record`"));
    EXPECT_EQ(remora({"verify", m_directory.path(), "--json"}), 6);
    EXPECT_EQ(trace::Json::parse(m_out)["account"]["open"], "the machine's totals did not come with the trace");
}

// Two chunks of processor 1, then one of processor 0: the counters are those of the latest chunk, the rest adds up.
TEST_F(Accounts, AddUpProcessorByProcessor) {
    Bytes bytes;
    const auto add = [&bytes](std::uint16_t cpu, std::uint16_t chunk, std::uint32_t count, bool is_sealed) {
        support::ChunkBuilder builder(chunk);
        builder.begin.cpu = cpu;
        builder.begin.dropped = 10U * count;
        builder.begin.refused = 20U * count;
        builder.begin.overwritten = 30U * count;
        for (std::uint32_t i = 0; i < count; ++i) {
            builder.event(9000 + i, "ipoint", 1);
        }
        const Bytes more = is_sealed ? support::sealed(builder.bytes()) : builder.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    };
    add(1, 0, 3, true);
    add(1, 1, 2, true);
    add(0, 2, 4, false);
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto trace = formats::Trace::open(write(bytes), {}, diagnostics);
    ASSERT_TRUE(trace.ok());
    trace.value()->for_each([&](const trace::Event&) {});
    const analyse::Account found = analyse::account_of(*trace.value());
    std::vector<std::string> lines;
    for (const analyse::ProcessorAccount& of : found.processors) {
        lines.push_back(fmt::format("cpu {}: {} chunks, {} sealed, {} events, {} dropped, {} refused, {} overwritten",
                                    of.cpu, of.chunks, of.sealed, of.events, of.dropped, of.refused, of.overwritten));
    }
    EXPECT_THAT(lines, ElementsAre("cpu 0: 1 chunks, 0 sealed, 4 events, 40 dropped, 80 refused, 120 overwritten",
                                   "cpu 1: 2 chunks, 2 sealed, 5 events, 30 dropped, 60 refused, 150 overwritten"));
    EXPECT_EQ(found.stored, 9U);
    EXPECT_EQ(found.events, 9U);
    EXPECT_FALSE(found.received);
    EXPECT_TRUE(found.is_open());
    EXPECT_FALSE(found.closes());
}

TEST_F(Accounts, CountNoChunkAsSealedThatIsCutShort) {
    for (const std::size_t cut : {std::size_t{0}, std::size_t{16}, std::size_t{48}}) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        Bytes image = m_image;
        image.resize(image.size() - cut);
        const auto trace = formats::Trace::open(write(image), {}, diagnostics);
        ASSERT_TRUE(trace.ok());
        trace.value()->for_each([&](const trace::Event&) {});
        const analyse::Account found = analyse::account_of(*trace.value());
        ASSERT_EQ(found.processors.size(), 1U);
        EXPECT_EQ(found.processors[0].sealed, cut == 0 ? 1U : 0U) << cut;
    }
}

TEST_F(Accounts, KnowHowManyRecordsTheMachineKept) {
    tracer::ExportEnd totals{.overwritten = 4, .committed = 10, .tracer_made = 3};
    EXPECT_EQ(analyse::records_kept(totals), 9U);
    EXPECT_EQ(analyse::records_elsewhere(totals, 7), 2U);
    EXPECT_EQ(analyse::records_elsewhere(totals, 9), 0U);
    EXPECT_EQ(analyse::records_elsewhere(totals, 10), 0U) << "more than it kept";
    totals.overwritten = 14;
    EXPECT_EQ(analyse::records_kept(totals), 0U);
    totals.committed = 0;
    EXPECT_EQ(analyse::records_kept(totals), std::nullopt);
    EXPECT_EQ(analyse::records_elsewhere(totals, 7), 0U);
}

TEST_F(Accounts, AreOpenIfOneProcessorIs) {
    Manifest manifest = truth(m_image);
    support::ChunkBuilder second(1);
    second.begin.cpu = 1;
    second.event(9000, "ipoint", 1);
    manifest.announced->chunks = 2;
    manifest.announced->committed = 11;
    manifest.announced->records = manifest.transfer->records = 10;
    formats::dat::ManifestChunk chunk = manifest.chunks[0];
    chunk.file = "1trace.dat";
    chunk.description = second.description();
    chunk.preamble = chunk.description.preamble_slots;
    chunk.records = 1;
    manifest.chunks.push_back(chunk);
    for (const bool is_sealed : {true, false}) {
        const Bytes bytes = is_sealed ? support::sealed(second.bytes()) : second.bytes();
        m_directory.write("1trace.dat", bytes);
        manifest.chunks[1].bytes = bytes.size();
        manifest.chunks[1].crc32c = lib::crc32c(bytes);
        const analyse::Account found = account(m_image, manifest);
        ASSERT_EQ(found.processors.size(), 2U);
        EXPECT_EQ(found.closes(), is_sealed);
        EXPECT_EQ(remora({"verify", m_directory.path()}), is_sealed ? 0 : 6) << m_out << m_err;
        EXPECT_EQ(m_out.find("open: a chunk of processor 1 has no checksum") != std::string::npos, !is_sealed);
    }
}

// Whatever the numbers are: what is wrong is said before what is not known.
TEST_F(Accounts, ThatAreOpenGiveWayToAnyFault) {
    EXPECT_EQ(remora({"verify", write(sample().bytes())}), 6);
    EXPECT_EQ(remora({"verify", write(sample().bytes()), "--capture", m_directory / "absent.pcap"}), 1);
    EXPECT_EQ(remora({"verify", write(support::ChunkBuilder().bytes())}), 3) << m_out << m_err;
    Bytes cut = sample().bytes();
    cut.resize(cut.size() - 32);
    EXPECT_EQ(remora({"verify", write(cut), "--json"}), 2);
    EXPECT_TRUE(trace::Json::parse(m_out)["account"]["open"].is_null());
    EXPECT_EQ(worse(trace::ExitStatus::clean, kAccountOpen), kAccountOpen);
    EXPECT_EQ(worse(kAccountOpen, trace::ExitStatus::usage), trace::ExitStatus::usage);
    EXPECT_EQ(worse(trace::ExitStatus::damaged, trace::ExitStatus::nothing), trace::ExitStatus::nothing);
}

TEST_F(Accounts, CompareTheChunksOfACapture) {
    const auto facts_of = [](const Bytes& bytes) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        auto reading =
            formats::Trace::open({.name = "x", .bytes = support::source_of(bytes), .keep_open = true}, {}, diagnostics);
        EXPECT_TRUE(reading.ok());
        reading.value()->for_each([&](const trace::Event&) {});
        return reading.value()->facts();
    };
    support::ChunkBuilder other = sample();
    other.event(7000, "ipoint", 1);
    const Bytes changed = support::sealed(other.bytes());
    support::ChunkBuilder generation = sample();
    generation.begin.generation = 5;
    const Bytes later = support::sealed(generation.bytes());
    Bytes damaged = m_image;
    damaged.back() ^= std::byte{1};
    Bytes both = m_image;
    both.insert(both.end(), later.begin(), later.end());
    const auto compared = [&](const Bytes& trace, const Bytes& capture, std::uint64_t damages = 0) {
        analyse::Account result;
        analyse::compare_capture(result, facts_of(trace), facts_of(capture), damages);
        return result;
    };
    EXPECT_THAT(compared(m_image, m_image).faults, IsEmpty());
    EXPECT_EQ(compared(m_image, m_image).captured_chunks, 1U);
    EXPECT_THAT(compared(m_image, m_image, 2).faults, ElementsAre("the capture is damaged in 2 places"));
    EXPECT_THAT(compared(m_image, m_image, 1).faults, ElementsAre("the capture is damaged in 1 place"));
    EXPECT_EQ(compared(both, both).captured_chunks, 2U);
    EXPECT_EQ(compared(m_image, both).captured_chunks, 1U);
    EXPECT_EQ(compared(m_image, changed).captured_chunks, 0U);
    EXPECT_THAT(compared(m_image, changed).faults,
                testing::Contains("chunk 0 of processor 0, generation 0 is another in the capture"));
    EXPECT_THAT(compared(m_image, both).faults,
                ElementsAre("the capture holds chunk 0 of processor 0, generation 5, and the trace does not"));
    EXPECT_THAT(compared(both, m_image).faults, ElementsAre("1 chunks of the trace are not in the capture"));
    EXPECT_THAT(compared(m_image, damaged).faults, testing::Contains(HasSubstr("does not hold chunk 0")));
}

} // namespace

} // namespace host::cli::account_test
