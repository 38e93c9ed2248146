// SPDX-License-Identifier: MIT
#include "host/trace/program_output.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host::trace {

namespace {

constexpr int kNotFound = 127; // exit status of the shell
constexpr rlim_t kMemoryBytes = rlim_t{4} << 30;

// Has a null pointer at its end.
using Words = std::vector<char*>;

// Programs of binutils would ask a server for what an image lacks.
Words environment() {
    Words words;
    for (char** word = environ; *word != nullptr; ++word) {
        if (!std::string_view(*word).starts_with("DEBUGINFOD_URLS=")) {
            words.push_back(*word);
        }
    }
    words.push_back(nullptr);
    return words;
}

// Only functions that are safe after a fork in a process of several threads are called here.
[[noreturn]] void become(const Words& words, const Words& environment, ProgramLimits limits, int output) {
    const rlimit processor{limits.processor_s, limits.processor_s};
    const rlimit memory{kMemoryBytes, kMemoryBytes};
    ::setrlimit(RLIMIT_CPU, &processor);
    ::setrlimit(RLIMIT_AS, &memory);
    ::alarm(limits.wall_s);
    ::dup2(output, STDOUT_FILENO);
    if (const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC); nowhere >= 0) {
        ::dup2(nowhere, STDIN_FILENO);
        ::dup2(nowhere, STDERR_FILENO);
    }
    std::signal(SIGPIPE, SIG_DFL);
    ::execvpe(words.front(), words.data(), environment.data());
    ::_exit(kNotFound);
}

using Time = std::chrono::steady_clock;

// Waits until something can be read there. Returns false if nothing can before the end of the time.
bool is_readable(int input, Time::time_point end) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Time::now()).count();
        pollfd wanted{.fd = input, .events = POLLIN, .revents = 0};
        const int ready = left > 0 ? ::poll(&wanted, 1, static_cast<int>(left)) : 0;
        if (ready >= 0 || errno != EINTR) {
            return ready > 0;
        }
    }
}

// Returns what can be read there: one byte more than the limit, if there is more; nothing if it takes too long.
std::optional<std::string> read_all(int input, ProgramLimits limits) {
    const Time::time_point end = Time::now() + std::chrono::seconds(limits.wall_s);
    std::string text;
    std::array<char, 64 * 1024> piece{};
    while (text.size() <= limits.output_bytes) {
        if (!is_readable(input, end)) {
            return std::nullopt;
        }
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
    const Words variables = environment();
    Words pointers;
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
        become(pointers, variables, limits, ends[1]);
    }
    ::close(ends[1]);
    const auto read = process > 0 ? read_all(ends[0], limits) : std::nullopt;
    ::close(ends[0]); // A program that has more to say is ended by this.
    if (process > 0 && !read) {
        ::kill(process, SIGKILL);
    }
    const int status = process > 0 ? exit_status_of(process) : -1;
    if (status == kNotFound) {
        return Refusal{words.front() + " cannot be run: install the package binutils"};
    }
    if (status != 0 || !read || read->size() > limits.output_bytes) {
        return Refusal{words.front() + " failed"};
    }
    return *read;
}

} // namespace host::trace
