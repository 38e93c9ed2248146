// SPDX-License-Identifier: MIT
// A question finds tables of typed fields, which are shown as text or as JSON, sentences below them, and a verdict. The
// command prints them. The file also has a reader for the fields of a table.
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
    std::string_view heading{};
    Form form = Form::text;
    Shown shown = Shown::both;
};

struct Listing {
    std::string_view name; // in JSON
    std::vector<View> views{};
    std::vector<std::vector<Field>> rows{};
    Shown shown = Shown::both;
    bool cut = false; // there are more rows than asked for

    // Returns whether the listing has all the rows that were asked for (0: no limit); then a further one is left out.
    [[nodiscard]] bool is_full(std::uint64_t limit) { return cut = limit != 0 && rows.size() == limit; }
};

// Returns a listing without rows, whose columns have only keys.
[[nodiscard]] inline Listing listing_of(std::string_view name, const std::vector<std::string_view>& keys) {
    Listing listing{.name = name};
    for (const std::string_view key : keys) {
        listing.views.push_back({key});
    }
    return listing;
}

enum class Verdict : std::uint8_t { none, closed, missing, open };

[[nodiscard]] inline std::string_view verdict_text(Verdict verdict) {
    return verdict == Verdict::closed ? "closed" : verdict == Verdict::missing ? "missing" : "open";
}

struct Findings {
    std::vector<Listing> listings;
    std::vector<std::string> lines{}; // below the tables; in JSON as `lines`
    Verdict verdict = Verdict::none;
    bool badly = false; // verify: a run ended badly
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

    [[nodiscard]] bool has(std::string_view key) const {
        return std::ranges::find(m_listing.views, key, &View::key) != m_listing.views.end();
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
