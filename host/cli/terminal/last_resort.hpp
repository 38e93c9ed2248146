// SPDX-License-Identifier: MIT
// The end of a command that does not look at its limit of time, because a library computes and does not call back until
// it is done. The process ends by a signal, with a message; what it has not written is lost.
#pragma once

#include <chrono>
#include <string>

namespace host::cli {

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
