// SPDX-License-Identifier: MIT
#include "host/report/overview.hpp"

#include <algorithm>

namespace host::report {

// With room for a moment.
Overview::Buckets& Overview::of(std::size_t task, std::uint64_t last) {
    while (last / m_bucket_ticks >= kBuckets) {
        m_bucket_ticks *= 2;
        for (Buckets& buckets : m_tasks) {
            for (std::size_t i = 0; i < kBuckets; ++i) {
                Bucket sum;
                if (i < kBuckets / 2) {
                    sum = buckets[2 * i];
                    const Bucket& other = buckets[2 * i + 1];
                    std::ranges::transform(sum.ticks, other.ticks, sum.ticks.begin(), std::plus());
                    sum.misses += other.misses;
                }
                buckets[i] = sum;
            }
        }
    }
    while (m_tasks.size() <= task) {
        m_tasks.emplace_back(kBuckets);
    }
    return m_tasks[task];
}

void Overview::add(std::size_t task, schedule::Activity activity, std::uint64_t begin, std::uint64_t end) {
    using enum schedule::Activity;
    if (activity != running && activity != ready && activity != waiting) {
        return;
    }
    const auto which = static_cast<std::size_t>(activity) - static_cast<std::size_t>(running);
    Buckets& buckets = of(task, end);
    while (begin < end) {
        const std::uint64_t index = begin / m_bucket_ticks;
        const std::uint64_t stop = std::min(end, (index + 1) * m_bucket_ticks);
        buckets[index].ticks[which] += stop - begin;
        begin = stop;
    }
}

void Overview::add_miss(std::size_t task, std::uint64_t at) {
    Buckets& buckets = of(task, at);
    ++buckets[at / m_bucket_ticks].misses;
}

std::vector<Table> Overview::tables(std::uint64_t last) const {
    std::vector<Table> tables;
    const auto used = std::min<std::uint64_t>(last / m_bucket_ticks + 1, kBuckets);
    for (std::size_t task = 0; task < m_tasks.size(); ++task) {
        Table& table =
            tables.emplace_back("overview", task, std::initializer_list<std::string_view>{},
                                std::initializer_list<std::string_view>{"running", "ready", "waiting", "misses"});
        for (std::size_t i = 0; i < used; ++i) {
            const Bucket& bucket = m_tasks[task][i];
            // What ran at all is visible.
            const auto share = [this](std::uint64_t ticks) {
                return (std::min(ticks, m_bucket_ticks) * kShareMax + m_bucket_ticks - 1) / m_bucket_ticks;
            };
            table.add({}, {share(bucket.ticks[0]), share(bucket.ticks[1]), share(bucket.ticks[2]), bucket.misses});
        }
    }
    return tables;
}

} // namespace host::report
