// SPDX-License-Identifier: MIT
// A table as columns of small numbers, each a varint of 7 bits a byte, the lowest first; signed ones as zigzag. Columns
// of like numbers are side by side, so that deflate finds what repeats. page/common.js reads them.
//
// Most times occur in several tables: where one task ends another begins, a handler ends where a task is ready. So each
// time is stored once, in order, and a table refers to it by its place: as the distance from the place of the time
// before it in the same table, row by row. 0 is a time that is not known, else the zigzag of the distance + 1.
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

// Gives numbers to values that occur often, from 0 in the order of their first use.
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

// Greater ones are not exact in the page's numbers; a stamp of a damaged trace may be.
inline constexpr std::uint64_t kTicksMax = std::uint64_t{1} << 53;

// Times as the page has them: whole ticks since the start of the trace, and which of them are to be in it.
class Axis {
  public:
    // The part of the trace that is wanted, in ns since its start; none: from its start, to its end.
    struct Window {
        std::optional<std::int64_t> from_ns{};
        std::optional<std::int64_t> to_ns{};
    };

    explicit Axis(const Window& window)
        : m_window(window) {}

    // Of each event, in time order. khz: the clock's rate as far as it is known, else 0.
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

    // Any of it is in the window. Without a known time only a page without a window has it.
    [[nodiscard]] bool wants(const schedule::Moment& begin, const schedule::Moment& end) const {
        return (!m_window.from_ns || (end.ns && *end.ns >= *m_window.from_ns)) &&
               (!m_window.to_ns || (begin.ns && *begin.ns < *m_window.to_ns));
    }

    [[nodiscard]] const Window& window() const { return m_window; }

    // The window ends here: the page is full.
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
