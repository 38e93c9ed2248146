// SPDX-License-Identifier: MIT
// The values of a row, one after the other. What a store answers is checked by no schema: a value of another type, or
// one that is not there, is as one that is not known.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/findings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace host::fleet::questions {

class Cells {
  public:
    explicit Cells(const std::vector<Value>& values)
        : m_values(values) {}

    [[nodiscard]] std::optional<std::int64_t> optional() {
        const Value* const value = next();
        const auto* const number = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
        return number != nullptr ? std::optional(*number) : std::nullopt;
    }

    // 0 if it is not known.
    [[nodiscard]] std::int64_t number() { return optional().value_or(0); }

    // Never negative.
    [[nodiscard]] std::uint64_t count() {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(optional().value_or(0), 0));
    }

    // Empty if it is not known.
    [[nodiscard]] std::string text() {
        const Value* const value = next();
        const auto* const text = value != nullptr ? std::get_if<std::string>(value) : nullptr;
        return text != nullptr ? *text : std::string();
    }

  private:
    const Value* next() {
        const std::size_t at = m_at++;
        return at < m_values.size() ? &m_values[at] : nullptr;
    }

    const std::vector<Value>& m_values;
    std::size_t m_at = 0;
};

template <typename Number>
[[nodiscard]] Field field_of(const std::optional<Number>& number) {
    return number ? Field(static_cast<std::int64_t>(*number)) : Field();
}

[[nodiscard]] inline Field field_of(std::uint64_t count) {
    return static_cast<std::int64_t>(count);
}

// Not known if the whole is 0.
[[nodiscard]] inline Field share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? Field() : Field(static_cast<double>(part) / static_cast<double>(whole));
}

} // namespace host::fleet::questions
