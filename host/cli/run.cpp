// SPDX-License-Identifier: MIT
// Composition of the subcommands. Exceptions of the libraries end here.
#include "host/cli/commands.hpp"

#include "lib/version.hpp"

#include <cstring>
#include <exception>
#include <sstream>

namespace host::cli {

using trace::ExitStatus;

std::string examples(std::initializer_list<std::string_view> lines) {
    std::string text = "Examples:\n";
    for (const std::string_view line : lines) {
        text += "  ";
        text += line;
        text += '\n';
    }
    return text;
}

void add_everything(CLI::App& app, Context context, ExitStatus& status) {
    app.name("remora");
    app.description("Remora's host tools: receive, print, check, convert and query traces.");
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string(lib::kVersion));
    app.add_flag_callback(
        "--no-pager", [context] { context.out.no_pager(); }, "never show long text through a pager");
    app.footer("A TRACE is a session directory, a file of any known format, or - for standard input.\n"
               "Exit status: 0 clean, 1 usage or input/output, 2 damage, loss or violation, 3 nothing usable, "
               "4 no space.\n" +
               examples({"remora summary out/udp", "remora print out/udp --task control --limit 20",
                         "remora convert out/udp --to perfetto -o trace.pftrace"}));
    add_record(app, context, status);
    add_print(app, context, status);
    add_schedule(app, context, status);
    add_summary(app, context, status);
    add_verify(app, context, status);
    add_check(app, context, status);
    add_convert(app, context, status);
    add_adopt(app, context, status);
    add_events(app, context, status);
    add_completion(app, context, status);
    add_manual(app, context, status);
}

int run(int argc, const char* const* argv, std::FILE* out_stream, std::FILE* err_stream) {
    Output out(out_stream);
    Output err(err_stream);
    const Context context{out, err};
    auto status = ExitStatus::clean;
    try {
        CLI::App app;
        add_everything(app, context, status);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            std::ostringstream text_out;
            std::ostringstream text_err;
            const bool asked = app.exit(error, text_out, text_err) == 0; // --help
            out.print("{}", text_out.str());
            err.print("{}", text_err.str());
            status = asked ? ExitStatus::clean : ExitStatus::usage;
        }
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
