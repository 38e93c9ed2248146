// SPDX-License-Identifier: MIT
// Pieces of work that are done one after the other, in the order in which they were given, by a thread beside the
// caller: for work that depends on what was done before. Who gives more than the thread has done waits, so memory is
// bounded.
//
// Usage:
//   Line line;
//   line.give([run, &figures] { figures.add(*run); });
//   line.finish(); // from here on figures is the caller's again
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace host::workers {

class Line {
  public:
    using Piece = std::function<void()>;

    Line() = default;
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    ~Line(); // drops what has not begun, and waits for what has

    // The following are for one thread. Each throws what a piece has thrown; no other is begun after that one.

    // The thread is started by the first piece. Without it, because the system refuses it, the piece is done here.
    void give(Piece piece);

    // Until all pieces were done. What they have written may be read, and written, until the next one is given.
    void finish();

  private:
    static constexpr std::size_t kPiecesMax = 8;

    void start_thread();
    void run();
    void rethrow();

    std::mutex m_mutex;
    std::condition_variable m_given;
    std::condition_variable m_done;
    std::deque<Piece> m_pieces; // the first one is under way, or about to be
    std::exception_ptr m_failure;
    bool m_ended = false;
    std::thread m_thread; // last: it uses the others
};

} // namespace host::workers
