// SPDX-License-Identifier: MIT
// The program remora-full: every command for the traces of one machine.
#pragma once

#include "host/cli/elsewhere.hpp"

#include <memory>

namespace host::cli {

void add_convert(CommandLine& line, Context context);
void add_dissector(CommandLine& line, Context context);

// The options of the program and its commands. publishing: as of add_record().
void add_full(CommandLine& line, Context context, const std::shared_ptr<Publishing>& publishing);

// It continues as remora-fleet for what is in no other program.
inline constexpr Program kFullProgram{
    .add_commands = [](CommandLine& line, Context context) { add_full(line, context, nullptr); },
    .name = kFull,
    .next = kFleet,
    .elsewhere = kElsewhere};

} // namespace host::cli
