// SPDX-License-Identifier: MIT
#include "host/cli/terminal/stop_signal.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace host::cli {

namespace {

// A signal handler may only change an object of this type.
volatile std::sig_atomic_t g_stop_requested = 0;

extern "C" void request_stop(int /*signal*/) {
    g_stop_requested = 1;
}

} // namespace

// The handler remains installed after any number of signals, and system calls are restarted. An earlier request is
// kept, so that a command that opens one trace after another sees it again.
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

namespace {

// These are for the signal handler and are set before the timer is started.
const char* g_message = nullptr;
std::size_t g_message_bytes = 0;
int g_status = 0;

extern "C" void end_process(int /*signal*/) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, g_message, g_message_bytes);
    ::_exit(g_status);
}

void set_timer(std::chrono::microseconds time) {
    itimerval timer{};
    timer.it_value.tv_sec = time.count() / 1'000'000;
    timer.it_value.tv_usec = time.count() % 1'000'000;
    ::setitimer(ITIMER_REAL, &timer, nullptr);
}

} // namespace

LastResort::LastResort(std::chrono::milliseconds time, std::string message, int status)
    : m_message(std::move(message)) {
    g_message = m_message.data();
    g_message_bytes = m_message.size();
    g_status = status;

    struct sigaction action {};

    action.sa_handler = end_process;
    ::sigaction(SIGALRM, &action, nullptr);
    set_timer(std::max(time, std::chrono::milliseconds(1)));
}

LastResort::~LastResort() {
    set_timer({});
}

} // namespace host::cli
