// SPDX-License-Identifier: MIT
// Shows rows on their way into a table as texts: `name=value` for each column that is not NULL.
#pragma once

#include "host/sql/tables.hpp"
#include "host/text/format.hpp"

#include <bit>
#include <cstddef>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace support {

inline std::string row_text(host::sql::Table table, std::span<const host::sql::Cell> cells) {
    const std::vector<host::sql::Column> columns = host::sql::columns_of(table);
    EXPECT_EQ(cells.size(), columns.size());
    std::string text;
    for (std::size_t i = 0; i < cells.size() && i < columns.size(); ++i) {
        const auto number = cells[i].number();
        const auto words = cells[i].text();
        if (words) {
            text += fmt::format(" {}='{}'", columns[i].name, *words);
        } else if (number && columns[i].is_real) {
            text += fmt::format(" {}={}", columns[i].name, std::bit_cast<double>(*number));
        } else if (number) {
            text += fmt::format(" {}={}", columns[i].name, *number);
        }
    }
    return text.empty() ? text : text.substr(1);
}

// Keeps what a sink receives: the table's name, a colon, and the row.
class KeptRows {
  public:
    [[nodiscard]] const host::sql::RowSink& sink() const { return m_sink; }

    std::vector<std::string> rows;

  private:
    host::sql::RowSink m_sink = [this](host::sql::Table table, std::span<const host::sql::Cell> cells) {
        rows.push_back(std::string(host::sql::row_of(table).name) + ": " + row_text(table, cells));
    };
};

} // namespace support
