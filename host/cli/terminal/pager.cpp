// SPDX-License-Identifier: MIT
// POSIX end of the pager: one child, one pipe.
#include "host/cli/terminal/pager.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace host::cli {

namespace {

// NOLINTBEGIN(concurrency-mt-unsafe): one thread, and nothing changes the environment
std::string pager_command() {
    for (const char* const name : {"REMORA_PAGER", "PAGER"}) {
        if (const char* const value = std::getenv(name); value != nullptr) {
            return value;
        }
    }
    return "less";
}

// Leaves the screen as it is, shows colours, and ends by itself if one screen is enough; unless the user chose.
void set_less_options() {
    if (std::getenv("LESS") == nullptr) {
        ::setenv("LESS", "FRX", 1);
    }
}

// NOLINTEND(concurrency-mt-unsafe)

// The program, the command's first word, is there to be run.
bool can_run(std::string_view command) {
    const std::string program(command.substr(0, command.find(' ')));
    const std::string probe = "command -v -- '" + program + "' >/dev/null 2>&1";
    return program.find('\'') == std::string::npos && std::system(probe.c_str()) == 0; // NOLINT(cert-env33-c)
}

[[noreturn]] void become_pager(const std::string& command, int input) {
    ::dup2(input, STDIN_FILENO);
    set_less_options();
    std::signal(SIGPIPE, SIG_DFL);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
}

} // namespace

std::FILE* start_pager(int& process) {
    const std::string command = pager_command();
    std::array<int, 2> ends{};
    if (command.empty() || command == "cat" || !can_run(command) || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return nullptr;
    }
    process = ::fork();
    if (process == 0) {
        become_pager(command, ends[0]);
    }
    ::close(ends[0]);
    std::FILE* const stream = process > 0 ? ::fdopen(ends[1], "w") : nullptr;
    if (stream == nullptr) {
        ::close(ends[1]);
    }
    return stream;
}

void wait_for_pager(int process) {
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace host::cli
