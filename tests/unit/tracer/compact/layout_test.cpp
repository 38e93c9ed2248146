// SPDX-License-Identifier: MIT
// Tests the headers bit by bit, and the error when ids are exhausted.
#include "tracer/compact/layout.hpp"
#include "tracer/compact/stream_header.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace layout_test {

using namespace tracer::compact;

constexpr std::uint64_t kTsc = 0x0123'4567'89AB'CDEF;

TEST(CompactLayout, PacksTheVectorsWorkedOutByHand) {
    struct Vector {
        Layout layout;
        std::uint32_t id;
        std::uint32_t word;
        std::uint32_t time;
    };

    constexpr auto kVectors = std::to_array<Vector>({
        {Layout::a, 0xB, 0xD9AB'CDEF, 0x01AB'CDEF},        // 1 1011, 27 bits of 0x89ABCDEF
        {Layout::b, 0xB, 0xDC4D'5E6F, 0x044D'5E6F},        // 0x...6789ABCDEF >> 5
        {Layout::c, 0x15, 0xD626'AF37, 0x0226'AF37},       // 1 10101, >> 6
        {Layout::d, 0x2A, 0xD513'579B, 0x0113'579B},       // 1 101010, >> 7
        {Layout::plan12, 0xABC, 0xD5E4'D5E6, 0x0004'D5E6}, // 1 101010111100, >> 9
        {Layout::a2, 0x1B, 0xD9AB'CDEF, 0x01AB'CDEF},      // 11011, 27 bits
        {Layout::b2, 0x1B, 0xDC4D'5E6F, 0x044D'5E6F},      // >> 5
        {Layout::c2, 0x35, 0xD626'AF37, 0x0226'AF37},      // 110101, >> 6
        {Layout::d2, 0x6A, 0xD513'579B, 0x0113'579B},      // 1101010, >> 7
    });
    for (const Vector& vector : kVectors) {
        const LayoutRow& row = row_of(vector.layout);
        SCOPED_TRACE(row.name);
        EXPECT_EQ(pack_compact(row, vector.id, kTsc), vector.word);
        EXPECT_EQ(unpack_compact(row, vector.word), (CompactHeader{vector.id, vector.time}));
        EXPECT_TRUE(is_compact(row, vector.word));
        EXPECT_EQ(vector.time, (kTsc >> row.lsb) % (std::uint64_t{1} << row.tsc_bits));
    }
}

TEST(CompactLayout, PacksTheLargeHeader) {
    EXPECT_EQ(pack_large({.id = 0x0382, .size_bytes = 12}), 0x0382'000CU);
    EXPECT_EQ(unpack_large(0x0382'000C), (LargeHeader{0x0382, 12}));
    EXPECT_EQ(pack_large({.id = 0x7FFF, .size_bytes = 0xFFFF}), 0x7FFF'FFFFU); // the select bit stays 0
    EXPECT_EQ(kHeartbeatWord, 4U);
}

TEST(CompactLayout, FillsWholeWordsAtMultiplesOfFour) {
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        const unsigned bits = 0U + row.select_bits + row.id_bits + row.tsc_bits;
        EXPECT_EQ(bits + (row.has_compact_headers() ? 0U : 16U), row.has_compact_headers()   ? 32U
                                                                 : row.kind == Kind::large64 ? 64U
                                                                                             : 96U);
        for (std::size_t at = 0; at < 64; at += 4) {
            EXPECT_EQ((at + large_header_bytes(row, at)) % 4, 0U);
        }
    }
}

TEST(CompactLayout, Takes96Or128BitsByAddress) {
    const LayoutRow& row = row_of(Layout::large96);
    for (std::size_t at = 0; at < 64; at += 4) {
        EXPECT_EQ(large_header_bytes(row, at) * 8, at % 8 == 4 ? 96U : 128U);
        EXPECT_EQ((at + large_header_bytes(row, at)) % 8, 0U) << "the 64-bit stamp ends the header";
    }
}

TEST(CompactLayout, DistinguishesCompactLargeAndEscape) {
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        EXPECT_FALSE(is_compact(row, 0)) << "padding";
        EXPECT_FALSE(is_compact(row, kHeartbeatWord));
        if (!row.has_compact_headers()) {
            continue;
        }
        for (std::uint32_t id = row.first_id(); id < row.first_id() + row.ids(); ++id) {
            for (const std::uint64_t tsc : {std::uint64_t{0}, ~std::uint64_t{0}}) {
                const std::uint32_t word = pack_compact(row, id, tsc);
                EXPECT_TRUE(is_compact(row, word));
                EXPECT_EQ(unpack_compact(row, word).id, id);
            }
        }
        if (row.kind == Kind::bare) {
            EXPECT_FALSE(is_compact(row, escape_word(row)));
        }
    }
}

TEST(CompactIdMap, RefusesWhatTheLayoutHasNoIdFor) {
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        IdMap map(row.layout);
        for (std::uint32_t i = 0; i < map.capacity(); ++i) {
            const auto id = map.add({.code = 1, .form = Form::word});
            ASSERT_TRUE(id.ok());
            EXPECT_EQ(id.value(), row.first_id() + i);
            EXPECT_LT(id.value(), 1U << row.id_bits);
        }
        EXPECT_EQ(map.add({.code = 1, .form = Form::word}).error(), lib::Error::no_space);
        EXPECT_EQ(map.size(), map.capacity());
        EXPECT_EQ(map.find(row.first_id() + map.size()), nullptr);
        EXPECT_EQ(map.find(row.first_id() - 1), nullptr);
    }
    IdMap map(Layout::a);
    EXPECT_EQ(map.add({.code = 1, .form = Form::large}).error(), lib::Error::invalid_argument);
    EXPECT_EQ(map.capacity(), 16U);
}

TEST(CompactIdMap, GivesTheLiveWriterOneHeaderPerEvent) {
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        const LiveHeaders headers = live_headers(row.layout);
        std::set<std::uint32_t> ids;
        for (std::size_t code = 0; code < headers.size(); ++code) {
            if (headers[code] == 0) {
                continue;
            }
            const auto form = static_cast<Form>(headers[code] & 3);
            EXPECT_TRUE(form == Form::none || form == Form::word);
            EXPECT_TRUE(is_compact(row, headers[code]));
            EXPECT_EQ(unpack_compact(row, headers[code]).time & ~3U, 0U);
            EXPECT_TRUE(ids.insert(unpack_compact(row, headers[code]).id).second) << "an id twice";
            EXPECT_NE(tracer::find_event(static_cast<std::uint8_t>(code)), nullptr);
        }
        EXPECT_EQ(ids.size(), live_map(row.layout).size());
    }
    for (const auto headers = live_headers(Layout::plan12); const tracer::EventRow& event : tracer::kEvents) {
        if (event.shape == tracer::Shape::simple && event.code != 0) {
            const bool bare = event.par1.unit == tracer::Unit::none && event.par2.unit == tracer::Unit::none;
            EXPECT_EQ(headers[event.code] & 3, static_cast<unsigned>(bare ? Form::none : Form::word)) << event.name;
        }
    }
    const LiveHeaders few = live_headers(Layout::a);
    EXPECT_EQ(few[tracer::event_code("timer_wakeup_start")] & 3, 1U);
    EXPECT_EQ(few[tracer::event_code("task_schedule")] & 3, 2U);
    EXPECT_EQ(few[tracer::event_code("user_event_14")], 0U) << "16 ids are for the frequent ones";
    EXPECT_NE(live_headers(Layout::d2)[tracer::event_code("user_event_14")], 0U);
    EXPECT_EQ(few[tracer::event_code("chunk_begin")], 0U) << "long events have no compact header";
}

} // namespace layout_test
