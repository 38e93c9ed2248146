// SPDX-License-Identifier: MIT
// A tlog record has 16 bytes, big-endian, in the layout of the published document or in the older one of the OpenMP
// runtime. The functions have no state and no input or output; the reader, the writer and the C library share them.
//
//   current  0         2      3      4        8                16
//            +---------+------+------+--------+----------------+
//            | process | type | arg1 |  arg2  |  time, seconds |    process, arg2 and time are swapped on x86
//            +---------+------+------+--------+----------------+
//   openmp   0      1         2      4        8                16
//            +------+---------+------+--------+----------------+
//            | type | process | arg1 |  arg2  |  time, seconds |
//            +------+---------+------+--------+----------------+
#pragma once

#include "lib/endian.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace host::formats::tlog {

inline constexpr std::size_t kRecordBytes = 16;
inline constexpr std::size_t kBlockBytes = 1024; // a process has whole blocks; the rest of its last block is zero
inline constexpr std::uint8_t kUndefined = 0;    // an unused slot

enum class Layout : std::uint8_t { current, openmp };

struct Record {
    std::uint16_t process = 0;
    std::uint8_t type = kUndefined;
    std::uint16_t arg1 = 0; // current layout: 8 bits
    std::uint32_t arg2 = 0;
    double seconds = 0; // any value that the file has

    [[nodiscard]] bool undefined() const { return type == kUndefined; }
};

// Precondition: bytes.size() >= kRecordBytes.
[[nodiscard]] inline Record decode(std::span<const std::byte> bytes, Layout layout) {
    const auto seconds = std::bit_cast<double>(lib::load_be<std::uint64_t>(bytes.subspan(8)));
    const auto arg2 = lib::load_be<std::uint32_t>(bytes.subspan(4));
    const auto byte = [&](std::size_t at) { return std::to_integer<std::uint8_t>(bytes[at]); };
    if (layout == Layout::openmp) {
        return {byte(1), byte(0), lib::load_be<std::uint16_t>(bytes.subspan(2)), arg2, seconds};
    }
    return {lib::load_be<std::uint16_t>(bytes), byte(2), byte(3), arg2, seconds};
}

// Encodes in the current layout. Precondition: bytes.size() >= kRecordBytes.
inline void encode(const Record& record, std::span<std::byte> bytes) {
    static_assert(std::endian::native == std::endian::little, "words are turned round");
    const std::uint64_t first = std::uint64_t{record.process} << 48 | std::uint64_t{record.type} << 40 |
                                std::uint64_t{record.arg1 & 0xFFU} << 32 | record.arg2;
    const std::uint64_t words[] = {__builtin_bswap64(first),
                                   __builtin_bswap64(std::bit_cast<std::uint64_t>(record.seconds))};
    static_assert(sizeof words == kRecordBytes);
    __builtin_memcpy(bytes.data(), words, sizeof words);
}

// The nanoseconds of times up to this one fit into 63 bits.
inline constexpr double kSecondsMax = 9.2e9;

// Returns the nearest count of nanoseconds, or nothing if the time is no number, negative or beyond kSecondsMax. A time
// that was written from whole nanoseconds is exact below 10^6 s, where a double resolves a tenth of a nanosecond.
[[nodiscard]] inline std::optional<std::uint64_t> to_nanoseconds(double seconds) {
    if (!(seconds >= 0 && seconds <= kSecondsMax)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

} // namespace host::formats::tlog
