// SPDX-License-Identifier: MIT
// Finds the mistakes of a port of the tracer to another kernel by what they leave in its trace: each has a remedy, and
// the part of docs/porting.md that describes it. It only says what the records show, and nothing is a mistake because a
// record is missing that the kernel has no hook for, or that was lost.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace host::analyse {

struct Symptom {
    std::string_view name;
    std::string text;
    std::string_view remedy;
    std::string_view step; // of docs/porting.md
    bool harmless = false;
};

class Doctor {
  public:
    // Must be called with each event, in time order, metadata included.
    void add(const trace::Event& event);

    // Returns what was found, the gravest first. Must be called once, after the last event.
    [[nodiscard]] std::vector<Symptom> finish(const trace::TraceFacts& facts);

  private:
    struct Processor {
        std::vector<std::uint16_t> handlers; // those that have begun and not ended
        std::optional<std::uint16_t> context;
        std::uint64_t last = 0;
        std::optional<std::uint16_t> dispatched; // and not yet switched to
    };

    struct Vector {
        std::uint64_t starts = 0;
        std::uint64_t unended = 0;   // a switch came before the end
        std::uint64_t unstarted = 0; // ended, and had not begun
    };

    struct Lock {
        std::optional<std::uint16_t> owner;
        std::uint64_t foreign = 0; // unlocked by another task than its owner
        std::uint64_t twice = 0;   // acquired while it was owned
    };

    void take_name(const trace::Event& event);
    void take_interrupt(const trace::Event& event, Processor& here);
    void take_switch(const trace::Event& event, Processor& here);
    void take_lock(const trace::Event& event);
    void forget();
    void of_counts(const trace::TraceFacts& facts);
    void of_interrupts();
    void of_tasks(const trace::TraceFacts& facts);
    void of_names(const trace::TraceFacts& facts);
    void of_locks(const trace::TraceFacts& facts);

    std::map<std::uint16_t, Processor> m_processors;
    std::map<std::uint16_t, Vector> m_vectors;
    std::map<std::uint16_t, Lock> m_locks;
    std::map<std::uint16_t, std::set<std::string>> m_names; // of each context
    std::set<std::uint16_t> m_contexts;                     // that ran
    std::set<std::uint16_t> m_ready;                        // that were made ready
    std::array<std::uint64_t, 256> m_counts{};              // by code
    std::uint64_t m_undispatched = 0;                       // switches that no dispatch announced
    std::uint64_t m_falling = 0;                            // stamps that are less than the one before
    std::uint64_t m_events = 0;
    std::vector<Symptom> m_found;
};

} // namespace host::analyse
