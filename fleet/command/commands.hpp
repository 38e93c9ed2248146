// SPDX-License-Identifier: MIT
// Declares the commands for many machines, and the program remora-fleet, which has them and all others.
#pragma once

#include "host/cli/command/commands.hpp"

#include <memory>

namespace host::cli {

void add_publish(CommandLine& line, Context context);
void add_load(CommandLine& line, Context context);
void add_fleet(CommandLine& line, Context context);

// Returns the publisher that `remora record` uses.
[[nodiscard]] std::shared_ptr<Publishing> publishing_of_fleet();

void add_everything(CommandLine& line, Context context);

inline constexpr Program kWholeProgram{
    .add_commands = add_everything, .name = "remora-fleet", .next = {}, .elsewhere = {}};

} // namespace host::cli
