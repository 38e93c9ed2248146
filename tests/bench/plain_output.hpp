// SPDX-License-Identifier: MIT
// What a converter's speed is compared with: a loop that is told in advance what to write. Of text it knows the pieces:
// it copies what stands between the numbers and formats each decimal number with std::to_chars, the next one behind the
// one before, through a buffer, into a file. Of anything else it writes as many bytes, and computes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

class PlainOutput {
  public:
    // path: what a converter wrote, a file or a directory; its first kSampleBytes stand for the rest.
    explicit PlainOutput(const std::string& path);

    // At least as many bytes, through a buffer of the size that converters have.
    void write(const std::string& path, std::uint64_t bytes) const;

    [[nodiscard]] bool is_text() const { return !m_pieces.empty(); }

  private:
    static constexpr std::size_t kSampleBytes = std::size_t{16} << 20;

    // A stretch of m_sample, and a number behind it.
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
