// SPDX-License-Identifier: MIT
// The fields of what a question found, by their keys in JSON.
#pragma once

#include "fleet/questions/findings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace host::fleet::report {

class ListingColumns {
  public:
    // It outlives this.
    explicit ListingColumns(const questions::Listing& listing)
        : m_listing(listing) {}

    // Empty if it is not known.
    [[nodiscard]] std::string text(std::size_t row, std::string_view key) const {
        const auto* const text = std::get_if<std::string>(field(row, key));
        return text != nullptr ? *text : std::string();
    }

    [[nodiscard]] std::optional<std::int64_t> number(std::size_t row, std::string_view key) const {
        const auto* const number = std::get_if<std::int64_t>(field(row, key));
        return number != nullptr ? std::optional(*number) : std::nullopt;
    }

  private:
    // Null: there is no such field.
    [[nodiscard]] const questions::Field* field(std::size_t row, std::string_view key) const {
        const auto view = std::ranges::find(m_listing.views, key, &questions::View::key);
        const auto at = static_cast<std::size_t>(view - m_listing.views.begin());
        return row < m_listing.rows.size() && at < m_listing.rows[row].size() ? &m_listing.rows[row][at] : nullptr;
    }

    const questions::Listing& m_listing;
};

} // namespace host::fleet::report
