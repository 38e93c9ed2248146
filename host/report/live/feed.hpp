// SPDX-License-Identifier: MIT
// What a page gets of a trace that continues: at each request what came after the cut that it has. One thread reads the
// trace, and lets requests be answered between two of its events; the server's thread waits for that. What was read is
// packed once for each page that shows it: a request costs what is new since the last one.
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
    // A page whose cut is older than so many gets everything anew.
    static constexpr std::size_t kCutsMax = 1024;

    // What is read now, as it is now.
    using Tables = std::function<Trace()>;

    enum class State : std::uint8_t { waiting, running, ended, reset };

    // --- the thread that reads

    // A new run of the machine; its trace is there until the next one, or remove().
    void begin(Tables tables);

    void change(State state) { m_state = state; }

    // Answers what was asked meanwhile.
    void answer();

    // Likewise, and waits for more that long.
    void answer_for(std::chrono::milliseconds time);

    // From here on there is no trace.
    void remove();

    // --- the thread of the server

    // The bytes of a block, not yet packed: what came after this cut, or everything from the beginning. Nothing: there
    // is nothing new.
    [[nodiscard]] std::optional<std::vector<std::byte>> after(std::optional<std::uint64_t> cut);

    // From here on after() does not wait, and has nothing new.
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
    Asked* m_asked = nullptr; // there is one thread of the server
    bool m_has_trace = false;
    bool m_closed = false;

    // Of the thread that reads.
    Tables m_tables;
    State m_state = State::waiting;
    std::deque<Known> m_cuts; // of this run
    std::uint64_t m_number = 0;
    std::uint64_t m_run = 0;
};

} // namespace host::report::live
