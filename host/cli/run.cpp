// SPDX-License-Identifier: MIT
// Runs a program from its first argument to its exit status. Exceptions of the libraries end here.
#include "host/cli/command/commands.hpp"
#include "host/cli/command/exit_table.hpp"
#include "host/cli/elsewhere.hpp"
#include "host/text/escape.hpp"
#include "lib/version.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace host::cli {

using trace::ExitStatus;

namespace {

std::string exit_table() {
    std::string text = "Exit status:\n";
    for (std::size_t i = 0; i < kExitTexts.size(); ++i) {
        text += fmt::format("  {}  {}\n", i, kExitTexts[i]);
    }
    return text;
}

// Returns the row for the words of a command line; null: this program has what they ask for.
const Elsewhere* find_elsewhere(std::span<const char* const> words, const Program& program) {
    const auto command = std::ranges::find_if_not(words, [](std::string_view word) { return word.starts_with("-"); });
    for (const Elsewhere& row : program.elsewhere) {
        if (row.program == program.name || command == words.end() || row.command != *command) {
            continue;
        }
        const auto asks = [&row](std::string_view word) { return word.starts_with(row.option); };
        if (row.option.empty() || std::any_of(command, words.end(), asks)) {
            return &row;
        }
    }
    return nullptr;
}

// Returns the path of the program `name` in the directory of this one; it need not exist.
std::string program_beside(std::string_view name) {
    std::error_code failed;
    return (std::filesystem::read_symlink("/proc/self/exe", failed).parent_path() / name).string();
}

// Replaces this process by the program, with the same arguments. Returns only if that fails: an errno.
int continue_as(const std::string& path) {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) {
        words.push_back(word);
    }
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    ::execv(path.c_str(), pointers.data());
    return errno;
}

// Continues as another program if the words ask for what only that has, or for text about all commands. Returns the
// error if that is needed and fails; empty: this program has the command.
std::string continue_elsewhere(std::span<const char* const> words, const Program& program) {
    if (const Elsewhere* const row = find_elsewhere(words, program); row != nullptr) {
        const std::string other = program_beside(row->program);
        const int error = continue_as(other);
        return fmt::format("remora {}{}{} is in the program {}, which cannot be started: {}; remedy: make {}\n",
                           row->command, row->option.empty() ? "" : " ", row->option, text::escaped(other),
                           std::strerror(error), row->program == kFleet ? "fleet" : "host");
    }
    const auto is_of_all = [](std::string_view word) { return std::ranges::count(kOfAllCommands, word) != 0; };
    if (!program.next.empty() && std::ranges::any_of(words, is_of_all)) {
        static_cast<void>(continue_as(program_beside(program.next)));
    }
    return {};
}

} // namespace

void add_program_options(CommandLine& line, Context context) {
    line.version(std::string(lib::kVersion));
    line.flag(
        "--no-pager", [context] { context.out.no_pager(); }, "never show long text through a pager");
    line.footer("A TRACE is a session directory, a file of any known format, or - for standard input.\n" +
                exit_table() +
                examples({"remora summary out/udp", "remora print out/udp --task control --limit 20",
                          "remora convert out/udp --to perfetto -o trace.pftrace"}));
}

int run(int argc, const char* const* argv, std::FILE* out_stream, std::FILE* err_stream, const Program& program) {
    Output out(out_stream);
    Output err(err_stream);
    const Context context{out, err};
    auto status = ExitStatus::clean;
    try {
        CommandLine line("remora", "Remora's host tools: receive, print, check, convert and query traces.");
        program.add_commands(line, context);
        for (const Elsewhere& row : program.elsewhere) {
            if (row.option.empty() && row.program != program.name) {
                static_cast<void>(line.command(std::string(row.command), std::string(row.description)));
            }
        }
        std::string help;
        std::string error = continue_elsewhere({argv + std::min(argc, 1), argv + argc}, program);
        status = error.empty() ? line.run(argc, argv, help, error) : ExitStatus::usage;
        out.print("{}", help);
        err.print("{}", error);
    } catch (const std::bad_alloc&) {
        err.print("remora: not enough memory; remedy: fewer threads (-j 1), or a higher limit (ulimit -v)\n");
        status = ExitStatus::usage;
    } catch (const std::exception& exception) {
        err.print("remora: {}\n", exception.what());
        status = ExitStatus::usage;
    }
    out.finish();
    // It is not an error if the reader has closed the pipe early (print | head).
    if (out.failed() && !out.reader_gone()) {
        err.print("remora: the output cannot be written: {}\n", std::strerror(out.error_number()));
        status = ExitStatus::no_space;
    }
    err.flush();
    return static_cast<int>(status);
}

} // namespace host::cli
