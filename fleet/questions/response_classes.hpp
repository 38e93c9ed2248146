// SPDX-License-Identifier: MIT
// Computes percentiles of response times that are counted in classes, by the nearest rank, as everywhere else. The
// result is the upper end of the class of the job with that rank: at most 6.25 % more than its response time, never
// less, and at most the longest response, which is known exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace host::fleet::questions {

class ResponseClasses {
  public:
    void add(std::uint64_t class_ns, std::uint64_t jobs) {
        m_jobs[class_ns] += jobs;
        m_count += jobs;
    }

    void limit_to(std::optional<std::uint64_t> longest_ns) { m_longest_ns = longest_ns; }

    // Returns the response time that `per_thousand` of 1000 jobs do not exceed, or nothing if no job has one.
    [[nodiscard]] std::optional<std::uint64_t> percentile(std::uint64_t per_thousand) const {
        std::uint64_t left = std::max<std::uint64_t>((m_count * per_thousand + 999) / 1000, 1);
        for (const auto& [class_ns, jobs] : m_jobs) {
            if (jobs >= left) {
                return std::min(class_ns, m_longest_ns.value_or(class_ns));
            }
            left -= jobs;
        }
        return std::nullopt;
    }

  private:
    std::map<std::uint64_t, std::uint64_t> m_jobs;
    std::uint64_t m_count = 0;
    std::optional<std::uint64_t> m_longest_ns;
};

} // namespace host::fleet::questions
