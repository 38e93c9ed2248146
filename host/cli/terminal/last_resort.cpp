// SPDX-License-Identifier: MIT
#include "host/cli/terminal/last_resort.hpp"

#include <algorithm>
#include <csignal>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace host::cli {

namespace {

// What the signal handler needs; set before the timer is.
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
