// SPDX-License-Identifier: MIT
// Collects the judgements of the theories: counts per rule of what was checked, what could not be decided and what is
// wrong, and what had to be relaxed. Rules whose events may be missing from the trace count as undecided by themselves.
#pragma once

#include "host/analyse/oracle/rules.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace host::analyse::oracle {

struct Finding {
    Rule rule = Rule::level_order;
    const trace::Event* event = nullptr; // at which it shows; never null, valid during the call
    std::optional<std::uint16_t> task;   // the context concerned
    std::string text;
};

struct Tally {
    std::uint64_t checked = 0; // decided, right or wrong
    std::uint64_t undecided = 0;
    std::uint64_t violations = 0;
};

class Verdicts {
  public:
    using Sink = std::function<void(const Finding&)>;

    explicit Verdicts(Sink sink)
        : m_sink(std::move(sink)) {}

    // The event to which the following judgements refer.
    void at(const trace::Event& event) { m_event = &event; }

    [[nodiscard]] bool blind(Rule rule) const { return (row_of(rule).needs & m_missing) != 0; }

    void pass(Rule rule) { ++(blind(rule) ? tally(rule).undecided : tally(rule).checked); }

    void undecided(Rule rule) { ++tally(rule).undecided; }

    void fail(Rule rule, std::optional<std::uint16_t> task, std::string text) {
        if (blind(rule)) {
            ++tally(rule).undecided;
            return;
        }
        ++tally(rule).checked;
        ++tally(rule).violations;
        m_sink(Finding{.rule = rule, .event = m_event, .task = task, .text = std::move(text)});
    }

    // `text` is a callable that makes the sentence only when it is needed.
    template <typename Text>
    void judge(Rule rule, bool holds, std::optional<std::uint16_t> task, Text&& text) {
        holds ? pass(rule) : fail(rule, task, text());
    }

    // Events of this family are missing from here on.
    void lose(tracer::Family family) { m_missing |= 1U << static_cast<unsigned>(family); }

    void lose_all() { m_missing = ~std::uint32_t{0}; }

    // A sentence, reported once.
    void relax(std::string why);

    [[nodiscard]] const Tally& of(Rule rule) const { return m_tallies[static_cast<std::size_t>(rule)]; }

    [[nodiscard]] Tally of(Subject subject) const;
    [[nodiscard]] Tally total() const;

    [[nodiscard]] const std::vector<std::string>& relaxations() const { return m_relaxations; }

  private:
    [[nodiscard]] Tally& tally(Rule rule) { return m_tallies[static_cast<std::size_t>(rule)]; }

    Sink m_sink;
    const trace::Event* m_event = nullptr;
    std::uint32_t m_missing = 0;
    std::array<Tally, kRules.size()> m_tallies{};
    std::vector<std::string> m_relaxations;
};

} // namespace host::analyse::oracle
