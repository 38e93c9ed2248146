// SPDX-License-Identifier: MIT
// Composition of the subcommands. Exceptions of the libraries end here.
#include "host/cli/command/commands.hpp"
#include "host/cli/command/exit_table.hpp"

#include "lib/version.hpp"

#include <cstring>
#include <exception>
#include <new>

namespace host::cli {

using trace::ExitStatus;

namespace {

std::string exit_table() {
    std::string text = "Exit status:\n";
    for (std::size_t i = 0; i < kExitTexts.size(); ++i) {
        text += fmt::format("  {}  {}\n", i, kExitTexts[i]);
    }
    return text;
}

} // namespace

void add_everything(CommandLine& line, Context context) {
    line.version(std::string(lib::kVersion));
    line.flag(
        "--no-pager", [context] { context.out.no_pager(); }, "never show long text through a pager");
    line.footer("A TRACE is a session directory, a file of any known format, or - for standard input.\n" +
                exit_table() +
                examples({"remora summary out/udp", "remora print out/udp --task control --limit 20",
                          "remora convert out/udp --to perfetto -o trace.pftrace"}));
    add_record(line, context);
    add_publish(line, context);
    add_print(line, context);
    add_attach(line, context);
    add_top(line, context);
    add_schedule(line, context);
    add_diff(line, context);
    add_summary(line, context);
    add_why(line, context);
    add_goto(line, context);
    add_verify(line, context);
    add_check(line, context);
    add_report(line, context);
    add_convert(line, context);
    add_adopt(line, context);
    add_count(line, context);
    add_pack(line, context);
    add_unpack(line, context);
    add_sql(line, context);
    add_load(line, context);
    add_fleet(line, context);
    add_events(line, context);
    add_dissector(line, context);
    add_completion(line, context);
    add_manual(line, context);
}

int run(int argc, const char* const* argv, std::FILE* out_stream, std::FILE* err_stream) {
    Output out(out_stream);
    Output err(err_stream);
    const Context context{out, err};
    auto status = ExitStatus::clean;
    try {
        CommandLine line("remora", "Remora's host tools: receive, print, check, convert and query traces.");
        add_everything(line, context);
        std::string help;
        std::string error;
        status = line.run(argc, argv, help, error);
        out.print("{}", help);
        err.print("{}", error);
    } catch (const std::bad_alloc&) {
        err.print("remora: not enough memory; remedy: fewer threads (-j 1), or a higher limit (ulimit -v)\n");
        status = ExitStatus::usage;
    } catch (const std::exception& exception) {
        err.print("remora: {}\n", exception.what());
        status = ExitStatus::usage;
    }
    out.finish();
    // A reader that has seen enough and closed the pipe (print | head) is no error.
    if (out.failed() && !out.reader_gone()) {
        err.print("remora: the output cannot be written: {}\n", std::strerror(out.error_number()));
        status = ExitStatus::no_space;
    }
    err.flush();
    return static_cast<int>(status);
}

} // namespace host::cli
