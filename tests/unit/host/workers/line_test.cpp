// SPDX-License-Identifier: MIT
// Pieces are done in the order in which they were given, beside the caller; what one throws comes back.
#include "host/workers/line.hpp"

#include <future>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace host::workers {

namespace {

TEST(Line, DoesPiecesInTheirOrder) {
    std::vector<int> done;
    Line line;
    for (int i = 0; i < 500; ++i) {
        line.give([&done, i] { done.push_back(i); });
        if (i % 100 == 99) {
            line.finish(); // from here on it is the caller's
            EXPECT_EQ(done.size(), static_cast<std::size_t>(i) + 1);
            done.back() = i;
        }
    }
    std::vector<int> expected(500);
    std::iota(expected.begin(), expected.end(), 0);
    line.finish();
    EXPECT_EQ(done, expected);
}

TEST(Line, IsBesideTheCaller) {
    std::promise<void> gate;
    std::thread::id worker;
    Line line;
    line.give([&] {
        gate.get_future().wait(); // in the caller's thread it would wait forever
        worker = std::this_thread::get_id();
    });
    gate.set_value();
    line.finish();
    EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(Line, ThrowsWhatAPieceThrewAndBeginsNoOther) {
    int begun = 0;
    Line line;
    line.give([&begun] { ++begun; });
    line.give([] { throw std::runtime_error("piece"); });
    try {
        for (int i = 0; i < 100; ++i) { // more than it keeps: it does not wait for a thread that does nothing any more
            line.give([&begun] { ++begun; });
        }
        line.finish();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "piece");
    }
    EXPECT_THROW(line.finish(), std::runtime_error);
    EXPECT_EQ(begun, 1);
}

TEST(Line, EndsWithPiecesThatHaveNotBegun) {
    std::promise<void> gate;
    std::promise<void> first;
    int begun = 0;
    std::jthread opener;
    {
        Line line;
        line.give([&] {
            first.set_value();
            gate.get_future().wait();
            ++begun;
        });
        first.get_future().wait();
        line.give([&begun] { ++begun; });
        opener = std::jthread([&gate] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            gate.set_value();
        });
    }
    EXPECT_EQ(begun, 1);
}

} // namespace

} // namespace host::workers
