// SPDX-License-Identifier: MIT
// A user who wants a long command to end: SIGINT, SIGTERM and SIGHUP become a flag that the command looks at, so that
// it can close its files properly.
#pragma once

#include <chrono>
#include <csignal>
#include <string>

namespace host::cli {

// From here on.
void catch_stop_signals();

// Not zero: the user wants to stop. The object lives as long as the program.
[[nodiscard]] const volatile std::sig_atomic_t& stop_requested();

// The end of a command that does not look at its limit of time, because a library computes and does not call back until
// it is done. The process ends by a signal, with a message; what it has not written is lost.

class LastResort {
  public:
    // After this time, unless the object is gone by then, the message goes to standard error, and the process ends with
    // this exit status. One object at a time.
    LastResort(std::chrono::milliseconds time, std::string message, int status);
    LastResort(const LastResort&) = delete;
    LastResort& operator=(const LastResort&) = delete;
    ~LastResort();

  private:
    std::string m_message;
};

} // namespace host::cli
