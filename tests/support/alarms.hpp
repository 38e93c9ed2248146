// SPDX-License-Identifier: MIT
// Interrupts the calling thread's system calls once a millisecond, as signals do that a program handles: a call that
// waits returns EINTR, and one that has moved a part of its bytes returns their number. Nothing is restarted.
#pragma once

#include <csignal>
#include <functional>
#include <sys/time.h>
#include <utility>

namespace support {

class Alarms {
  public:
    // on_alarm runs in the signal handler: it may only make system calls.
    explicit Alarms(std::function<void()> on_alarm) {
        s_on_alarm = std::move(on_alarm);
        struct sigaction action = {};
        action.sa_handler = [](int) { s_on_alarm(); };
        ::sigaction(SIGALRM, &action, &m_former);
        const itimerval timer{.it_interval = {0, 1000}, .it_value = {0, 1000}};
        ::setitimer(ITIMER_REAL, &timer, nullptr);
    }

    ~Alarms() {
        const itimerval none{};
        ::setitimer(ITIMER_REAL, &none, nullptr);
        ::sigaction(SIGALRM, &m_former, nullptr);
    }

    Alarms(const Alarms&) = delete;
    Alarms& operator=(const Alarms&) = delete;

  private:
    static inline std::function<void()> s_on_alarm;
    struct sigaction m_former = {};
};

} // namespace support
