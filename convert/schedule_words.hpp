// SPDX-License-Identifier: MIT
// The schedule (host/schedule/) in the words of other systems' viewers: thread ids, labels, Linux' task states.
//
// Thread ids: viewers take thread 0 for the idle task of each processor. So tid_of() gives 0 to the idle task, the
// context's own number to every other task, and kContextZeroTid to context 0 where it is not the idle task (what ran
// before there were tasks). The idle task is the one that is named "idle".
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/text/escape.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace host::convert {

using schedule::Change;
using schedule::kContexts;
using schedule::kUnknownContext;
using schedule::Schedule;
using schedule::TaskState;

inline constexpr std::uint32_t kContextZeroTid = 0x1'0000;
inline constexpr std::uint32_t kUnknownTid = 0x1'0001; // of a task that no record has named yet

[[nodiscard]] bool is_idle(const trace::Names& names, std::uint32_t context);

// As the comment above says.
[[nodiscard]] std::uint32_t tid_of(const trace::Names& names, std::uint32_t context);

// A task's name, else "context-N"; "unknown" for kUnknownContext. Not escaped.
[[nodiscard]] std::string task_label(const trace::Names& names, std::uint32_t context);

// The level by which it is scheduled: 0 is searched first. 0xFFFF if the trace does not say.
[[nodiscard]] std::uint16_t level_of(const trace::Names& names, std::uint32_t context);

// The name of a vector, else "vector-N". Not escaped.
[[nodiscard]] std::string vector_label(const trace::Names& names, std::uint32_t vector);

// What a task waits for: "mutex bus", "delay". Escaped.
[[nodiscard]] std::string wait_label(const trace::Names& names, TaskState state, std::uint32_t object);

// Linux' state of a task that leaves its processor: TASK_RUNNING, TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, or `dead`,
// whose number depends on the version.
[[nodiscard]] std::uint8_t linux_state(TaskState state, std::uint8_t dead);

// Whether the changes show the whole event: a switch, or the begin or end of an interrupt. An event that changes
// nothing, such as the end of an interrupt whose begin is missing, is not shown by them.
[[nodiscard]] bool is_shown(const trace::Event& event, std::span<const Change> changes);

// The task to which an event belongs: the one that it names, else the one that runs. kUnknownContext: none, or an
// interrupt.
[[nodiscard]] std::uint32_t task_of(const trace::Event& event, const Schedule& schedule);

// How viewers are shown a task: thread id, name, priority. Looked up once per task and chunk, for writers through which
// millions of switches pass.

// A task whose level is unknown and the idle task have Linux's default priority.
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

// How viewers are shown an interrupt: the name of its vector, else its number. Looked up once per vector and set of
// names, for writers through which millions of interrupts pass.
class VectorLabels {
  public:
    VectorLabels()
        : m_entries(kEntries) {}

    // Escaped. Valid until the next call.
    [[nodiscard]] const std::string& of(const trace::Event& event, std::uint32_t vector) {
        Entry& entry = m_entries[vector % kEntries];
        const std::uint64_t version = event.names->version();
        if (entry.label.empty() || entry.vector != vector || entry.version != version) {
            entry = {.version = version, .vector = vector, .label = text::escaped(vector_label(*event.names, vector))};
        }
        return entry.label;
    }

  private:
    static constexpr std::size_t kEntries = 256;

    struct Entry {
        std::uint64_t version = 0; // of the names
        std::uint32_t vector = 0;
        std::string label; // empty: none yet
    };

    std::vector<Entry> m_entries;
};

} // namespace host::convert
