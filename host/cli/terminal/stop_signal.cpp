// SPDX-License-Identifier: MIT
#include "host/cli/terminal/stop_signal.hpp"

#include <array>

namespace host::cli {

namespace {

// The only thing that a signal handler may touch.
volatile std::sig_atomic_t g_stop_requested = 0;

extern "C" void request_stop(int /*signal*/) {
    g_stop_requested = 1;
}

} // namespace

// Stays in force over any number of signals, and system calls continue after it. A wish that came before counts too: a
// command that opens one trace after another asks again.
void catch_stop_signals() {
    struct sigaction action {};

    action.sa_handler = request_stop;
    action.sa_flags = SA_RESTART;
    for (const int signal : std::to_array({SIGINT, SIGTERM, SIGHUP})) {
        ::sigaction(signal, &action, nullptr);
    }
}

const volatile std::sig_atomic_t& stop_requested() {
    return g_stop_requested;
}

} // namespace host::cli
