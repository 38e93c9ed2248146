// SPDX-License-Identifier: MIT
// Runs a child process and reads the lines that it prints: `  101a3c:<tab>add    $0x1,%eax`.
#include "host/cli/event/disassembly.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host::cli {

namespace {

constexpr int kNotFound = 127; // exit status of the shell

[[noreturn]] void become_objdump(const std::string& path, int output) {
    ::dup2(output, STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_DFL);
    ::execlp("objdump", "objdump", "--disassemble", "--demangle", "--no-show-raw-insn", "--wide", "--", path.c_str(),
             static_cast<char*>(nullptr));
    ::_exit(kNotFound);
}

// Returns everything that can be read there; nothing if reading fails.
std::string read_all(int input) {
    std::string text;
    std::array<char, 64 * 1024> piece{};
    for (;;) {
        const ssize_t count = ::read(input, piece.data(), piece.size());
        if (count > 0) {
            text.append(piece.data(), static_cast<std::size_t>(count));
        } else if (count == 0 || errno != EINTR) {
            return text;
        }
    }
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

// Replaces the tab between name and operands by a blank, and removes one at the end.
std::string tidied(std::string_view text) {
    std::string out;
    for (const char character : text) {
        const bool blank = character == ' ' || character == '\t';
        if (!blank) {
            out += character;
        } else if (!out.empty() && out.back() != ' ') {
            out += ' ';
        }
    }
    while (!out.empty() && out.back() == ' ') {
        out.pop_back();
    }
    return out;
}

} // namespace

lib::Result<Disassembly, trace::Refusal> Disassembly::of_image(const std::string& path) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return trace::Refusal{"no pipe to objdump can be had"};
    }
    const pid_t process = ::fork();
    if (process == 0) {
        become_objdump(path, ends[1]);
    }
    ::close(ends[1]);
    const std::string listing = process > 0 ? read_all(ends[0]) : std::string();
    ::close(ends[0]);
    const int status = process > 0 ? exit_status_of(process) : -1;
    if (status != 0) {
        return trace::Refusal{status == kNotFound ? "objdump cannot be run: install the package binutils"
                                                  : "objdump failed"};
    }
    Disassembly disassembly = parse(listing);
    if (disassembly.m_instructions.empty()) {
        return trace::Refusal{"objdump found no instruction in it"};
    }
    return disassembly;
}

Disassembly Disassembly::parse(std::string_view listing) {
    Disassembly disassembly;
    while (!listing.empty()) {
        const std::string_view line = listing.substr(0, listing.find('\n'));
        listing.remove_prefix(std::min(line.size() + 1, listing.size()));
        const std::size_t begin = line.find_first_not_of(' ');
        const std::size_t colon = line.find(":\t");
        if (begin == std::string_view::npos || colon == std::string_view::npos || begin > colon) {
            continue;
        }
        std::uint64_t address = 0;
        const auto [end, error] = std::from_chars(line.data() + begin, line.data() + colon, address, 16);
        if (error == std::errc{} && end == line.data() + colon) {
            disassembly.m_instructions.insert_or_assign(address, tidied(line.substr(colon + 2)));
        }
    }
    return disassembly;
}

std::string_view Disassembly::at(std::uint64_t address) const {
    const auto found = m_instructions.find(address);
    return found != m_instructions.end() ? std::string_view(found->second) : std::string_view();
}

std::string_view Disassembly::of(const trace::Event& event) const {
    const bool is_code = event.row != nullptr && event.is_sound() && event.row->par2.unit == tracer::Unit::code;
    return is_code && event.image != nullptr ? at(event.par2) : std::string_view();
}

} // namespace host::cli
