// SPDX-License-Identifier: MIT
#include "fleet/command/publisher_process.hpp"

#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ; // NOLINT(readability-redundant-declaration): of the system

namespace host::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSignalBase = 128; // as in shells

} // namespace

PublisherProcess::~PublisherProcess() {
    std::optional<int> ended;
    if (running()) {
        ::kill(m_process, SIGKILL);
        reap(true, ended);
    }
}

lib::Result<void, trace::Refusal> PublisherProcess::start(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return trace::Refusal{"the publisher cannot be started: no socket is left"};
    }
    m_socket = trace::Descriptor(ends[0]);
    const trace::Descriptor other(ends[1]);
    std::vector<std::string> words = {"/proc/self/exe"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, other.number(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, other.number(), STDOUT_FILENO);
    const int error = ::posix_spawn(&m_process, words.front().c_str(), &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        m_process = -1;
        return trace::Refusal{"the publisher cannot be started: " + std::string(std::strerror(error))};
    }
    m_unsent.clear();
    m_received.clear();
    return {};
}

void PublisherProcess::send(std::string_view text) {
    m_unsent += text;
    flush();
}

void PublisherProcess::flush() {
    while (running() && !m_unsent.empty()) {
        const ssize_t count = ::send(m_socket.number(), m_unsent.data(), m_unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count <= 0) {
            return; // no room now, or the process has ended, which waiting for it shows
        }
        m_unsent.erase(0, static_cast<std::size_t>(count));
    }
}

// Returns false if nothing can come any more.
bool PublisherProcess::receive() {
    std::array<char, 4096> bytes{};
    while (true) {
        const ssize_t count = ::recv(m_socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (count > 0) {
            m_received.append(bytes.data(), static_cast<std::size_t>(count));
        } else {
            return count < 0 && (errno == EAGAIN || errno == EINTR);
        }
    }
}

void PublisherProcess::reap(bool wait, std::optional<int>& ended) {
    int status = 0;
    if (::waitpid(m_process, &status, wait ? 0 : WNOHANG) == m_process) {
        m_process = -1;
        ended = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
    }
}

std::vector<std::string> PublisherProcess::exchange(std::optional<int>& ended) {
    if (!running()) {
        return {};
    }
    flush();
    const bool open = receive();
    if (!open) {
        reap(false, ended);
    }
    return text::take_lines(m_received);
}

std::vector<std::string> PublisherProcess::finish(std::chrono::milliseconds limit, std::optional<int>& ended) {
    const Clock::time_point until = Clock::now() + limit;
    std::vector<std::string> lines;
    bool shut = false;
    while (running()) {
        flush();
        if (m_unsent.empty() && !std::exchange(shut, true)) {
            ::shutdown(m_socket.number(), SHUT_WR);
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        if (left.count() <= 0) {
            ::kill(m_process, SIGKILL);
            reap(true, ended);
            break;
        }
        pollfd socket{.fd = m_socket.number(),
                      .events = static_cast<short>(POLLIN | (m_unsent.empty() ? 0 : POLLOUT)),
                      .revents = 0};
        ::poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 100)));
        if (!receive()) {
            reap(true, ended);
        }
        const auto more = text::take_lines(m_received);
        lines.insert(lines.end(), more.begin(), more.end());
    }
    return lines;
}

} // namespace host::cli
