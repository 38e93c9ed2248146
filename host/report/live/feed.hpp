// SPDX-License-Identifier: MIT
// Gives a page what a continuing trace has new after the cut that the page has, at each request. One thread reads the
// trace and lets requests be answered between two of its events; the server's thread waits for that. Each block is
// packed for one page, so a request costs what is new since the previous one.
#pragma once

#include "host/report/document.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace host::report::live {

class Feed {
  public:
    // A page whose cut is older than so many cuts gets everything again.
    static constexpr std::size_t kCutsMax = 1024;

    // The trace that is being read, in its present state.
    using Tables = std::function<Trace()>;

    enum class State : std::uint8_t { waiting, running, ended, reset };

    // --- the thread that reads

    // Sets the trace of a new run of the machine, which is used until the next one, or until remove().
    void begin(Tables tables);

    void change(State state) { m_state = state; }

    // Answers the requests that have arrived.
    void answer();

    // Answers the requests that have arrived, and waits for further ones for this time.
    void answer_for(std::chrono::milliseconds time);

    // Removes the trace.
    void remove();

    // --- the thread of the server

    // Returns the bytes of a block, not yet packed: what is new after this cut, or everything from the beginning.
    // Returns nothing if there is nothing new.
    [[nodiscard]] std::optional<std::vector<std::byte>> after(std::optional<std::uint64_t> cut);

    // From here on after() does not wait and returns nothing.
    void close();

  private:
    struct Asked {
        std::optional<std::uint64_t> after;
        std::optional<std::vector<std::byte>> block{};
        bool answered = false;
    };

    struct Known {
        std::uint64_t number = 0;
        State state{};
        Cut cut;
    };

    [[nodiscard]] std::optional<std::vector<std::byte>> block_after(std::optional<std::uint64_t> number);
    void answer_locked();

    std::mutex m_mutex;
    std::condition_variable m_asking;
    std::condition_variable m_answering;
    Asked* m_asked = nullptr; // at most one request waits, because the server has one thread
    bool m_has_trace = false;
    bool m_closed = false;

    // The following members belong to the thread that reads.
    Tables m_tables;
    State m_state = State::waiting;
    std::deque<Known> m_cuts; // of this run
    std::uint64_t m_number = 0;
    std::uint64_t m_run = 0;
};

} // namespace host::report::live
