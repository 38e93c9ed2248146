// SPDX-License-Identifier: MIT
// Records that are missing although no blackout_end in the trace says where: what chunks say was dropped in all, what
// was promised and never arrived, and what was in parts of the carrier that never arrived.
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
    std::uint64_t dropped = 0; // by the tracer since boot, gaps that the trace shows included
    std::uint64_t missing = 0; // promised, and not there
    bool at_least = false;     // `missing` is a lower bound

    // Those that gaps with so many records in all do not account for. A counter that is too low is ignored.
    [[nodiscard]] std::uint64_t without(std::uint64_t shown) const {
        return saturating_sum(dropped > shown ? dropped - shown : 0, missing);
    }

    // For people. records: without(what is shown).
    [[nodiscard]] std::string text(std::uint64_t records) const {
        return fmt::format("lost {}{} records, it is unknown where", at_least ? "at least " : "", records);
    }
};

// Records that never came and of which not even the processor is known: what the sender's totals promise beyond what
// the chunks report, else what was counted elsewhere, and one for each part of the carrier that no chunk misses.
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

// By processor; only where there are any. What cannot be placed is counted for the processor of the first chunk.
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

// Over all processors, those included that gaps with so many records show.
[[nodiscard]] inline std::uint64_t all_losses(const trace::TraceFacts& facts, std::uint64_t shown) {
    Losses sum;
    for (const auto& [cpu, losses] : unseen_losses(facts)) {
        sum.dropped = saturating_sum(sum.dropped, losses.dropped);
        sum.missing = saturating_sum(sum.missing, losses.missing);
    }
    return saturating_sum(shown, sum.without(shown));
}

} // namespace host::convert
