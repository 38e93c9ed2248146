// SPDX-License-Identifier: MIT
// remora pack makes one small file of a session or a single trace file; remora unpack restores it byte for byte. Every
// command reads a packed session directly; unpacking is for users who need the files.
#include "host/cli/command/trace_input.hpp"
#include "host/cli/terminal/output.hpp"

#include "host/formats/packed/archive.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"

#include <memory>
#include <vector>

namespace host::cli {

namespace {

namespace packed = formats::packed;
using trace::ExitStatus;

struct PackOptions {
    std::string input;
    std::string output;
    bool strict = false;
    bool salvage = false;
};

ExitStatus pack(const PackOptions& options, Context context) {
    const auto fail = [&](ExitStatus status, std::string_view text) {
        context.err.print("remora pack: {}\n", text);
        return status;
    };
    const auto collected = packed::files_to_pack(options.input);
    if (!collected) {
        return fail(ExitStatus::usage, collected.error().text);
    }
    const std::vector<packed::FileToPack>& files = collected.value();
    std::uint64_t total = 0;
    for (const packed::FileToPack& file : files) {
        total += file.size_bytes();
    }
    const auto fail_output = [&](const output::Failure& failure) {
        return fail(status_of(failure.cause), fmt::format("{}: {}", text::escaped(options.output), failure.text));
    };
    const auto destination = output::Destination::open(options.output, output::Destination::Shape::file, options.input);
    if (!destination) {
        return fail_output(destination.error());
    }
    output::OutputFile& out = destination.value()->file();
    ProgressLine line(context.err, "packing");
    packed::ArchiveWriter writer(
        [&](std::span<const std::byte> bytes) { out.append(bytes); },
        [&](std::uint64_t done) { line.show(done / tracer::kRecordBytes, total / tracer::kRecordBytes); });
    const auto written = writer.write(files);
    line.clear();
    if (!written) {
        return fail(ExitStatus::usage, written.error().text);
    }
    const std::uint64_t size = out.position_bytes();
    if (const auto committed = destination.value()->commit(); !committed) {
        return fail_output(committed.error());
    }
    if (options.output != "-") {
        context.out.print("{} files, {} bytes packed into {}: {:.1f} times smaller\n", files.size(), total, size,
                          static_cast<double>(total) / static_cast<double>(size));
    }
    return ExitStatus::clean;
}

// Restores the files one after the other, so that one is open at a time.
ExitStatus unpack(const PackOptions& options, Context context) {
    const auto fail = [&](const output::Failure& failure) {
        context.err.print("remora unpack: {}: {}\n", text::escaped(options.output), failure.text);
        return status_of(failure.cause);
    };
    trace::Diagnostics diagnostics(diagnostics_to(context));
    const auto source = trace::ByteSource::open(options.input);
    if (!source) {
        context.err.print("remora unpack: {}: {}\n", text::escaped(options.input), error_name(source.error()));
        return ExitStatus::usage;
    }
    const trace::OpenOptions open{.strict = options.strict, .salvage = options.salvage};
    const auto reader =
        packed::ArchiveReader::open({.name = options.input, .bytes = source.value()}, open, diagnostics);
    if (!reader) {
        return ExitStatus::usage;
    }
    const auto destination =
        output::Destination::open(options.output, output::Destination::Shape::directory, options.input);
    if (!destination) {
        return fail(destination.error());
    }
    const auto& files = reader.value()->files();
    std::vector<output::OutputFile*> outputs(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto added = destination.value()->add_file(files[i].name);
        if (!added) {
            return fail(added.error());
        }
        outputs[i] = added.value();
    }
    const auto extracted =
        reader.value()->extract([&](std::size_t file, std::span<const std::byte> bytes) -> lib::Result<void> {
            outputs[file]->append(bytes);
            return {};
        });
    if (!extracted) {
        return fail(output::failure_of(extracted.error()));
    }
    std::uint64_t total = 0;
    for (const output::OutputFile* const output : outputs) {
        total += output->position_bytes();
    }
    if (const auto committed = destination.value()->commit(); !committed) {
        return fail(committed.error());
    }
    diagnostics.finish();
    context.out.print("{} files, {} bytes\n", files.size(), total);
    return diagnostics.exit_status(total != 0);
}

} // namespace

void add_pack(CommandLine& line, Context context) {
    Command command = line.command("pack", "pack a session or a trace file into one small file, without loss");
    const auto options = std::make_shared<PackOptions>();
    command.option("TRACE", options->input, "session directory or trace file").required();
    command.option("-o,--output", options->output, "file to write; - is standard output").required();
    command.footer(examples({"remora pack out/udp -o session.rpk", "remora pack 0trace.dat -o 0trace.rpk"}));
    command.run([options, context] { return pack(*options, context); });
}

void add_unpack(CommandLine& line, Context context) {
    Command command = line.command("unpack", "write the files of a packed session");
    const auto options = std::make_shared<PackOptions>();
    command.option("PACKED", options->input, "what remora pack wrote, or - for standard input").required();
    command.option("-o,--output", options->output, "directory to create").required();
    command.flag("--strict", options->strict, "stop at the first damage");
    command.flag("--salvage", options->salvage, "write what a checksum says is damaged, too");
    command.footer(examples({"remora unpack session.rpk -o out/again"}));
    command.run([options, context] { return unpack(*options, context); });
}

} // namespace host::cli
