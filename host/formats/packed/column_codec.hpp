// SPDX-License-Identifier: MIT
// Packs a block of trace records as columns, which makes it small. The contents of events repeat and are predicted from
// the events before. Their times cannot be predicted and are stored with as many bits as they need.
// docs/packed-format.md describes the bytes. Any multiple of 16 bytes is preserved unchanged, whatever its contents.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "tracer/record/record.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::formats::packed {

// The greatest block, in bytes of raw records. No more is allocated, whatever a file states.
inline constexpr std::size_t kRawBytesMax = std::size_t{1} << 20;

inline constexpr trace::Code kTrailing = "W-TRAIL";

// States what is wrong with a body, and where.
struct Fault {
    std::optional<trace::Code> code; // none: the body is valid; kTrailing: it is valid, and bytes follow
    std::size_t in_bytes = 0;        // bytes of the body that were read
    std::size_t out_bytes = 0;       // bytes that were decoded before the fault
    std::string text;
};

class ColumnCodec {
  public:
    ColumnCodec();
    ~ColumnCodec();
    ColumnCodec(const ColumnCodec&) = delete;
    ColumnCodec& operator=(const ColumnCodec&) = delete;

    // Appends the body of a block of records to `body`. Precondition: a multiple of 16 bytes, at most kRawBytesMax.
    void pack_records(std::span<const std::byte> raw, std::vector<std::byte>& body);
    // Appends the body of a block of any bytes to `body`.
    void pack_bytes(std::span<const std::byte> raw, std::vector<std::byte>& body);

    // Fills `raw`, whose size the block's header states (at most kRawBytesMax). Without a fault all of `raw` was filled
    // and all of the body was used.
    [[nodiscard]] Fault unpack_records(std::span<const std::byte> body_untrusted, std::span<std::byte> raw);
    [[nodiscard]] Fault unpack_bytes(std::span<const std::byte> body_untrusted, std::span<std::byte> raw);

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

// Guesses the contents of a record (code and both parameters, not its time) from the records before it. Packing and
// unpacking make the same guesses from the same history, so a right guess costs almost nothing.

[[nodiscard]] inline std::uint64_t content_of(const tracer::Record& record) {
    return record.code | (std::uint64_t{record.par1} << 16) | (std::uint64_t{record.par2} << 32);
}

// The guess that was right.
enum class Guess : std::uint8_t { long_memory, short_memory, none };

// Each memory keeps, for each context, the contents that followed it last. The context of the long memory is three
// records, which distinguishes tasks that make the same calls; that of the short memory is a single record, so that it
// learns at once.
class Prediction {
  public:
    [[nodiscard]] std::uint64_t from_long() const { return m_long[m_long_at]; }

    [[nodiscard]] std::uint64_t from_short() const { return m_short[m_short_at]; }

    void learn(std::uint64_t content) {
        m_long[m_long_at] = content;
        m_short[m_short_at] = content;
        // The bits of older records are shifted out, so that three records are left.
        m_history = (m_history << kBitsPerRecord) ^ mix(content);
        m_long_at = mix(m_history & kHistoryMask) >> (64 - kIndexBits);
        m_short_at = mix(content) >> (64 - kIndexBits);
    }

  private:
    static constexpr unsigned kIndexBits = 13;
    static constexpr unsigned kBitsPerRecord = 20;
    static constexpr std::uint64_t kHistoryMask = (std::uint64_t{1} << (3 * kBitsPerRecord)) - 1;

    // This is 2^64 divided by the golden ratio, which puts neighbours far apart, in the upper bits.
    [[nodiscard]] static std::uint64_t mix(std::uint64_t value) {
        constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;
        value *= kGolden;
        return value ^ (value >> 32);
    }

    std::array<std::uint64_t, std::size_t{1} << kIndexBits> m_long{};
    std::array<std::uint64_t, std::size_t{1} << kIndexBits> m_short{};
    std::uint64_t m_history = 0;
    std::size_t m_long_at = 0;
    std::size_t m_short_at = 0;
};

// The distance between two stamps is a symbol and the bits that follow it. The symbol has the magnitude and the three
// bits after the leading one: an entropy code makes it smaller, because most distances have a few magnitudes. The bits
// below are stored uncoded: they are nearly random, and no code makes random bits smaller.
//
//   symbol 0 to 15:   the distance itself, no bits
//   symbol 16 to 239: magnitude 5 to 32 (bits that the distance has), 8 symbols for each; magnitude - 4 bits follow
//   symbol 255:       the stamp itself follows, 64 bits: time falls, or nothing happened for 2^32 ticks
inline constexpr std::uint8_t kEscapeSymbol = 255;
inline constexpr unsigned kSymbolBits = 3; // bits after the leading one
inline constexpr std::uint64_t kDirect = 16;
inline constexpr unsigned kLeastMagnitude = 5;
inline constexpr unsigned kGreatestMagnitude = 32;

struct CodedDelta {
    std::uint8_t symbol;
    std::uint8_t bits; // number of bits that follow
    std::uint64_t rest;
};

// Returns the code of a delta. Precondition: delta < 2^32.
[[nodiscard]] constexpr CodedDelta code_delta(std::uint64_t delta) {
    if (delta < kDirect) {
        return {static_cast<std::uint8_t>(delta), 0, 0};
    }
    const auto magnitude = static_cast<unsigned>(std::bit_width(delta));
    const unsigned bits = magnitude - 1 - kSymbolBits;
    const auto top = static_cast<unsigned>(delta >> bits) & ((1U << kSymbolBits) - 1);
    return {static_cast<std::uint8_t>(kDirect + ((magnitude - kLeastMagnitude) << kSymbolBits) + top),
            static_cast<std::uint8_t>(bits), delta & ((std::uint64_t{1} << bits) - 1)};
}

[[nodiscard]] constexpr bool is_delta_symbol(std::uint8_t symbol) {
    return symbol < kDirect + ((kGreatestMagnitude - kLeastMagnitude + 1) << kSymbolBits);
}

// Precondition: is_delta_symbol() is true for the symbol.
[[nodiscard]] constexpr unsigned bits_after(std::uint8_t symbol) {
    return symbol < kDirect ? 0 : ((symbol - static_cast<unsigned>(kDirect)) >> kSymbolBits) + 1;
}

// Returns the distance with zeros in place of the bits that follow.
[[nodiscard]] constexpr std::uint64_t base_of(std::uint8_t symbol) {
    if (symbol < kDirect) {
        return symbol;
    }
    const std::uint64_t top = (symbol & ((1U << kSymbolBits) - 1)) | (1U << kSymbolBits);
    return top << bits_after(symbol);
}

static_assert(bits_after(16) == 1 && base_of(16) == 16 && code_delta(31).symbol == 23);
static_assert(code_delta(0xFFFF'FFFF).symbol == 239 && bits_after(239) == 28 && base_of(239) == 0xF000'0000);

} // namespace host::formats::packed
