// SPDX-License-Identifier: MIT
// The reference for a converter's speed: a loop that has the output in advance. For text it uses the pieces: it copies
// the text between the numbers and formats each decimal number with std::to_chars, sequentially, through a buffer, into
// a file. For anything else it writes the same number of bytes and computes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

class PlainOutput {
  public:
    // path: the output of a converter, a file or a directory; its first kSampleBytes represent the rest.
    explicit PlainOutput(const std::string& path);

    // At least as many bytes, through a buffer of the same size as the converters'.
    void write(const std::string& path, std::uint64_t bytes) const;

    [[nodiscard]] bool is_text() const { return !m_pieces.empty(); }

  private:
    static constexpr std::size_t kSampleBytes = std::size_t{16} << 20;

    // A piece of m_sample, and the number after it.
    struct Piece {
        std::uint32_t begin;
        std::uint16_t length;
        bool has_number;
        std::uint64_t number;
    };

    void cut_text();
    void write_block(int descriptor, std::uint64_t bytes) const;
    void write_text(int descriptor, std::uint64_t bytes) const;

    std::string m_sample;
    std::vector<Piece> m_pieces; // of text; else none
};

} // namespace bench
