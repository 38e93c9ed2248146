// SPDX-License-Identifier: MIT
// Tests packed sessions: every byte comes back, and no damage ever shows an event that was not logged.
#include "host/formats/dat/manifest.hpp"
#include "host/formats/input_kind.hpp"
#include "host/formats/packed/archive.hpp"
#include "host/formats/packed/column_codec.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/value_text.hpp"

#include "tests/support/packed_archives.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <tuple>
#include <vector>

namespace {

using namespace host::trace;
using namespace host::formats::packed;
using namespace support;

struct Unpacked {
    Bytes bytes;
    std::map<std::string, int> codes; // what was reported
};

Unpacked unpack(std::span<const std::byte> archive, const OpenOptions& options = {}) {
    Unpacked result;
    Diagnostics diagnostics([&result](std::string_view line) { // "x:0x40 E-BLOCK ..."
        const std::size_t code = line.find(' ') + 1;
        ++result.codes[std::string(line.substr(code, line.find(' ', code) - code))];
    });
    const auto reader = ArchiveReader::open({.name = "x", .bytes = source_of(archive)}, options, diagnostics);
    if (reader.ok()) {
        EXPECT_TRUE(reader.value()
                        ->extract([&](std::size_t, std::span<const std::byte> bytes) -> lib::Result<void> {
                            result.bytes.insert(result.bytes.end(), bytes.begin(), bytes.end());
                            return {};
                        })
                        .ok());
    }
    return result;
}

using Shown = std::tuple<std::uint64_t, std::uint16_t, std::uint16_t, std::uint16_t, std::uint32_t>;

// The sound events that a reader shows.
std::set<Shown> events_of(std::span<const std::byte> archive) {
    std::set<Shown> events;
    Diagnostics diagnostics([](std::string_view) {});
    const auto trace = host::formats::Trace::open({.name = "x", .bytes = source_of(archive)},
                                                  {.kind = InputKind::packed}, diagnostics);
    if (!trace) {
        return events;
    }
    trace.value()->for_each([&](const Event& event) {
        if (!event.metadata && event.is_sound()) {
            events.emplace(event.ticks.value, event.cpu, event.raw_code, event.par1, event.par2);
        }
    });
    return events;
}

Bytes archive_of(std::span<const FileToPack> files) {
    Bytes archive;
    ArchiveWriter writer(
        [&](std::span<const std::byte> bytes) { archive.insert(archive.end(), bytes.begin(), bytes.end()); },
        [](std::uint64_t) {});
    EXPECT_TRUE(writer.write(files).ok());
    return archive;
}

TEST(Packed, EveryMagnitudeOfADistanceSurvives) {
    for (std::uint64_t delta = 0; delta <= 0xFFFF'FFFF; delta = delta * 3 / 2 + 1) {
        const CodedDelta coded = code_delta(delta);
        ASSERT_TRUE(is_delta_symbol(coded.symbol));
        ASSERT_EQ(bits_after(coded.symbol), coded.bits);
        ASSERT_EQ(base_of(coded.symbol) + coded.rest, delta);
    }
}

TEST(Packed, TheProcessorsInstructionComputesTheSameChecksum) {
    std::mt19937_64 random(5);
    Bytes bytes(1000);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
    for (std::size_t size = 0; size < 40; ++size) {
        EXPECT_EQ(checksum(std::span(bytes).first(size)), lib::crc32c(std::span(bytes).first(size)));
    }
}

TEST(Packed, ATraceComesBackByteForByte) {
    const Bytes raw = two_chunks();
    const Unpacked again = unpack(pack(raw));
    EXPECT_EQ(again.bytes, raw);
    EXPECT_TRUE(again.codes.empty());
}

TEST(Packed, AnyBytesComeBackWhateverTheyAre) {
    std::mt19937_64 random(7);
    const auto comes_back = [&](std::size_t size, bool is_random, bool records) {
        Bytes raw(size);
        if (is_random) {
            std::ranges::generate(raw, [&] { return static_cast<std::byte>(random()); });
        }
        EXPECT_EQ(unpack(pack(raw, records)).bytes, raw) << size << ", " << is_random << ", " << records;
    };
    for (const std::size_t size : {1U, 15U, 16U, 17U, 4096U}) {
        comes_back(size, true, true);
        comes_back(size, true, false);
        comes_back(size, false, true);
    }
    comes_back(kRawBytesMax, true, false);
    comes_back(kRawBytesMax, false, true);
    comes_back(kRawBytesMax + 16, true, false);
    comes_back(2 * kRawBytesMax + 5, false, true);
}

TEST(Packed, ReadAsATraceItShowsTheSameEvents) {
    const Bytes raw = two_chunks();
    Diagnostics diagnostics([](std::string_view) {});
    const auto trace =
        host::formats::Trace::open({.name = "x", .bytes = source_of(raw), .keep_open = true}, {}, diagnostics);
    std::set<Shown> events;
    trace.value()->for_each([&](const Event& event) {
        if (!event.metadata) {
            events.emplace(event.ticks.value, event.cpu, event.raw_code, event.par1, event.par2);
        }
    });
    EXPECT_EQ(events.size(), 21U);
    EXPECT_EQ(events_of(pack(raw)), events);
    EXPECT_FALSE(diagnostics.damaged());
}

// However many files it has: no more are open than before.
TEST(Packed, ManyFilesAreReadThroughOne) {
    constexpr rlim_t kDescriptors = 64;
    constexpr std::size_t kFiles = 200;
    std::vector<FileToPack> files;
    for (std::size_t i = 0; i < kFiles; ++i) {
        ChunkBuilder chunk(static_cast<std::uint16_t>(i));
        chunk.event(1000 * (i + 1), "ipoint", static_cast<std::uint16_t>(i));
        files.push_back({.name = fmt::format("{}trace.dat", i), .bytes = source_of(chunk.bytes()), .records = true});
    }
    Bytes archive;
    ArchiveWriter writer(
        [&archive](std::span<const std::byte> bytes) { archive.insert(archive.end(), bytes.begin(), bytes.end()); },
        [](std::uint64_t) {});
    ASSERT_TRUE(writer.write(files).ok());
    files.clear();
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit few{kDescriptors, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto events = events_of(archive);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(events.size(), kFiles);
}

TEST(Packed, IsKnownByItsFirstBytes) {
    EXPECT_EQ(host::formats::kind_of(pack(two_chunks())), InputKind::packed);
}

TEST(Packed, ABlockThatIsThereTwiceCountsOnce) {
    const Bytes raw = two_chunks();
    Bytes archive = pack(raw);
    const std::size_t begin = block_at(archive, 1);
    const Bytes copy(archive.begin() + static_cast<std::ptrdiff_t>(begin),
                     archive.begin() + static_cast<std::ptrdiff_t>(block_at(archive, 2)));
    archive.insert(archive.begin() + static_cast<std::ptrdiff_t>(begin), copy.begin(), copy.end());
    const Unpacked again = unpack(archive);
    EXPECT_EQ(again.bytes, raw);
    EXPECT_EQ(again.codes, (std::map<std::string, int>{{"W-DUP", 1}}));
}

TEST(Packed, AfterADamagedHeaderTheNextBlockIsFound) {
    const Bytes raw = two_chunks();
    Bytes archive = pack(raw);
    archive[block_at(archive, 1)] = std::byte{'X'};
    const Bytes second = busy_chunk(9, 1, 1);
    EXPECT_EQ(unpack(archive).bytes, second);
    EXPECT_TRUE(unpack(archive, {.strict = true}).bytes.empty());
}

TEST(Packed, ALaterBlockOfAChunkIsWorthNothingWithoutTheFirst) {
    const Bytes raw = busy_chunk(2 * kRawBytesMax / tracer::kRecordBytes);
    Bytes archive = pack(raw);
    archive[block_at(archive, 1) + kHeaderBytes + 100] ^= std::byte{1};
    EXPECT_TRUE(unpack(archive).bytes.empty());
    EXPECT_EQ(unpack(archive).codes, (std::map<std::string, int>{{"W-BCRC", 1}, {"W-GAP", 2}}));
    archive = pack(raw);
    archive[block_at(archive, 2) + kHeaderBytes + 100] ^= std::byte{1};
    EXPECT_EQ(unpack(archive).bytes.size(), raw.size() - kRawBytesMax);
    EXPECT_EQ(unpack(archive).codes, (std::map<std::string, int>{{"W-BCRC", 1}}));
}

TEST(Packed, NamesThatLeadElsewhereAreReplaced) {
    for (const std::string_view name : {"../x", "/etc/x", "..", ""}) {
        Bytes out;
        ArchiveWriter writer(
            [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); },
            [](std::uint64_t) {});
        const FileToPack file{.name = std::string(name), .bytes = source_of(busy_chunk(3)), .records = true};
        ASSERT_TRUE(writer.write(std::span(&file, 1)).ok());
        Diagnostics diagnostics([](std::string_view) {});
        const auto reader = ArchiveReader::open({.name = "x", .bytes = source_of(out)}, {}, diagnostics);
        ASSERT_TRUE(reader.ok());
        EXPECT_EQ(reader.value()->files().at(0).name, "file-0");
        EXPECT_EQ(diagnostics.count("E-NAME"), 1U);
    }
}

// A packed session has formats.json, whose texts belong to the image that ran.
TEST(Packed, ShowsTheTextsOfTheSessionsCopyOfTheImage) {
    const auto text_of = [](std::uint64_t image, std::string_view formats) {
        ChunkBuilder chunk;
        chunk.build("control", 7, image);
        std::string payload("\0\0\x68\0\0\0", 6);
        payload += static_cast<char>(tracer::FieldType::text) + std::string("\4fast");
        payload.front() = static_cast<char>(payload.size());
        for (const tracer::Record& record :
             combined(kCodeOf<"formatted_event">, std::as_bytes(std::span(payload)), {5'000})) {
            chunk.raw(record);
        }
        const std::array<FileToPack, 2> files = {
            FileToPack{.name = "0trace.dat", .bytes = source_of(chunk.bytes()), .records = true},
            FileToPack{.name = std::string(kFormatsName), .bytes = source_of(std::as_bytes(std::span(formats)))}};
        const Bytes archive = archive_of(files);
        Diagnostics diagnostics([](std::string_view) {});
        const auto trace = host::formats::Trace::open({.name = "x", .bytes = source_of(archive)},
                                                      {.find_kernel = false, .kind = InputKind::packed}, diagnostics);
        std::string text = "no event";
        trace.value()->for_each([&](const Event& event) {
            if (event.is(kCodeOf<"formatted_event">)) {
                text = rendered(event, view_formatted(event).value()).value_or("no text");
            }
        });
        return text;
    };
    constexpr std::string_view kFormats = R"json({"format": "remora-formats", "version": 1, "image": "9",
                                                "formats": [{"id": 104, "text": "speed %s"}]})json";
    EXPECT_EQ(text_of(9, kFormats), "speed fast");
    EXPECT_EQ(text_of(8, kFormats), "no text");
    EXPECT_EQ(text_of(9, "damaged"), "no text");
}

// A number that was never used is no loss, if the totals say that there is no further chunk.
TEST(Packed, KnowsFromTheManifestWhetherEachChunkIsThere) {
    const auto holes = [](std::uint32_t announced) {
        const TemporaryDirectory directory;
        host::formats::dat::Manifest manifest{.origin = "files", .complete = true};
        manifest.announced = tracer::ExportEnd{.chunks = announced, .records = 2};
        std::vector<FileToPack> files;
        for (const std::uint16_t number : {std::uint16_t{0}, std::uint16_t{2}}) {
            const std::string name = fmt::format("{}trace.dat", number);
            ChunkBuilder chunk(number);
            const Bytes bytes = chunk.event(1000 + number, "ipoint").bytes();
            manifest.chunks.push_back(
                {.file = name, .bytes = bytes.size(), .records = 1, .crc32c = lib::crc32c(bytes)});
            files.push_back({.name = name, .bytes = source_of(bytes), .records = true});
        }
        EXPECT_TRUE(host::formats::dat::save_manifest(manifest, directory.path()).ok());
        const std::string name(host::formats::dat::kManifestName);
        files.push_back({.name = name, .bytes = ByteSource::open_file(directory / name).value()});
        const Bytes archive = archive_of(files);
        Diagnostics diagnostics([](std::string_view) {});
        const auto trace = host::formats::Trace::open({.name = "x", .bytes = source_of(archive)},
                                                      {.kind = InputKind::packed}, diagnostics);
        int count = 0;
        trace.value()->for_each([&](const Event& event) { count += event.after_hole ? 1 : 0; });
        return count;
    };
    EXPECT_EQ(holes(2), 0);
    EXPECT_EQ(holes(3), 1);
}

} // namespace
