// SPDX-License-Identifier: MIT
// Stores, fills and changes the tables of the identity map (paging.hpp draws it). The processor's registers are not
// touched: a caller that changes a table in use flushes the page. A table's physical address is the value of its
// pointer. Context: irq-off.
#pragma once

#include "arch/x86_64/page_entries.hpp"
#include "lib/result.hpp"

#include <array>

namespace arch::x86_64 {

// Bounds the parts of the kernel image that are not data; all bounds are page-aligned and below PageTables::kFineBytes.
struct ImageParts {
    std::uint64_t text_begin;
    std::uint64_t text_end;
    std::uint64_t rodata_begin;
    std::uint64_t rodata_end;

    [[nodiscard]] constexpr PageUse use_of(std::uint64_t address) const {
        if (address == 0) {
            return PageUse::absent; // null pointers fault
        }
        if (address >= text_begin && address < text_end) {
            return PageUse::code;
        }
        return address >= rodata_begin && address < rodata_end ? PageUse::constants : PageUse::data;
    }
};

// Describes large pages from a multiple of 2 MiB on, until all bytes before the end are mapped.
struct LargePages {
    std::uint64_t begin;
    std::uint64_t end;
};

class PageTables {
  public:
    static constexpr std::uint64_t kFineBytes = std::uint64_t{8} << 20; // kernel image: 4 KiB pages
    static constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 47;
    static constexpr std::size_t kSpareTables = 24;

    constexpr PageTables() = default;

    // Fills the tables for the first 4 GiB.
    void fill(const ImageParts& image) {
        for (std::uint64_t address = 0; address < kFineBytes; address += kPageBytes) {
            fine_entry(address) = page_entry(address, image.use_of(address));
        }
        for (std::uint64_t address = 0; address < kLowBytes; address += kLargePageBytes) {
            low_entry(address) = address < kFineBytes ? table_entry(address_of(m_fine[address / kLargePageBytes]))
                                                      : low_large_entry(address);
        }
        for (std::size_t i = 0; i < m_low_directories.size(); ++i) {
            m_low_pointers.entries[i] = table_entry(address_of(m_low_directories[i]));
        }
        m_root.entries[0] = table_entry(address_of(m_low_pointers));
    }

    // Returns the contents of CR3.
    [[nodiscard]] std::uint64_t root() const { return address_of(m_root); }

    // Makes one page below 4 GiB absent. Above kFineBytes, the first one in each 2 MiB takes a spare table.
    void unmap(std::uint64_t address) {
        ASSERT(address % kPageBytes == 0 && address < kLowBytes);
        std::uint64_t& entry = low_entry(address);
        if ((entry & kLarge) != 0) {
            split(entry, address & ~(kLargePageBytes - 1));
        }
        table_at(entry)->entries[index_in(TableLevel::pages, address)] = 0;
    }

    // Changes the use of a page. Precondition: the address is page-aligned and below kFineBytes.
    void set(std::uint64_t address, PageUse use) {
        ASSERT(address % kPageBytes == 0 && address < kFineBytes);
        fine_entry(address) = page_entry(address, use);
    }

    // Returns the pages from 4 GiB on around a range; everything below is mapped. invalid_argument: the range wraps or
    // leaves the addresses that the root's lower half maps.
    [[nodiscard]] static lib::Result<LargePages> large_pages_around(std::uint64_t address, std::uint64_t size_bytes) {
        if (address >= kAddressLimit || size_bytes > kAddressLimit - address) {
            return lib::Error::invalid_argument;
        }
        const std::uint64_t begin = address & ~(kLargePageBytes - 1);
        return LargePages{begin < kLowBytes ? kLowBytes : begin, address + size_bytes};
    }

    // Maps one page of 2 MiB from 4 GiB on. no_space: the spare tables are used up.
    [[nodiscard]] lib::Result<void> map_large(std::uint64_t address) {
        ASSERT(address % kLargePageBytes == 0 && address >= kLowBytes && address < kAddressLimit);
        Table* const pointers = child(m_root.entries[index_in(TableLevel::root, address)]);
        Table* const directory =
            pointers != nullptr ? child(pointers->entries[index_in(TableLevel::pointers, address)]) : nullptr;
        if (directory == nullptr) {
            return lib::Error::no_space;
        }
        directory->entries[index_in(TableLevel::directory, address)] = large_entry(address);
        return {};
    }

    [[nodiscard]] bool maps(std::uint64_t address) const {
        const Table* table = &m_root;
        for (const TableLevel level :
             {TableLevel::root, TableLevel::pointers, TableLevel::directory, TableLevel::pages}) {
            const std::uint64_t entry = table->entries[index_in(level, address)];
            if ((entry & kPresent) == 0) {
                return false;
            }
            if (level == TableLevel::pages || (level != TableLevel::root && (entry & kLarge) != 0)) {
                return address < kAddressLimit;
            }
            table = table_at(entry);
        }
        return false;
    }

  private:
    struct alignas(kPageBytes) Table {
        std::array<std::uint64_t, kEntries> entries;
    };

    [[nodiscard]] static std::uint64_t address_of(const Table& table) {
        return reinterpret_cast<std::uint64_t>(&table);
    }

    [[nodiscard]] static Table* table_at(std::uint64_t entry) { return reinterpret_cast<Table*>(entry & kAddressMask); }

    [[nodiscard]] std::uint64_t& fine_entry(std::uint64_t address) {
        return m_fine[address / kLargePageBytes].entries[index_in(TableLevel::pages, address)];
    }

    [[nodiscard]] std::uint64_t& low_entry(std::uint64_t address) {
        return m_low_directories[index_in(TableLevel::pointers, address)]
            .entries[index_in(TableLevel::directory, address)];
    }

    // Returns the table that an entry points to, and creates it if necessary; it returns null when the spare ones are
    // used up.
    [[nodiscard]] Table* child(std::uint64_t& entry) {
        if ((entry & kPresent) == 0) {
            if (m_spare_used == kSpareTables) {
                return nullptr;
            }
            entry = table_entry(address_of(m_spare[m_spare_used++]));
        }
        return table_at(entry);
    }

    // Splits one page of 2 MiB into 512 of 4 KiB with the same rights.
    void split(std::uint64_t& entry, std::uint64_t base) {
        ASSERT(m_spare_used < kSpareTables);
        Table& pages = m_spare[m_spare_used++];
        for (std::size_t i = 0; i < kEntries; ++i) {
            pages.entries[i] = part_of_large(entry, base + i * kPageBytes);
        }
        entry = table_entry(address_of(pages));
    }

    Table m_root{};
    Table m_low_pointers{};
    std::array<Table, (kLowBytes >> 30)> m_low_directories{};
    std::array<Table, kFineBytes / kLargePageBytes> m_fine{};
    std::array<Table, kSpareTables> m_spare{};
    std::size_t m_spare_used = 0;
};

} // namespace arch::x86_64
