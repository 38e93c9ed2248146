// SPDX-License-Identifier: MIT
// Translates what threads and interrupts of another system's .kev file do into our events: RUNNING is a context_switch,
// READY ends a wait, the other states are waits of the nearest kind, INT_ENTR and INT_EXIT are the handler's begin and
// end. Each thread has a context, with the name of the thread, or else that of its process and its number. Those that
// are idle are all called "idle", whatever their own names are.
#pragma once

#include "foreign/kev/header.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>

namespace host::formats::kev {

class ThreadSchedule {
  public:
    ThreadSchedule(ByteOrder byte_order, std::uint32_t processors)
        : m_byte_order(byte_order)
        , m_processors(processors) {}

    // Takes a sound event, in order of time, and names threads. Returns nothing if the event is not about the schedule,
    // or if there are too many threads or interrupts.
    [[nodiscard]] std::optional<trace::Meaning> take(const trace::Event& event, trace::Names& names);

    // Returns whether there are threads without a context (more than 65,535) or interrupts without a vector (more than
    // 32,768 with numbers above 32,767).
    [[nodiscard]] bool overfull() const { return m_overfull; }

  private:
    [[nodiscard]] std::optional<trace::Meaning> take_thread(const trace::Event& event, trace::Names& names);
    [[nodiscard]] std::optional<std::uint16_t> context_of(std::uint32_t pid, std::uint32_t tid, trace::Names& names);
    [[nodiscard]] std::optional<std::uint16_t> vector_of(std::uint32_t interrupt, trace::Names& names);
    [[nodiscard]] bool is_idle(std::uint32_t pid, std::uint32_t tid) const;
    void name_thread(std::uint32_t pid, std::uint32_t tid, std::uint16_t context, trace::Names& names) const;
    void name_process(std::uint32_t pid, std::string name, trace::Names& names);
    [[nodiscard]] std::string text_of(std::span<const std::uint32_t> words) const;

    ByteOrder m_byte_order;
    std::uint32_t m_processors;
    trace::ForeignContexts m_contexts;                // by pid and tid
    std::map<std::uint32_t, std::string> m_processes; // names by pid
    std::set<std::uint16_t> m_named;                  // contexts of threads with names of their own
    std::map<std::uint16_t, std::uint16_t> m_running; // contexts by processor
    std::map<std::uint32_t, std::uint16_t> m_vectors; // of interrupts with numbers of more than 15 bits
    bool m_overfull = false;
};

} // namespace host::formats::kev
