// SPDX-License-Identifier: MIT
#include "host/cli/terminal/output.hpp"

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

// Makes less keep the screen, show colours, and end if one screen is enough, unless the user has chosen options.
void set_less_options() {
    if (std::getenv("LESS") == nullptr) {
        ::setenv("LESS", "FRX", 1);
    }
}

// NOLINTEND(concurrency-mt-unsafe)

// Returns whether the program, which is the command's first word, can be run.
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

// Starts a process that shows text a screen at a time: the command in REMORA_PAGER, else in PAGER, else `less`. Returns
// null if that is empty, `cat`, or cannot be started: then the terminal takes the text itself. The text that is written
// to the stream is shown; closing the stream marks the end.
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

// Returns when the user has closed the pager.
void wait_for_pager(int process) {
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

} // namespace

Output::Output(std::FILE* stream)
    : m_stream(stream)
    , m_terminal(::isatty(::fileno(stream)) == 1) {
    const char* const no_color = std::getenv("NO_COLOR");
    // The stream is unbuffered, because m_buffer is the buffer; the stream's own would cut each flush into three
    // writes.
    std::setvbuf(stream, nullptr, _IONBF, 0);
    m_colour = m_terminal && (no_color == nullptr || *no_color == '\0');
}

Output::~Output() {
    finish();
}

void Output::finish() {
    flush();
    if (m_pager != nullptr) {
        std::fclose(std::exchange(m_pager, nullptr));
        wait_for_pager(m_pager_process);
    }
}

void Output::page() {
    if (m_may_page && m_terminal && m_pager == nullptr) {
        m_pager = start_pager(m_pager_process);
    }
}

void Output::flush() {
    put({m_buffer.data(), m_buffer.size()});
    m_buffer.clear();
}

void Output::write(std::string_view text) {
    flush();
    put(text);
}

void Output::put(std::string_view text) {
    if (!text.empty() && !m_failed) {
        std::FILE* const stream = m_pager != nullptr ? m_pager : m_stream;
        m_failed = std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0;
        m_error_number = m_failed ? errno : 0;
    }
}

std::string Output::styled(Style style, std::string_view text) const {
    if (!m_colour || style == Style::plain) {
        return std::string(text);
    }
    constexpr auto kCodes = std::to_array<std::string_view>({"", "2", "1", "1;32", "1;33", "1;31"}); // by Style
    const std::string_view code = kCodes.at(static_cast<std::size_t>(style));
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

} // namespace host::cli
