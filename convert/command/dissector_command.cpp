// SPDX-License-Identifier: MIT
// remora dissector writes the Lua file with which Wireshark and tshark show our packets.
#include "convert/command/full_program.hpp"

#include "convert/dissector/dissector.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/trace/kernel_image.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace host::cli {

namespace {

trace::ExitStatus write_dissector(const std::string& path, const std::string& kernel, Context context) {
    std::optional<trace::KernelImage> image;
    if (!kernel.empty()) {
        auto read = trace::KernelImage::from_image(kernel);
        if (!read) {
            context.err.print("remora dissector: --kernel {}: {}\n", text::escaped(kernel), read.error().text);
            return trace::ExitStatus::usage;
        }
        image = std::move(read.value());
    }
    const auto destination = output::Destination::open(path, output::Destination::Shape::file, "");
    if (!destination) {
        context.err.print("remora dissector: {}: {}\n", path.empty() ? "--output" : path, destination.error().text);
        return trace::ExitStatus::usage;
    }
    destination.value()->file().append(dissector::wireshark_script(image ? &*image : nullptr));
    const auto committed = destination.value()->commit();
    if (!committed && committed.error().cause != output::Fault::closed) {
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
    const auto kernel = std::make_shared<std::string>();
    command.option("--kernel", *kernel,
                   "image of the kernel whose traces it will show: with its texts of trace_printf");
    command.footer(examples({"remora dissector -o ~/.local/lib/wireshark/plugins/remora.lua",
                             "remora dissector --kernel build/kernel/kernel.elf -o remora.lua"}));
    command.run([path, kernel, context] { return write_dissector(*path, *kernel, context); });
}

} // namespace host::cli
