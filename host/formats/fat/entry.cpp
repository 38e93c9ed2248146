// SPDX-License-Identifier: MIT
#include "host/formats/fat/entry.hpp"

#include "lib/endian.hpp"

#include <algorithm>

namespace host::formats::fat {

namespace {

constexpr unsigned kAttributeLong = 0x0F;
constexpr unsigned kAttributeLabel = 0x08;
constexpr unsigned kAttributeDirectory = 0x10;
constexpr std::byte kDeleted{0xE5};
constexpr std::size_t kShortChars = 11;
constexpr std::size_t kBaseChars = 8;

unsigned attributes(std::span<const std::byte> entry) {
    return std::to_integer<unsigned>(entry[11]) & 0x3F;
}

std::byte short_checksum(std::span<const std::byte> entry) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < kShortChars; ++i) {
        sum = (((sum & 1) << 7) + (sum >> 1) + std::to_integer<unsigned>(entry[i])) & 0xFF;
    }
    return static_cast<std::byte>(sum);
}

std::string short_name(std::span<const std::byte> entry) {
    std::string name;
    std::size_t end = 0; // after the last character that is no blank
    for (std::size_t i = 0; i < kShortChars; ++i) {
        if (i == kBaseChars) {
            name.resize(end);
            name += '.';
            end = name.size() - 1; // the dot goes if nothing follows
        }
        const auto code = std::to_integer<unsigned char>(entry[i]);
        name += code >= 0x20 && code < 0x7F ? static_cast<char>(code) : '?';
        end = code != ' ' ? name.size() : end;
    }
    name.resize(end);
    return name;
}

} // namespace

bool is_file(std::span<const std::byte> entry) {
    return entry[0] != kDeleted && (attributes(entry) & (kAttributeLabel | kAttributeDirectory)) == 0;
}

bool LongName::take(std::span<const std::byte> entry) {
    if (entry[0] == kDeleted || attributes(entry) != kAttributeLong) {
        return false;
    }
    constexpr unsigned kLastPiece = 0x40;
    const auto order = std::to_integer<unsigned>(entry[0]);
    const unsigned number = order & 0x3F;
    if ((order & kLastPiece) != 0 && number >= 1 && number <= kPiecesMax) {
        m_text = {};
        m_pieces = number;
        m_expected = number;
        m_checksum = entry[13];
    }
    if (number == 0 || number != m_expected || entry[13] != m_checksum) {
        m_pieces = 0;
        m_expected = 0;
        return true;
    }
    constexpr std::array<std::size_t, kPieceChars> kPlaces = {1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30};
    for (std::size_t i = 0; i < kPieceChars; ++i) {
        const auto code = lib::load_le<std::uint16_t>(entry.subspan(kPlaces[i]));
        constexpr std::uint16_t kPadding = 0xFFFF;
        const bool plain = code >= 0x20 && code < 0x7F;
        m_text[(number - 1) * kPieceChars + i] = code == 0 || code == kPadding ? '\0'
                                                 : plain                       ? static_cast<char>(code)
                                                                               : '?';
    }
    --m_expected;
    return true;
}

std::string LongName::name_of(std::span<const std::byte> entry) const {
    if (m_pieces == 0 || m_expected != 0 || m_checksum != short_checksum(entry)) {
        return short_name(entry);
    }
    const auto end = std::ranges::find(m_text, '\0');
    return {m_text.begin(), end};
}

} // namespace host::formats::fat
