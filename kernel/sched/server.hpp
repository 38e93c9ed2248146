// SPDX-License-Identifier: MIT
// Declares servers for aperiodic requests: a server has a budget Q in every period T, at the fixed priority of that
// period, which all tasks share that are created with a ServedModel of this server. Each activation of such a task is a
// request; requests are served first in, first out. (A SOFT task needs none of these servers, because it has one of its
// own.)
//
// The first request lets the next one go first while it waits for something or is suspended. A polling server that then
// has no other request loses its budget.
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
    lib::Nanoseconds period; // T, at least Q; the server's first period begins at its creation
};

struct ServerInfo {
    ServerKind kind = ServerKind::polling;
    lib::Ticks budget; // what is left of it
    lib::Ticks next_replenishment;
    std::uint64_t exhausted = 0; // how often the budget was used up
    std::uint16_t tasks = 0;     // tasks that use the server
};

// Creates a server and reserves its share of the processor.
// invalid_argument: the kind is neither polling nor deferrable, or budget or period are outside their ranges.
// refused: the budget cannot be guaranteed beside what is promised already.
// no_space: kServersMax servers exist.
// unsupported: the kernel has no level that serves requests.
// Context: any.
[[nodiscard]] lib::Result<ServerId> server_create(const ServerOptions& options);

// Removes a server that no task uses.
// not_found: no server has this number.
// busy: tasks use the server.
// Context: any.
lib::Result<void> server_remove(ServerId server);

// Returns the state of a server at this moment.
// not_found: no server has this number.
// Context: any.
[[nodiscard]] lib::Result<ServerInfo> server_info(ServerId server);

} // namespace kernel
