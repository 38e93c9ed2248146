// SPDX-License-Identifier: MIT
// Result<T> is a value or an error, for every failure that can occur at run time. It needs no exceptions and no heap,
// and is the same type in the kernel and in the hosted programs. Reading the wrong side is a programming error and
// asserts.
// Context: any.
#pragma once

#include "lib/assert.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace lib {

enum class Error : std::uint8_t {
    invalid_argument, // a parameter is outside its documented range
    not_found,        // no such device, file, table, name
    no_space,         // pool, disk, arena or table is full
    exists,           // the name or the slot is taken
    busy,             // in use now; trying again later may succeed
    timeout,          // a bounded wait expired
    io,               // the device or the file system reported a failure
    corrupt,          // data failed its check (magic, length, checksum)
    refused,          // not allowed: admission, protocol, permission
    unsupported,      // not available on this machine or in this build
    unreachable,      // the network peer does not answer, or its port is closed
    too_small,        // the room given is less than the operation needs at least
    closed,           // the reader of the stream has gone
};

// Returns the words for an error.
[[nodiscard]] constexpr std::string_view error_name(Error error) {
    switch (error) {
    case Error::invalid_argument:
        return "invalid argument";
    case Error::not_found:
        return "not found";
    case Error::no_space:
        return "no space";
    case Error::exists:
        return "already exists";
    case Error::busy:
        return "busy";
    case Error::timeout:
        return "timeout";
    case Error::io:
        return "input/output error";
    case Error::corrupt:
        return "corrupt data";
    case Error::refused:
        return "refused";
    case Error::unsupported:
        return "unsupported";
    case Error::unreachable:
        return "unreachable";
    case Error::too_small:
        return "too small";
    case Error::closed:
        return "closed";
    }
    return "unknown error";
}

// E is what can go wrong in one operation. It is Error in the kernel; a hosted operation may have an enum of its own,
// with a text beside it for the user. T and E are different types and have a default state, because both are kept
// inline.
template <typename T, typename E = Error>
class [[nodiscard]] Result {
  public:
    // The conversions are implicit on purpose: `return value;` and `return Error::busy;` are the whole interface of a
    // callee.
    constexpr Result(T value) // NOLINT(google-explicit-constructor)
        : m_ok(true)
        , m_value(std::move(value)) {}

    constexpr Result(E error) // NOLINT(google-explicit-constructor)
        : m_ok(false)
        , m_error(std::move(error)) {}

    [[nodiscard]] constexpr bool ok() const { return m_ok; }

    [[nodiscard]] constexpr explicit operator bool() const { return m_ok; }

    [[nodiscard]] constexpr const T& value() const {
        ASSERT(m_ok);
        return m_value;
    }

    [[nodiscard]] constexpr T& value() {
        ASSERT(m_ok);
        return m_value;
    }

    [[nodiscard]] constexpr const T* operator->() const { return &value(); }

    [[nodiscard]] constexpr T* operator->() { return &value(); }

    [[nodiscard]] constexpr const E& error() const {
        ASSERT(!m_ok);
        return m_error;
    }

  private:
    static_assert(std::is_default_constructible_v<T>, "Result keeps its value inline: T needs a default state");
    bool m_ok;
    E m_error{};
    T m_value{};
};

template <typename E>
class [[nodiscard]] Result<void, E> : public Result<std::monostate, E> {
  public:
    using Result<std::monostate, E>::Result;

    constexpr Result()
        : Result(std::monostate{}) {}
};

// An enumeration fits into one register together with "no error".
template <typename E>
requires std::is_enum_v<E>

class [[nodiscard]] Result<void, E> {
  public:
    constexpr Result() = default;

    constexpr Result(E error) // NOLINT(google-explicit-constructor)
        : m_code(static_cast<unsigned>(error) + 1) {}

    [[nodiscard]] constexpr bool ok() const { return m_code == 0; }

    [[nodiscard]] constexpr explicit operator bool() const { return ok(); }

    [[nodiscard]] constexpr E error() const {
        ASSERT(!ok());
        return static_cast<E>(m_code - 1);
    }

  private:
    unsigned m_code = 0; // 0: no error
};

} // namespace lib
