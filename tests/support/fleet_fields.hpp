// SPDX-License-Identifier: MIT
// Shows what a question found as texts: a row is its fields by key, without those that are not known.
#pragma once

#include "fleet/questions/findings.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace support {

inline std::string field_text(const host::fleet::questions::Field& field) {
    if (const auto* const number = std::get_if<std::int64_t>(&field)) {
        return fmt::format("{}", *number);
    }
    if (const auto* const fraction = std::get_if<double>(&field)) {
        return fmt::format("{:.3f}", *fraction);
    }
    const auto* const text = std::get_if<std::string>(&field);
    return text != nullptr ? *text : std::string();
}

// Returns the rows of the tables for JSON: those with these keys, or all of them.
inline std::vector<std::string> rows_of(const host::fleet::questions::Listing& listing,
                                        const std::vector<std::string_view>& keys = {}) {
    std::vector<std::string> rows;
    for (const auto& fields : listing.rows) {
        std::string& row = rows.emplace_back();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string_view key = listing.views[i].key;
            const bool wanted = keys.empty() || std::find(keys.begin(), keys.end(), key) != keys.end();
            if (wanted && fields[i].index() != 0) {
                row += fmt::format("{}{}={}", row.empty() ? "" : " ", key, field_text(fields[i]));
            }
        }
    }
    return rows;
}

} // namespace support
