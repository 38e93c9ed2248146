// SPDX-License-Identifier: MIT
// A table as columns of small numbers, each a varint of 7 bits a byte, the lowest first; signed ones as zigzag. Columns
// of like numbers are side by side, so that deflate finds what repeats. page/decode.js reads them.
//
// Most times occur in several tables: where one task ends another begins, a handler ends where a task is ready. So each
// time is stored once, in order, and a table refers to it by its place: as the distance from the place of the time
// before it in the same table, row by row. 0 is a time that is not known, else the zigzag of the distance + 1.
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

// All times that occur in some tables, each once, in order.
using Times = std::vector<std::uint64_t>;

inline constexpr std::uint64_t kNoTime = ~std::uint64_t{0};

class Table {
  public:
    // subject: the number of the task, mutex, ... that the rows are about.
    Table(std::string_view name, std::size_t subject, std::initializer_list<std::string_view> times,
          std::initializer_list<std::string_view> numbers)
        : m_name(name)
        , m_subject(subject)
        , m_time_names(times.begin(), times.end())
        , m_numbers(numbers.begin(), numbers.end()) {}

    // How much of a table there was at some time; at first nothing.
    struct Mark {
        std::size_t rows = 0;
        std::vector<std::size_t> bytes{}; // of the columns of numbers; none: 0
    };

    // A time (or kNoTime) and a number for each column.
    void add(std::initializer_list<std::uint64_t> times, std::initializer_list<std::uint64_t> numbers);

    [[nodiscard]] const std::string& name() const { return m_name; }

    [[nodiscard]] std::size_t subject() const { return m_subject; }

    [[nodiscard]] std::size_t rows() const { return m_rows; }

    [[nodiscard]] Mark mark() const;

    // Row by row, after so many rows.
    [[nodiscard]] std::span<const std::uint64_t> times(std::size_t after = 0) const {
        return std::span(m_times).subspan(after * m_time_names.size());
    }

    [[nodiscard]] std::span<const Column> numbers() const { return m_numbers; }

    // The columns of times, in whose order all times of the table are, after so many rows.
    [[nodiscard]] std::vector<Column> references(const Times& all, std::size_t after = 0) const;

  private:
    std::string m_name;
    std::size_t m_subject;
    std::vector<std::string> m_time_names;
    std::vector<std::uint64_t> m_times;
    std::vector<Column> m_numbers;
    std::size_t m_rows = 0;
};

// The times in all of them.
[[nodiscard]] Times times_of(std::span<const std::span<const std::uint64_t>> lists);

} // namespace host::report
