// SPDX-License-Identifier: MIT
// Which part of a trace a command shows: --task, --event and a span of time, the same words in every command.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

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

// A time since the start of the trace: digits, perhaps with a fraction, and ns (which may be left out), us, ms or s.
// Nothing if it is something else, or more than 2^63 - 1 ns.
[[nodiscard]] std::optional<std::int64_t> time_of(std::string_view text);

// Why nothing can be in the selection, and the remedy, which names the options of the command; empty if something can.
[[nodiscard]] std::string contradiction_in(const SelectionOptions& options, std::string_view remedy);

// Of the metadata only the span is asked. A moment that is not known is in no span.
class Selection {
  public:
    explicit Selection(const SelectionOptions& options);

    // Nothing was asked for: every event is in it.
    [[nodiscard]] bool everything() const { return m_everything; }

    // What was asked for, in words.
    [[nodiscard]] std::string text() const;

    [[nodiscard]] bool in_span(const trace::Event& event) const {
        return !m_spanned || (event.timed && (!m_options.from_ns || event.time_ns >= *m_options.from_ns) &&
                              (!m_options.to_ns || event.time_ns < *m_options.to_ns));
    }

    // What the event shows of the trace: whether it has times, whether the task asked for is in it. For missing().
    void take_note(const trace::Event& event) {
        m_timed = m_timed || event.timed;
        m_task_seen = m_task_seen || m_everything || concerns_task(event);
    }

    void take_note(std::span<const trace::Event> batch) {
        for (auto event = batch.begin(); event != batch.end() && !(m_timed && m_task_seen); ++event) {
            take_note(*event);
        }
    }

    // The event is shown: in the span, of the name, and one of its parameters is the task. Takes note.
    [[nodiscard]] bool contains(const trace::Event& event);

    // Likewise, with every change of the running task in the span: who ran is known only with all of them.
    [[nodiscard]] bool contains_or_dispatches(const trace::Event& event);

    // This context is the task asked for, or any was.
    [[nodiscard]] bool is_task(const trace::Names& names, std::uint32_t context) const;
    // About this task, of the name, in the span.
    [[nodiscard]] bool is_about(const trace::Event& event, std::optional<std::uint32_t> context) const;

    // After the whole trace: the task or the event that was asked for does not exist, in one sentence with the nearest
    // name, or no event has a time; empty otherwise.
    [[nodiscard]] std::string missing(const trace::Names& names) const;

  private:
    [[nodiscard]] bool is_of_name(const trace::Event& event) const;
    [[nodiscard]] bool concerns_task(const trace::Event& event) const;

    const SelectionOptions& m_options;
    const tracer::EventRow* m_row;
    std::optional<std::uint32_t> m_context; // if --task is a number
    bool m_spanned;
    bool m_everything;
    bool m_task_seen = false;
    bool m_timed = false;
};

} // namespace host::cli
