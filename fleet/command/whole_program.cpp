// SPDX-License-Identifier: MIT
// The list of all commands.
#include "fleet/command/commands.hpp"

#include "convert/command/full_program.hpp"

namespace host::cli {

void add_everything(CommandLine& line, Context context) {
    add_full(line, context, publishing_of_fleet());
    add_publish(line, context);
    add_load(line, context);
    add_fleet(line, context);
}

} // namespace host::cli
