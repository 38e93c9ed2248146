// SPDX-License-Identifier: MIT
// What is drawn beside the schedule: single events as marks, the numbers of typed events as curves, budgets of servers.
//
//   table     about    times, and numbers
//   marks     -        at; kind; task + 1; par1; par2; text + 1, 0: none
//   plot      field    at; value: zigzag, since the one before (of a fraction: the bits of the double, high and low)
//   budget    server   at; ticks left
#pragma once

#include "host/report/columns.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace host::report {

// One number of a typed event, over time.
struct Plot {
    std::string event; // texts are escaped
    std::string field;
    std::string unit;
    unsigned fraction_bits = 0;
    bool is_floating = false;
    Table table;
    std::int64_t value = 0;
};

class EventTables {
  public:
    // The axis outlives this.
    explicit EventTables(const Axis& axis)
        : m_axis(axis) {}

    EventTables(const EventTables&) = delete;
    EventTables& operator=(const EventTables&) = delete;

    // In time order, after the axis saw it. task: the row of the task concerned + 1, 0: none.
    void add(const trace::Event& event, std::size_t task);

    // Events that become marks, or a part of a curve, or state which server serves a task.
    [[nodiscard]] static bool concerns(const trace::Event& event);

    [[nodiscard]] const Table& marks() const { return m_marks; }

    [[nodiscard]] const std::vector<std::string>& kinds() const { return m_kinds.values(); }

    [[nodiscard]] const std::vector<std::string>& texts() const { return m_texts.values(); }

    [[nodiscard]] const std::vector<Plot>& plots() const { return m_plots; }

    [[nodiscard]] const std::map<std::uint32_t, Table>& budgets() const { return m_budgets; }

    // By server: the rows of the tasks that it has ever served.
    [[nodiscard]] const std::map<std::uint32_t, std::set<std::size_t>>& served() const { return m_served; }

  private:
    void add_mark(const trace::Event& event, std::size_t task, const std::string& kind, const std::string& text);
    void add_typed(const trace::Event& event, std::size_t task);
    void add_formatted(const trace::Event& event, std::size_t task);
    void add_value(const trace::Event& event, const trace::TypedEventView& view, std::size_t field);
    void add_budget(const trace::Event& event);

    const Axis& m_axis;
    Table m_marks{"marks", 0, {"at"}, {"kind", "task", "par1", "par2", "text"}};
    Dictionary<std::string> m_kinds;
    Dictionary<std::string> m_texts;
    std::vector<Plot> m_plots;
    std::map<std::tuple<std::uint16_t, std::size_t, bool>, std::size_t> m_plot_of; // by event, field, is_floating
    std::map<std::uint32_t, Table> m_budgets;                                      // by server
    std::map<std::uint32_t, std::set<std::size_t>> m_served;
};

} // namespace host::report
