// SPDX-License-Identifier: MIT
// Rows that come in turns come back one after the other, whatever their lengths.
#include "convert/row_spool.hpp"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace host::convert {

// Rows of no bytes, of less than a block, and of several, in pieces of any size, also longer than a block.
TEST(RowSpool, GivesEachRowBackAsItCame) {
    auto spool = RowSpool::create();
    ASSERT_TRUE(spool.ok());
    constexpr std::size_t kRows = 40;
    std::vector<std::vector<std::byte>> expected(kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
        EXPECT_EQ(spool.value().add_row(), row);
    }
    std::mt19937 random(1);
    for (int piece = 0; piece < 4000; ++piece) {
        const std::size_t row = 1 + random() % (kRows - 1) % (1 + random() % kRows); // the first ones more often
        std::vector<std::byte> bytes(piece % 500 == 0 ? 3 * RowSpool::kBlockBytes + random() % 100 : random() % 2000);
        for (std::byte& byte : bytes) {
            byte = static_cast<std::byte>(random());
        }
        spool.value().append(row, bytes);
        expected[row].insert(expected[row].end(), bytes.begin(), bytes.end());
    }
    std::vector<std::size_t> order(kRows);
    for (std::size_t row = 0; row < kRows; ++row) {
        order[row] = kRows - 1 - row;
    }
    std::vector<std::vector<std::byte>> found(kRows);
    std::vector<std::size_t> met;
    const auto read = spool.value().read(order, [&](std::size_t row, std::span<const std::byte> bytes) {
        EXPECT_LE(bytes.size(), RowSpool::kBlockBytes);
        found[row].insert(found[row].end(), bytes.begin(), bytes.end());
        if (met.empty() || met.back() != row) {
            met.push_back(row);
        }
    });
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(found, expected);
    EXPECT_EQ(met, order);
}

TEST(RowSpool, ReportsThatItTakesNothing) {
    RowSpool spool;
    const std::size_t row = spool.add_row();
    spool.append(row, std::vector<std::byte>(2 * RowSpool::kBlockBytes));
    EXPECT_FALSE(spool.read(std::array{row}, [](std::size_t, std::span<const std::byte>) {}).ok());
}

} // namespace host::convert
