// SPDX-License-Identifier: MIT
// Threads that do pieces of one piece of work. The submitting thread takes the results in the order that it needs, so
// the output does not depend on which thread was first; an exception in a piece is thrown where its result is taken.
// The submitting thread is one of the workers: while the result that it needs is not ready, it does pieces that no
// other worker has begun. So no processor is idle because of it, and threads rarely wait; to wake one costs more than a
// small piece.
//
// Usage:
//   Pool pool(4);
//   std::future<std::string> text = pool.submit([run](std::size_t worker) { return format(run); });
//   write(pool.take(std::move(text)));
#pragma once

#include "lib/assert.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace host::workers {

class Pool {
  public:
    // workers: the most workers, at least 1; the caller is one of them. A thread is started if no thread waits when a
    // piece is submitted. If there is no thread, because the system refuses them or the caller is the only worker,
    // submit() does the work itself.
    explicit Pool(std::size_t workers)
        : m_threads_max(workers - 1) {
        ASSERT(workers != 0);
    }

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool(); // drops the pieces that have not begun and waits for those that have

    // Must always be called by the same thread. Calls work(worker) with worker < size(); two pieces of one worker never
    // run at the same time.
    template <typename Work>
    [[nodiscard]] std::future<std::invoke_result_t<Work, std::size_t>> submit(Work work) {
        using Task = std::packaged_task<std::invoke_result_t<Work, std::size_t>(std::size_t)>;
        const auto task = std::make_shared<Task>(std::move(work));
        auto result = task->get_future();
        push([task](std::size_t worker) { (*task)(worker); });
        return result;
    }

    // Waits until the result of a piece, or its exception, is ready. Must be called by the thread that submitted the
    // piece.
    template <typename Result>
    void await(const std::future<Result>& result) {
        while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready && work()) {
        }
        result.wait();
    }

    // Waits as await() does, then returns the result or throws what the piece threw.
    template <typename Result>
    [[nodiscard]] Result take(std::future<Result> result) {
        await(result);
        return result.get();
    }

    // Returns the number of workers, including the caller.
    [[nodiscard]] std::size_t size() const { return m_threads_max + 1; }

  private:
    using Piece = std::function<void(std::size_t)>;

    void push(Piece piece);
    [[nodiscard]] bool work();
    void start_thread();
    void run(std::size_t worker);

    std::size_t m_threads_max;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Piece> m_pieces; // pieces that no worker has begun
    std::size_t m_waiting = 0;  // threads that wait
    bool m_ended = false;
    std::vector<std::thread> m_threads; // the last member, because the threads use the others
};

} // namespace host::workers
