// SPDX-License-Identifier: MIT
#include "host/sql/stored_rows.hpp"

#include <bit>

namespace host::sql {

StoredRows::StoredRows(Table table)
    : m_table(table) {
    for (const Column& column : columns_of(table)) {
        Kept& kept = m_columns.emplace_back();
        kept.is_text = column.is_text;
        kept.is_real = column.is_real;
    }
}

std::uint32_t StoredRows::number_of(std::string_view text) {
    const auto found = m_numbers.find(text);
    if (found != m_numbers.end()) {
        return found->second;
    }
    const auto number = static_cast<std::uint32_t>(m_texts.size());
    m_numbers.emplace(m_texts.emplace_back(text), number);
    return number;
}

void StoredRows::add(std::span<const Cell> cells) {
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        Kept& kept = m_columns[i];
        if (kept.is_text) {
            const auto text = cells[i].text();
            kept.texts.push_back(text ? number_of(*text) : 0);
        } else {
            const auto number = cells[i].number();
            kept.numbers.push_back(number.value_or(Bounds::kMin));
            kept.nulls.push_back(!number);
        }
    }
    ++m_size;
}

Cell StoredRows::cell(std::uint32_t row, std::size_t column) const {
    const Kept& kept = m_columns[column];
    if (kept.is_text) {
        const std::uint32_t text = kept.texts[row];
        return text != 0 ? Cell(std::string_view(m_texts[text])) : Cell();
    }
    if (kept.nulls[row]) {
        return {};
    }
    return kept.is_real ? Cell::real(std::bit_cast<double>(kept.numbers[row])) : Cell(kept.numbers[row]);
}

const RowIndex& StoredRows::index(const std::vector<std::uint8_t>& columns) {
    const auto found = m_indices.find(columns);
    return found != m_indices.end() ? found->second
                                    : m_indices.try_emplace(columns, *this, m_table, columns).first->second;
}

} // namespace host::sql
