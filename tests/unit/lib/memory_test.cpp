// SPDX-License-Identifier: MIT
// Tests the kernel's own memcpy() and its kin, beside those of this machine: every size up to some blocks, every
// alignment of both sides, and every overlap. They are compiled here by other names.
#define memcpy kernel_memcpy   // NOLINT(bugprone-reserved-identifier)
#define memmove kernel_memmove // NOLINT(bugprone-reserved-identifier)
#define memset kernel_memset   // NOLINT(bugprone-reserved-identifier)
#define memcmp kernel_memcmp   // NOLINT(bugprone-reserved-identifier)
#define memchr kernel_memchr   // NOLINT(bugprone-reserved-identifier)
#define strlen kernel_strlen   // NOLINT(bugprone-reserved-identifier)
#include "lib/memory.cpp"      // NOLINT(bugprone-suspicious-include)
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen

#include <gtest/gtest.h>

#include <cstring>

namespace lib {

namespace {

constexpr std::size_t kSizeMax = 3 * 32 + 9;
constexpr std::size_t kAlignments = 8;
using Bytes = std::array<unsigned char, 2 * (kSizeMax + kAlignments)>;

Bytes numbered() {
    Bytes bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<unsigned char>(i * 7 + 1);
    }
    return bytes;
}

} // namespace

TEST(Memory, CopiesEverySizeAtEveryAlignmentAndNothingElse) {
    const Bytes from = numbered();
    for (std::size_t size = 0; size <= kSizeMax; ++size) {
        for (std::size_t at = 0; at < kAlignments; ++at) {
            Bytes copied{};
            Bytes expected{};
            ASSERT_EQ(kernel_memcpy(copied.data() + at, from.data() + 3, size), copied.data() + at);
            std::memcpy(expected.data() + at, from.data() + 3, size);
            ASSERT_EQ(copied, expected) << size << " bytes to " << at;
        }
    }
}

TEST(Memory, MovesOverItselfInBothDirections) {
    for (std::size_t size = 0; size <= kSizeMax; ++size) {
        for (std::size_t apart = 0; apart <= 40; ++apart) {
            Bytes up = numbered();
            Bytes down = up;
            Bytes expected_up = up;
            Bytes expected_down = up;
            ASSERT_EQ(kernel_memmove(up.data() + apart, up.data(), size), up.data() + apart);
            std::memmove(expected_up.data() + apart, expected_up.data(), size);
            kernel_memmove(down.data(), down.data() + apart, size);
            std::memmove(expected_down.data(), expected_down.data() + apart, size);
            ASSERT_EQ(up, expected_up) << size << " bytes, " << apart << " up";
            ASSERT_EQ(down, expected_down) << size << " bytes, " << apart << " down";
        }
    }
}

TEST(Memory, SetsEverySizeAtEveryAlignmentAndNothingElse) {
    for (std::size_t size = 0; size <= kSizeMax; ++size) {
        for (std::size_t at = 0; at < kAlignments; ++at) {
            Bytes set{};
            Bytes expected{};
            ASSERT_EQ(kernel_memset(set.data() + at, 0x1A5, size), set.data() + at);
            std::memset(expected.data() + at, 0xA5, size);
            ASSERT_EQ(set, expected) << size << " bytes at " << at;
        }
    }
}

TEST(Memory, ComparesByTheFirstByteThatDiffers) {
    const Bytes left = numbered();
    for (std::size_t size = 0; size <= kSizeMax; ++size) {
        EXPECT_EQ(kernel_memcmp(left.data(), left.data(), size), 0);
        for (std::size_t at = 0; at < size; ++at) {
            Bytes right = left;
            right[at] = static_cast<unsigned char>(left[at] ^ 0x80U); // as a signed number, the order is another
            right[size] = static_cast<unsigned char>(left[size] + 1); // is not looked at
            right[size - 1] = static_cast<unsigned char>(right[size - 1] + (at + 1 < size ? 1 : 0));
            const int expected = left[at] < right[at] ? -1 : 1;
            ASSERT_EQ(kernel_memcmp(left.data(), right.data(), size), expected) << size << " bytes, " << at;
        }
    }
}

TEST(Memory, FindsBytesAndEnds) {
    const Bytes bytes = numbered();
    for (std::size_t size = 0; size < 40; ++size) {
        EXPECT_EQ(kernel_memchr(bytes.data(), bytes[20], size), size > 20 ? bytes.data() + 20 : nullptr) << size;
    }
    EXPECT_EQ(kernel_strlen(""), 0U);
    EXPECT_EQ(kernel_strlen("four"), 4U);
}

} // namespace lib
