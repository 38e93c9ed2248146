// SPDX-License-Identifier: MIT
// What `remora` does not have itself: it continues as remora-full for these commands and options.
#pragma once

#include "host/cli/command/commands.hpp"

#include <array>

namespace host::cli {

// A test compares these texts with the whole program's.
inline constexpr auto kElsewhere = std::to_array<Elsewhere>({
    {"publish", "", "publish sessions to a server of NATS, for a fleet"},
    {"convert", "", "write a trace in the format of another tool"},
    {"sql", "", "ask a trace in SQL"},
    {"load", "", "load published traces, or session directories, into a store of a fleet"},
    {"fleet", "", "ask a store of many nodes: nodes, misses, worst, compare, losses, verify, report"},
    {"dissector", "", "write the Wireshark dissector of our packets, in Lua"},
    {"completion", "", "print a script that completes commands in a shell"},
    {"manual", "", "print the manual page, for man -l"},
    {"record", "--publish", ""},
    {"check", "--expect", ""},
});

} // namespace host::cli
