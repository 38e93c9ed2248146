// SPDX-License-Identifier: MIT
#include "host/report/task_rows.hpp"

#include "host/text/escape.hpp"

namespace host::report {

namespace {

void name(TaskRow& row, const trace::Names& names) {
    const trace::TaskNames* const known = names.task(row.context);
    if (known != nullptr && row.name.empty()) {
        row.name = text::escaped(known->name);
        row.parameters = known->parameters;
    }
}

} // namespace

std::size_t TaskRows::number_of(std::uint16_t context, const trace::Names& names) {
    if (const auto known = m_numbers.find(context); known != m_numbers.end()) {
        return known->second;
    }
    const std::size_t next = m_rows.size();
    const std::string its_name(names.find(tracer::Unit::context, context));
    const std::size_t number = m_by_name.try_emplace({context, its_name}, next).first->second;
    if (number == next) {
        m_rows.push_back(
            {.context = context,
             .name = {},
             .intervals = {"intervals", number, {"begin", "end"}, {"what", "cpu", "detail"}},
             .jobs = {"jobs", number, {"start", "end"}, {"number", "release", "deadline", "state", "shares"}},
             .shares = {"shares", number, {}, {"culprit", "ticks", "pieces"}}});
        name(m_rows.back(), names);
    }
    m_numbers[context] = number;
    return number;
}

void TaskRows::complete(const trace::Names& names) {
    for (TaskRow& row : m_rows) {
        name(row, names);
    }
}

} // namespace host::report
