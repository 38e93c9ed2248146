// SPDX-License-Identifier: MIT
// The schedule (host/schedule/) in the words of other systems' viewers: thread ids, labels, Linux' task states.
//
// Thread ids: viewers treat thread 0 as the idle task of each processor. So tid_of() returns 0 for the idle task, which
// is the one with the name "idle", kContextZeroTid for context 0 if it is not the idle task (it ran before there were
// tasks), and the number of the context for every other task.
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
inline constexpr std::uint32_t kUnknownTid = 0x1'0001; // a task that no record has named yet

[[nodiscard]] bool is_idle(const trace::Names& names, std::uint32_t context);

// Returns the thread id that the comment above defines.
[[nodiscard]] std::uint32_t tid_of(const trace::Names& names, std::uint32_t context);

// Returns a task's name, else "context-N"; "unknown" for kUnknownContext. It is not escaped.
[[nodiscard]] std::string task_label(const trace::Names& names, std::uint32_t context);

// Returns the level that schedules the task; level 0 is searched first. 0xFFFF if the trace does not state it.
[[nodiscard]] std::uint16_t level_of(const trace::Names& names, std::uint32_t context);

// Returns the name of a vector, else "vector-N". It is not escaped.
[[nodiscard]] std::string vector_label(const trace::Names& names, std::uint32_t vector);

// Returns what a task waits for: "mutex bus", "delay". It is escaped.
[[nodiscard]] std::string wait_label(const trace::Names& names, TaskState state, std::uint32_t object);

// Returns Linux's state of a task that leaves its processor: TASK_RUNNING, TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE, or
// `dead`, whose number depends on the version.
[[nodiscard]] std::uint8_t linux_state(TaskState state, std::uint8_t dead);

// Returns whether the changes show the whole event: a switch, or the begin or end of an interrupt. They do not show an
// event that changes nothing, such as the end of an interrupt whose begin is missing.
[[nodiscard]] bool is_shown(const trace::Event& event, std::span<const Change> changes);

// Returns the task to which an event belongs: the one that it names, else the one that runs. kUnknownContext: no task,
// or an interrupt.
[[nodiscard]] std::uint32_t task_of(const trace::Event& event, const Schedule& schedule);

// Finds the thread id, name and priority of tasks for viewers. They are looked up once for each task and chunk, because
// millions of switches pass a writer.

// A task whose level is unknown and the idle task have Linux's default priority.
inline constexpr std::uint32_t kDefaultPriority = 120;

struct TaskLabel {
    std::uint32_t tid = kUnknownTid;
    std::uint32_t priority = kDefaultPriority; // number of its level; lower is more urgent
    std::string name;                          // escaped
    std::uint64_t turn = 0; // labels of one context with equal turns are equal, so that users can cache what they
                            // derive

    // Linux neither creates nor wakes the idle task. A viewer that reads otherwise shows one more thread, or stops.
    [[nodiscard]] bool is_idle() const { return tid == 0; }
};

class TaskLabels {
  public:
    TaskLabels()
        : m_labels(kUnknown + 1) {}

    // Returns the label by the names of the newest chunk so far. Chunks of several processors alternate, and an older
    // one has no more names. The label is valid until the next call for another event.
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

    // This is a function of its own, because of() would be too large to be inlined with it.
    [[gnu::noinline]] void renew(TaskLabel& label, std::uint32_t context) const {
        label.turn = m_turn;
        label.tid = tid_of(m_names, context);
        label.name = text::escaped(task_label(m_names, context));
        const std::uint16_t level = level_of(m_names, context);
        label.priority = level == 0xFFFF || is_idle(m_names, context) ? kDefaultPriority : level;
    }

    std::vector<TaskLabel> m_labels; // by context; the last one is for values that are no context
    trace::Names m_names;            // of m_source
    std::uint32_t m_source = 0;
    std::uint64_t m_turn = 0;
};

// Finds the labels of interrupts for viewers: the name of the vector, else its number. They are looked up once for each
// vector and set of names, because millions of interrupts pass a writer.
class VectorLabels {
  public:
    VectorLabels()
        : m_entries(kEntries) {}

    // Returns the escaped label, which is valid until the next call.
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
        std::string label; // empty if not looked up yet
    };

    std::vector<Entry> m_entries;
};

} // namespace host::convert
