// SPDX-License-Identifier: MIT
// How viewers are shown a task: thread id, name, priority. Looked up once per task and chunk, for writers through which
// millions of switches pass.
#pragma once

#include "convert/schedule_words.hpp"
#include "host/text/escape.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace host::convert {

// Of a task whose level is unknown, and of the idle task: what Linux calls the default.
inline constexpr std::uint32_t kDefaultPriority = 120;

struct TaskLabel {
    std::uint32_t tid = kUnknownTid;
    std::uint32_t priority = kDefaultPriority; // the number of its level: the lower, the more urgent
    std::string name;                          // escaped
    std::uint64_t turn = 0; // labels of one context and turn are the same: for those who keep what they make of them

    // Linux neither creates nor wakes it: a viewer that reads so takes it for one more thread, or stops.
    [[nodiscard]] bool is_idle() const { return tid == 0; }
};

class TaskLabels {
  public:
    TaskLabels()
        : m_labels(kUnknown + 1) {}

    // By the names of the newest chunk so far: chunks of several processors take turns, and the older one knows no
    // more. Valid until the next call for another event.
    [[nodiscard]] const TaskLabel& of(const trace::Event& event, std::uint32_t context) {
        if (m_turn == 0 || (event.names->version() != m_names.version() && event.source >= m_source)) [[unlikely]] {
            m_source = event.source;
            m_names = *event.names;
            ++m_turn;
        }
        TaskLabel& label = m_labels[std::min<std::size_t>(context, kUnknown)];
        if (label.turn != m_turn) [[unlikely]] {
            renew(label, context);
        }
        return label;
    }

  private:
    static constexpr std::size_t kUnknown = 0x1'0000;

    // Apart: with it, of() would be too large to be inlined.
    [[gnu::noinline]] void renew(TaskLabel& label, std::uint32_t context) const {
        label.turn = m_turn;
        label.tid = tid_of(m_names, context);
        label.name = text::escaped(task_label(m_names, context));
        const std::uint16_t level = level_of(m_names, context);
        label.priority = level == 0xFFFF || is_idle(m_names, context) ? kDefaultPriority : level;
    }

    std::vector<TaskLabel> m_labels; // by context; the last one is of all that are none
    trace::Names m_names;            // of m_source
    std::uint32_t m_source = 0;
    std::uint64_t m_turn = 0;
};

} // namespace host::convert
