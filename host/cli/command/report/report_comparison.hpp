// SPDX-License-Identifier: MIT
// What a page of `remora report` has beside its traces when it compares: two traces, or phases of one. For each pair
// that can be chosen it is what `remora diff --json` prints, so that both show the same.
//
//   {"sides": [{"trace": 0, "title": "phase 1", "from_ns": 8531, "to_ns": 51017497}, ...],
//    "pairs": [{"of": [0, 1], "diff": {...}}, ...], "chosen": 0}
//
// trace: which of the page's traces; from_ns, to_ns: null without a limit; chosen: the pair shown at first, null: none.
#pragma once

#include "host/analyse/run_comparison.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::cli {

// titles: printable.
[[nodiscard]] std::vector<std::byte> compared_traces(const analyse::Phrases& phrases,
                                                     const analyse::Both<const analyse::Run*>& runs,
                                                     const analyse::Both<std::string>& titles);

// Numbers of two phases, from 1.
using PhasePair = analyse::Both<std::uint32_t>;

// As a user writes them: `1,2`. Nothing if it is something else, or the same phase twice.
[[nodiscard]] std::optional<PhasePair> phase_pair_of(const std::string& text);

// Each pair of the phases of a run. chosen: phases that exist.
[[nodiscard]] std::vector<std::byte> compared_phases(const analyse::Phrases& phrases, const analyse::Run& run,
                                                     std::span<const analyse::RunPhase> phases,
                                                     const std::optional<PhasePair>& chosen);

} // namespace host::cli
