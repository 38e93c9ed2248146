// SPDX-License-Identifier: MIT
// Packed sessions: every byte comes back, and no damage ever shows an event that was not logged.
#include "host/trace/input_kind.hpp"
#include "host/trace/packed/archive_reader.hpp"
#include "host/trace/packed/archive_writer.hpp"
#include "host/trace/packed/checksum.hpp"
#include "host/trace/packed/delta.hpp"
#include "host/trace/trace.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace host::trace;
using namespace host::trace::packed;
using support::Bytes;

std::shared_ptr<ByteSource> source_of(std::span<const std::byte> bytes) {
    auto spool = Spool::create();
    EXPECT_TRUE(spool.ok() && spool.value().append(bytes).ok());
    return spool.value().take();
}

Bytes pack(std::span<const std::byte> raw, bool records = true) {
    Bytes out;
    ArchiveWriter writer([&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); },
                         [](std::uint64_t) {});
    const FileToPack file{.name = "0trace.dat", .bytes = source_of(raw), .records = records};
    std::string where;
    EXPECT_TRUE(writer.write(std::span(&file, 1), where).ok()) << where;
    return out;
}

struct Unpacked {
    Bytes bytes;
    std::map<std::string, int> codes; // what was reported
};

Unpacked unpack(std::span<const std::byte> archive, const OpenOptions& options = {}) {
    Unpacked result;
    Diagnostics diagnostics([](std::string_view) {});
    const auto reader = ArchiveReader::open({.name = "x", .bytes = source_of(archive)}, options, diagnostics);
    if (reader.ok()) {
        EXPECT_TRUE(reader.value()
                        ->extract([&](std::size_t, std::span<const std::byte> bytes) -> lib::Result<void> {
                            result.bytes.insert(result.bytes.end(), bytes.begin(), bytes.end());
                            return {};
                        })
                        .ok());
    }
    for (const CodeRow& row : kCodes) {
        if (diagnostics.count(row.code) != 0) {
            result.codes[std::string(row.text)] = static_cast<int>(diagnostics.count(row.code));
        }
    }
    return result;
}

using Shown = std::tuple<std::uint64_t, std::uint16_t, std::uint16_t, std::uint16_t, std::uint32_t>;

// The sound events that a reader shows.
std::set<Shown> events_of(std::span<const std::byte> archive) {
    std::set<Shown> events;
    Diagnostics diagnostics([](std::string_view) {});
    const auto trace =
        Trace::open({.name = "x", .bytes = source_of(archive)}, {.kind = InputKind::packed}, diagnostics);
    Event event;
    while (trace.ok() && trace.value()->next(event)) {
        if (!event.metadata && event.is_sound()) {
            events.emplace(event.ticks.value, event.cpu, event.raw_code, event.par1, event.par2);
        }
    }
    return events;
}

Bytes chunk(std::size_t events, std::uint16_t number = 0, std::uint16_t cpu = 0) {
    support::ChunkBuilder builder(number);
    builder.begin.cpu = cpu;
    builder.name("task", 12, "sensor");
    for (std::size_t i = 0; i < events; ++i) {
        builder.event(1000 + 700 * i + i * i % 97, i % 3 == 0 ? "task_dispatch" : "task_timer",
                      static_cast<std::uint16_t>(12 + i % 4), static_cast<std::uint32_t>(i % 2));
    }
    return builder.bytes();
}

// Two chunks in one file: two segments, four blocks.
Bytes golden_raw() {
    Bytes raw = chunk(12);
    const Bytes more = chunk(9, 1, 1);
    raw.insert(raw.end(), more.begin(), more.end());
    return raw;
}

void set32(Bytes& bytes, std::size_t at, std::uint32_t value) {
    lib::store_le(std::span(bytes).subspan(at), value);
}

// Where the n-th block starts.
std::size_t block_at(const Bytes& archive, std::size_t n) {
    std::size_t at = 0;
    for (; n != 0; --n) {
        at += kHeaderBytes + lib::load_le<std::uint32_t>(std::span(archive).subspan(at + 36));
    }
    return at;
}

void renew_header_checksum(Bytes& archive, std::size_t at) {
    set32(archive, at + 60, lib::crc32c(std::span(archive).subspan(at, 60)));
}

// The archive with one header changed, whose checksum is right.
Bytes with_header(std::size_t block, std::size_t at, std::uint32_t value, std::size_t size) {
    Bytes archive = pack(golden_raw());
    const std::size_t begin = block_at(archive, block);
    for (std::size_t i = 0; i < size; ++i) {
        archive[begin + at + i] = static_cast<std::byte>(value >> (8 * i));
    }
    renew_header_checksum(archive, begin);
    return archive;
}

TEST(Packed, EveryMagnitudeOfADistanceSurvives) {
    for (std::uint64_t delta = 0; delta <= 0xFFFF'FFFF; delta = delta * 3 / 2 + 1) {
        const CodedDelta coded = code_delta(delta);
        ASSERT_TRUE(is_delta_symbol(coded.symbol));
        ASSERT_EQ(bits_behind(coded.symbol), coded.bits);
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
    const Bytes raw = golden_raw();
    const Unpacked again = unpack(pack(raw));
    EXPECT_EQ(again.bytes, raw);
    EXPECT_TRUE(again.codes.empty());
}

TEST(Packed, AnyBytesComeBackWhateverTheyAre) {
    std::mt19937_64 random(7);
    for (const std::size_t size : {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17}, std::size_t{4096},
                                   kRawBytesMax, kRawBytesMax + 16, 2 * kRawBytesMax + 5}) {
        Bytes raw(size);
        std::ranges::generate(raw, [&] { return static_cast<std::byte>(random()); });
        EXPECT_EQ(unpack(pack(raw)).bytes, raw) << size;
        EXPECT_EQ(unpack(pack(raw, false)).bytes, raw) << size;
        std::ranges::fill(raw, std::byte{0});
        EXPECT_EQ(unpack(pack(raw)).bytes, raw) << size;
    }
}

TEST(Packed, ReadAsATraceItShowsTheSameEvents) {
    const Bytes raw = golden_raw();
    Diagnostics diagnostics([](std::string_view) {});
    const auto trace = Trace::open({.name = "x", .bytes = source_of(raw), .keep_open = true}, {}, diagnostics);
    std::set<Shown> events;
    Event event;
    while (trace.value()->next(event)) {
        if (!event.metadata) {
            events.emplace(event.ticks.value, event.cpu, event.raw_code, event.par1, event.par2);
        }
    }
    EXPECT_EQ(events.size(), 21U);
    EXPECT_EQ(events_of(pack(raw)), events);
    EXPECT_FALSE(diagnostics.damaged());
}

TEST(Packed, IsKnownByItsFirstBytes) {
    EXPECT_EQ(kind_of(pack(golden_raw()), std::nullopt), InputKind::packed);
}

TEST(Packed, EveryTruncationIsToldAndShowsOnlyWhatWasLogged) {
    const Bytes archive = pack(golden_raw());
    const std::set<Shown> all = events_of(archive);
    for (std::size_t size = 0; size < archive.size(); ++size) {
        const auto cut = std::span(archive).first(size);
        ASSERT_EQ(unpack(cut).codes.count("E-TRUNC"), 1U) << size;
        ASSERT_TRUE(std::ranges::includes(all, events_of(cut))) << size;
    }
}

TEST(Packed, EveryFlippedBitIsToldAndShowsOnlyWhatWasLogged) {
    const Bytes archive = pack(golden_raw());
    const std::set<Shown> all = events_of(archive);
    for (std::size_t bit = 0; bit < 8 * archive.size(); ++bit) {
        Bytes flipped = archive;
        flipped[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        ASSERT_FALSE(unpack(flipped).codes.empty()) << bit;
        ASSERT_TRUE(std::ranges::includes(all, events_of(flipped))) << bit;
    }
}

TEST(Packed, DamageIsToldByItsCode) {
    const auto codes = [](const Bytes& archive) { return unpack(archive).codes; };
    EXPECT_EQ(codes(with_header(1, 0, 0x58, 1)).count("E-MAGIC"), 1U);
    EXPECT_EQ(codes(with_header(1, 8, 2, 2)).count("E-VERSION"), 1U);
    EXPECT_EQ(codes(with_header(1, 10, 1, 2)).count("W-MINOR"), 1U);
    EXPECT_EQ(codes(with_header(1, 12, 9, 1)).count("E-METHOD"), 1U);
    EXPECT_EQ(codes(with_header(1, 13, 3, 1)).count("E-METHOD"), 1U);
    EXPECT_EQ(codes(with_header(1, 16, 0xFFFE, 2)).count("E-CPU"), 1U);
    EXPECT_EQ(codes(with_header(1, 32, 0, 4)).count("E-RAWSIZE"), 1U);
    EXPECT_EQ(codes(with_header(1, 32, kRawBytesMax + 16, 4)).count("E-RAWSIZE"), 1U);
    EXPECT_EQ(codes(with_header(1, 32, 0xFFFF'FFF0, 4)).count("E-RAWSIZE"), 1U);
    EXPECT_EQ(codes(with_header(1, 32, 16, 4)).count("E-BOMB"), 1U);
    EXPECT_EQ(codes(with_header(1, 32, 64 * 1024, 4)).count("E-COMP"), 1U);
    EXPECT_EQ(codes(with_header(1, 48, 1, 4)).count("W-BCRC"), 1U);
    EXPECT_EQ(codes(with_header(1, 40, 2, 4)).count("E-CONFLICT"), 1U);
    EXPECT_EQ(codes(with_header(1, 40, 50, 4)).count("W-ORDER"), 1U);
    EXPECT_EQ(codes(with_header(1, 40, 50, 4)).count("W-GAP"), 1U);
    Bytes wrong = pack(golden_raw());
    wrong[block_at(wrong, 1) + 30] ^= std::byte{1};
    EXPECT_EQ(codes(wrong).count("E-HCRC"), 1U);
    wrong = pack(golden_raw());
    wrong[block_at(wrong, 1) + kHeaderBytes + 30] ^= std::byte{1};
    EXPECT_EQ(codes(wrong).count("W-BCRC"), 1U);
    wrong = pack(golden_raw());
    wrong.resize(wrong.size() + 3);
    EXPECT_EQ(codes(wrong).count("W-TRAIL"), 1U);
}

TEST(Packed, ABlockThatStandsTwiceCountsOnce) {
    const Bytes raw = golden_raw();
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
    const Bytes raw = golden_raw();
    Bytes archive = pack(raw);
    archive[block_at(archive, 1)] = std::byte{'X'};
    const Bytes second = chunk(9, 1, 1);
    EXPECT_EQ(unpack(archive).bytes, second);
    EXPECT_TRUE(unpack(archive, {.strict = true}).bytes.empty());
}

TEST(Packed, ALaterBlockOfAChunkIsWorthNothingWithoutTheFirst) {
    const Bytes raw = chunk(2 * kRawBytesMax / tracer::kRecordBytes);
    Bytes archive = pack(raw);
    archive[block_at(archive, 1) + kHeaderBytes + 100] ^= std::byte{1};
    EXPECT_TRUE(unpack(archive).bytes.empty());
    archive = pack(raw);
    archive[block_at(archive, 2) + kHeaderBytes + 100] ^= std::byte{1};
    EXPECT_EQ(unpack(archive).bytes.size(), raw.size() - kRawBytesMax);
}

TEST(Packed, NamesThatLeadElsewhereAreReplaced) {
    for (const std::string_view name : {"../x", "/etc/x", "..", ""}) {
        Bytes out;
        ArchiveWriter writer(
            [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); },
            [](std::uint64_t) {});
        const FileToPack file{.name = std::string(name), .bytes = source_of(chunk(3)), .records = true};
        std::string where;
        ASSERT_TRUE(writer.write(std::span(&file, 1), where).ok());
        Diagnostics diagnostics([](std::string_view) {});
        const auto reader = ArchiveReader::open({.name = "x", .bytes = source_of(out)}, {}, diagnostics);
        ASSERT_TRUE(reader.ok());
        EXPECT_EQ(reader.value()->files().at(0).name, "file-0");
        EXPECT_EQ(diagnostics.count(Code::manifest_name), 1U);
    }
}

} // namespace
