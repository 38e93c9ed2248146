// SPDX-License-Identifier: MIT
// Marks of file formats: the .kev header's keyword, pcap and pcapng magic numbers (both byte orders, micro- and
// nanoseconds), the signature and jump of a FAT boot sector. tlog files have no mark; see tlog/detect.hpp.
#include "host/formats/input_kind.hpp"

#include "host/formats/fat/volume.hpp"
#include "host/formats/packed/block.hpp"
#include "host/formats/tlog/detect.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
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
});

constexpr auto kCaptureMagics =
    std::to_array<std::uint32_t>({0xA1B2C3D4, 0xD4C3B2A1, 0xA1B23C4D, 0x4D3CB2A1, 0x0A0D0D0A});

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

// A master boot record with a FAT partition: four rows of which each is marked active or not, and ends of its own.
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

} // namespace

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
    return kind_of(std::span(begin).first(count ? count.value() : 0));
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
