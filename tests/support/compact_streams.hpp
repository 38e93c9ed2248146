// SPDX-License-Identifier: MIT
// Makes random chunks from a seed, and sends them through the encoder and back.
#pragma once

#include "tracer/compact/decoder.hpp"
#include "tracer/compact/encoder.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace tests {

using Bytes = std::vector<std::byte>;

[[nodiscard]] inline Bytes bytes_of(const std::vector<tracer::Record>& records) {
    Bytes bytes(records.size() * tracer::kRecordBytes);
    for (std::size_t i = 0; i < records.size(); ++i) {
        tracer::encode_record(records[i], std::span(bytes).subspan(i * tracer::kRecordBytes));
    }
    return bytes;
}

// Returns a workload with repetition (the same few events in the same order, like a periodic task) and exceptions: rare
// codes, wide parameters, fast-path bits, long events, single slots of broken ones, reserved bits, idle turns.
[[nodiscard]] inline std::vector<tracer::Record> random_records(std::uint64_t seed, std::size_t count) {
    using tracer::Combine;
    std::mt19937_64 random(seed);
    std::vector<tracer::Record> records;
    std::uint64_t tsc = random() >> (8 + random() % 40);
    const auto coded = [](unsigned code, Combine flag) {
        return static_cast<std::uint16_t>(code | static_cast<unsigned>(flag));
    };
    while (records.size() < count) {
        tsc += random() % 16 == 0 ? random() >> (24 + random() % 32) : random() % 2000;
        const lib::Ticks stamp{tsc};
        const auto low = static_cast<std::uint16_t>(random());
        const auto wide = static_cast<std::uint32_t>(random());
        switch (random() % 12) {
        case 0: {
            const std::size_t slots = 2 + random() % (random() % 8 == 0 ? 63 : 4);
            const auto code =
                static_cast<unsigned>(1 + random() % 255) | (random() % 4 == 0 ? tracer::kFastPathBit : 0U);
            for (std::size_t slot = 0; slot < slots; ++slot) {
                const Combine flag = slot == 0 ? Combine::first : slot + 1 == slots ? Combine::last : Combine::middle;
                records.push_back(tracer::make_record(coded(code, flag), static_cast<std::uint16_t>(random()),
                                                      static_cast<std::uint32_t>(random()), stamp));
            }
            break;
        }
        case 1: // values that no tracer writes, and remains of a broken long event
            records.push_back(tracer::make_record(low == 0 ? std::uint16_t{0x4001} : low, low, wide, stamp));
            break;
        case 2:
            records.push_back(tracer::make_record(static_cast<std::uint16_t>(1 + random() % 255), low, wide, stamp));
            break;
        case 3:
            records.push_back(tracer::make_record(0x8001, low, static_cast<std::uint32_t>(random() % 70'000), stamp));
            break;
        default:
            for (unsigned step = 0; step < 5; ++step) {
                tsc += 100 + random() % 10;
                records.push_back(tracer::make_record(static_cast<std::uint16_t>(0x10 * step + 2),
                                                      static_cast<std::uint16_t>(random() % 3), step, {tsc}));
            }
            break;
        }
    }
    return records;
}

[[nodiscard]] inline Bytes encoded(tracer::compact::Layout layout, const std::vector<tracer::Record>& records) {
    const auto encoder = std::make_unique<tracer::compact::Encoder>();
    const Bytes plain = bytes_of(records);
    encoder->begin(layout);
    EXPECT_TRUE(encoder->count(plain).ok());
    Bytes stream(encoder->plan());
    EXPECT_TRUE(encoder->start(stream).ok());
    EXPECT_TRUE(encoder->write(plain).ok());
    const auto bytes = encoder->finish();
    EXPECT_TRUE(bytes.ok());
    EXPECT_EQ(bytes.value(), stream.size()) << "the plan is exact";
    return stream;
}

struct Decoded {
    std::vector<tracer::Record> records;
    tracer::compact::Fault fault{};
    std::uint64_t offset = 0; // of the fault, or the end
};

// The stream ends where its memory ends, so that reading past it is detected. announced_bytes is the length stated by
// the chunk, window_bytes what the decoder gets at once.
inline void decode(std::span<const std::byte> stream, Decoded& decoded, tracer::compact::Decoder& decoder,
                   std::uint64_t announced_bytes, std::size_t window_bytes = ~std::size_t{0}) {
    using tracer::compact::Decoder;
    decoder.restart(announced_bytes);
    decoded.records.clear();
    Decoder::Step step{};
    do {
        const auto rest = stream.subspan(decoder.offset());
        step = decoder.next(rest.first(std::min(rest.size(), window_bytes)));
        decoded.records.insert(decoded.records.end(), decoder.records().begin(), decoder.records().end());
    } while (step == Decoder::Step::records);
    decoded.fault = decoder.fault();
    decoded.offset = decoder.offset();
}

[[nodiscard]] inline Decoded decode(const Bytes& stream) {
    const auto decoder = std::make_unique<tracer::compact::Decoder>();
    Decoded decoded;
    decode(stream, decoded, *decoder, stream.size());
    return decoded;
}

// Expects equal records, except for the granule of the layout's stamps.
inline void expect_same(const std::vector<tracer::Record>& got, const std::vector<tracer::Record>& expected,
                        unsigned lsb) {
    ASSERT_EQ(got.size(), expected.size());
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::uint64_t stamp = got[i].stamp().value;
        const std::uint64_t true_stamp = expected[i].stamp().value;
        ASSERT_EQ(got[i].code, expected[i].code) << "record " << i;
        ASSERT_EQ(got[i].par1, expected[i].par1) << "record " << i;
        ASSERT_EQ(got[i].par2, expected[i].par2) << "record " << i;
        ASSERT_LE(stamp, true_stamp) << "record " << i;
        ASSERT_LT(true_stamp - stamp, std::uint64_t{1} << lsb) << "record " << i;
        ASSERT_GE(stamp, last) << "record " << i;
        last = stamp;
    }
}

} // namespace tests
