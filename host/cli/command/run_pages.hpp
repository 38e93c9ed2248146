// SPDX-License-Identifier: MIT
// The reports of runs that the page of a fleet links to: of each a span around one of its jobs.
#pragma once

#include "host/cli/command/commands.hpp"
#include "host/fleet/report/worst_case.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::cli {

struct RunPages {
    std::string directory; // where they are written; it is made if there is none
    std::string sessions;  // a store in a directory, packed sessions, or directories of sessions
    std::uint64_t count = 0;
};

// Writes those of the first `count` cases and names them there. What cannot be read or written is reported, and has no
// page. Each session is read once.
void write_run_pages(const RunPages& pages, std::vector<fleet::report::WorstCase>& cases, Context context);

// Removes what an earlier page linked to, and this one does not: files there that are named as run pages are.
void remove_other_run_pages(const std::string& directory, const std::vector<fleet::report::WorstCase>& cases);

} // namespace host::cli
