// SPDX-License-Identifier: MIT
// One value of a row, on its way into SQLite.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
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
    // NULL.
    Cell() = default;

    // What exceeds 63 bits becomes 2^63-1: SQLite has no greater integer.
    explicit Cell(std::integral auto number)
        : m_kind(Kind::integer) {
        if (std::in_range<std::int64_t>(number)) {
            m_number = static_cast<std::int64_t>(number);
        } else {
            m_number = std::numeric_limits<std::int64_t>::max();
        }
    }

    // Not negative.
    [[nodiscard]] static Cell real(double number) {
        Cell cell;
        cell.m_kind = Kind::real;
        cell.m_number = std::bit_cast<std::int64_t>(number); // in the same order
        return cell;
    }

    // The text outlives the cell. Texts of the input are cut at a zero byte: SQL has none in texts.
    explicit Cell(std::string_view text)
        : m_kind(Kind::text)
        , m_text(text.substr(0, std::min(text.find('\0'), text.size()))) {}

    template <typename T>
    [[nodiscard]] static Cell of(const std::optional<T>& value) {
        return value ? Cell(*value) : Cell();
    }

    // NULL where the text is empty.
    [[nodiscard]] static Cell named(std::string_view text) { return text.empty() ? Cell() : Cell(text); }

    // Nothing if it is no text.
    [[nodiscard]] std::optional<std::string_view> text() const {
        return m_kind == Kind::text ? std::optional(m_text) : std::nullopt;
    }

    // Nothing if it is no number. Of a fraction its bits.
    [[nodiscard]] std::optional<std::int64_t> number() const {
        return m_kind == Kind::integer || m_kind == Kind::real ? std::optional(m_number) : std::nullopt;
    }

    // In SQLite's order: NULL, numbers, texts by their bytes.
    friend auto operator<=>(const Cell&, const Cell&) = default;

    [[nodiscard]] bool is_null() const { return m_kind == Kind::null; }

    // To parameter `place` (from 1) of a statement, whose next step must not come after the end of the text. A failure
    // shows in that step.
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
            sqlite3_bind_text64(statement, place, m_text.data(), m_text.size(), SQLITE_STATIC, SQLITE_UTF8);
            break;
        }
    }

    // As the result of a column. lifetime: SQLITE_STATIC if the text outlives the statement.
    void result(sqlite3_context* context, sqlite3_destructor_type lifetime = SQLITE_TRANSIENT) const {
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
            sqlite3_result_text64(context, m_text.data(), m_text.size(), lifetime, SQLITE_UTF8);
            break;
        }
    }

  private:
    enum class Kind : std::uint8_t { null, integer, real, text };

    Kind m_kind = Kind::null;
    std::int64_t m_number = 0;
    std::string_view m_text;
};

} // namespace host::sql
