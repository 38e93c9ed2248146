// SPDX-License-Identifier: MIT
// The program with every command: remora-full, and remora-fleet, which is the same with the way to servers.
#pragma once

#include "fleet/command/commands.hpp"
#include "host/cli/command/commands.hpp"

namespace host::cli {

void add_convert(CommandLine& line, Context context);
void add_dissector(CommandLine& line, Context context);

// The options of the program and all commands.
void add_everything(CommandLine& line, Context context);

inline constexpr Program kWholeProgram{.add_commands = add_everything, .whole = {}, .elsewhere = {}};

} // namespace host::cli
