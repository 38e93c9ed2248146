// SPDX-License-Identifier: MIT
// One value of a row, on its way into SQLite.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <sqlite3.h>
#include <string_view>
#include <utility>

namespace host::sql {

class Cell {
  public:
    // The cell is NULL.
    Cell() = default;

    // A number that exceeds 63 bits becomes 2^63-1, SQLite's greatest integer.
    explicit Cell(std::integral auto number)
        : m_kind(Kind::integer) {
        if (std::in_range<std::int64_t>(number)) {
            m_number = static_cast<std::int64_t>(number);
        } else {
            m_number = std::numeric_limits<std::int64_t>::max();
        }
    }

    // The number is not negative, so its bits have its order.
    [[nodiscard]] static Cell real(double number) {
        Cell cell;
        cell.m_kind = Kind::real;
        cell.m_number = std::bit_cast<std::int64_t>(number);
        return cell;
    }

    // The text outlives the cell. It is cut at a zero byte, which no SQL text has.
    explicit Cell(std::string_view text)
        : m_kind(Kind::text)
        , m_text(text.substr(0, std::min(text.find('\0'), text.size()))) {}

    template <typename T>
    [[nodiscard]] static Cell of(const std::optional<T>& value) {
        return value ? Cell(*value) : Cell();
    }

    // Returns NULL if the text is empty.
    [[nodiscard]] static Cell named(std::string_view text) { return text.empty() ? Cell() : Cell(text); }

    // Returns nothing if the cell is no text.
    [[nodiscard]] std::optional<std::string_view> text() const {
        return m_kind == Kind::text ? std::optional(m_text) : std::nullopt;
    }

    // Returns nothing if the cell is no number, and the bits of a fraction.
    [[nodiscard]] std::optional<std::int64_t> number() const {
        return m_kind == Kind::integer || m_kind == Kind::real ? std::optional(m_number) : std::nullopt;
    }

    [[nodiscard]] bool is_null() const { return m_kind == Kind::null; }

    // Binds the value to parameter `place` (from 1) of a statement. The text must live until the next step, which also
    // shows a failure.
    void bind(sqlite3_stmt* statement, int place) const {
        switch (m_kind) {
        case Kind::null:
            sqlite3_bind_null(statement, place);
            break;
        case Kind::integer:
            sqlite3_bind_int64(statement, place, m_number);
            break;
        case Kind::real:
            sqlite3_bind_double(statement, place, std::bit_cast<double>(m_number));
            break;
        case Kind::text:
            sqlite3_bind_text64(statement, place, bytes(), m_text.size(), SQLITE_STATIC, SQLITE_UTF8);
            break;
        }
    }

    // Returns the value as the result of a column.
    void result(sqlite3_context* context) const {
        switch (m_kind) {
        case Kind::null:
            sqlite3_result_null(context);
            break;
        case Kind::integer:
            sqlite3_result_int64(context, m_number);
            break;
        case Kind::real:
            sqlite3_result_double(context, std::bit_cast<double>(m_number));
            break;
        case Kind::text:
            sqlite3_result_text64(context, bytes(), m_text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
            break;
        }
    }

  private:
    // A null pointer is SQLite's NULL, and an empty view may have one.
    [[nodiscard]] const char* bytes() const { return m_text.empty() ? "" : m_text.data(); }

    enum class Kind : std::uint8_t { null, integer, real, text };

    Kind m_kind = Kind::null;
    std::int64_t m_number = 0;
    std::string_view m_text;
};

} // namespace host::sql
