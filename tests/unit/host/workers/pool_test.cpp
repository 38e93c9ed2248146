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
    for (const std::size_t threads : {1U, 2U, 3U, 6U}) {
        Pool pool(threads);
        std::vector<std::future<std::size_t>> squares;
        for (std::size_t i = 0; i < 200; ++i) {
            squares.push_back(pool.submit([i](std::size_t) { return i * i; }));
        }
        for (std::size_t i = 0; i < squares.size(); ++i) {
            EXPECT_EQ(pool.take(std::move(squares[i])), i * i) << threads;
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
        EXPECT_TRUE(pool.take(std::move(piece)));
    }
}

// The only thread is busy with the first piece until the second is done: the caller does it.
TEST(Pool, LetsWhoWaitsDoWhatNoThreadHasBegun) {
    Pool pool(2);
    std::promise<void> begun;
    std::promise<void> second_done;
    auto first = pool.submit([&](std::size_t worker) {
        begun.set_value();
        second_done.get_future().wait();
        return worker;
    });
    begun.get_future().wait();
    auto second = pool.submit([](std::size_t worker) { return worker; });
    EXPECT_EQ(pool.take(std::move(second)), 1U);
    second_done.set_value();
    EXPECT_EQ(pool.take(std::move(first)), 0U);
}

TEST(Pool, ThrowsWhereTheResultIsTaken) {
    for (const std::size_t threads : {1U, 3U}) {
        Pool pool(threads);
        auto failing = pool.submit([](std::size_t) -> int { throw std::runtime_error("piece"); });
        auto sound = pool.submit([](std::size_t) { return 7; });
        EXPECT_THROW(static_cast<void>(pool.take(std::move(failing))), std::runtime_error);
        EXPECT_EQ(pool.take(std::move(sound)), 7);
    }
}

TEST(Pool, EndsWithPiecesThatNoThreadHasBegun) {
    std::promise<void> gate;
    std::promise<void> first;
    std::atomic<int> begun = 0;
    std::vector<std::future<void>> pieces;
    std::jthread opener;
    {
        Pool pool(2);
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
