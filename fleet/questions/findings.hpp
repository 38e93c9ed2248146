// SPDX-License-Identifier: MIT
// A question finds tables of typed fields, which are shown as text or as JSON, sentences below them, and a verdict. The
// command prints them. The file also has readers for a row of an answer and for the fields of a table.
#pragma once

#include "fleet/database.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace host::fleet::questions {

// A field is unknown, a whole number, a ratio, or a text.
using Field = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class Form : std::uint8_t {
    text,
    count,    // 12,345
    duration, // in ns; shown as 1.50 ms
    moment,   // in seconds since 1970; shown in UTC
    share,    // of 1; shown in per cent
    ratio,    // of two values; shown as 1.25 x
};

enum class Shown : std::uint8_t { both, text, json };

struct View {
    std::string_view key; // in JSON
    std::string_view heading;
    Form form = Form::text;
    Shown shown = Shown::both;
};

struct Listing {
    std::string_view name; // in JSON
    std::vector<View> views{};
    std::vector<std::vector<Field>> rows{};
    Shown shown = Shown::both;
    bool cut = false; // there are more rows than asked for
};

enum class Verdict : std::uint8_t { none, closed, missing, open };

struct Findings {
    std::vector<Listing> listings;
    std::vector<std::string> lines{}; // below the tables; in JSON as `lines`
    Verdict verdict = Verdict::none;
};

// Reads the values of a row one after the other. No schema checks the answer of a store, so a value of another type, or
// a missing one, counts as unknown.
class Cells {
  public:
    explicit Cells(const std::vector<Value>& values)
        : m_values(values) {}

    [[nodiscard]] std::optional<std::int64_t> optional() {
        const Value* const value = next();
        const auto* const number = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
        return number != nullptr ? std::optional(*number) : std::nullopt;
    }

    // Returns 0 if the value is unknown.
    [[nodiscard]] std::int64_t number() { return optional().value_or(0); }

    // Returns 0 if the value is unknown or negative.
    [[nodiscard]] std::uint64_t count() {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(optional().value_or(0), 0));
    }

    // Returns an empty text if the value is unknown.
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

// Returns an unknown value if the whole is 0.
[[nodiscard]] inline Field share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? Field() : Field(static_cast<double>(part) / static_cast<double>(whole));
}

// Finds the fields of a listing by their keys in JSON.
class ListingColumns {
  public:
    // The listing must outlive the object.
    explicit ListingColumns(const Listing& listing)
        : m_listing(listing) {}

    // Returns an empty text if the value is unknown.
    [[nodiscard]] std::string text(std::size_t row, std::string_view key) const {
        const auto* const text = std::get_if<std::string>(field(row, key));
        return text != nullptr ? *text : std::string();
    }

    [[nodiscard]] std::optional<std::int64_t> number(std::size_t row, std::string_view key) const {
        const auto* const number = std::get_if<std::int64_t>(field(row, key));
        return number != nullptr ? std::optional(*number) : std::nullopt;
    }

  private:
    // Returns null if there is no such field.
    [[nodiscard]] const Field* field(std::size_t row, std::string_view key) const {
        const auto view = std::ranges::find(m_listing.views, key, &View::key);
        const auto at = static_cast<std::size_t>(view - m_listing.views.begin());
        return row < m_listing.rows.size() && at < m_listing.rows[row].size() ? &m_listing.rows[row][at] : nullptr;
    }

    const Listing& m_listing;
};

} // namespace host::fleet::questions
