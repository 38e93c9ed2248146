// SPDX-License-Identifier: MIT
// The subcommands of `remora`. Each function adds one to the command line; its callback does the work and sets the exit
// status. One file per command.
#pragma once

#include "host/cli/command/command_line.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/trace/diagnostics.hpp"

#include <cstdio>

namespace host::cli {

void add_record(CommandLine& line, Context context);
void add_publish(CommandLine& line, Context context);
void add_print(CommandLine& line, Context context);
void add_attach(CommandLine& line, Context context);
void add_top(CommandLine& line, Context context);
void add_schedule(CommandLine& line, Context context);
void add_diff(CommandLine& line, Context context);
void add_summary(CommandLine& line, Context context);
void add_why(CommandLine& line, Context context);
void add_goto(CommandLine& line, Context context);
void add_verify(CommandLine& line, Context context);
void add_check(CommandLine& line, Context context);
void add_adopt(CommandLine& line, Context context);
void add_convert(CommandLine& line, Context context);
void add_report(CommandLine& line, Context context);
void add_events(CommandLine& line, Context context);
void add_count(CommandLine& line, Context context);
void add_pack(CommandLine& line, Context context);
void add_unpack(CommandLine& line, Context context);
void add_sql(CommandLine& line, Context context);
void add_load(CommandLine& line, Context context);
void add_fleet(CommandLine& line, Context context);
void add_dissector(CommandLine& line, Context context);

void add_completion(CommandLine& line, Context context);
void add_manual(CommandLine& line, Context context);

// The options of the program and all commands.
void add_everything(CommandLine& line, Context context);

// The whole program, but for the process around it. Returns the exit status; no exception leaves it.
[[nodiscard]] int run(int argc, const char* const* argv, std::FILE* out, std::FILE* err);

} // namespace host::cli
