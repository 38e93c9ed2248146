// SPDX-License-Identifier: MIT
#include "host/trace/program_output.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host::trace {

namespace {

constexpr int kNotFound = 127; // exit status of the shell
constexpr rlim_t kMemoryBytes = rlim_t{4} << 30;

// Only functions that are safe after a fork in a process of several threads are called here.
[[noreturn]] void become(const std::vector<char*>& words, ProgramLimits limits, int output) {
    const rlimit processor{limits.processor_s, limits.processor_s};
    const rlimit memory{kMemoryBytes, kMemoryBytes};
    ::setrlimit(RLIMIT_CPU, &processor);
    ::setrlimit(RLIMIT_AS, &memory);
    ::dup2(output, STDOUT_FILENO);
    if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
        ::dup2(nowhere, STDIN_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
    }
    std::signal(SIGPIPE, SIG_DFL);
    ::execvp(words.front(), words.data());
    ::_exit(kNotFound);
}

// Returns what can be read there: one byte more than the limit, if there is more.
std::string read_all(int input, std::size_t bytes_max) {
    std::string text;
    std::array<char, 64 * 1024> piece{};
    while (text.size() <= bytes_max) {
        const ssize_t count = ::read(input, piece.data(), piece.size());
        if (count > 0) {
            text.append(piece.data(), static_cast<std::size_t>(count));
        } else if (count == 0 || errno != EINTR) {
            break;
        }
    }
    return text;
}

int exit_status_of(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

lib::Result<std::string, Refusal> output_of(const std::vector<std::string>& words, ProgramLimits limits) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (const std::string& word : words) {
        pointers.push_back(const_cast<char*>(word.c_str())); // NOLINT: execvp() does not change it
    }
    pointers.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return Refusal{"no pipe to " + words.front() + " can be had"};
    }
    const pid_t process = ::fork();
    if (process == 0) {
        become(pointers, limits, ends[1]);
    }
    ::close(ends[1]);
    std::string output = process > 0 ? read_all(ends[0], limits.output_bytes) : std::string();
    ::close(ends[0]); // A program that has more to say is ended by this.
    const int status = process > 0 ? exit_status_of(process) : -1;
    if (status == kNotFound) {
        return Refusal{words.front() + " cannot be run: install the package binutils"};
    }
    if (status != 0 || output.size() > limits.output_bytes) {
        return Refusal{words.front() + " failed"};
    }
    return output;
}

} // namespace host::trace
