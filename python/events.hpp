// SPDX-License-Identifier: MIT
// Makes the columns of the table `events`, of many events at a time. They mean what the columns of the same names mean
// in SQL (host/sql/event_columns.hpp); what follows from par1 and par2 alone is left out.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/running_tasks.hpp"
#include "python/table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace python {

class EventRows {
  public:
    EventRows();

    // Takes the events of a batch, in time order. Metadata is left out.
    void add(std::span<const host::trace::Event> batch);

    // Completes the table, once, after the last event.
    [[nodiscard]] std::shared_ptr<Table> finish();

  private:
    // Holds what all events of a code have in common, once one of them has come.
    struct Kind {
        enum class Who : std::uint8_t { no_task, par1, par2 };

        std::int32_t name = kNoWord;
        Who who = Who::no_task; // which parameter names a task
        bool prepared = false;
    };

    // Remembers the number of a task's name.
    struct Name {
        std::uint64_t version = 0; // of the names in which it was found
        std::int32_t number = kNoWord;
    };

    struct Fresh; // the cells of a batch, which are written

    void add_row(const host::trace::Event& event, const Fresh& fresh, std::size_t row);
    void add_rare(const host::trace::Event& event, const Fresh& fresh, std::size_t row);
    void add_task(const host::trace::Event& event, const Fresh& fresh, std::size_t row);
    [[nodiscard]] const Kind& kind_of(const host::trace::Event& event);
    [[nodiscard]] std::int32_t task_name(const host::trace::Names& names, std::uint32_t context);

    std::shared_ptr<Table> m_table;
    std::array<Kind, 256> m_kinds{};
    std::vector<Name> m_names; // by context
    host::trace::RunningTasks m_running;
    std::string m_scratch;
};

} // namespace python
