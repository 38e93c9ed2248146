// SPDX-License-Identifier: MIT
#include "host/report/columns.hpp"

#include "lib/assert.hpp"

#include <algorithm>
#include <iterator>

namespace host::report {

void Table::add(std::initializer_list<std::uint64_t> times, std::initializer_list<std::uint64_t> numbers) {
    ASSERT(times.size() == m_time_names.size() && numbers.size() == m_numbers.size());
    m_times.insert(m_times.end(), times);
    std::size_t column = 0;
    for (const std::uint64_t number : numbers) {
        m_numbers[column++].add(number);
    }
    ++m_rows;
}

Table::Mark Table::mark() const {
    Mark mark{.rows = m_rows};
    std::ranges::transform(m_numbers, std::back_inserter(mark.bytes),
                           [](const Column& column) { return column.bytes().size(); });
    return mark;
}

std::vector<Column> Table::references(const Times& all, std::size_t after) const {
    std::vector<Column> columns(m_time_names.begin(), m_time_names.end());
    std::int64_t before = 0;
    const auto wanted = times(after);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        std::uint64_t reference = 0;
        if (wanted[i] != kNoTime) {
            const std::int64_t place = std::ranges::lower_bound(all, wanted[i]) - all.begin();
            reference = zigzag(place - before) + 1;
            before = place;
        }
        columns[i % columns.size()].add(reference);
    }
    return columns;
}

Times times_of(std::span<const std::span<const std::uint64_t>> lists) {
    Times all;
    for (const auto list : lists) {
        std::ranges::copy_if(list, std::back_inserter(all), [](std::uint64_t time) { return time != kNoTime; });
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end()); // clang 14 rejects the algorithm of std::ranges
    return all;
}

} // namespace host::report
