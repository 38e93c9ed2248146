// SPDX-License-Identifier: MIT
// Tables of columns in memory, as numpy wants them: the cells of a column are one piece, and what is not known is in a
// mask beside them. Nothing here knows Python, so a trace is read without its lock.
#pragma once

#include "host/sql/tables.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace python {

// Is in a cell of type int64 whose value is not known, below the mask.
inline constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();
// Is in a cell of a text that is not known, instead of the number of a word.
inline constexpr std::int32_t kNoWord = -1;

enum class CellType : std::uint8_t { boolean, uint8, uint16, uint32, uint64, int64, real, word };

[[nodiscard]] constexpr std::size_t bytes_of(CellType type) {
    constexpr std::size_t kBytes[] = {1, 1, 2, 4, 8, 8, 8, 4};
    return kBytes[static_cast<std::size_t>(type)];
}

// Is memory that grows at its end. A large piece consists of huge pages, because the faults of small ones would cost
// more than the cells, and it grows by moving the pages, not the bytes.
class Memory {
  public:
    Memory() = default;

    Memory(Memory&& other) noexcept
        : m_data(std::exchange(other.m_data, nullptr))
        , m_size(std::exchange(other.m_size, 0))
        , m_capacity(std::exchange(other.m_capacity, 0)) {}

    Memory& operator=(Memory&&) = delete;
    ~Memory();

    // Returns where so many new bytes begin; they are not initialised. Throws std::bad_alloc.
    [[nodiscard]] void* extend(std::size_t bytes) {
        if (m_capacity - m_size < bytes) [[unlikely]] {
            grow(bytes);
        }
        void* const begin = m_data + m_size;
        m_size += bytes;
        return begin;
    }

    [[nodiscard]] const std::byte* data() const { return m_data; }

    [[nodiscard]] std::size_t size() const { return m_size; }

  private:
    void grow(std::size_t bytes);

    std::byte* m_data = nullptr; // of malloc() below the size of a huge page, else of mmap()
    std::size_t m_size = 0;
    std::size_t m_capacity = 0;
};

// Numbers texts in the order in which they first appear.
class Words {
  public:
    [[nodiscard]] std::int32_t number_of(std::string_view text);

    // Returns kNoWord if the text does not appear.
    [[nodiscard]] std::int32_t find(std::string_view text) const;

    [[nodiscard]] const std::deque<std::string>& texts() const { return m_texts; }

  private:
    std::deque<std::string> m_texts; // its elements do not move, so the keys are views of them
    std::unordered_map<std::string_view, std::int32_t> m_numbers;
};

struct Column {
    std::string name;
    CellType type;
    Memory cells{};
    Memory unknown{}; // a byte a row, 1: the value is not known; empty: every value is known, or the column has words
    Words words{};    // of texts

    [[nodiscard]] std::size_t rows() const { return cells.size() / bytes_of(type); }

    // Appends cells, which the caller writes. T has the size of the type.
    template <typename T>
    [[nodiscard]] T* extend(std::size_t count) {
        return static_cast<T*>(cells.extend(count * sizeof(T)));
    }

    template <typename T>
    [[nodiscard]] T at(std::size_t row) const {
        T cell;
        std::memcpy(&cell, cells.data() + row * sizeof(T), sizeof(T));
        return cell;
    }

    // Precondition: no later row has been marked.
    void mark_unknown(std::size_t row);

    // Completes the mask, if there is one.
    void finish();
};

class Table {
  public:
    Table(std::string name, std::vector<Column> columns)
        : m_name(std::move(name))
        , m_columns(std::move(columns)) {}

    // Returns an empty table with the columns of a table of SQL.
    [[nodiscard]] static std::shared_ptr<Table> of(host::sql::Table table);

    // Appends a row.
    void add(std::span<const host::sql::Cell> cells);

    void finish();

    [[nodiscard]] const std::string& name() const { return m_name; }

    [[nodiscard]] std::size_t rows() const { return m_columns.front().rows(); }

    [[nodiscard]] std::span<Column> columns() { return m_columns; }

    [[nodiscard]] std::span<const Column> columns() const { return m_columns; }

    // Returns null if there is no such column.
    [[nodiscard]] const Column* find(std::string_view column) const;

  private:
    std::string m_name;
    std::vector<Column> m_columns;
};

} // namespace python
