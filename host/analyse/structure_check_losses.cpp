// SPDX-License-Identifier: MIT
// The rule about gaps: on each CPU blackout_start and blackout_end alternate, each end reports how many records
// were lost, and together they report all losses that the export counts. A blackout may still be open at the end: then
// the rest was lost after the last record. A chunk without emergency area has no room for its blackout_start, so that
// an end alone only relaxes the rule; what was overwritten may have been a start or an end.
#include "host/analyse/structure_check.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <limits>

namespace host::analyse {

using trace::kCodeOf;

void StructureCheck::check_blackout(const trace::Event& event) {
    Losses& losses = m_losses[event.cpu];
    if (event.code == kCodeOf<"blackout_start">) {
        if (losses.open) {
            violate(Rule::blackouts, event, std::nullopt, "a blackout starts inside another: an end is missing");
        }
        losses.open = true;
    } else if (event.code == kCodeOf<"blackout_end">) {
        if (!losses.open) {
            m_relaxations.push_back(fmt::format("{} records were lost before {} ticks without a blackout_start: no "
                                                "emergency area had room for it",
                                                event.par2, event.ticks.value));
        }
        losses.open = false;
        losses.reported += event.par2;
        losses.saturated = losses.saturated || event.par2 == std::numeric_limits<std::uint32_t>::max();
    }
}

void StructureCheck::check_losses(const trace::TraceFacts& facts) {
    const auto fault = [&](std::string text) {
        violate(Violation{.rule = Rule::blackouts, .event = nullptr, .file = {}, .task = {}, .text = std::move(text)});
    };
    const bool overwritten = std::ranges::any_of(facts.chunks, [](const trace::ChunkReport& chunk) {
        return !chunk.described || chunk.description.overwritten != 0;
    });
    std::uint64_t reported = 0;
    bool open = false;
    bool saturated = false;
    for (const auto& [cpu, losses] : m_losses) {
        reported += losses.reported;
        open = open || losses.open;
        saturated = saturated || losses.saturated;
    }
    if (!facts.export_end || facts.export_end->chunks != facts.chunks.size() || saturated) {
        return; // nothing to compare with, or not all of it
    }
    const std::uint64_t dropped = facts.export_end->dropped;
    if (reported > dropped) {
        fault(fmt::format("blackouts report {} lost records, the export counts {}", reported, dropped));
    } else if (overwritten || facts.export_end->overwritten != 0) {
        return; // a blackout_end may be among what was overwritten
    } else if (!open && reported != dropped) {
        fault(fmt::format("{} records were lost, but blackouts report only {}", dropped, reported));
    }
}

} // namespace host::analyse
