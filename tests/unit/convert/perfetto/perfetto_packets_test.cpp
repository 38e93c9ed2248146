// SPDX-License-Identifier: MIT
// What is written in place has the bytes that protozero writes.
#include "convert/perfetto/perfetto_packets.hpp"

#include <array>
#include <gtest/gtest.h>
#include <random>

namespace host::convert::perfetto {

namespace {

std::string encoded(std::uint64_t value) {
    std::array<char, kVarintMax> bytes{};
    return {bytes.data(), put_varint(bytes.data(), value)};
}

std::string expected(std::uint64_t value) {
    std::string bytes;
    protozero::add_varint_to_buffer(&bytes, value);
    return bytes;
}

} // namespace

TEST(PerfettoPackets, HaveTheVarintsOfTheFormat) {
    std::mt19937_64 random(1);
    for (unsigned bits = 0; bits < 64; ++bits) {
        const std::uint64_t power = std::uint64_t{1} << bits;
        for (const std::uint64_t value :
             {power - 1, power, power + 1, power | (random() & (power - 1)), ~(power - 1)}) {
            EXPECT_EQ(encoded(value), expected(value)) << value;
            EXPECT_EQ(varint_bytes(value), expected(value).size()) << value;
        }
    }
}

// Of lengths around those at which the length takes one byte more, in all divisions between what is written in place
// and what the caller adds.
TEST(PerfettoPackets, HaveMessagesOfAnyLength) {
    for (const std::size_t length : {0U, 1U, 126U, 127U, 128U, 129U, 16'383U, 16'384U}) {
        for (const std::size_t in_place : {std::size_t{0}, length / 2, length}) {
            std::string whole;
            protozero::pbf_writer(whole).add_string(60, std::string(length, 'x'));
            std::string more;
            std::vector<char> out(kFrameMax + length + 8);
            const char* const end = put_message(
                out.data(), Packet::track_descriptor,
                [&](char* at) {
                    more.assign(length - in_place, 'x');
                    return std::fill_n(at, in_place, 'x');
                },
                more);
            EXPECT_EQ(std::string(out.data(), static_cast<std::size_t>(end - out.data())) + more, whole)
                << length << ", " << in_place;
        }
    }
}

} // namespace host::convert::perfetto
