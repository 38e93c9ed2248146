// SPDX-License-Identifier: MIT
// The commands for many machines.
#pragma once

#include "host/cli/command/commands.hpp"

namespace host::cli {

void add_publish(CommandLine& line, Context context);
void add_load(CommandLine& line, Context context);
void add_fleet(CommandLine& line, Context context);

} // namespace host::cli
