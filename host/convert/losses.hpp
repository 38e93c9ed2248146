// SPDX-License-Identifier: MIT
// Records that are missing although no blackout_end in the trace tells where: what chunks say was dropped in all, and
// what was promised and never arrived.
#pragma once

#include "host/trace/facts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

namespace host::convert {

struct Losses {
    std::uint64_t dropped = 0; // by the tracer since boot, gaps that the trace shows included
    std::uint64_t missing = 0; // promised by a chunk, and not there

    // Those that gaps with so many records in all do not account for. A counter that is too low tells nothing.
    [[nodiscard]] std::uint64_t without(std::uint64_t shown) const {
        const std::uint64_t rest = dropped > shown ? dropped - shown : 0;
        return rest + std::min(missing, ~std::uint64_t{0} - rest);
    }
};

// By processor; only where there are any.
[[nodiscard]] inline std::map<std::uint16_t, Losses> unseen_losses(const trace::TraceFacts& facts) {
    std::map<std::uint16_t, Losses> losses;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (chunk.described && (chunk.description.dropped != 0 || chunk.missing != 0)) {
            Losses& of = losses[chunk.description.cpu];
            of.dropped = std::max(of.dropped, chunk.description.dropped);
            of.missing += std::min(chunk.missing, ~std::uint64_t{0} - of.missing);
        }
    }
    return losses;
}

// Over all processors, those included that gaps with so many records show.
[[nodiscard]] inline std::uint64_t all_losses(const trace::TraceFacts& facts, std::uint64_t shown) {
    Losses sum;
    for (const auto& [cpu, losses] : unseen_losses(facts)) {
        sum.dropped += std::min(losses.dropped, ~std::uint64_t{0} - sum.dropped);
        sum.missing += std::min(losses.missing, ~std::uint64_t{0} - sum.missing);
    }
    return std::max(shown, shown + sum.without(shown));
}

} // namespace host::convert
