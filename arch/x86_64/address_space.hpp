// SPDX-License-Identifier: MIT
// Puts the page tables into force, and changes them while they are: after each change the processor forgets the page.
// The processor is a policy: the real one (paging.cpp), or a test's. Context: irq-off.
#pragma once

#include "arch/x86_64/page_tables.hpp"

namespace arch::x86_64 {

// enable_no_execute() and enable_write_protection() set what the entries of the tables need, use_root() sets CR3, and
// flush() forgets what the processor knows of a page.
template <typename Processor>
concept PagingProcessor = requires(std::uint64_t address) {
    Processor::enable_no_execute();
    Processor::enable_write_protection();
    Processor::use_root(address);
    Processor::flush(address);
};

template <PagingProcessor Processor>
class AddressSpace {
  public:
    constexpr AddressSpace() = default;

    void load(const ImageParts& image) {
        m_tables.fill(image);
        Processor::enable_no_execute(); // its bit is reserved before, so a table with it would fault
        Processor::enable_write_protection();
        Processor::use_root(m_tables.root());
    }

    void unmap(std::uint64_t address) {
        m_tables.unmap(address);
        Processor::flush(address);
    }

    void set(std::uint64_t address, PageUse use) {
        m_tables.set(address, use);
        Processor::flush(address);
    }

    [[nodiscard]] lib::Result<void> map(std::uint64_t address, std::uint64_t size_bytes) {
        const auto range = PageTables::large_pages_around(address, size_bytes);
        if (!range.ok()) {
            return range.error();
        }
        for (std::uint64_t page = range.value().begin; page < range.value().end; page += kLargePageBytes) {
            if (const auto mapped = m_tables.map_large(page); !mapped.ok()) {
                return mapped;
            }
            Processor::flush(page);
        }
        return {};
    }

    [[nodiscard]] bool maps(std::uint64_t address) const { return m_tables.maps(address); }

  private:
    PageTables m_tables{};
};

} // namespace arch::x86_64
