// SPDX-License-Identifier: MIT
#include "convert/table/batch_insert.hpp"

#include "host/text/format.hpp"

#include <utility>

namespace host::convert::table {

namespace {

using sql::Cell;

std::string repeated(std::string_view text, std::size_t times) {
    std::string all(text);
    for (std::size_t i = 1; i < times; ++i) {
        all.append(",").append(text);
    }
    return all;
}

} // namespace

BatchInsert::~BatchInsert() {
    close();
}

void BatchInsert::close() {
    sqlite3_finalize(std::exchange(m_statement, nullptr));
}

int BatchInsert::open(sqlite3* database, std::string_view table, int columns) {
    m_database = database;
    m_table = table;
    m_columns = static_cast<std::size_t>(columns);
    m_texts.resize(kRows * m_columns);
    m_cells.reserve(m_texts.size());
    return prepare(kRows);
}

int BatchInsert::prepare(std::size_t rows) {
    close();
    const std::string row = '(' + repeated("?", m_columns) + ')';
    const std::string text = fmt::format("INSERT INTO {} VALUES{}", m_table, repeated(row, rows));
    return sqlite3_prepare_v3(m_database, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &m_statement, nullptr);
}

int BatchInsert::add(std::span<const Cell> cells) {
    for (const Cell& cell : cells) {
        if (const auto text = cell.text()) {
            std::string& kept = m_texts[m_cells.size()];
            kept = *text;
            m_cells.emplace_back(std::string_view(kept));
        } else {
            m_cells.push_back(cell);
        }
    }
    return m_cells.size() == m_texts.size() ? run() : SQLITE_OK;
}

int BatchInsert::finish() {
    if (m_cells.empty()) {
        return SQLITE_OK;
    }
    const int code = prepare(m_cells.size() / m_columns);
    return code == SQLITE_OK ? run() : code;
}

int BatchInsert::run() {
    int place = 0;
    for (const Cell& cell : m_cells) {
        cell.bind(m_statement, ++place);
    }
    m_cells.clear();
    const int code = sqlite3_step(m_statement);
    sqlite3_reset(m_statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

} // namespace host::convert::table
