// SPDX-License-Identifier: MIT
// The program remora-full has every command for the traces of one machine.
#pragma once

#include "host/cli/elsewhere.hpp"

#include <memory>

namespace host::cli {

void add_convert(CommandLine& line, Context context);
void add_dissector(CommandLine& line, Context context);

// Adds the options of the program and its commands. publishing: the parameter of add_record().
void add_full(CommandLine& line, Context context, const std::shared_ptr<Publishing>& publishing);

// The program continues as remora-fleet for commands and options that it lacks.
inline constexpr Program kFullProgram{
    .add_commands = [](CommandLine& line, Context context) { add_full(line, context, nullptr); },
    .name = kFull,
    .next = kFleet,
    .elsewhere = kElsewhere};

} // namespace host::cli
