// SPDX-License-Identifier: MIT
// Encodes the entries of page tables: the processor's bits for each use of a page. There is no table here. An address
// maps to itself. Source: Intel SDM volume 3 sections 4.5, 4.6, 4.9.1 (4-level paging). Context: any.
#pragma once

#include "arch/x86_64/guarded_stack.hpp"

#include <cstddef>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint64_t kPresent = 1U << 0;
inline constexpr std::uint64_t kWritable = 1U << 1;
inline constexpr std::uint64_t kWriteThrough = 1U << 3;
inline constexpr std::uint64_t kCacheDisable = 1U << 4;
inline constexpr std::uint64_t kLarge = 1U << 7;
inline constexpr std::uint64_t kNoExecute = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kAddressMask = 0x000F'FFFF'FFFF'F000;

inline constexpr std::uint64_t kLargePageBytes = std::uint64_t{2} << 20;
inline constexpr std::uint64_t kDeviceBegin = std::uint64_t{3} << 30; // devices of a PC are in the last GiB below 4
inline constexpr std::uint64_t kLowBytes = std::uint64_t{4} << 30;
inline constexpr std::size_t kEntries = 512; // in a table

enum class PageUse : std::uint8_t {
    absent,
    constants, // read
    data,      // read, write
    code,      // read, execute
};

// Names the levels of tables; the value is the number of address bits below what one entry maps.
enum class TableLevel : std::uint8_t { pages = 12, directory = 21, pointers = 30, root = 39 };

[[nodiscard]] constexpr std::size_t index_in(TableLevel level, std::uint64_t address) {
    return (address >> static_cast<unsigned>(level)) % kEntries;
}

// Precondition for every address below: it is page-aligned.
[[nodiscard]] constexpr std::uint64_t page_entry(std::uint64_t address, PageUse use) {
    switch (use) {
    case PageUse::absent:
        return 0;
    case PageUse::constants:
        return address | kPresent | kNoExecute;
    case PageUse::data:
        return address | kPresent | kWritable | kNoExecute;
    case PageUse::code:
        return address | kPresent;
    }
    return 0;
}

// Returns the entry of a page of 2 MiB with data.
[[nodiscard]] constexpr std::uint64_t large_entry(std::uint64_t address) {
    return page_entry(address, PageUse::data) | kLarge;
}

// Returns the same below 4 GiB, where devices are not cached.
[[nodiscard]] constexpr std::uint64_t low_large_entry(std::uint64_t address) {
    return large_entry(address) | (address >= kDeviceBegin ? kCacheDisable | kWriteThrough : 0);
}

// Returns the entry of the page at this address as a part of the large page that contains it, with the same rights.
[[nodiscard]] constexpr std::uint64_t part_of_large(std::uint64_t large, std::uint64_t address) {
    return (large & ~(kAddressMask | kLarge)) | address;
}

// Returns the entry of a table at this address; the rights are those of the entries in it.
[[nodiscard]] constexpr std::uint64_t table_entry(std::uint64_t address) {
    return address | kPresent | kWritable;
}

} // namespace arch::x86_64
