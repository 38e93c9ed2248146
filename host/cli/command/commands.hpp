// SPDX-License-Identifier: MIT
// Declares the subcommands of `remora`. Each function adds one to the command line; its callback does the work and sets
// the exit status. A program is a list of commands (Program); host/program/, convert/command/ and fleet/command/ have
// one each.
#pragma once

#include "host/cli/command/command_line.hpp"
#include "host/cli/expect/expectation.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/trace/diagnostics.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <span>
#include <string_view>

namespace host::cli {

class Publishing;

// publishing: what `record --publish` starts; null: the program has no such option.
void add_record(CommandLine& line, Context context, const std::shared_ptr<Publishing>& publishing);
void add_print(CommandLine& line, Context context);
void add_attach(CommandLine& line, Context context);
void add_top(CommandLine& line, Context context);
void add_schedule(CommandLine& line, Context context);
void add_diff(CommandLine& line, Context context);
void add_summary(CommandLine& line, Context context);
void add_why(CommandLine& line, Context context);
void add_goto(CommandLine& line, Context context);
void add_verify(CommandLine& line, Context context);
void add_doctor(CommandLine& line, Context context);
// outcomes: evaluates `check --expect`; null: the program never runs check with that option.
void add_check(CommandLine& line, Context context, OutcomesOf outcomes);
void add_adopt(CommandLine& line, Context context);
void add_report(CommandLine& line, Context context);
void add_events(CommandLine& line, Context context);
void add_count(CommandLine& line, Context context);
void add_pack(CommandLine& line, Context context);
void add_unpack(CommandLine& line, Context context);
void add_sql(CommandLine& line, Context context);
void add_completion(CommandLine& line, Context context);
void add_manual(CommandLine& line, Context context);

// Adds the options before every command, and the text below the list of commands.
void add_program_options(CommandLine& line, Context context);

// A command of another program, or an option that a command has only there.
struct Elsewhere {
    std::string_view program;
    std::string_view command;
    std::string_view option;      // a word that begins with it; empty: the command itself
    std::string_view description; // of the command, as the other program describes it; empty: of an option
};

struct Program {
    void (*add_commands)(CommandLine& line, Context context);
    std::string_view name;
    std::string_view next;                // the program beside this one that has more commands; empty: none
    std::span<const Elsewhere> elsewhere; // rows of this program itself are left out
};

// These print text about all commands; the program with the most commands prints it, if that is installed.
inline constexpr std::array<std::string_view, 4> kOfAllCommands = {"--help", "-h", "manual", "completion"};

// Runs a program without the process around it. Returns the exit status; no exception leaves it.
[[nodiscard]] int run(int argc, const char* const* argv, std::FILE* out, std::FILE* err, const Program& program);

} // namespace host::cli
