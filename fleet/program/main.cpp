// SPDX-License-Identifier: MIT
// Starts remora-fleet.
#include "fleet/command/commands.hpp"

#include <csignal>

int main(int argc, char** argv) {
    // A reader that goes away (print | head) shows as a failed write, not as a signal.
    std::signal(SIGPIPE, SIG_IGN);
    return host::cli::run(argc, argv, stdout, stderr, host::cli::kWholeProgram);
}
