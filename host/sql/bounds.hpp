// SPDX-License-Identifier: MIT
// The bounds that conditions of a query set to a column of whole numbers. SQLite checks every row again, so bounds may
// let too much through and never too little.
#pragma once

#include <cstdint>
#include <limits>
#include <sqlite3.h>

namespace host::sql {

// Both ends included.
struct Bounds {
    static constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

    std::int64_t first = kMin;
    std::int64_t last = kMax;
    bool nothing = false; // a comparison with NULL

    // comparison: as comparison_letter() returns it.
    void narrow(char comparison, sqlite3_value* value);

    [[nodiscard]] bool empty() const { return nothing || first > last; }

    [[nodiscard]] bool whole() const { return !nothing && first == kMin && last == kMax; }
};

// '=', '>', 'g' (at least), '<' or 'l' (at most) for an SQLITE_INDEX_CONSTRAINT_ of a comparison; 0 for all others.
[[nodiscard]] char comparison_letter(unsigned char op);

} // namespace host::sql
