// SPDX-License-Identifier: MIT
// Reads the program headers of a kernel image and checks whether the loader may place it where it requires. It only
// reads bytes: nothing is allocated or copied here, so the same code runs in the hosted unit tests. Source: System V
// ABI, chapter 4 "Object Files" (ELF-64, AMD64 supplement). Context: any.
//
//   file header (64 bytes) --e_phoff--> program headers (56 bytes each) --p_offset--> content --> memory at p_paddr
#pragma once

#include "lib/endian.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace uefi {

inline constexpr std::uint64_t kPageBytes = 4096;

// Describes a checked PT_LOAD: its content is in the file, its memory does not wrap and shares no page with another.
struct Segment {
    std::uint64_t file_offset;
    std::uint64_t file_bytes;
    std::uint64_t address;      // physical; page-aligned
    std::uint64_t memory_bytes; // >= file_bytes, > 0
    bool executable;

    [[nodiscard]] constexpr std::uint64_t pages() const { return (memory_bytes + kPageBytes - 1) / kPageBytes; }

    // A segment without content is memory that the kernel reads before it clears anything (the trace arena).
    [[nodiscard]] constexpr bool keeps_its_memory() const { return file_bytes == 0; }
};

struct ElfImage {
    static constexpr std::size_t kSegmentsMax = 8;

    std::uint64_t entry = 0;
    std::array<Segment, kSegmentsMax> segments{};
    std::size_t segment_count = 0;
    std::string_view fault; // why the file is not a kernel image; empty if it is one

    [[nodiscard]] constexpr std::span<const Segment> loadable() const {
        return std::span(segments).first(segment_count);
    }
};

namespace detail {

inline constexpr std::uint64_t kHeaderBytes = 64;
inline constexpr std::uint64_t kProgramHeaderBytes = 56;
inline constexpr std::uint32_t kMagic = 0x464C'457F; // "\x7F" "ELF"
inline constexpr std::uint8_t kClass64 = 2;
inline constexpr std::uint8_t kLittleEndian = 1;
inline constexpr std::uint16_t kTypeExecutable = 2;
inline constexpr std::uint16_t kMachineX8664 = 62;
inline constexpr std::uint32_t kTypeLoad = 1;
inline constexpr std::uint32_t kFlagExecutable = 1;
inline constexpr std::uint64_t kAddressEnd = std::uint64_t{1}
                                             << 32; // the code model and BootInfo require addresses below 4 GiB

constexpr bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t end) {
    return offset <= end && size <= end - offset;
}

constexpr bool share_a_page(const Segment& a, const Segment& b) {
    return a.address < b.address + b.pages() * kPageBytes && b.address < a.address + a.pages() * kPageBytes;
}

// Appends the PT_LOAD described by `header` to the image; returns the fault, or an empty text.
constexpr std::string_view add_segment(ElfImage& image, std::span<const std::byte> header, std::uint64_t file_bytes) {
    lib::ByteReader in(header);
    const auto type = in.le<std::uint32_t>();
    const auto flags = in.le<std::uint32_t>();
    const auto offset = in.le<std::uint64_t>();
    in.take(sizeof(std::uint64_t)); // p_vaddr: the kernel is identity-mapped, p_paddr decides
    const auto address = in.le<std::uint64_t>();
    const auto content_bytes = in.le<std::uint64_t>();
    const auto memory_bytes = in.le<std::uint64_t>();
    if (type != kTypeLoad || memory_bytes == 0) {
        return {};
    }
    const Segment segment{offset, content_bytes, address, memory_bytes, (flags & kFlagExecutable) != 0};
    if (content_bytes > memory_bytes) {
        return "a segment has more content than memory";
    }
    if (!inside(offset, content_bytes, file_bytes)) {
        return "the file ends inside a segment";
    }
    if (address % kPageBytes != 0) {
        return "a segment does not start on a page";
    }
    if (!inside(address, memory_bytes, kAddressEnd)) {
        return "a segment is not below 4 GiB";
    }
    for (const Segment& other : image.loadable()) {
        if (share_a_page(segment, other)) {
            return "two segments share a page";
        }
    }
    if (image.segment_count == ElfImage::kSegmentsMax) {
        return "more segments than the loader supports";
    }
    image.segments[image.segment_count++] = segment;
    return {};
}

constexpr std::string_view check_identity(std::span<const std::byte> file) {
    lib::ByteReader in(file);
    if (in.le<std::uint32_t>() != kMagic) {
        return "not an ELF file";
    }
    if (in.le<std::uint8_t>() != kClass64 || in.le<std::uint8_t>() != kLittleEndian) {
        return "not a 64-bit little-endian ELF file";
    }
    in.take(10);
    if (in.le<std::uint16_t>() != kTypeExecutable) {
        return "not an executable (ET_EXEC)";
    }
    if (in.le<std::uint16_t>() != kMachineX8664) {
        return "not for x86-64";
    }
    return {};
}

constexpr bool entry_is_code(const ElfImage& image) {
    for (const Segment& segment : image.loadable()) {
        if (segment.executable && image.entry >= segment.address &&
            image.entry - segment.address < segment.file_bytes) {
            return true;
        }
    }
    return false;
}

} // namespace detail

// Checks everything that loading depends on; `file` is untrusted.
[[nodiscard]] constexpr ElfImage parse_elf(std::span<const std::byte> file_untrusted) {
    ElfImage image;
    if (file_untrusted.size() < detail::kHeaderBytes) {
        image.fault = "shorter than an ELF header";
        return image;
    }
    image.fault = detail::check_identity(file_untrusted);
    if (!image.fault.empty()) {
        return image;
    }
    image.entry = lib::load_le<std::uint64_t>(file_untrusted.subspan(24));
    const auto table_offset = lib::load_le<std::uint64_t>(file_untrusted.subspan(32));
    const auto entry_bytes = lib::load_le<std::uint16_t>(file_untrusted.subspan(54));
    const auto entry_count = lib::load_le<std::uint16_t>(file_untrusted.subspan(56));
    if (entry_bytes != detail::kProgramHeaderBytes) {
        image.fault = "program headers of an unknown size";
        return image;
    }
    if (!detail::inside(table_offset, std::uint64_t{entry_bytes} * entry_count, file_untrusted.size())) {
        image.fault = "the file ends inside the program headers";
        return image;
    }
    for (std::size_t i = 0; i < entry_count && image.fault.empty(); ++i) {
        const auto header = file_untrusted.subspan(table_offset + i * entry_bytes, entry_bytes);
        image.fault = detail::add_segment(image, header, file_untrusted.size());
    }
    if (image.fault.empty() && !detail::entry_is_code(image)) {
        image.fault = "the entry point is in no executable segment";
    }
    return image;
}

} // namespace uefi
