// SPDX-License-Identifier: MIT
// A table as columns of small numbers, each a varint of 7 bits a byte, the lowest first; signed ones as zigzag. Columns
// of like numbers are side by side, so that deflate finds what repeats. page/decode.js reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::report {

// 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

class Column {
  public:
    explicit Column(std::string_view name)
        : m_name(name) {}

    void add(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            m_bytes.push_back(static_cast<std::byte>(value | 0x80));
        }
        m_bytes.push_back(static_cast<std::byte>(value));
    }

    [[nodiscard]] const std::string& name() const { return m_name; }

    [[nodiscard]] std::span<const std::byte> bytes() const { return m_bytes; }

  private:
    std::string m_name;
    std::vector<std::byte> m_bytes;
};

class Table {
  public:
    // subject: the number of the task, mutex, ... that the rows are about.
    Table(std::string_view name, std::size_t subject, std::initializer_list<std::string_view> columns)
        : m_name(name)
        , m_subject(subject)
        , m_columns(columns.begin(), columns.end()) {}

    // One number for each column.
    void add(std::initializer_list<std::uint64_t> row);

    [[nodiscard]] const std::string& name() const { return m_name; }

    [[nodiscard]] std::size_t subject() const { return m_subject; }

    [[nodiscard]] std::size_t rows() const { return m_rows; }

    [[nodiscard]] std::span<const Column> columns() const { return m_columns; }

  private:
    std::string m_name;
    std::size_t m_subject;
    std::vector<Column> m_columns;
    std::size_t m_rows = 0;
};

} // namespace host::report
