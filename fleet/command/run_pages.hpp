// SPDX-License-Identifier: MIT
// The reports of runs that the page of a fleet links to: of each a span around one of its jobs.
#pragma once

#include "fleet/report/worst_case.hpp"
#include "host/cli/command/commands.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::cli {

// Names the session of each case that is in the directory: a store in a directory, packed sessions, or directories of
// sessions.
void find_sessions(const std::string& directory, std::vector<fleet::report::WorstCase>& cases);

// Writes those of `count` cases into the directory, which is made if there is none, and names them there: in turn the
// next longest response and the next greatest lateness. cases: by response. What cannot be read or written is reported,
// and has no page. Each session is read once.
void write_run_pages(const std::string& directory, std::uint64_t count, std::vector<fleet::report::WorstCase>& cases,
                     Context context);

// Removes what an earlier page linked to, and this one does not: files there that are named as run pages are.
void remove_other_run_pages(const std::string& directory, const std::vector<fleet::report::WorstCase>& cases);

} // namespace host::cli
