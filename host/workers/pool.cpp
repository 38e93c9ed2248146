// SPDX-License-Identifier: MIT
#include "host/workers/pool.hpp"

#include "host/workers/start.hpp"

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
    if (m_threads.empty()) { // who submits is the only one to change it
        lock.unlock();
        piece(m_threads_max);
        return;
    }
    m_pieces.push_back(std::move(piece));
    lock.unlock();
    m_changed.notify_one();
}

// The caller does the piece that waits the longest. False: none does.
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

// Or none, if the system refuses it: those that are there do its work.
void Pool::start_thread() {
    if (auto thread = start([this, worker = m_threads.size()] { run(worker); })) {
        m_threads.push_back(std::move(*thread));
    }
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
