// SPDX-License-Identifier: MIT
// Tests the UEFI loader's view of a kernel file: a valid image is accepted, and each kind of invalid image is refused
// with its own message. The images are built byte by byte, and each test damages exactly one property.
#include "arch/uefi/elf_image.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace uefi {
namespace {

constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kProgramHeaderBytes = 56;
constexpr std::uint32_t kLoad = 1;
constexpr std::uint32_t kNote = 4;
constexpr std::uint32_t kReadExecute = 5;
constexpr std::uint32_t kReadWrite = 6;

struct ProgramHeader {
    std::uint32_t type = kLoad;
    std::uint32_t flags = kReadWrite;
    std::uint64_t offset = 0;
    std::uint64_t address = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t memory_bytes = 0;
};

// Code at 1 MiB, data followed by bss, an arena at 32 MiB, a note that is not loaded.
std::vector<ProgramHeader> valid_headers() {
    return {{kLoad, kReadExecute, 0x1000, 0x10'0000, 0x234, 0x234},
            {kLoad, kReadWrite, 0x2000, 0x10'1000, 0x10, 0x3000},
            {kLoad, kReadWrite, 0, 0x200'0000, 0, 0x10'0000},
            {kNote, kReadWrite, 0x1000, 0x10'0000, 0x14, 0x14}};
}

class ElfFile {
  public:
    explicit ElfFile(const std::vector<ProgramHeader>& headers = valid_headers(), std::size_t size_bytes = 0x3000)
        : m_bytes(size_bytes) {
        put<std::uint32_t>(0, 0x464C'457F);
        put<std::uint8_t>(4, 2);
        put<std::uint8_t>(5, 1);
        put<std::uint16_t>(16, 2);
        put<std::uint16_t>(18, 62);
        put<std::uint64_t>(24, 0x10'0000);
        put<std::uint64_t>(32, kHeaderBytes);
        put<std::uint16_t>(54, kProgramHeaderBytes);
        put<std::uint16_t>(56, static_cast<std::uint16_t>(headers.size()));
        std::size_t at = kHeaderBytes;
        for (const ProgramHeader& header : headers) {
            put(at, header.type);
            put(at + 4, header.flags);
            put(at + 8, header.offset);
            put(at + 16, header.address);
            put(at + 24, header.address);
            put(at + 32, header.file_bytes);
            put(at + 40, header.memory_bytes);
            at += kProgramHeaderBytes;
        }
    }

    template <typename T>
    ElfFile& put(std::size_t offset, T value) {
        lib::store_le(std::span(m_bytes).subspan(offset), value);
        return *this;
    }

    [[nodiscard]] ElfImage parse() const { return parse_elf(m_bytes); }

    [[nodiscard]] ElfImage parse_first(std::size_t size_bytes) const {
        return parse_elf(std::span(m_bytes).first(size_bytes));
    }

  private:
    std::vector<std::byte> m_bytes;
};

std::string_view fault_with(std::size_t header, auto spoil) {
    auto headers = valid_headers();
    spoil(headers[header]);
    return ElfFile(headers).parse().fault;
}

TEST(ElfImage, TakesASoundImage) {
    const ElfImage image = ElfFile().parse();
    EXPECT_EQ(image.fault, "");
    EXPECT_EQ(image.entry, 0x10'0000U);
    ASSERT_EQ(image.loadable().size(), 3U);
    EXPECT_TRUE(image.segments[0].executable);
    EXPECT_FALSE(image.segments[1].executable);
    EXPECT_EQ(image.segments[1].pages(), 3U);
    EXPECT_FALSE(image.segments[1].keeps_its_memory());
    EXPECT_TRUE(image.segments[2].keeps_its_memory());
}

TEST(ElfImage, PassesOverAnEmptySegment) {
    auto headers = valid_headers();
    headers.push_back({kLoad, kReadWrite, 0, 0, 0, 0});
    const ElfImage image = ElfFile(headers).parse();
    EXPECT_EQ(image.fault, "");
    EXPECT_EQ(image.loadable().size(), 3U);
}

TEST(ElfImage, RefusesWhatIsNoElf64ForThisMachine) {
    EXPECT_EQ(ElfFile().put<std::uint8_t>(0, 0).parse().fault, "not an ELF file");
    EXPECT_EQ(ElfFile().put<std::uint8_t>(4, 1).parse().fault, "not a 64-bit little-endian ELF file");
    EXPECT_EQ(ElfFile().put<std::uint8_t>(5, 2).parse().fault, "not a 64-bit little-endian ELF file");
    EXPECT_EQ(ElfFile().put<std::uint16_t>(16, 3).parse().fault, "not an executable (ET_EXEC)");
    EXPECT_EQ(ElfFile().put<std::uint16_t>(18, 183).parse().fault, "not for x86-64");
    EXPECT_EQ(ElfFile().put<std::uint16_t>(54, 32).parse().fault, "program headers of an unknown size");
}

// Every length that cuts headers or content is refused, and nothing is read beyond it (checked by the sanitizer).
TEST(ElfImage, RefusesEveryTruncation) {
    const ElfFile file;
    constexpr std::size_t kContentEnd = 0x2010;
    for (std::size_t size = 0; size < kContentEnd; ++size) {
        EXPECT_NE(file.parse_first(size).fault, "") << size;
    }
    EXPECT_EQ(file.parse_first(kContentEnd).fault, "");
}

TEST(ElfImage, RefusesOffsetsThatWrapAround) {
    EXPECT_EQ(ElfFile().put<std::uint64_t>(32, ~std::uint64_t{0}).parse().fault,
              "the file ends inside the program headers");
    EXPECT_EQ(fault_with(0, [](ProgramHeader& header) { header.offset = ~std::uint64_t{0} - 0x100; }),
              "the file ends inside a segment");
    EXPECT_EQ(fault_with(2, [](ProgramHeader& header) { header.address = ~std::uint64_t{0xFFF}; }),
              "a segment is not below 4 GiB");
    EXPECT_EQ(fault_with(2, [](ProgramHeader& header) { header.memory_bytes = ~std::uint64_t{0}; }),
              "a segment is not below 4 GiB");
}

TEST(ElfImage, EndsExactlyAt4GiBAtMost) {
    const auto arena_up_to = [](std::uint64_t end) {
        return fault_with(2, [end](ProgramHeader& header) {
            header.address = 0xFFFF'0000;
            header.memory_bytes = end - header.address;
        });
    };
    EXPECT_EQ(arena_up_to(0x1'0000'0000), "");
    EXPECT_EQ(arena_up_to(0x1'0000'0001), "a segment is not below 4 GiB");
}

TEST(ElfImage, RefusesMoreContentThanMemory) {
    EXPECT_EQ(fault_with(0, [](ProgramHeader& header) { header.memory_bytes = header.file_bytes - 1; }),
              "a segment has more content than memory");
}

TEST(ElfImage, RefusesSegmentsThatShareAPage) {
    EXPECT_EQ(fault_with(1, [](ProgramHeader& header) { header.address = 0x10'0000; }), "two segments share a page");
    EXPECT_EQ(fault_with(1, [](ProgramHeader& header) { header.address = 0x0F'D000; }), "");
    EXPECT_EQ(fault_with(1, [](ProgramHeader& header) { header.address = 0x0F'E000; }), "two segments share a page");
    EXPECT_EQ(fault_with(1, [](ProgramHeader& header) { header.address = 0x10'1800; }),
              "a segment does not start on a page");
}

TEST(ElfImage, RefusesAnEntryOutsideItsCode) {
    constexpr std::size_t kEntry = 24;
    EXPECT_EQ(ElfFile().put<std::uint64_t>(kEntry, 0x10'0233).parse().fault, "");
    EXPECT_NE(ElfFile().put<std::uint64_t>(kEntry, 0x10'0234).parse().fault, "");
    EXPECT_NE(ElfFile().put<std::uint64_t>(kEntry, 0x0F'FFFF).parse().fault, "");
    EXPECT_NE(ElfFile().put<std::uint64_t>(kEntry, 0x10'1000).parse().fault, "") << "data is not code";
}

TEST(ElfImage, RefusesMoreSegmentsThanItHolds) {
    std::vector<ProgramHeader> headers = valid_headers();
    while (headers.size() < ElfImage::kSegmentsMax + 1) { // one of them is the note
        headers.push_back({kLoad, kReadWrite, 0, 0x300'0000 + headers.size() * kPageBytes, 0, 1});
    }
    EXPECT_EQ(ElfFile(headers).parse().fault, "");
    headers.push_back({kLoad, kReadWrite, 0, 0x400'0000, 0, 1});
    EXPECT_EQ(ElfFile(headers).parse().fault, "more segments than the loader supports");
}

} // namespace
} // namespace uefi
