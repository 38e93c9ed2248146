// SPDX-License-Identifier: MIT
// The commands and options that `remora` lacks, for which it continues as another program beside it. Each of the
// programs remora, remora-full and remora-fleet has everything that the one before it has.
#pragma once

#include "host/cli/command/commands.hpp"

#include <array>

namespace host::cli {

inline constexpr std::string_view kFull = "remora-full";
inline constexpr std::string_view kFleet = "remora-fleet";

// A test compares these texts with those of the commands.
inline constexpr auto kElsewhere = std::to_array<Elsewhere>({
    {kFleet, "publish", "", "publish sessions to a server of NATS, for a fleet"},
    {kFull, "convert", "", "write a trace in the format of another tool"},
    {kFull, "sql", "", "ask a trace in SQL"},
    {kFleet, "load", "", "load published traces, or session directories, into a store of a fleet"},
    {kFleet, "fleet", "", "ask a store of many nodes: nodes, misses, worst, compare, losses, verify, report"},
    {kFull, "dissector", "", "write the Wireshark dissector of our packets, in Lua"},
    {kFull, "completion", "", "print a script that completes commands in a shell"},
    {kFull, "manual", "", "print the manual page, for man -l"},
    {kFleet, "record", "--publish", ""},
    {kFull, "check", "--expect", ""},
});

} // namespace host::cli
