// SPDX-License-Identifier: MIT
// Fixed-width integers in byte buffers, either byte order, any alignment. A ByteReader is the only cursor that parsers
// use: it never reads past its span and remembers a failure, so a parser checks once at the end. Context: any.
#pragma once

#include "lib/assert.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lib {

template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_le(std::span<const std::byte> bytes) {
    ASSERT(bytes.size() >= sizeof(T));
    T value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = static_cast<T>(value | static_cast<T>(static_cast<T>(bytes[i]) << (8 * i)));
    }
    return value;
}

template <std::unsigned_integral T>
constexpr void store_le(std::span<std::byte> bytes, T value) {
    ASSERT(bytes.size() >= sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_be(std::span<const std::byte> bytes) {
    ASSERT(bytes.size() >= sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = (value << 8) | static_cast<std::uint64_t>(bytes[i]);
    }
    return static_cast<T>(value);
}

template <std::unsigned_integral T>
constexpr void store_be(std::span<std::byte> bytes, T value) {
    ASSERT(bytes.size() >= sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        bytes[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * (sizeof(T) - 1 - i)));
    }
}

class ByteReader {
  public:
    constexpr explicit ByteReader(std::span<const std::byte> bytes)
        : m_bytes(bytes) {}

    // The next sizeof(T) bytes, or 0 if the input is too short: check failed() before using any value.
    template <std::unsigned_integral T>
    constexpr T le() {
        const auto bytes = take(sizeof(T));
        return bytes.size() == sizeof(T) ? load_le<T>(bytes) : T{0};
    }

    template <std::unsigned_integral T>
    constexpr T be() {
        const auto bytes = take(sizeof(T));
        return bytes.size() == sizeof(T) ? load_be<T>(bytes) : T{0};
    }

    // The next count bytes, or an empty span (and failed()) if fewer are left.
    constexpr std::span<const std::byte> take(std::size_t count) {
        if (count > remaining()) {
            m_failed = true;
            m_offset = m_bytes.size();
            return {};
        }
        const auto bytes = m_bytes.subspan(m_offset, count);
        m_offset += count;
        return bytes;
    }

    [[nodiscard]] constexpr std::size_t remaining() const { return m_bytes.size() - m_offset; }

    [[nodiscard]] constexpr std::size_t offset() const { return m_offset; }

    [[nodiscard]] constexpr bool failed() const { return m_failed; }

  private:
    std::span<const std::byte> m_bytes;
    std::size_t m_offset = 0;
    bool m_failed = false;
};

class ByteWriter {
  public:
    constexpr explicit ByteWriter(std::span<std::byte> bytes)
        : m_bytes(bytes) {}

    template <std::unsigned_integral T>
    constexpr void le(T value) {
        if (reserve(sizeof(T))) {
            store_le(m_bytes.subspan(m_offset), value);
            m_offset += sizeof(T);
        }
    }

    template <std::unsigned_integral T>
    constexpr void be(T value) {
        if (reserve(sizeof(T))) {
            store_be(m_bytes.subspan(m_offset), value);
            m_offset += sizeof(T);
        }
    }

    constexpr void put(std::span<const std::byte> bytes) {
        if (reserve(bytes.size())) {
            for (const std::byte byte : bytes) {
                m_bytes[m_offset++] = byte;
            }
        }
    }

    [[nodiscard]] constexpr std::span<const std::byte> written() const { return m_bytes.first(m_offset); }

    [[nodiscard]] constexpr std::size_t offset() const { return m_offset; }

    // True after a value did not fit; nothing is written after that.
    [[nodiscard]] constexpr bool failed() const { return m_failed; }

  private:
    constexpr bool reserve(std::size_t count) {
        m_failed = m_failed || count > m_bytes.size() - m_offset;
        return !m_failed;
    }

    std::span<std::byte> m_bytes;
    std::size_t m_offset = 0;
    bool m_failed = false;
};

} // namespace lib
