// SPDX-License-Identifier: MIT
// The tasks of a report, numbered in the order in which they appear. A context that is given to a task of another name
// is another row.
#pragma once

#include "host/report/columns.hpp"
#include "host/trace/names.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace host::report {

struct TaskRow {
    std::uint16_t context = 0;
    std::string name; // escaped, as it was first found; empty: not yet
    std::optional<tracer::TaskParameters> parameters{};
    Table intervals;
    Table jobs;
    Table shares;
    std::uint64_t last_end = 0;     // of its intervals, in ticks
    std::uint64_t last_release = 0; // of its jobs
    std::uint64_t last_job = 0;     // its number
    std::uint64_t misses = 0;
    std::uint64_t jobs_before = 0; // that ended before the part of the trace that is wanted
};

class TaskRows {
  public:
    // names: when it is asked for.
    [[nodiscard]] std::size_t number_of(std::uint16_t context, const trace::Names& names);

    [[nodiscard]] TaskRow& row(std::size_t number) { return m_rows[number]; }

    // From here on the context is another task's, perhaps of the same name.
    void forget(std::uint16_t context) { m_numbers.erase(context); }

    // What was not known when a row began. names: of the whole trace.
    void complete(const trace::Names& names);

    [[nodiscard]] const std::deque<TaskRow>& rows() const { return m_rows; }

  private:
    std::deque<TaskRow> m_rows;
    std::map<std::uint16_t, std::size_t> m_numbers; // by context: that of its task now
    std::map<std::pair<std::uint16_t, std::string>, std::size_t> m_by_name;
};

} // namespace host::report
