// SPDX-License-Identifier: MIT
#include "host/workers/line.hpp"

#include "host/workers/start.hpp"

#include <utility>

namespace host::workers {

Line::~Line() {
    {
        const std::scoped_lock lock(m_mutex);
        m_ended = true;
    }
    m_given.notify_one();
    if (m_thread.joinable()) {
        m_thread.join();
    }
}

void Line::give(Piece piece) {
    if (!m_thread.joinable()) {
        m_thread = start([this] { run(); }).value_or(std::thread());
    }
    if (!m_thread.joinable()) {
        piece();
        return;
    }
    std::unique_lock lock(m_mutex);
    m_done.wait(lock, [this] { return m_pieces.size() < kPiecesMax; });
    rethrow();
    m_pieces.push_back(std::move(piece));
    lock.unlock();
    m_given.notify_one();
}

void Line::finish() {
    std::unique_lock lock(m_mutex);
    m_done.wait(lock, [this] { return m_pieces.empty(); });
    rethrow();
}

void Line::rethrow() {
    if (m_failure) {
        std::rethrow_exception(m_failure);
    }
}

void Line::run() {
    std::unique_lock lock(m_mutex);
    while (true) {
        m_given.wait(lock, [this] { return m_ended || !m_pieces.empty(); });
        if (m_ended) {
            return;
        }
        const Piece piece = std::move(m_pieces.front()); // its place is kept until it is done
        lock.unlock();
        std::exception_ptr failure;
        try {
            piece();
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        m_failure = failure;
        m_failure ? m_pieces.clear() : m_pieces.pop_front();
        m_done.notify_one();
    }
}

} // namespace host::workers
