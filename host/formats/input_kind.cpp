// SPDX-License-Identifier: MIT
// Recognizes file formats by their marks: the .kev header's keyword, pcap and pcapng magic numbers (both byte orders,
// micro- and nanoseconds, modified), the signature and jump of a FAT boot sector. tlog files have no mark; see
// tlog/detect.hpp. The marks of other tools' files are from trace-cmd.dat(5), the kernel's perf.data-file-format.txt,
// elf(5), RFC 1952, RFC 8878, and the xz and SQLite file formats.
#include "host/formats/input_kind.hpp"

#include "foreign/tlog/detect.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/fat/volume.hpp"
#include "host/formats/memory/black_box.hpp"
#include "host/formats/packed/block.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace host::formats {

namespace {

constexpr auto kNames = std::to_array<std::pair<trace::InputKind, std::string_view>>({
    {trace::InputKind::detect, "detect"},
    {trace::InputKind::records, "records"},
    {trace::InputKind::kev, "kev"},
    {trace::InputKind::tlog, "tlog"},
    {trace::InputKind::tlog_old, "tlog-old"},
    {trace::InputKind::capture, "capture"},
    {trace::InputKind::fat, "fat"},
    {trace::InputKind::packed, "packed"},
    {trace::InputKind::memory, "memory"},
});

constexpr auto kCaptureMagics =
    std::to_array<std::uint32_t>({0xA1B2C3D4, 0xD4C3B2A1, 0xA1B23C4D, 0x4D3CB2A1, 0xA1B2CD34, 0x34CDB2A1, 0x0A0D0D0A});

struct ForeignMark {
    std::string_view mark;
    std::string_view tool; // the tool whose files begin like this, and what to do with them
};

constexpr auto kForeignMarks = std::to_array<ForeignMark>({
    {"\x17\x08\x44tracing", "a file of trace-cmd: trace-cmd report prints it"},
    {"PERFILE2", "a file of perf: perf script prints it"},
    {"# tracer:", "text of Linux's ftrace"},
    {"SQLite format 3", "an SQLite database: the sqlite3 program reads it"},
    {"\xC1\x1F\xFC\xC1", "a stream of CTF: babeltrace2 reads the directory"},
    {"\x7F"
     "ELF",
     "a program or library"},
    {"\x1F\x8B", "compressed by gzip: unpack it first"},
    {"\x28\xB5\x2F\xFD", "compressed by zstd: unpack it first"},
    {"\xFD"
     "7zXZ",
     "compressed by xz: unpack it first"},
    {"PK\x03\x04", "a zip archive: unpack it first"},
    {"snoop", "a capture of snoop: editcap -F pcap makes one of pcap of it"},
    {"GMBU", "a capture of Network Monitor: editcap -F pcap makes one of pcap of it"},
});

bool starts_with(std::span<const std::byte> begin, std::string_view mark) {
    return begin.size() >= mark.size() &&
           std::equal(mark.begin(), mark.end(), begin.begin(),
                      [](char character, std::byte byte) { return static_cast<std::byte>(character) == byte; });
}

bool is_boot_sector(std::span<const std::byte> begin) {
    if (begin.size() < 512 || begin[510] != std::byte{0x55} || begin[511] != std::byte{0xAA}) {
        return false;
    }
    return begin[0] == std::byte{0xE9} || (begin[0] == std::byte{0xEB} && begin[2] == std::byte{0x90});
}

// Returns whether this is a master boot record with a FAT partition: it has four rows, each marked active or not, and a
// signature at its end.
bool is_partition_table(std::span<const std::byte> begin) {
    if (begin.size() < 512 || begin[510] != std::byte{0x55} || begin[511] != std::byte{0xAA}) {
        return false;
    }
    bool found = false;
    for (std::size_t at = 446; at < 510; at += 16) {
        const auto row = begin.subspan(at, 16);
        if ((row[0] & std::byte{0x7F}) != std::byte{0}) {
            return false;
        }
        const bool has_room =
            lib::load_le<std::uint32_t>(row.subspan(8)) != 0 && lib::load_le<std::uint32_t>(row.subspan(12)) != 0;
        found = found || (has_room && fat::is_fat_partition(row[4]));
    }
    return found;
}

bool is_known(const tracer::Record& record) {
    const tracer::EventRow* const row = tracer::find_event(tracer::canonical_code(record.event_code()));
    return row != nullptr && (record.code & dat::kBitsWithoutMeaning) == 0 &&
           (record.combine() == tracer::Combine::simple || row->shape == tracer::Shape::combined);
}

// Returns whether this is a part of a chunk's header; the stream of the chunk may be compact.
bool is_of_header(const tracer::Record& record) {
    const std::uint16_t code = record.code;
    return (record.event_code() == trace::kCodeOf<"chunk_begin"> && is_known(record)) ||
           std::rotl(code, 8) == dat::kChunkBeginCode; // its bytes are swapped, which the reader reports
}

// Returns whether at least half of the records, and at least known_min of them, have known codes.
bool are_mostly_known(std::span<const std::byte> begin, std::size_t known_min) {
    std::size_t known = 0;
    std::size_t unknown = 0;
    for (; begin.size() >= tracer::kRecordBytes; begin = begin.subspan(tracer::kRecordBytes)) {
        const tracer::Record record = tracer::decode_record(begin);
        if (!record.empty() && record.code != 0xFFFF) { // neither unused nor erased
            ++(is_known(record) ? known : unknown);
        }
    }
    return known >= std::max(known_min, unknown);
}

bool could_be_records(std::span<const std::byte> begin) {
    for (auto rest = begin; rest.size() >= tracer::kRecordBytes; rest = rest.subspan(tracer::kRecordBytes)) {
        if (is_of_header(tracer::decode_record(rest))) {
            return true;
        }
    }
    if (are_mostly_known(begin, 0)) {
        return true;
    }
    // Returns whether records are found at other offsets: bytes may have been lost or added, and the reader finds the
    // records after them.
    constexpr std::size_t kEvidence = 3;
    for (std::size_t shift = 1; shift < std::min(begin.size(), tracer::kRecordBytes); ++shift) {
        if (are_mostly_known(begin.subspan(shift), kEvidence)) {
            return true;
        }
    }
    return false;
}

} // namespace

std::string why_unknown(std::span<const std::byte> begin) {
    const auto* const found =
        std::ranges::find_if(kForeignMarks, [&](const ForeignMark& row) { return starts_with(begin, row.mark); });
    if (found != kForeignMarks.end()) {
        return std::string(found->tool);
    }
    return could_be_records(begin) ? "" : "most of its records have codes of no event";
}

trace::InputKind kind_of(std::span<const std::byte> begin) {
    if (starts_with(begin, "TRACE_HEADER_BEGIN::")) {
        return trace::InputKind::kev;
    }
    if (begin.size() >= 4 &&
        std::ranges::find(kCaptureMagics, lib::load_le<std::uint32_t>(begin)) != kCaptureMagics.end()) {
        return trace::InputKind::capture;
    }
    if (starts_with(begin, packed::kMagic)) {
        return trace::InputKind::packed;
    }
    if (is_boot_sector(begin) || is_partition_table(begin)) {
        return trace::InputKind::fat;
    }
    if (const auto layout = tlog::detect(begin); layout) {
        return *layout == tlog::Layout::openmp ? trace::InputKind::tlog_old : trace::InputKind::tlog;
    }
    return trace::InputKind::records;
}

trace::InputKind kind_of(trace::ByteSource& source) {
    std::array<std::byte, kKindBytes> begin{};
    const auto count = source.peek(begin);
    const auto kind = kind_of(std::span(begin).first(count ? count.value() : 0));
    // The memory of any kernel may begin with any bytes, also with some that look like records; a chunk that describes
    // itself begins with its header.
    const bool described = count && count.value() >= tracer::kRecordBytes && is_of_header(tracer::decode_record(begin));
    const bool memory = memory::is_memory(source) ||
                        (kind == trace::InputKind::records && count && !described && memory::holds_descriptor(source));
    return memory ? trace::InputKind::memory : kind;
}

trace::InputKind kind_to_follow(trace::ByteSource& source) {
    std::array<std::byte, kKindBytes> begin{};
    const auto kind = kind_of(source);
    const auto count = source.peek(begin);
    const bool unmarked = kind == trace::InputKind::records && count && source.seekable();
    const bool chunk = unmarked && count.value() >= tracer::kRecordBytes && is_of_header(tracer::decode_record(begin));
    return unmarked && !chunk ? trace::InputKind::memory : kind;
}

std::string why_unknown(trace::ByteSource& source) {
    std::array<std::byte, kKindBytes> begin{};
    const auto count = source.peek(begin);
    // A pipe may have delivered only its first record, which is too little to reject it.
    constexpr std::size_t kEvidenceBytes = 4 * tracer::kRecordBytes;
    if (!count || (!source.seekable() && count.value() < kEvidenceBytes)) {
        return "";
    }
    return why_unknown(std::span(begin).first(count.value()));
}

std::string_view kind_name(trace::InputKind kind) {
    const auto* const found = std::ranges::find(kNames, kind, &std::pair<trace::InputKind, std::string_view>::first);
    return found != kNames.end() ? found->second : "records";
}

std::optional<trace::InputKind> find_kind(std::string_view name) {
    const auto* const found = std::ranges::find(kNames, name, &std::pair<trace::InputKind, std::string_view>::second);
    return found != kNames.end() ? std::optional(found->first) : std::nullopt;
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    names.reserve(kNames.size());
    for (const auto& [kind, name] : kNames) {
        names.emplace_back(name);
    }
    return names;
}

} // namespace host::formats
