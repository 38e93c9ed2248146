// SPDX-License-Identifier: MIT
// What each task did over the whole trace, in at most kBuckets buckets of equal length: how long it ran, was ready, was
// held up, and how many deadlines it missed. The page shows it where it has no intervals. The length of a bucket
// doubles whenever the trace outgrows them, so one pass suffices, and memory depends on the number of tasks.
#pragma once

#include "host/report/columns.hpp"
#include "host/schedule/intervals.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace host::report {

class Overview {
  public:
    static constexpr std::size_t kBuckets = 2048;
    static constexpr std::uint64_t kShareMax = 255; // a whole bucket

    // begin, end: ticks since the start of the trace. Activities other than running, ready and waiting are not counted.
    void add(std::size_t task, schedule::Activity activity, std::uint64_t begin, std::uint64_t end);

    void add_miss(std::size_t task, std::uint64_t at);

    [[nodiscard]] std::uint64_t bucket_ticks() const { return m_bucket_ticks; }

    // A table for each task, up to this time.
    [[nodiscard]] std::vector<Table> tables(std::uint64_t last) const;

  private:
    struct Bucket {
        std::array<std::uint64_t, 3> ticks{}; // running, ready, waiting
        std::uint64_t misses = 0;
    };

    using Buckets = std::vector<Bucket>;

    [[nodiscard]] Buckets& of(std::size_t task, std::uint64_t last);

    std::uint64_t m_bucket_ticks = 1;
    std::vector<Buckets> m_tasks;
};

} // namespace host::report
