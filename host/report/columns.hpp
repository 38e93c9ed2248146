// SPDX-License-Identifier: MIT
// Stores a table as columns of small numbers, each a varint with 7 bits in a byte, the lowest first; signed numbers are
// zigzag. Similar columns are next to each other, so that deflate finds repetitions. page/common.js reads them.
//
// Most times occur in several tables: where one task ends another begins, and a handler ends where a task is ready. So
// each time is stored once, in order, and a table refers to it by its position: as the distance from the position of
// the previous time in the same table, row by row. 0 is an unknown time, other numbers are the zigzag of the distance +
// 1.
#pragma once

#include "host/schedule/moment.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::report {

// Converts 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
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

// Holds all times that occur in some tables, each once, in order.
using Times = std::vector<std::uint64_t>;

inline constexpr std::uint64_t kNoTime = ~std::uint64_t{0};

class Table {
  public:
    // subject is the number of the task, mutex, ... that the rows are about.
    Table(std::string_view name, std::size_t subject, std::initializer_list<std::string_view> times,
          std::initializer_list<std::string_view> numbers)
        : m_name(name)
        , m_subject(subject)
        , m_time_names(times.begin(), times.end())
        , m_numbers(numbers.begin(), numbers.end()) {}

    // Is the size of a table at some moment, initially nothing.
    struct Mark {
        std::size_t rows = 0;
        std::vector<std::size_t> bytes{}; // size of each column of numbers; missing ones are 0
    };

    // Adds a row: a time (or kNoTime) and a number for each column.
    void add(std::initializer_list<std::uint64_t> times, std::initializer_list<std::uint64_t> numbers);

    [[nodiscard]] const std::string& name() const { return m_name; }

    [[nodiscard]] std::size_t subject() const { return m_subject; }

    [[nodiscard]] std::size_t rows() const { return m_rows; }

    [[nodiscard]] Mark mark() const;

    // Returns the times row by row, after so many rows.
    [[nodiscard]] std::span<const std::uint64_t> times(std::size_t after = 0) const {
        return std::span(m_times).subspan(after * m_time_names.size());
    }

    [[nodiscard]] std::span<const Column> numbers() const { return m_numbers; }

    // Returns the columns of times after so many rows, as positions in `all`.
    [[nodiscard]] std::vector<Column> references(const Times& all, std::size_t after = 0) const;

  private:
    std::string m_name;
    std::size_t m_subject;
    std::vector<std::string> m_time_names;
    std::vector<std::uint64_t> m_times;
    std::vector<Column> m_numbers;
    std::size_t m_rows = 0;
};

// Returns the times in all tables.
[[nodiscard]] Times times_of(std::span<const std::span<const std::uint64_t>> lists);

// Gives numbers to values that occur often, from 0 on, in the order of their first use.
template <typename Value>
class Dictionary {
  public:
    [[nodiscard]] std::size_t number_of(const Value& value) {
        const auto [place, is_new] = m_numbers.try_emplace(value, m_values.size());
        if (is_new) {
            m_values.push_back(value);
        }
        return place->second;
    }

    [[nodiscard]] const std::vector<Value>& values() const { return m_values; }

  private:
    std::map<Value, std::size_t> m_numbers;
    std::vector<Value> m_values;
};

// Greater times are not exact in the page's numbers. A stamp of a damaged trace may exceed this.
inline constexpr std::uint64_t kTicksMax = std::uint64_t{1} << 53;

// Converts times to those of the page: whole ticks since the start of the trace. Decides which of them are in the page.
class Axis {
  public:
    // The selected part of the trace, in ns since its start; without a value: from its start, to its end.
    struct Window {
        std::optional<std::int64_t> from_ns{};
        std::optional<std::int64_t> to_ns{};
    };

    explicit Axis(const Window& window)
        : m_window(window) {}

    // Takes each event, in time order. khz: the clock's rate as far as it is known, else 0.
    void saw(const trace::Event& event, std::uint32_t khz) {
        if (!m_origin || (event.timed && !m_origin_is_timed)) {
            const auto lead_ns = static_cast<std::uint64_t>(event.timed ? std::max<std::int64_t>(event.time_ns, 0) : 0);
            const lib::Ticks lead = khz != 0 ? lib::TickRate{khz}.to_ticks({lead_ns}) : lib::Ticks{};
            m_origin = {event.ticks.value - std::min(event.ticks.value, lead.value)};
            m_origin_is_timed = event.timed;
        }
        if (!event.metadata) {
            m_last = std::max(m_last, at(event.ticks));
        }
    }

    [[nodiscard]] std::uint64_t at(lib::Ticks ticks) const {
        const std::uint64_t origin = m_origin ? m_origin->value : 0;
        return std::min(ticks.value - std::min(ticks.value, origin), kTicksMax);
    }

    // Returns whether any part is in the window. If the times are not known, it is only in a page without a window.
    [[nodiscard]] bool wants(const schedule::Moment& begin, const schedule::Moment& end) const {
        return (!m_window.from_ns || (end.ns && *end.ns >= *m_window.from_ns)) &&
               (!m_window.to_ns || (begin.ns && *begin.ns < *m_window.to_ns));
    }

    [[nodiscard]] const Window& window() const { return m_window; }

    // Ends the window here, because the page is full.
    void close(const schedule::Moment& end) { m_window.to_ns = end.ns; }

    [[nodiscard]] std::uint64_t last() const { return m_last; }

    [[nodiscard]] lib::Ticks origin() const { return m_origin.value_or(lib::Ticks{}); }

  private:
    Window m_window;
    std::optional<lib::Ticks> m_origin;
    bool m_origin_is_timed = false;
    std::uint64_t m_last = 0;
};

} // namespace host::report
