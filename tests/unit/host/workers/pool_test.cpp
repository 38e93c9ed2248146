// SPDX-License-Identifier: MIT
// What is submitted comes back to who waits for it, also what it throws, with any number of threads.
#include "host/workers/pool.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace host::workers {

namespace {

TEST(Pool, GivesResultsToWhoeverWaitsForThem) {
    for (const std::size_t threads : {0U, 1U, 2U, 5U}) {
        Pool pool(threads);
        std::vector<std::future<std::size_t>> squares;
        for (std::size_t i = 0; i < 200; ++i) {
            squares.push_back(pool.submit([i](std::size_t) { return i * i; }));
        }
        for (std::size_t i = 0; i < squares.size(); ++i) {
            EXPECT_EQ(squares[i].get(), i * i) << threads;
        }
    }
}

TEST(Pool, RunsNoTwoPiecesOfOneWorkerAtOnce) {
    Pool pool(3);
    std::vector<std::atomic<int>> running(pool.size());
    std::vector<std::future<bool>> alone;
    for (int i = 0; i < 300; ++i) {
        alone.push_back(pool.submit([&running](std::size_t worker) {
            const bool is_alone = ++running.at(worker) == 1;
            std::this_thread::yield();
            --running.at(worker);
            return is_alone;
        }));
    }
    for (std::future<bool>& piece : alone) {
        EXPECT_TRUE(piece.get());
    }
}

TEST(Pool, ThrowsWhereTheResultIsTaken) {
    for (const std::size_t threads : {0U, 2U}) {
        Pool pool(threads);
        auto failing = pool.submit([](std::size_t) -> int { throw std::runtime_error("piece"); });
        auto sound = pool.submit([](std::size_t) { return 7; });
        EXPECT_THROW(failing.get(), std::runtime_error);
        EXPECT_EQ(sound.get(), 7);
    }
}

TEST(Pool, EndsWithPiecesThatNoThreadHasBegun) {
    std::promise<void> gate;
    std::promise<void> first;
    std::atomic<int> begun = 0;
    std::vector<std::future<void>> pieces;
    std::jthread opener;
    {
        Pool pool(1);
        pieces.push_back(pool.submit([&](std::size_t) {
            ++begun;
            first.set_value();
            gate.get_future().wait();
        }));
        first.get_future().wait();
        for (int i = 0; i < 9; ++i) {
            pieces.push_back(pool.submit([&](std::size_t) { ++begun; }));
        }
        opener = std::jthread([&gate] { gate.set_value(); });
    }
    int dropped = 0;
    for (std::future<void>& piece : pieces) {
        try {
            piece.get();
        } catch (const std::future_error& error) {
            dropped += error.code() == std::future_errc::broken_promise ? 1 : 0;
        }
    }
    EXPECT_EQ(begun + dropped, 10);
}

} // namespace

} // namespace host::workers
