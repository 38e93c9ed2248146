// SPDX-License-Identifier: MIT
// The part of a trace that a command shows: --task, --event and a span of time, with the same words in every command.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/running_tasks.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace host::cli {

struct SelectionOptions {
    std::string task;                    // name or context; empty: all
    std::string event;                   // of the table or declared by the trace; empty: all
    std::optional<std::int64_t> from_ns; // since the start of the trace
    std::optional<std::int64_t> to_ns;   // the first moment that is not shown
};

// Parses a time since the start of the trace: digits, perhaps with a fraction, and ns (which may be left out), us, ms
// or s. Returns nothing for another text, or for more than 2^63 - 1 ns.
[[nodiscard]] std::optional<std::int64_t> time_of(std::string_view text);

// Returns why nothing can be in the selection, and the remedy, which names the options of the command; empty if
// something can.
[[nodiscard]] std::string contradiction_in(const SelectionOptions& options, std::string_view remedy);

// For metadata only the span is tested. A moment that is not known is in no span.
class Selection {
  public:
    explicit Selection(const SelectionOptions& options);

    // Returns whether nothing was selected, so that every event is in it.
    [[nodiscard]] bool everything() const { return m_everything; }

    // Returns the selection in words.
    [[nodiscard]] std::string text() const;

    [[nodiscard]] bool in_span(const trace::Event& event) const {
        return !m_spanned || (event.timed && in_span(event.time_ns));
    }

    [[nodiscard]] bool in_span(std::int64_t time_ns) const {
        return (!m_options.from_ns || time_ns >= *m_options.from_ns) &&
               (!m_options.to_ns || time_ns < *m_options.to_ns);
    }

    // Notes what the event shows about the trace, for missing(): whether it has times, whether the selected task is in
    // it.
    void take_note(const trace::Event& event) {
        note_time(event);
        m_task_seen = m_task_seen || m_everything || concerns_task(event);
    }

    void take_note(std::span<const trace::Event> batch) {
        for (auto event = batch.begin(); event != batch.end() && !(m_timed && m_task_seen); ++event) {
            take_note(*event);
        }
        if (!batch.empty()) {
            note_time(batch.back());
        }
    }

    // Returns whether the event is shown: it is in the span, has the name, and one of its parameters is the task, or it
    // is an event of the application that was logged in the task. Must be called with each event, in time order. Also
    // calls take_note().
    [[nodiscard]] bool contains(const trace::Event& event);

    // Returns whether the event is shown or changes the running task in the span, because it is known only with all of
    // these changes which task ran.
    [[nodiscard]] bool contains_or_dispatches(const trace::Event& event);

    // Returns whether this context is the selected task, or no task was selected.
    [[nodiscard]] bool is_task(const trace::Names& names, std::uint32_t context) const;
    // Returns whether the event is in the span, has the name, and is about this task.
    [[nodiscard]] bool is_about(const trace::Event& event, std::optional<std::uint32_t> context) const;

    // Must be called after the whole trace. Returns in one sentence that the selected task or event does not exist,
    // with the nearest name, that no event has a time, or that the trace ends before the span; empty otherwise.
    [[nodiscard]] std::string missing(const trace::Names& names) const;

  private:
    void note_time(const trace::Event& event) {
        if (event.timed && !event.metadata) {
            m_timed = true;
            m_last_ns = event.time_ns;
        }
    }

    [[nodiscard]] bool is_of_name(const trace::Event& event) const;
    [[nodiscard]] bool concerns_task(const trace::Event& event) const;

    const SelectionOptions& m_options;
    const tracer::EventRow* m_row;
    std::optional<std::uint32_t> m_context; // if --task is a number
    bool m_spanned;
    bool m_everything;
    trace::RunningTasks m_running; // an event of the application concerns the task in which it was logged
    std::int64_t m_last_ns = 0;    // time of the latest event
    bool m_task_seen = false;
    bool m_timed = false;
};

} // namespace host::cli
