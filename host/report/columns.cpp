// SPDX-License-Identifier: MIT
#include "host/report/columns.hpp"

#include "lib/assert.hpp"

namespace host::report {

void Table::add(std::initializer_list<std::uint64_t> row) {
    ASSERT(row.size() == m_columns.size());
    std::size_t column = 0;
    for (const std::uint64_t value : row) {
        m_columns[column++].add(value);
    }
    ++m_rows;
}

} // namespace host::report
