// SPDX-License-Identifier: MIT
// Reads and writes fixed-width integers in bytes, in either order and at any alignment. A ByteReader is the only cursor
// that parsers use: it never reads past its span and remembers a failure, so a parser checks once. Context: any.
//
// Integers are put together without a loop: compilers turn that into one access, but a loop into one access for each
// byte.
#pragma once

#include "lib/assert.hpp"
#include "lib/copy_bytes.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace lib {

namespace detail {

// Returns the position of the byte that is multiplied by 256^power.
template <typename T, std::endian Order>
constexpr std::size_t place(std::size_t power) {
    return Order == std::endian::little ? power : sizeof(T) - 1 - power;
}

template <std::endian Order, std::unsigned_integral T, std::size_t... Power>
[[nodiscard]] constexpr T load(std::span<const std::byte> bytes, std::index_sequence<Power...> /*powers*/) {
    ASSERT(bytes.size() >= sizeof(T));
    return static_cast<T>(((static_cast<std::uint64_t>(bytes[place<T, Order>(Power)]) << (8 * Power)) | ...));
}

template <std::endian Order, std::unsigned_integral T, std::size_t... Power>
constexpr void store(std::span<std::byte> bytes, T value, std::index_sequence<Power...> /*powers*/) {
    ASSERT(bytes.size() >= sizeof(T));
    ((bytes[place<T, Order>(Power)] = static_cast<std::byte>(std::uint64_t{value} >> (8 * Power))), ...);
}

} // namespace detail

template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_le(std::span<const std::byte> bytes) {
    return detail::load<std::endian::little, T>(bytes, std::make_index_sequence<sizeof(T)>{});
}

template <std::unsigned_integral T>
constexpr void store_le(std::span<std::byte> bytes, T value) {
    detail::store<std::endian::little>(bytes, value, std::make_index_sequence<sizeof(T)>{});
}

template <std::unsigned_integral T>
[[nodiscard]] constexpr T load_be(std::span<const std::byte> bytes) {
    return detail::load<std::endian::big, T>(bytes, std::make_index_sequence<sizeof(T)>{});
}

template <std::unsigned_integral T>
constexpr void store_be(std::span<std::byte> bytes, T value) {
    detail::store<std::endian::big>(bytes, value, std::make_index_sequence<sizeof(T)>{});
}

class ByteReader {
  public:
    constexpr explicit ByteReader(std::span<const std::byte> bytes)
        : m_bytes(bytes) {}

    // Returns the next sizeof(T) bytes, or 0 if the input is too short: check failed() before using any value.
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

    // Returns the next count bytes, or an empty span (and failed()) if fewer are left.
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
            copy_bytes(bytes, m_bytes.subspan(m_offset));
            m_offset += bytes.size();
        }
    }

    [[nodiscard]] constexpr std::span<const std::byte> written() const { return m_bytes.first(m_offset); }

    [[nodiscard]] constexpr std::size_t offset() const { return m_offset; }

    // Returns true after a value did not fit; nothing is written after that.
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
