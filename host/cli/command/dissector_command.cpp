// SPDX-License-Identifier: MIT
// remora dissector: the Lua file with which Wireshark and tshark show our packets.
#include "host/cli/command/commands.hpp"

#include "host/convert/output_file.hpp"
#include "host/dissector/dissector.hpp"

#include <memory>
#include <string>

namespace host::cli {

namespace {

trace::ExitStatus write_dissector(const std::string& path, Context context) {
    const auto destination = convert::Destination::open(path, convert::Destination::Shape::file, "");
    if (!destination) {
        context.err.print("remora dissector: {}: {}\n", path.empty() ? "--output" : path, destination.error().text);
        return trace::ExitStatus::usage;
    }
    destination.value()->file().append(dissector::wireshark_script());
    const auto committed = destination.value()->commit();
    if (!committed && committed.error().cause != convert::Fault::closed) {
        context.err.print("remora dissector: {}: {}\n", path, committed.error().text);
        return status_of(committed.error().cause);
    }
    return trace::ExitStatus::clean;
}

} // namespace

void add_dissector(CommandLine& line, Context context) {
    Command command = line.command("dissector", "write the Wireshark dissector of our packets, in Lua");
    const auto path = std::make_shared<std::string>("-");
    command.option("-o,--output", *path, "file; default and -: standard output");
    command.footer(examples({"remora dissector -o ~/.local/lib/wireshark/plugins/remora.lua"}));
    command.run([path, context] { return write_dissector(*path, context); });
}

} // namespace host::cli
