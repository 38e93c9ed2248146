// SPDX-License-Identifier: MIT
// remora manual: the manual page, in the man macros of groff (groff_man(7)). Derived from the command line itself, so
// it names every command and option there is. `make install` writes it where man finds it.
#include "host/cli/command/commands.hpp"
#include "host/cli/command/exit_table.hpp"

#include "lib/version.hpp"

#include <sstream>

namespace host::cli {

namespace {

// Text in which groff sees nothing special: hyphens stay hyphens, a leading dot or quote is text.
std::string roff(std::string_view text) {
    std::string result;
    for (const char character : text) {
        switch (character) {
        case '\\':
            result += "\\e";
            break;
        case '-':
            result += "\\-";
            break;
        case '.':
        case '\'':
            result += result.empty() || result.ends_with('\n') ? "\\&" : "";
            result += character;
            break;
        default:
            result += character;
        }
    }
    return result;
}

std::string spelled(const OptionView& option) {
    std::string text;
    for (const std::string& name : option.names) {
        text += text.empty() ? "" : ", ";
        text += "\\fB" + roff(name) + "\\fR";
    }
    if (!option.argument.empty()) {
        text += (text.empty() ? "" : " ") + ("\\fI" + roff(option.argument) + "\\fR");
    }
    return text;
}

void print_options(Output& out, const CommandView& command) {
    for (const OptionView& option : command.options) {
        out.print(".TP\n{}\n{}", spelled(option), roff(option.description.empty() ? "(no text)" : option.description));
        for (std::size_t i = 0; i < option.choices.size(); ++i) {
            out.print("{}\\fB{}\\fR", i == 0 ? ": " : ", ", roff(option.choices[i]));
        }
        out.print("\n");
    }
}

// A footer's lines as they are; its first line without indentation is a heading.
void print_footer(Output& out, const std::string& footer) {
    if (footer.empty()) {
        return;
    }
    out.print(".PP\n.nf\n");
    std::istringstream lines(footer);
    for (std::string line; std::getline(lines, line);) {
        out.print("{}\n", line.empty() ? "\\&" : roff(line));
    }
    out.print(".fi\n");
}

void print_command(Output& out, const CommandView& command) {
    std::string synopsis;
    for (const OptionView& option : command.options) {
        if (option.names.empty()) {
            const std::string name = "\\fI" + roff(option.argument) + "\\fR";
            synopsis += option.required ? ' ' + name : " [" + name + ']';
        }
    }
    out.print(".SS \"{}\"\n\\fBremora {}\\fR [\\fIoptions\\fR]{}\n.PP\n{}.\n", roff(command.name), roff(command.name),
              synopsis, roff(command.description));
    print_options(out, command);
    print_footer(out, command.footer);
}

void print_manual(Output& out, const CommandLine& line) {
    out.print(
        ".TH REMORA 1 \"\" \"{}\" \"User commands\"\n"
        ".SH NAME\nremora \\- receive, print, check, convert and query traces of the Remora kernel\n"
        ".SH SYNOPSIS\n\\fBremora\\fR [\\fB\\-\\-no\\-pager\\fR] \\fIcommand\\fR [\\fIoptions\\fR] [\\fITRACE\\fR]\n"
        ".SH DESCRIPTION\n"
        "A trace is a session directory, a file of any known format (recognised by its first bytes), or "
        "\\fB\\-\\fR for standard input. Diagnostics go to the error output, one line each: "
        "\\fIfile\\fR:0x\\fIoffset\\fR \\fIcode\\fR \\fItext\\fR.\n"
        ".SH COMMANDS\n",
        roff(lib::kVersion));
    for (const CommandView& command : line.commands()) {
        print_command(out, command);
    }
    out.print(".SH \"EXIT STATUS\"\n");
    for (std::size_t i = 0; i < kExitTexts.size(); ++i) {
        out.print(".TP\n.B {}\n{}\n", i, roff(kExitTexts[i]));
    }
    out.print(".SH ENVIRONMENT\n"
              ".TP\n.B NO_COLOR\nif set and not empty, no colours\n"
              ".TP\n.B REMORA_PAGER\\fR, \\fBPAGER\nwhat shows long text on a terminal; "
              "empty or \\fBcat\\fR: nothing does\n"
              ".TP\n.B TMPDIR\nwhere inputs that must be unpacked are kept while they are read\n");
}

} // namespace

void add_manual(CommandLine& line, Context context) {
    Command command = line.command("manual", "print the manual page, for man -l");
    command.footer(examples({"remora manual"}) + "Read it with: remora manual | man -l -\n");
    command.run([context, &line] {
        print_manual(context.out, line);
        return trace::ExitStatus::clean;
    });
}

} // namespace host::cli
