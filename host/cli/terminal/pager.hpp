// SPDX-License-Identifier: MIT
// A process that shows text a screen at a time.
#pragma once

#include <cstdio>

namespace host::cli {

// The command in REMORA_PAGER, else in PAGER, else `less`; null if that is empty, `cat`, or cannot be started: then the
// terminal takes the text itself. What is written to the stream is shown; closing it marks the end.
[[nodiscard]] std::FILE* start_pager(int& process);

// Returns when the user has closed it.
void wait_for_pager(int process);

} // namespace host::cli
