// SPDX-License-Identifier: MIT
// Records that are missing without a blackout_end that shows the gap: those that chunks count as dropped, those that
// were announced and never arrived, and those in parts of the carrier that never arrived.
#pragma once

#include "host/text/format.hpp"
#include "host/trace/facts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace host::convert {

[[nodiscard]] constexpr std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
    return a + std::min(b, ~std::uint64_t{0} - a);
}

struct Losses {
    std::uint64_t dropped = 0; // by the tracer since boot, with the gaps that the trace shows
    std::uint64_t missing = 0; // announced, and not there
    bool at_least = false;     // `missing` is a lower bound

    // Returns the losses beyond the `shown` records that gaps account for. A counter that is too low is ignored.
    [[nodiscard]] std::uint64_t without(std::uint64_t shown) const {
        return saturating_sum(dropped > shown ? dropped - shown : 0, missing);
    }

    // Returns a text for the user. records: the result of without().
    [[nodiscard]] std::string text(std::uint64_t records) const {
        return fmt::format("lost {}{} records, it is unknown where", at_least ? "at least " : "", records);
    }
};

// Returns records that never came and whose processor is unknown: those in the sender's totals beyond what the chunks
// report, else those that were counted elsewhere, and one for each part of the carrier that no chunk misses.
[[nodiscard]] inline Losses unplaced_losses(const trace::TraceFacts& facts) {
    std::uint64_t reported = 0;
    std::uint64_t missing = 0;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        reported = saturating_sum(reported, saturating_sum(chunk.records, chunk.missing));
        missing = saturating_sum(missing, chunk.missing);
    }
    if (facts.export_end) {
        return {.missing = facts.export_end->records > reported ? facts.export_end->records - reported : 0};
    }
    const std::uint64_t parts = missing == 0 ? facts.absent.parts : 0;
    return {.missing = saturating_sum(facts.absent.records, parts), .at_least = parts != 0};
}

// Returns the losses by processor, for processors that have any. Losses without a processor count for that of the first
// chunk.
[[nodiscard]] inline std::map<std::uint16_t, Losses> unseen_losses(const trace::TraceFacts& facts) {
    std::map<std::uint16_t, Losses> losses;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (chunk.described && (chunk.description.dropped != 0 || chunk.missing != 0)) {
            Losses& of = losses[chunk.description.cpu];
            of.dropped = std::max(of.dropped, chunk.description.dropped);
            of.missing = saturating_sum(of.missing, chunk.missing);
        }
    }
    if (const Losses unplaced = unplaced_losses(facts); unplaced.missing != 0) {
        Losses& of = losses[facts.chunks.empty() ? std::uint16_t{0} : facts.chunks.front().description.cpu];
        of.missing = saturating_sum(of.missing, unplaced.missing);
        of.at_least = unplaced.at_least;
    }
    return losses;
}

// Returns the losses of all processors, with the `shown` records of gaps.
[[nodiscard]] inline std::uint64_t all_losses(const trace::TraceFacts& facts, std::uint64_t shown) {
    Losses sum;
    for (const auto& [cpu, losses] : unseen_losses(facts)) {
        sum.dropped = saturating_sum(sum.dropped, losses.dropped);
        sum.missing = saturating_sum(sum.missing, losses.missing);
    }
    return saturating_sum(shown, sum.without(shown));
}

} // namespace host::convert
