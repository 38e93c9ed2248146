// SPDX-License-Identifier: MIT
// remora fleet report writes the page of a fleet, and beside it the reports of the runs with the worst cases.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/selection.hpp"
#include "host/cli/command/commands.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace host::cli {

// Finds the session of a run in a directory:
//
//   DIR/SITE/NODE/BOOT.rpk    a store in a directory
//   .../BOOT.rpk              a packed session of that name, at most three directories below
//   .../SESSION               a session directory, at most three directories below
class SessionFinder {
  public:
    explicit SessionFinder(std::string directory);

    // Returns an empty path if the session is not there, or if the names are not those of a run.
    [[nodiscard]] std::string find(const std::string& site_untrusted, const std::string& node_untrusted,
                                   const std::string& boot_untrusted);

  private:
    void look_everywhere();

    std::string m_directory;
    bool m_looked = false;
    std::map<std::string, std::string> m_by_boot; // paths, once m_looked
};

struct FleetReportOptions {
    std::string output;
    std::string sessions;    // directory with the sessions, for the reports of runs; empty: the store itself, if it is
                             // a directory
    std::uint64_t runs = 20; // reports of runs at most
};

[[nodiscard]] trace::ExitStatus fleet_report(const fleet::questions::Asked& asked, std::int64_t now_s,
                                             const FleetReportOptions& options, fleet::Database& store,
                                             Context context);

} // namespace host::cli
