// SPDX-License-Identifier: MIT
// Implements the bounds, copies and cache lines of the RAM disk.
#include "drivers/ramdisk.hpp"

#include "lib/copy_bytes.hpp"

namespace drivers {

namespace {

// CLFLUSH works on at least 32 bytes on every x86-64 processor; a smaller step than the real line (64) costs time, a
// larger one would lose data.
constexpr std::size_t kCacheLineBytes = 32;

} // namespace

void flush_cache_lines(std::span<std::byte> written) {
    for (std::size_t offset = 0; offset < written.size(); offset += kCacheLineBytes) {
        asm volatile("clflush %0" : : "m"(written[offset]) : "memory");
    }
    asm volatile("clflush %0" : : "m"(written.back()) : "memory"); // the memory need not start on a line
    asm volatile("mfence" : : : "memory");                         // before it is read again
}

bool RamDisk::fits(std::uint64_t first_sector, std::size_t size_bytes) const {
    const std::uint64_t count = size_bytes / kSectorBytes;
    return size_bytes % kSectorBytes == 0 && count > 0 && first_sector < sector_count() &&
           count <= sector_count() - first_sector;
}

lib::Result<void> RamDisk::read(std::uint64_t first_sector, std::span<std::byte> out) {
    if (!fits(first_sector, out.size())) {
        return lib::Error::invalid_argument;
    }
    __builtin_memcpy(out.data(), m_memory.data() + first_sector * kSectorBytes, out.size());
    return {};
}

lib::Result<void> RamDisk::write(std::uint64_t first_sector, std::span<const std::byte> bytes) {
    if (!fits(first_sector, bytes.size())) {
        return lib::Error::invalid_argument;
    }
    auto target = m_memory.subspan(first_sector * kSectorBytes, bytes.size());
    if (m_medium == Medium::volatile_memory) {
        lib::copy_bytes(bytes, target);
        return {};
    }
    for (; !bytes.empty(); bytes = bytes.subspan(kSectorBytes), target = target.subspan(kSectorBytes)) {
        const auto sector = target.first(kSectorBytes);
        lib::copy_bytes(bytes.first(kSectorBytes), sector);
        m_flush_lines(sector);
        if (__builtin_memcmp(sector.data(), bytes.data(), kSectorBytes) != 0) {
            return lib::Error::io;
        }
    }
    return {};
}

lib::Result<void> RamDisk::flush() {
    asm volatile("mfence" : : : "memory"); // CLFLUSH completes no later than this
    return {};
}

} // namespace drivers
