// SPDX-License-Identifier: MIT
// remora fleet report: the page of a fleet, and beside it the reports of the runs with the worst cases.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "host/cli/command/commands.hpp"

#include <cstdint>
#include <string>

namespace host::cli {

struct FleetReportOptions {
    std::string output;
    std::string sessions;    // of the same fleet, for the reports of runs; empty: the store itself, if it has them
    std::uint64_t runs = 20; // reports of runs at most
};

[[nodiscard]] trace::ExitStatus fleet_report(const fleet::questions::Asked& asked, std::int64_t now_s,
                                             const FleetReportOptions& options, fleet::Database& store,
                                             Context context);

} // namespace host::cli
