// SPDX-License-Identifier: MIT
// Finds the black box in a file of memory and reads the file by physical address.
#include "host/formats/memory/black_box.hpp"

#include "host/text/format.hpp"
#include "lib/endian.hpp"
#include "tracer/black_box/descriptor.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace host::formats::memory {

namespace {

using Bytes = std::span<const std::byte>;
using tracer::black_box::kAddress;
using tracer::black_box::kMagic;
using tracer::black_box::kVersion;

constexpr std::size_t kPage = tracer::black_box::kAlignment;

// --- ELF-64 ----------------------------------------------------------------------------------------------------------

constexpr std::size_t kElfHeaderBytes = 64;
constexpr std::size_t kProgramHeaderBytes = 56;
constexpr std::uint16_t kTypeCore = 4;
constexpr std::uint32_t kTypeLoad = 1;
constexpr auto kElfMagic = std::to_array({std::byte{0x7F}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}});
constexpr std::byte kClass64{2};
constexpr std::byte kLittleEndian{1};

bool is_elf(Bytes begin) {
    return begin.size() >= kElfHeaderBytes && std::equal(kElfMagic.begin(), kElfMagic.end(), begin.begin());
}

bool is_core64(Bytes header) {
    return is_elf(header) && header[4] == kClass64 && header[5] == kLittleEndian &&
           lib::load_le<std::uint16_t>(header.subspan(16)) == kTypeCore;
}

bool begins_with_magic(Bytes bytes) {
    return std::ranges::equal(bytes, kMagic,
                              [](std::byte byte, char character) { return byte == static_cast<std::byte>(character); });
}

// Fills all of `out`, or returns false.
bool read_all(trace::ByteSource& source, std::uint64_t offset_bytes, std::span<std::byte> out) {
    const auto count = source.read(offset_bytes, out);
    return count && count.value() == out.size();
}

bool has_magic_at(trace::ByteSource& source, std::uint64_t offset_bytes) {
    std::array<std::byte, kMagic.size()> bytes{};
    return offset_bytes < source.size_bytes() && read_all(source, offset_bytes, bytes) && begins_with_magic(bytes);
}

// Returns the address that the descriptor of a first processor states as its own; nothing if the page has none.
std::optional<std::uint64_t> stated_address(Bytes page) {
    using tracer::black_box::Descriptor;
    if (!begins_with_magic(page.first(kMagic.size()))) {
        return std::nullopt;
    }
    const bool of_further = lib::load_le<std::uint32_t>(page.subspan(offsetof(Descriptor, version))) == kVersion &&
                            lib::load_le<std::uint32_t>(page.subspan(offsetof(Descriptor, cpu))) != 0;
    const auto address = lib::load_le<std::uint64_t>(page.subspan(offsetof(Descriptor, address)));
    return of_further || address % kPage != 0 ? std::nullopt : std::optional(address);
}

struct Found {
    std::uint64_t offset_bytes = 0;
    std::uint64_t address = 0;
};

// Finds the first descriptor that is accepted, on pages of a part of the file from `begin` on.
template <typename Accepts>
std::optional<Found> search(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end, Accepts accepts) {
    std::vector<std::byte> block(std::size_t{1} << 20);
    for (std::uint64_t at = begin; at < end; at += block.size()) {
        const auto count = source.read(at, std::span(block).first(std::min<std::uint64_t>(block.size(), end - at)));
        for (std::size_t page = 0; count && page + kPage <= count.value(); page += kPage) {
            const auto address = stated_address(Bytes(block).subspan(page, kPage));
            if (address && accepts(at + page, *address)) {
                return Found{.offset_bytes = at + page, .address = *address};
            }
        }
        if (!count || count.value() < block.size()) {
            break;
        }
    }
    return std::nullopt;
}

// The file may begin at an address that is not 0.
std::optional<Found> search(trace::ByteSource& source) {
    return search(source, 0, std::min(source.stored_bytes(), Image::kSearchBytesMax),
                  [](std::uint64_t offset_bytes, std::uint64_t address) { return address >= offset_bytes; });
}

} // namespace

bool is_memory(trace::ByteSource& source) {
    std::array<std::byte, kElfHeaderBytes> header{};
    return source.seekable() && ((read_all(source, 0, header) && is_core64(header)) || has_magic_at(source, 0) ||
                                 has_magic_at(source, kAddress));
}

bool holds_descriptor(trace::ByteSource& source) {
    return source.seekable() && search(source).has_value();
}

lib::Result<Image, trace::Failure<lib::Error>> Image::open(std::shared_ptr<trace::ByteSource> source) {
    Image image;
    image.m_source = std::move(source);
    image.m_descriptor = kAddress;
    std::array<std::byte, kElfHeaderBytes> header{};
    if (read_all(*image.m_source, 0, header) && is_elf(header)) {
        if (auto failure = image.take_core()) {
            return *failure;
        }
        if (!image.has_magic(kAddress) && !image.find_in_core()) {
            return trace::Failure<lib::Error>{
                lib::Error::not_found,
                fmt::format("the core has no black box, neither at address 0x{:x} nor on a page of the first {} GiB of "
                            "a segment: dump that memory too, of a machine on which a kernel with a tracer has started",
                            kAddress, kSearchBytesMax >> 30)};
        }
        return image;
    }
    image.m_segments = {{.address = 0, .bytes = image.m_source->size_bytes(), .offset_bytes = 0}};
    if (!image.has_magic(kAddress) && !image.find_base()) {
        return trace::Failure<lib::Error>{
            lib::Error::not_found,
            fmt::format("no black box: neither at address 0x{:x} nor on a page of the first {} GiB; a kernel with a "
                        "tracer writes it when it has started",
                        kAddress, kSearchBytesMax >> 30)};
    }
    return image;
}

bool Image::has_magic(std::uint64_t address) const {
    std::array<std::byte, kMagic.size()> bytes{};
    return read(address, bytes) && begins_with_magic(bytes);
}

// Finds the address at which the file begins if that is not 0.
bool Image::find_base() {
    const auto found = search(*m_source);
    if (found) {
        m_descriptor = found->address;
        m_segments.front().address = found->address - found->offset_bytes;
    }
    return found.has_value();
}

// Finds a descriptor on the page whose address it states.
bool Image::find_in_core() {
    for (const Segment& segment : m_segments) {
        const std::uint64_t before = (kPage - segment.address % kPage) % kPage; // bytes of no whole page
        const auto found = search(*m_source, segment.offset_bytes + before,
                                  segment.offset_bytes + std::min(segment.bytes, kSearchBytesMax),
                                  [&segment](std::uint64_t offset_bytes, std::uint64_t address) {
                                      return address - segment.address == offset_bytes - segment.offset_bytes;
                                  });
        if (found) {
            m_descriptor = found->address;
            return true;
        }
    }
    return false;
}

// Returns the failure, or nothing.
std::optional<trace::Failure<lib::Error>> Image::take_core() {
    const auto corrupt = [](std::string text) {
        return trace::Failure<lib::Error>{lib::Error::corrupt, std::move(text)};
    };
    std::array<std::byte, kElfHeaderBytes> header{};
    if (!read_all(*m_source, 0, header) || !is_core64(header)) {
        return corrupt("an ELF file, but no 64-bit little-endian core (e_type 4): dump-guest-memory writes one");
    }
    const auto table = lib::load_le<std::uint64_t>(Bytes(header).subspan(32));
    const auto entry_bytes = lib::load_le<std::uint16_t>(Bytes(header).subspan(54));
    const auto entries = lib::load_le<std::uint16_t>(Bytes(header).subspan(56));
    if (entry_bytes != kProgramHeaderBytes || entries == 0 || entries > kSegmentsMax) {
        return corrupt(fmt::format("e_phentsize {} and e_phnum {}: 56, and 1 to {} segments can be read", entry_bytes,
                                   entries, kSegmentsMax));
    }
    const std::uint64_t size = m_source->size_bytes();
    for (std::uint64_t i = 0; i < entries; ++i) {
        std::array<std::byte, kProgramHeaderBytes> entry{};
        if (table > size || !read_all(*m_source, table + i * kProgramHeaderBytes, entry)) {
            return corrupt(fmt::format("e_phoff 0x{:x}: segment {} is not in the file", table, i));
        }
        const auto field = [&entry](std::size_t at) { return lib::load_le<std::uint64_t>(Bytes(entry).subspan(at)); };
        Segment segment{.address = field(24), .bytes = field(32), .offset_bytes = field(8)};
        if (lib::load_le<std::uint32_t>(entry) != kTypeLoad || segment.offset_bytes >= size) {
            continue;
        }
        segment.bytes = std::min(segment.bytes, size - segment.offset_bytes); // the core may have been cut
        segment.bytes = std::min(segment.bytes, ~std::uint64_t{0} - segment.address);
        m_segments.push_back(segment);
    }
    return std::nullopt;
}

const Image::Segment* Image::segment_of(std::uint64_t address) const {
    const auto found = std::ranges::find_if(m_segments, [address](const Segment& segment) {
        return address >= segment.address && address - segment.address < segment.bytes;
    });
    return found != m_segments.end() ? &*found : nullptr;
}

bool Image::read(std::uint64_t address, std::span<std::byte> out) const {
    while (!out.empty()) {
        const Segment* const segment = segment_of(address);
        if (segment == nullptr) {
            return false;
        }
        const std::uint64_t inside = address - segment->address;
        const auto piece = out.first(std::min<std::uint64_t>(out.size(), segment->bytes - inside));
        if (!read_all(*m_source, segment->offset_bytes + inside, piece)) {
            return false;
        }
        out = out.subspan(piece.size());
        address += piece.size();
    }
    return true;
}

std::uint64_t Image::offset_of(std::uint64_t address) const {
    const Segment* const segment = segment_of(address);
    return segment != nullptr ? segment->offset_bytes + (address - segment->address) : 0;
}

} // namespace host::formats::memory
