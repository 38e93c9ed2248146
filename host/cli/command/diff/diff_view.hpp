// SPDX-License-Identifier: MIT
// Holds what `remora diff` found, for the printers of text and of JSON.
#pragma once

#include "host/analyse/crash.hpp"
#include "host/analyse/run_comparison.hpp"
#include "host/cli/event/selection.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/text/format.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace host::cli {

struct DiffView {
    const analyse::Phrases& phrases;
    const analyse::Both<const analyse::Run*> runs;
    const analyse::Both<std::string> titles; // printable
    analyse::Tolerance tolerance{};
    std::uint64_t context_lines = 0;
    std::optional<std::size_t> first{};                      // the first decision that differs
    std::optional<std::vector<analyse::TaskChange>> tasks{}; // none: the runs have no jobs to compare
    analyse::Both<std::vector<analyse::Crash>> crashes{};    // how the runs ended badly

    [[nodiscard]] bool are_same() const { return !first && (!tasks || analyse::are_same(*tasks, tolerance)); }

    // Returns the decision of a run; null after its end.
    [[nodiscard]] const analyse::RunDecision* decision(std::size_t run, std::size_t index) const {
        const std::vector<analyse::RunDecision>& all = runs[run]->decisions;
        return index < all.size() ? &all[index] : nullptr;
    }

    [[nodiscard]] std::string line(std::size_t run, std::size_t index) const {
        const analyse::RunDecision* const found = decision(run, index);
        return found == nullptr
                   ? "(the end)"
                   : analyse::schedule_line(found->time_ns, tolerance.resolution_ns, phrases.text(found->phrase));
    }
};

// Returns in what way the decision `first` differs.
[[nodiscard]] std::string difference_text(const DiffView& view);

void print_diff_text(Output& out, const DiffView& view);
// Writes the JSON of `remora diff`, which a page that compares contains, too.
void write_diff_json(fmt::memory_buffer& buffer, const DiffView& view);
void print_diff_json(Output& out, const DiffView& view);

// Reads a run that is compared with another one from the events of a trace: the decisions that the user selected, and
// the jobs of the selected task that were released in the span.
class RunInput {
  public:
    // All parameters must outlive this object.
    RunInput(analyse::Phrases& phrases, analyse::Run& run, const SelectionOptions& options)
        : m_selection(options)
        , m_run(run)
        , m_reader(phrases, run, [this](const analyse::Decision& decision) {
            return m_selection.everything() || m_selection.is_about(decision.event, decision.context);
        }) {}

    RunInput(const RunInput&) = delete;
    RunInput& operator=(const RunInput&) = delete;

    // Takes each event, in time order. khz is the clock's rate as far as it is known, else 0.
    void add(const trace::Event& event, std::uint32_t khz) {
        if (!event.metadata && event.is_sound()) {
            m_selection.take_note(event);
            m_reader.add(event, khz);
        }
    }

    // names are those of the whole trace.
    void finish(const trace::Names& names) {
        m_reader.finish();
        m_run.names = names;
        for (auto& [task, jobs] : m_run.jobs) {
            std::erase_if(jobs, [&](const schedule::JobAccount& account) {
                return !m_selection.is_task(names, account.job.context) ||
                       !m_selection.in_span(account.job.release_ns().value_or(0));
            });
        }
        std::erase_if(m_run.jobs, [](const auto& entry) { return entry.second.empty(); });
    }

    [[nodiscard]] const Selection& selection() const { return m_selection; }

  private:
    Selection m_selection;
    analyse::Run& m_run;
    analyse::RunReader m_reader;
};

} // namespace host::cli
