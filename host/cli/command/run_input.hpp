// SPDX-License-Identifier: MIT
// A run that is compared with another one, read from the events of a trace: those decisions that the user selected.
#pragma once

#include "host/analyse/run_comparison.hpp"
#include "host/cli/event/selection.hpp"

#include <cstdint>

namespace host::cli {

class RunInput {
  public:
    // All of them outlive this.
    RunInput(analyse::Phrases& phrases, analyse::Run& run, const SelectionOptions& options)
        : m_selection(options)
        , m_run(run)
        , m_reader(phrases, run, [this](const analyse::Decision& decision) {
            return m_selection.everything() || m_selection.is_about(decision.event, decision.context);
        }) {}

    RunInput(const RunInput&) = delete;
    RunInput& operator=(const RunInput&) = delete;

    // Each event, in time order. khz: the clock's rate as far as it is known, else 0.
    void add(const trace::Event& event, std::uint32_t khz) {
        if (!event.metadata && event.is_sound()) {
            m_selection.take_note(event);
            m_reader.add(event, khz);
        }
    }

    // names: of the whole trace.
    void finish(const trace::Names& names) {
        m_reader.finish();
        m_run.names = names;
    }

    [[nodiscard]] const Selection& selection() const { return m_selection; }

  private:
    Selection m_selection;
    analyse::Run& m_run;
    analyse::RunReader m_reader;
};

} // namespace host::cli
