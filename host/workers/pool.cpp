// SPDX-License-Identifier: MIT
#include "host/workers/pool.hpp"

#include <csignal>
#include <system_error>
#include <utility>

namespace host::workers {

Pool::~Pool() {
    {
        const std::scoped_lock lock(m_mutex);
        m_pieces.clear();
        m_ended = true;
    }
    m_changed.notify_all();
    for (std::thread& thread : m_threads) {
        thread.join();
    }
}

void Pool::push(Piece piece) {
    std::unique_lock lock(m_mutex);
    if (m_pieces.size() >= m_waiting && m_threads.size() < m_threads_max) {
        start_thread();
    }
    if (m_threads.empty()) { // only the submitting thread changes m_threads
        lock.unlock();
        piece(m_threads_max);
        return;
    }
    m_pieces.push_back(std::move(piece));
    lock.unlock();
    m_changed.notify_one();
}

// Makes the caller do the piece that has waited the longest. Returns false if no piece waits.
bool Pool::work() {
    std::unique_lock lock(m_mutex);
    if (m_pieces.empty()) {
        return false;
    }
    const Piece piece = std::move(m_pieces.front());
    m_pieces.pop_front();
    lock.unlock();
    piece(m_threads_max);
    return true;
}

// Starts no thread if the system refuses it; then the existing workers do its work.
void Pool::start_thread() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); // the program's first thread handles signals
    try {
        m_threads.emplace_back([this, worker = m_threads.size()] { run(worker); });
    } catch (const std::system_error&) { // NOLINT(bugprone-empty-catch)
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Pool::run(std::size_t worker) {
    std::unique_lock lock(m_mutex);
    while (true) {
        ++m_waiting;
        m_changed.wait(lock, [this] { return m_ended || !m_pieces.empty(); });
        --m_waiting;
        if (m_ended) {
            return;
        }
        const Piece piece = std::move(m_pieces.front());
        m_pieces.pop_front();
        lock.unlock();
        piece(worker);
        lock.lock();
    }
}

} // namespace host::workers
