// SPDX-License-Identifier: MIT
// Runs a second process of this program, which publishes beside this one. The socket to it never blocks: what cannot be
// sent now is kept and sent later. A process that ends is not started again here.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace host::cli {

class PublisherProcess {
  public:
    PublisherProcess() = default;
    PublisherProcess(const PublisherProcess&) = delete;
    PublisherProcess& operator=(const PublisherProcess&) = delete;
    ~PublisherProcess();

    // arguments: without the program's name.
    [[nodiscard]] lib::Result<void, trace::Refusal> start(const std::vector<std::string>& arguments);

    [[nodiscard]] bool running() const { return m_process > 0; }

    // Sends the text when there is room.
    void send(std::string_view text);

    // Sends what waits, and returns the lines that came. ended: the exit status of the process once it has ended; 128 +
    // the signal that killed it.
    [[nodiscard]] std::vector<std::string> exchange(std::optional<int>& ended);

    // Closes the sending side and waits until the process ends; kills it after `limit`. Returns the remaining lines.
    [[nodiscard]] std::vector<std::string> finish(std::chrono::milliseconds limit, std::optional<int>& ended);

  private:
    void flush();
    bool receive();
    void reap(bool wait, std::optional<int>& ended);

    pid_t m_process = -1;
    trace::Descriptor m_socket;
    std::string m_unsent;
    std::string m_received;
};

} // namespace host::cli
