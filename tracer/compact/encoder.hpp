// SPDX-License-Identifier: MIT
// Turns plain records into a compact stream in two passes. The first counts events; the map and the exact size of the
// stream follow from that. The second writes. It uses no heap and little stack: the encoder itself is the working
// memory (about 50 KB: use static storage). Host-safe. Context: any, one at a time; time is linear in the records.
//
// Usage:   encoder.begin(Layout::a);
//          encoder.count(older), encoder.count(newer);            // fails if a stamp decreases
//          const std::size_t bytes = encoder.plan();              // stop here if the size is not worth it
//          encoder.start(out.first(bytes)); encoder.write(older); encoder.write(newer);
//          const auto used = encoder.finish();
//
// Every record decodes to exactly what it was, reserved bits and broken long events included; its stamp is exact to the
// granule of the layout.
#pragma once

#include "tracer/compact/recall.hpp"
#include "tracer/compact/stream_header.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::compact {

class Encoder {
  public:
    constexpr Encoder() = default;
    Encoder(const Encoder&) = delete;
    Encoder& operator=(const Encoder&) = delete;

    void begin(Layout layout);

    // Counts more whole records in the first pass. corrupt: a stamp is less than the one before it.
    [[nodiscard]] lib::Result<void> count(std::span<const std::byte> records);

    // Makes the map, and returns the exact bytes of the stream.
    [[nodiscard]] std::size_t plan();

    // Begin and continue the second pass: `out` takes header and map, then what write() gets, the counted records.
    //   no_space: out is smaller than plan() returned.
    [[nodiscard]] lib::Result<void> start(std::span<std::byte> out);
    [[nodiscard]] lib::Result<void> write(std::span<const std::byte> records);

    // Seals the stream, and returns its bytes. corrupt: some counted records were not written.
    [[nodiscard]] lib::Result<std::size_t> finish();

    [[nodiscard]] const IdMap& map() const { return m_map; }

    [[nodiscard]] std::uint32_t records() const { return m_records; }

  private:
    // A free entry has this key, that of a simple event whose code does not exist.
    static constexpr std::uint64_t kNoKey = 0;
    static constexpr std::uint32_t kNoId = ~std::uint32_t{0};
    static constexpr unsigned kPatternBits = 10;
    static constexpr std::size_t kPatterns = std::size_t{1} << kPatternBits;
    static constexpr std::size_t kCodes = 512; // event code, and the fast-path bit above it

    // Counts how often one event with its parameters came unpredicted.
    struct Pattern {
        std::uint64_t key = kNoKey;
        std::uint32_t count = 0;
        std::uint32_t id = 0;
    };

    // Counts all unpredicted events of one code that fit a word.
    struct CodeCount {
        std::uint32_t count = 0;
        std::uint32_t bare = 0; // of those: without parameters
        std::uint32_t id = 0;
    };

    struct Counter;
    struct Writer;

    [[nodiscard]] static std::size_t code_index(std::uint64_t key);
    [[nodiscard]] Pattern* find_pattern(std::uint64_t key);
    void count_miss(std::uint64_t key);
    void use_recall();
    [[nodiscard]] bool pick_best();
    [[nodiscard]] std::uint32_t gain_of(const Pattern& pattern) const;
    [[nodiscard]] std::uint32_t gain_of(const CodeCount& code) const;
    [[nodiscard]] std::uint32_t recall_id(std::uint64_t key) const;

    LayoutRow m_row{}; // begin() sets what is not 0: an unused encoder is all zeros and takes no space in an image
    std::uint32_t m_large_header = 0; // bytes of a large header
    std::uint32_t m_records = 0;
    std::uint32_t m_predicted_by_two = 0;
    std::uint32_t m_predicted_by_one = 0;
    std::uint32_t m_recall_one = 0; // ids
    std::uint32_t m_recall_two = 0;
    std::uint64_t m_bytes = 0; // of the events, as planned so far
    std::uint64_t m_last = 0;  // stamp
    std::uint64_t m_turn = 0;  // of the last heartbeat
    bool m_recalls = false;
    bool m_any = false;
    IdMap m_map;
    Recall m_recall;
    std::array<Pattern, kPatterns> m_patterns{};
    std::array<CodeCount, kCodes> m_codes{};

    std::span<std::byte> m_out;
    std::size_t m_used = 0;
    std::uint32_t m_written = 0;
};

} // namespace tracer::compact
