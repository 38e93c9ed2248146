// SPDX-License-Identifier: MIT
// A user who wants a long command to end: SIGINT, SIGTERM and SIGHUP become a flag that the command looks at, so that
// it can close its files properly.
#pragma once

#include <csignal>

namespace host::cli {

// From here on.
void catch_stop_signals();

// Not zero: the user wants to stop. The object lives as long as the program.
[[nodiscard]] const volatile std::sig_atomic_t& stop_requested();

} // namespace host::cli
