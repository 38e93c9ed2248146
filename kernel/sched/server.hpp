// SPDX-License-Identifier: MIT
// Servers for aperiodic requests: a budget Q in every period T, at the fixed priority of that period, shared by all
// tasks that are created with a ServedModel. Each activation of such a task is a request; requests are served first in
// first out. (A SOFT task needs none of these: it brings a server of its own.)
//
// A request that is suspended while it is the first holds up those after it, and a polling server keeps its budget for
// it: what was promised to others does not count with that. Suspend no served task beside HARD ones.
//
//   const auto server = server_create({.name = "alarms", .kind = ServerKind::deferrable, .budget = b, .period = t});
//   task_create({.name = "alarm", .body = &alarm, .model = ServedModel{.server = server.value()}});
#pragma once

#include "kernel/state/task_model.hpp"
#include "lib/result.hpp"
#include "lib/wire_numbers.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

using lib::ServerKind; // a server of requests is polling or deferrable

struct ServerOptions {
    std::string_view name; // appears in the trace
    ServerKind kind = ServerKind::polling;
    lib::Nanoseconds budget; // Q, at least kServerBudgetMin
    lib::Nanoseconds period; // T >= Q; the server's first period begins at its creation
};

struct ServerInfo {
    ServerKind kind = ServerKind::polling;
    lib::Ticks budget; // left of it
    lib::Ticks next_replenishment;
    std::uint64_t exhausted = 0; // how often the budget was used up
    std::uint16_t tasks = 0;     // attached
};

// invalid_argument: another kind, or budget or period outside their ranges. refused: cannot be guaranteed beside all
// that is promised. no_space: kServersMax servers exist. unsupported: no level serves requests. Context: any.
[[nodiscard]] lib::Result<ServerId> server_create(const ServerOptions& options);

// not_found: no such server. busy: tasks are attached. Context: any.
lib::Result<void> server_remove(ServerId server);

// not_found: no such server. Context: any.
[[nodiscard]] lib::Result<ServerInfo> server_info(ServerId server);

} // namespace kernel
