// SPDX-License-Identifier: MIT
// The subcommands of `remora`. Each function adds one to the command line; what it does runs in its callback and leaves
// an exit status. One file per command.
#pragma once

#include "host/cli/output.hpp"
#include "host/trace/diagnostics.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace host::cli {

void add_record(CLI::App& app, Context context, trace::ExitStatus& status);
void add_print(CLI::App& app, Context context, trace::ExitStatus& status);
void add_schedule(CLI::App& app, Context context, trace::ExitStatus& status);
void add_summary(CLI::App& app, Context context, trace::ExitStatus& status);
void add_verify(CLI::App& app, Context context, trace::ExitStatus& status);
void add_check(CLI::App& app, Context context, trace::ExitStatus& status);
void add_adopt(CLI::App& app, Context context, trace::ExitStatus& status);
void add_convert(CLI::App& app, Context context, trace::ExitStatus& status);
void add_events(CLI::App& app, Context context, trace::ExitStatus& status);

void add_completion(CLI::App& app, Context context, trace::ExitStatus& status);
void add_manual(CLI::App& app, Context context, trace::ExitStatus& status);

// What stands below the options of a command's help: one line each, as one would type them. A test parses them all.
[[nodiscard]] std::string examples(std::initializer_list<std::string_view> lines);

// The options of the program and all commands.
void add_everything(CLI::App& app, Context context, trace::ExitStatus& status);

// The whole program, but for the process around it. Returns the exit status; no exception leaves it.
[[nodiscard]] int run(int argc, const char* const* argv, std::FILE* out, std::FILE* err);

} // namespace host::cli
