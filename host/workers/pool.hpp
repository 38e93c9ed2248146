// SPDX-License-Identifier: MIT
// Threads that do pieces of one piece of work. Who submits them waits for the results in the order that it needs, so
// what comes out does not depend on which thread was first; an exception in a piece is thrown where its result is
// taken.
//
// Usage:
//   Pool pool(4);
//   std::future<std::string> text = pool.submit([run](std::size_t worker) { return format(run); });
//   write(text.get());
#pragma once

#include <algorithm>
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
    // Of so many threads at most: one is started when a piece finds none that waits. Without any, because the system
    // refuses them or `threads` is 0, submit() does the work itself.
    explicit Pool(std::size_t threads)
        : m_threads_max(threads) {}

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool(); // drops what has not begun, and waits for what has

    // From one thread alone. work(worker), with worker < size(); two pieces of one worker never run at the same time.
    template <typename Work>
    [[nodiscard]] std::future<std::invoke_result_t<Work, std::size_t>> submit(Work work) {
        using Task = std::packaged_task<std::invoke_result_t<Work, std::size_t>(std::size_t)>;
        const auto task = std::make_shared<Task>(std::move(work));
        auto result = task->get_future();
        push([task](std::size_t worker) { (*task)(worker); });
        return result;
    }

    // At least 1: if there is no thread, who submits is the worker.
    [[nodiscard]] std::size_t size() const { return std::max<std::size_t>(m_threads_max, 1); }

  private:
    using Piece = std::function<void(std::size_t)>;

    void push(Piece piece);
    void start_thread();
    void run(std::size_t worker);

    std::size_t m_threads_max;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Piece> m_pieces; // that no thread has begun
    std::size_t m_waiting = 0;  // threads
    bool m_ended = false;
    std::vector<std::thread> m_threads; // last: they use the others
};

} // namespace host::workers
