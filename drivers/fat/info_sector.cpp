// SPDX-License-Identifier: MIT
// See info_sector.hpp.
#include "drivers/fat/info_sector.hpp"

#include "lib/endian.hpp"

#include <algorithm>

namespace drivers::fat {

namespace {

constexpr std::size_t kOffsetLead = 0;
constexpr std::size_t kOffsetStructure = 484;
constexpr std::size_t kOffsetFreeClusters = 488;
constexpr std::size_t kOffsetNextCandidate = 492;
constexpr std::size_t kOffsetTrail = 508;
constexpr std::uint32_t kLeadSignature = 0x4161'5252;      // "RRaA"
constexpr std::uint32_t kStructureSignature = 0x6141'7272; // "rrAa"
constexpr std::uint32_t kTrailSignature = 0xAA55'0000;

bool is_info_sector(std::span<const std::byte> sector) {
    const auto word = [sector](std::size_t offset) { return lib::load_le<std::uint32_t>(sector.subspan(offset)); };
    return word(kOffsetLead) == kLeadSignature && word(kOffsetStructure) == kStructureSignature &&
           word(kOffsetTrail) == kTrailSignature;
}

void put_hint(const SpaceHint& hint, std::span<std::byte> sector) {
    lib::store_le(sector.subspan(kOffsetFreeClusters), hint.free_clusters);
    lib::store_le(sector.subspan(kOffsetNextCandidate), hint.next_candidate);
}

} // namespace

void encode_info_sector(const SpaceHint& hint, std::span<std::byte> sector) {
    ASSERT(sector.size() == kSectorBytes);
    std::ranges::fill(sector, std::byte{0});
    lib::store_le(sector.subspan(kOffsetLead), kLeadSignature);
    lib::store_le(sector.subspan(kOffsetStructure), kStructureSignature);
    lib::store_le(sector.subspan(kOffsetTrail), kTrailSignature);
    put_hint(hint, sector);
}

lib::Result<void> update_info_sector(BlockDevice& device, std::uint64_t device_sector, const SpaceHint& hint,
                                     std::span<std::byte> sector) {
    ASSERT(sector.size() == kSectorBytes);
    if (!device.read(device_sector, sector)) {
        return lib::Error::io;
    }
    if (!is_info_sector(sector)) {
        return {};
    }
    put_hint(hint, sector);
    if (!device.write(device_sector, sector)) {
        return lib::Error::io;
    }
    return {};
}

} // namespace drivers::fat
