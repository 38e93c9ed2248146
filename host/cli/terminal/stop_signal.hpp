// SPDX-License-Identifier: MIT
// Ends of long commands by signals. SIGINT, SIGTERM and SIGHUP set a flag that the command checks, so that it can close
// its files properly.
#pragma once

#include <chrono>
#include <csignal>
#include <string>

namespace host::cli {

// Installs the handlers of the signals.
void catch_stop_signals();

// Returns an object that is not zero if the user wants to stop. It lives as long as the program.
[[nodiscard]] const volatile std::sig_atomic_t& stop_requested();

// Ends a command that does not check its limit of time, because a library computes and does not call back until it is
// done. The process ends by a signal, with a message; what it has not written is lost.
class LastResort {
  public:
    // After this time, unless the object was destroyed before, the message is written to standard error and the process
    // ends with this exit status. Only one object may exist at a time.
    LastResort(std::chrono::milliseconds time, std::string message, int status);
    LastResort(const LastResort&) = delete;
    LastResort& operator=(const LastResort&) = delete;
    ~LastResort();

  private:
    std::string m_message;
};

} // namespace host::cli
