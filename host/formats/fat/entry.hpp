// SPDX-License-Identifier: MIT
// Directory entries of a FAT volume: short names, and long ones spread over entries of their own. Source: the Microsoft
// FAT specification, version 1.03, "Long directory entries".
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace host::formats::fat {

inline constexpr std::size_t kEntryBytes = 32;
inline constexpr std::byte kEndOfDirectory{0x00};

// A file that is there: no directory, label or deleted entry. Precondition: entry.size() == kEntryBytes.
[[nodiscard]] bool is_file(std::span<const std::byte> entry);

// Collects the pieces of a long name, which precede their short entry, the last piece first.
class LongName {
  public:
    // False: the entry is no piece of a long name.
    [[nodiscard]] bool take(std::span<const std::byte> entry);

    // The name of a short entry: the long one collected, if it is complete and belongs to it. Characters outside ASCII
    // become '?'.
    [[nodiscard]] std::string name_of(std::span<const std::byte> entry) const;

  private:
    static constexpr std::size_t kPieceChars = 13;
    static constexpr std::size_t kPiecesMax = 20;

    std::array<char, kPieceChars * kPiecesMax> m_text{};
    unsigned m_pieces = 0;
    unsigned m_expected = 0; // number of the next piece; 0: all are there, or none
    std::byte m_checksum{};
};

} // namespace host::formats::fat
