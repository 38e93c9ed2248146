// SPDX-License-Identifier: MIT
// Tests the identity map as a processor sees it: a model of the walk through the tables states what may be done where.
#include "arch/x86_64/address_space.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace arch::x86_64 {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr ImageParts kImage{kMiB, kMiB + 10 * kPage, kMiB + 10 * kPage, kMiB + 13 * kPage};

struct View {
    std::uint64_t address;
    bool writable;
    bool executable;
    bool cached;

    bool operator==(const View&) const = default;
};

// Intel SDM volume 3, figure 4-8: a right is one that every level gives.
std::optional<View> look(std::uint64_t root, std::uint64_t address) {
    View view{0, true, true, true};
    std::uint64_t table = root;
    for (int level = 4; level > 0; --level) {
        const int shift = 12 + 9 * (level - 1);
        const std::uint64_t entry = std::bit_cast<const std::uint64_t*>(table)[(address >> shift) & 0x1FF];
        if ((entry & 1) == 0) {
            return std::nullopt;
        }
        view.writable = view.writable && (entry & 2) != 0;
        view.executable = view.executable && (entry >> 63) == 0;
        const bool is_page = level == 1 || (level < 4 && (entry & 0x80) != 0);
        table = entry & 0x000F'FFFF'FFFF'F000;
        if (is_page) {
            const std::uint64_t inside = (std::uint64_t{1} << shift) - 1;
            view.address = (table & ~inside) | (address & inside);
            view.cached = (entry & 0x18) == 0;
            EXPECT_EQ(entry & inside & 0x000F'FFFF'FFFF'E000, 0U) << "reserved bits of a large page";
            EXPECT_TRUE(level != 1 || (entry & 0x80) == 0) << "in a small page it selects another kind of memory";
            return view;
        }
    }
    return std::nullopt;
}

std::optional<View> look(const PageTables& tables, std::uint64_t address) {
    return look(tables.root(), address);
}

View data(std::uint64_t address) {
    return {address, true, false, true};
}

View device(std::uint64_t address) {
    return {address, true, false, false};
}

class IdentityMap : public testing::Test {
  protected:
    void SetUp() override { m_tables->fill(kImage); }

    // The pages that are absent between two addresses, by their numbers.
    [[nodiscard]] std::set<std::uint64_t> absent(std::uint64_t begin, std::uint64_t end) const {
        std::set<std::uint64_t> pages;
        for (std::uint64_t address = begin; address < end; address += kPage) {
            if (!look(*m_tables, address)) {
                pages.insert(address);
            }
        }
        return pages;
    }

    std::unique_ptr<PageTables> m_tables = std::make_unique<PageTables>();
};

TEST_F(IdentityMap, MapsEachAddressBelow4GiBToItselfAndNothingAbove) {
    for (std::uint64_t address = kPage; address < 4 * kGiB; address += address < 8 * kMiB ? kPage : 512 * kPage) {
        ASSERT_EQ(look(*m_tables, address + 5).value_or(View{}).address, address + 5);
        ASSERT_TRUE(m_tables->maps(address + 5));
    }
    for (const std::uint64_t address : {4 * kGiB, 512 * kGiB, (std::uint64_t{1} << 47) - kPage}) {
        EXPECT_FALSE(look(*m_tables, address));
        EXPECT_FALSE(m_tables->maps(address));
    }
}

TEST_F(IdentityMap, HasNoPage0) {
    EXPECT_EQ(absent(0, 8 * kMiB), (std::set<std::uint64_t>{0}));
    EXPECT_FALSE(m_tables->maps(0));
    EXPECT_FALSE(m_tables->maps(kPage - 1));
    EXPECT_TRUE(m_tables->maps(kPage));
}

TEST_F(IdentityMap, LetsNoPageBeWrittenAndExecuted) {
    for (std::uint64_t address = kPage; address < 4 * kGiB; address += address < 8 * kMiB ? kPage : 512 * kPage) {
        const View view = look(*m_tables, address).value_or(View{});
        const bool is_text = address >= kImage.text_begin && address < kImage.text_end;
        const bool is_constant = address >= kImage.rodata_begin && address < kImage.rodata_end;
        ASSERT_EQ(view.executable, is_text) << std::hex << address;
        ASSERT_EQ(view.writable, !is_text && !is_constant) << std::hex << address;
    }
}

TEST_F(IdentityMap, CachesMemoryAndNoDevice) {
    for (std::uint64_t address = kPage; address < 4 * kGiB; address += address < 8 * kMiB ? kPage : 512 * kPage) {
        ASSERT_EQ(look(*m_tables, address).value_or(View{}).cached, address < 3 * kGiB) << std::hex << address;
    }
}

TEST_F(IdentityMap, LosesAGuardPageAndNoOther) {
    for (const std::uint64_t guard : {2 * kMiB - kPage, 8 * kMiB - kPage, 8 * kMiB, 32 * kMiB + 5 * kPage}) {
        m_tables->unmap(guard);
    }
    EXPECT_EQ(absent(kPage, 40 * kMiB),
              (std::set{2 * kMiB - kPage, 8 * kMiB - kPage, 8 * kMiB, 32 * kMiB + 5 * kPage}));
    for (std::uint64_t address = 32 * kMiB; address < 34 * kMiB; address += kPage) {
        if (address != 32 * kMiB + 5 * kPage) {
            ASSERT_EQ(look(*m_tables, address + 1), data(address + 1));
        }
    }
    EXPECT_FALSE(m_tables->maps(32 * kMiB + 5 * kPage + 7));
    EXPECT_TRUE(m_tables->maps(32 * kMiB + 6 * kPage));
}

TEST_F(IdentityMap, KeepsWhatADevicesPagesAreWhenTheyAreDivided) {
    m_tables->unmap(0xFEE0'0000);
    EXPECT_FALSE(look(*m_tables, 0xFEE0'0000));
    EXPECT_EQ(look(*m_tables, 0xFEE0'1000), device(0xFEE0'1000));
    EXPECT_EQ(look(*m_tables, 0xFEFF'FFFF), device(0xFEFF'FFFF));
}

// Of 2 MiB, the first guard divides the page; the spare tables are for that and for memory above 4 GiB.
TEST_F(IdentityMap, TakesOneTableForAllGuardsIn2MiB) {
    for (std::uint64_t i = 0; i < PageTables::kSpareTables; ++i) {
        for (const std::uint64_t page : {0U, 5U, 511U}) {
            m_tables->unmap(32 * kMiB + i * 2 * kMiB + page * kPage);
        }
    }
    EXPECT_EQ(absent(32 * kMiB, 32 * kMiB + PageTables::kSpareTables * 2 * kMiB).size(), 3 * PageTables::kSpareTables);
    EXPECT_EQ(m_tables->map_large(4 * kGiB).error(), lib::Error::no_space);
    EXPECT_EQ(absent(4 * kGiB, 4 * kGiB + 2 * kPage).size(), 2U);
}

TEST_F(IdentityMap, ChangesTheUseOfOnePage) {
    m_tables->set(0x8000, PageUse::code);
    EXPECT_EQ(look(*m_tables, 0x8010), (View{0x8010, false, true, true}));
    m_tables->set(0x8000, PageUse::constants);
    EXPECT_EQ(look(*m_tables, 0x8010), (View{0x8010, false, false, true}));
    m_tables->set(0, PageUse::constants);
    EXPECT_EQ(look(*m_tables, 0x10), (View{0x10, false, false, true}));
    m_tables->set(0, PageUse::absent);
    m_tables->set(0x8000, PageUse::data);
    EXPECT_EQ(look(*m_tables, 0x8010), data(0x8010));
    EXPECT_EQ(look(*m_tables, 0x7010), data(0x7010));
    EXPECT_EQ(look(*m_tables, 0x9010), data(0x9010));
    EXPECT_EQ(absent(0, kMiB), (std::set<std::uint64_t>{0}));
}

TEST_F(IdentityMap, MapsMemoryAbove4GiBWhereItIs) {
    constexpr std::uint64_t kHigh = (std::uint64_t{1} << 46) + 7 * kGiB;
    for (const std::uint64_t page : {4 * kGiB, 4 * kGiB + 2 * kMiB, 512 * kGiB - 2 * kMiB, 512 * kGiB, kHigh}) {
        ASSERT_TRUE(m_tables->map_large(page).ok());
        EXPECT_EQ(look(*m_tables, page), data(page));
        EXPECT_EQ(look(*m_tables, page + 2 * kMiB - 1), data(page + 2 * kMiB - 1));
        EXPECT_TRUE(m_tables->maps(page + 2 * kMiB - 1));
    }
    EXPECT_FALSE(look(*m_tables, 4 * kGiB + 4 * kMiB));
    EXPECT_FALSE(look(*m_tables, kHigh - 1));
}

// Two tables for the first page in 512 GiB, one for each further GiB in them, none for further pages in it.
TEST_F(IdentityMap, TakesTablesForMemoryAbove4GiBOnceAndSaysWhenTheyAreUsedUp) {
    const std::uint64_t first = 512 * kGiB;
    for (std::uint64_t i = 0; i < PageTables::kSpareTables - 1; ++i) {
        ASSERT_TRUE(m_tables->map_large(first + i * kGiB).ok());
        ASSERT_TRUE(m_tables->map_large(first + i * kGiB + 2 * kMiB).ok());
    }
    EXPECT_EQ(m_tables->map_large(first + 100 * kGiB).error(), lib::Error::no_space);
    EXPECT_EQ(m_tables->map_large(1024 * kGiB).error(), lib::Error::no_space);
    EXPECT_TRUE(m_tables->map_large(first + 4 * kMiB).ok());
    EXPECT_EQ(look(*m_tables, first), data(first));
}

// The upper bits are not part of the walk: the processor refuses such an address before.
TEST_F(IdentityMap, DoesNotContainAddressesThatAProcessorRefuses) {
    EXPECT_TRUE(m_tables->maps(kMiB));
    EXPECT_FALSE(m_tables->maps((std::uint64_t{1} << 48) + kMiB));
    EXPECT_FALSE(m_tables->maps(~std::uint64_t{0} << 48 | kMiB));
}

TEST(LargePagesAround, BeginAt4GiBAndCoverTheRange) {
    const auto around = [](std::uint64_t address, std::uint64_t size) {
        const auto pages = PageTables::large_pages_around(address, size);
        EXPECT_TRUE(pages.ok());
        std::set<std::uint64_t> all;
        for (std::uint64_t page = pages.value().begin; page < pages.value().end; page += 2 * kMiB) {
            all.insert(page);
        }
        return all;
    };
    const std::uint64_t begin = 5 * kGiB;
    EXPECT_EQ(around(begin, 1), (std::set{begin}));
    EXPECT_EQ(around(begin, 2 * kMiB), (std::set{begin}));
    EXPECT_EQ(around(begin, 2 * kMiB + 1), (std::set{begin, begin + 2 * kMiB}));
    EXPECT_EQ(around(begin + 2 * kMiB - 1, 2), (std::set{begin, begin + 2 * kMiB}));
    EXPECT_EQ(around(4 * kGiB - kMiB, 2 * kMiB), (std::set{4 * kGiB})) << "below, everything is mapped";
    EXPECT_EQ(around(kGiB, kGiB), std::set<std::uint64_t>{});
}

TEST(LargePagesAround, AreNoneOfARangeThatWrapsOrLeavesTheAddressSpace) {
    constexpr std::uint64_t kEnd = std::uint64_t{1} << 47;
    EXPECT_TRUE(PageTables::large_pages_around(kEnd - kPage, kPage).ok());
    EXPECT_EQ(PageTables::large_pages_around(kEnd - kPage, kPage + 1).error(), lib::Error::invalid_argument);
    EXPECT_EQ(PageTables::large_pages_around(kEnd, 0).error(), lib::Error::invalid_argument);
    EXPECT_EQ(PageTables::large_pages_around(5 * kGiB, ~std::uint64_t{0}).error(), lib::Error::invalid_argument);
}

// Knows the order in which it was set up, and what the tables said of a page when it had to forget it.
struct FakeProcessor {
    using Forgotten = std::vector<std::pair<std::uint64_t, std::optional<View>>>;

    static inline std::vector<const char*> steps{};
    static inline std::uint64_t root = 0;
    static inline Forgotten forgotten{};

    static void enable_no_execute() { steps.push_back("no execute"); }

    static void enable_write_protection() { steps.push_back("write protection"); }

    static void use_root(std::uint64_t address) {
        steps.push_back("root");
        root = address;
        EXPECT_EQ(look(root, 2 * kMiB), data(2 * kMiB)) << "the tables are filled before they are used";
    }

    static void flush(std::uint64_t address) { forgotten.emplace_back(address, look(root, address)); }
};

class AddressSpaces : public testing::Test {
  protected:
    using Forgotten = FakeProcessor::Forgotten;

    AddressSpaces() {
        FakeProcessor::steps.clear();
        FakeProcessor::forgotten.clear();
        m_space->load(kImage);
    }

    std::unique_ptr<AddressSpace<FakeProcessor>> m_space = std::make_unique<AddressSpace<FakeProcessor>>();
};

TEST_F(AddressSpaces, EnableWhatTheEntriesNeedBeforeTheyAreUsed) {
    ASSERT_EQ(FakeProcessor::steps.size(), 3U);
    EXPECT_STREQ(FakeProcessor::steps[0], "no execute");
    EXPECT_STREQ(FakeProcessor::steps[2], "root");
}

TEST_F(AddressSpaces, ForgetAPageAfterItWasChanged) {
    m_space->unmap(2 * kMiB);
    m_space->unmap(100 * kMiB); // of a large page
    m_space->set(16 * kPage, PageUse::code);
    EXPECT_EQ(FakeProcessor::forgotten, (Forgotten{{2 * kMiB, std::nullopt},
                                                   {100 * kMiB, std::nullopt},
                                                   {16 * kPage, View{16 * kPage, false, true, true}}}));
    EXPECT_FALSE(m_space->maps(100 * kMiB));
    EXPECT_TRUE(m_space->maps(100 * kMiB + kPage));
}

TEST_F(AddressSpaces, ForgetEachPageThatIsMapped) {
    EXPECT_TRUE(m_space->map(5 * kGiB + kMiB, 2 * kMiB).ok());
    EXPECT_EQ(FakeProcessor::forgotten,
              (Forgotten{{5 * kGiB, data(5 * kGiB)}, {5 * kGiB + 2 * kMiB, data(5 * kGiB + 2 * kMiB)}}));
    EXPECT_FALSE(m_space->maps(5 * kGiB + 4 * kMiB));
    EXPECT_EQ(m_space->map(5 * kGiB, ~std::uint64_t{0}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(m_space->map(6 * kGiB, std::uint64_t{1} << 40).error(), lib::Error::no_space);
}

} // namespace
} // namespace arch::x86_64
