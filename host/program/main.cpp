// SPDX-License-Identifier: MIT
// The program `remora` has what `make run` calls, and the everyday questions about a trace. For other commands it
// continues as remora-full (convert/program/), which `make host` builds, or as remora-fleet (fleet/program/), which
// `make fleet` builds; so a first run compiles no converter, no SQL and no fleet.
#include "host/cli/elsewhere.hpp"

#include <csignal>

namespace {

using host::cli::CommandLine;
using host::cli::Context;

void add_commands(CommandLine& line, Context context) {
    add_program_options(line, context);
    add_record(line, context, nullptr);
    add_print(line, context);
    add_attach(line, context);
    add_top(line, context);
    add_schedule(line, context);
    add_diff(line, context);
    add_summary(line, context);
    add_why(line, context);
    add_goto(line, context);
    add_verify(line, context);
    add_doctor(line, context);
    add_check(line, context, nullptr);
    add_report(line, context);
    add_adopt(line, context);
    add_count(line, context);
    add_pack(line, context);
    add_unpack(line, context);
    add_events(line, context);
}

} // namespace

int main(int argc, char** argv) {
    // If the reader closes the pipe (print | head), this causes a failed write, not a signal.
    std::signal(SIGPIPE, SIG_IGN);
    return host::cli::run(
        argc, argv, stdout, stderr,
        {.add_commands = add_commands, .name = "remora", .next = host::cli::kFull, .elsewhere = host::cli::kElsewhere});
}
