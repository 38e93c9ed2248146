// SPDX-License-Identifier: MIT
// Tests what kind of input a file is by its first bytes: each mark whole and with one byte of it changed, and the
// reason for which a file of another tool is refused.
#include "host/formats/input_kind.hpp"

#include "tests/support/memory_image.hpp"
#include "tests/support/memory_source.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/tlog_files.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include <string_view>

namespace host::formats::input_kind_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using trace::InputKind;

// These characters, cut or filled up to a size.
Bytes text(std::string_view characters, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < std::min(size, characters.size()); ++i) {
        bytes[i] = static_cast<std::byte>(characters[i]);
    }
    return bytes;
}

Bytes boot_sector(std::initializer_list<unsigned> jump) {
    Bytes bytes(512);
    for (std::size_t i = 0; const unsigned value : jump) {
        bytes[i++] = static_cast<std::byte>(value);
    }
    bytes[510] = std::byte{0x55};
    bytes[511] = std::byte{0xAA};
    return bytes;
}

// A partition table with one row: this type, from this sector on, of so many.
Bytes partitions(std::size_t row, unsigned type, std::uint32_t begin, std::uint32_t sectors, unsigned active = 0) {
    Bytes bytes = boot_sector({});
    const auto entry = std::span(bytes).subspan(446 + 16 * row, 16);
    entry[0] = static_cast<std::byte>(active);
    entry[4] = static_cast<std::byte>(type);
    lib::store_le(entry.subspan(8), begin);
    lib::store_le(entry.subspan(12), sectors);
    return bytes;
}

TEST(InputKind, IsThatOfItsMark) {
    EXPECT_EQ(kind_of(text("TRACE_HEADER_BEGIN::", 20)), InputKind::kev);
    EXPECT_EQ(kind_of(text("TRACE_HEADER_BEGIN:", 19)), InputKind::records);
    for (const std::string_view magic :
         {"\xA1\xB2\xC3\xD4", "\xD4\xC3\xB2\xA1", "\xA1\xB2\x3C\x4D", "\x4D\x3C\xB2\xA1", "\x0A\x0D\x0D\x0A"}) {
        EXPECT_EQ(kind_of(text(magic, 4)), InputKind::capture);
        EXPECT_NE(kind_of(text(magic, 3)), InputKind::capture);
    }
    EXPECT_EQ(kind_of(support::TlogFile().small_process(0, 0).bytes()), InputKind::tlog);
    EXPECT_EQ(kind_of(support::TlogFile().openmp(0, 2, 0.1).openmp(0, 1, 99).pad().bytes()), InputKind::tlog_old);
    EXPECT_EQ(kind_of(Bytes()), InputKind::records);
}

TEST(InputKind, IsAVolumeIfABootSectorOrAPartitionTableBegins) {
    EXPECT_EQ(kind_of(boot_sector({0xE9})), InputKind::fat);
    EXPECT_EQ(kind_of(boot_sector({0xEB, 0x3C, 0x90})), InputKind::fat);
    EXPECT_EQ(kind_of(boot_sector({0xEB, 0x90, 0x3C})), InputKind::records);
    EXPECT_EQ(kind_of(boot_sector({0xEA})), InputKind::records);
    for (const std::size_t at : {510U, 511U}) {
        Bytes bytes = boot_sector({0xE9});
        bytes[at] = std::byte{0};
        EXPECT_EQ(kind_of(bytes), InputKind::records) << at;
        bytes = partitions(0, 0x0C, 63, 1);
        bytes[at] = std::byte{0};
        EXPECT_EQ(kind_of(bytes), InputKind::records) << at;
    }
    Bytes cut = boot_sector({0xE9});
    cut.pop_back();
    EXPECT_EQ(kind_of(cut), InputKind::records);
    for (const std::size_t row : {0U, 1U, 2U, 3U}) {
        for (const unsigned type : {0x01U, 0x04U, 0x06U, 0x0BU, 0x0CU, 0x0EU}) {
            EXPECT_EQ(kind_of(partitions(row, type, 1, 1)), InputKind::fat) << row << ' ' << type;
            EXPECT_EQ(kind_of(partitions(row, type, 1, 1, 0x80)), InputKind::fat) << row << ' ' << type;
        }
    }
    EXPECT_EQ(kind_of(partitions(0, 0x83, 63, 1)), InputKind::records) << "of another file system";
    EXPECT_EQ(kind_of(partitions(0, 0x0C, 0, 1)), InputKind::records) << "at the table itself";
    EXPECT_EQ(kind_of(partitions(0, 0x0C, 63, 0)), InputKind::records) << "of no sector";
    EXPECT_EQ(kind_of(partitions(0, 0x0C, 63, 1, 1)), InputKind::records) << "neither active nor not";
}

TEST(InputKind, OfAnotherToolIsNamed) {
    EXPECT_EQ(why_unknown(text("\x17\x08\x44tracing6", 64)), "a file of trace-cmd: trace-cmd report prints it");
    EXPECT_EQ(why_unknown(text("PERFILE2", 64)), "a file of perf: perf script prints it");
    EXPECT_EQ(why_unknown(text("# tracer: nop", 64)), "text of Linux's ftrace");
    EXPECT_EQ(why_unknown(text("SQLite format 3", 64)), "an SQLite database: the sqlite3 program reads it");
    EXPECT_EQ(why_unknown(text("\xC1\x1F\xFC\xC1", 64)), "a stream of CTF: babeltrace2 reads the directory");
    EXPECT_EQ(why_unknown(text("\x7F"
                               "ELF",
                               64)),
              "a program or library");
    EXPECT_EQ(why_unknown(text("\x1F\x8B", 64)), "compressed by gzip: unpack it first");
    EXPECT_EQ(why_unknown(text("\x28\xB5\x2F\xFD", 64)), "compressed by zstd: unpack it first");
    EXPECT_EQ(why_unknown(text("\xFD"
                               "7zXZ",
                               64)),
              "compressed by xz: unpack it first");
    EXPECT_EQ(why_unknown(text("PK\x03\x04", 64)), "a zip archive: unpack it first");
    EXPECT_EQ(why_unknown(text("PERFILE", 7)), "") << "not a whole record";
}

// One code after the other; their other bytes look like no record, wherever it would begin.
Bytes records(std::initializer_list<std::uint16_t> codes, std::size_t shift = 0) {
    Bytes bytes(shift);
    for (const std::uint16_t code : codes) {
        support::append_record(bytes, tracer::make_record(code, 0xFCFC, 0xFCFC'FCFC, {0xFCFC'FCFC'FCFC'FCFC}));
    }
    return bytes;
}

TEST(InputKind, MayBeRecordsIfHalfOfThemHaveCodesOfEvents) {
    constexpr std::uint16_t kKnown = 0x15;
    constexpr std::uint16_t kUnknown = 0xFC;
    constexpr std::string_view kWhy = "most of its records have codes of no event";
    EXPECT_EQ(why_unknown(records({kKnown})), "");
    EXPECT_EQ(why_unknown(records({kUnknown})), kWhy);
    EXPECT_EQ(why_unknown(records({kKnown, kUnknown})), "");
    EXPECT_EQ(why_unknown(records({kKnown, kUnknown, kUnknown})), kWhy);
    EXPECT_EQ(why_unknown(records({0, 0xFFFF, 0})), "") << "unused or erased";
    EXPECT_EQ(why_unknown(records({kKnown, 0, 0xFFFF, kUnknown, kUnknown})), kWhy) << "which say nothing";
    EXPECT_EQ(why_unknown(records({0x4015})), kWhy) << "reserved bits";
    EXPECT_EQ(why_unknown(records({0x1015})), kWhy) << "one of several slots, which this event never has";
    EXPECT_EQ(why_unknown(records({0x101C})), "") << "the first slot of a name";
    EXPECT_EQ(why_unknown(records({0x8015})), "") << "logged past the filters";
}

TEST(InputKind, MayBeRecordsIfOneIsOfAHeader) {
    constexpr std::uint16_t kUnknown = 0xFC;
    for (const std::uint16_t code : std::to_array<std::uint16_t>({0x100C, 0x200C, 0x300C, 0x0C10})) {
        EXPECT_EQ(why_unknown(records({kUnknown, kUnknown, kUnknown, code})), "") << code;
    }
    EXPECT_NE(why_unknown(records({kUnknown, kUnknown, kUnknown, 0x0C20})), "");
}

// Three sound records, wherever they begin.
TEST(InputKind, MayBeRecordsAfterBytesThatWereAdded) {
    constexpr std::uint16_t kKnown = 0x15;
    for (std::size_t shift = 1; shift < 16; ++shift) {
        EXPECT_EQ(why_unknown(records({kKnown, kKnown, kKnown}, shift)), "") << shift;
    }
}

// As the memory of a kernel may be that has anything at address 0.
TEST(InputKind, IsAMemoryEvenIfItsFirstPageLooksLikeRecords) {
    support::MemoryImage image(0x600);
    support::Bytes file = image.saved(0x3000);
    std::fill_n(file.begin(), 0x1000, std::byte{0});
    for (std::uint16_t i = 0; i < 37; ++i) {
        tracer::encode_record(tracer::make_record(0x19, i, i, {1000U + i}), std::span(file).subspan(16 * i));
    }
    EXPECT_EQ(kind_of(*support::memory_source(file)), InputKind::memory);
    file.resize(0x2000);
    EXPECT_EQ(kind_of(*support::memory_source(file)), InputKind::records);
}

TEST(InputKind, HasItsName) {
    const auto names = std::to_array<std::pair<InputKind, std::string_view>>({{InputKind::detect, "detect"},
                                                                              {InputKind::records, "records"},
                                                                              {InputKind::kev, "kev"},
                                                                              {InputKind::tlog, "tlog"},
                                                                              {InputKind::tlog_old, "tlog-old"},
                                                                              {InputKind::capture, "capture"},
                                                                              {InputKind::fat, "fat"},
                                                                              {InputKind::packed, "packed"},
                                                                              {InputKind::memory, "memory"}});
    std::vector<std::string> all;
    for (const auto& [kind, name] : names) {
        EXPECT_EQ(kind_name(kind), name);
        EXPECT_EQ(find_kind(name), kind);
        all.emplace_back(name);
    }
    EXPECT_EQ(kind_names(), all);
    EXPECT_EQ(find_kind("pcap"), std::nullopt);
    EXPECT_EQ(kind_name(static_cast<InputKind>(200)), "records");
}

} // namespace

} // namespace host::formats::input_kind_test
