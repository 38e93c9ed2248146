// SPDX-License-Identifier: MIT
// How threads of this room are started.
#pragma once

#include <csignal>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace host::workers {

// A thread that takes no signals: those are the program's first one's. Nothing if the system refuses it.
template <typename Run>
[[nodiscard]] std::optional<std::thread> start(Run run) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::optional<std::thread> thread;
    try {
        thread.emplace(std::move(run));
    } catch (const std::system_error&) { // NOLINT(bugprone-empty-catch)
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
}

} // namespace host::workers
