// SPDX-License-Identifier: MIT
// The recorder of one process works between tlog_initialize and tlog_finalize. It keeps types and times in memory,
// until node 0 collects them and writes the file. Seconds count from the start of node 0's recorder; the others adjust
// their clocks to it.
//
//   node 0                     node n
//   t0  ---- one byte ------>
//       <--- its time -------  t      ten rounds, twice; the round with the shortest t1 - t0 counts:
//   t1  ---- difference ---->         t0 + (t1 - t0) / 2 - t, by which node n corrects its start
//
// The error is at most half of the shortest turn-around (t1 - t0) / 2.
#pragma once

#include "foreign/published/tlog_links.hpp"
#include "foreign/tlog/record.hpp"

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <span>

namespace host::compat {

class TlogRecorder {
  public:
    using Clock = std::function<double()>; // seconds, never less than before

    // At node 0, time 0 is the time of the construction.
    TlogRecorder(Clock clock, TlogPeers peers);

    // All nodes together adjust the clocks, then record START. Returns false, with fail(), if a node is gone.
    [[nodiscard]] bool start();

    // Records an event with an argument. Returns false, with fail(), if the type is no event's, or if there is no
    // memory (the event is counted as lost).
    [[nodiscard]] bool log(int type, int arg2 = 0);

    // Node 0 writes its own events so far; the others do nothing. Returns false, with fail(), if the file cannot be
    // written to its end.
    [[nodiscard]] bool flush(const char* file_name);

    // All nodes together record END; node 0 writes the file, its own events first, then those of the others by number.
    // Returns false, with fail(), if the file cannot be written to its end, if a node is gone (its last events are not
    // in the file), or if events were lost.
    [[nodiscard]] bool finish(const char* file_name);

    [[nodiscard]] double seconds() const { return m_clock() - m_start_s; }

  private:
    struct Entry {
        double seconds;
        std::uint32_t arg2;
        std::uint8_t type;
    };

    enum class Copied : std::uint8_t { all, node_gone, not_written };

    static constexpr int kPasses = 2;
    static constexpr int kRounds = 10;

    [[nodiscard]] bool measure(TlogLink& link);
    [[nodiscard]] bool answer(TlogLink& link);
    void append(std::uint8_t type, std::uint32_t arg2 = 0);
    [[nodiscard]] bool send_events(TlogLink& link);
    [[nodiscard]] static Copied copy_events(TlogLink& link, std::FILE* file);
    [[nodiscard]] bool write_file(const char* file_name);

    Clock m_clock;
    TlogPeers m_peers;
    double m_start_s;
    std::deque<Entry> m_events;
    std::uint64_t m_lost = 0;
};

} // namespace host::compat
