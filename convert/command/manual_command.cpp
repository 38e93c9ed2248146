// SPDX-License-Identifier: MIT
// remora completion prints a script with which a shell completes commands, options and their words. It is derived from
// the command line itself. bash completes by a function (bash manual, "Programmable Completion"); zsh reads the same
// through bashcompinit; fish has a line for each option (fish manual, `complete`).
//
// remora manual prints the manual page, in the man macros of groff (groff_man(7)). It is derived from the command line
// itself, so it has every command and option. `make install` writes it where man finds it.
#include "host/cli/command/commands.hpp"
#include "host/cli/command/exit_table.hpp"
#include "lib/version.hpp"

#include <memory>
#include <sstream>

namespace host::cli {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words) {
        text += text.empty() ? "" : separator;
        text += word;
    }
    return text;
}

// Returns the text in single quotes for a shell.
std::string shell_quoted(std::string_view text) {
    std::string result = "'";
    for (const char character : text) {
        result += character == '\'' ? std::string("'\\''") : std::string(1, character);
    }
    return result + "'";
}

void print_bash(Output& out, const CommandLine& line) {
    std::vector<std::string> names;
    for (const CommandView& command : line.commands()) {
        names.push_back(command.name);
    }
    out.print("# bash completion for remora. Load it:  source <(remora completion bash)\n"
              "_remora() {{\n"
              "    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= i\n"
              "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
              "        [[ ${{COMP_WORDS[i]}} != -* ]] && {{ command=${{COMP_WORDS[i]}}; break; }}\n"
              "    done\n"
              "    case \"$command $before\" in\n");
    for (const CommandView& command : line.commands()) {
        for (const OptionView& option : command.options) {
            for (const std::string& name : option.choices.empty() ? std::vector<std::string>{} : option.names) {
                out.print("        {}) mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\"); return ;;\n",
                          shell_quoted(command.name + ' ' + name), shell_quoted(joined(option.choices, " ")));
            }
        }
    }
    out.print("    esac\n"
              "    if [[ -z $command ]]; then\n"
              "        mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n"
              "        return\n"
              "    fi\n"
              "    local options=--help words=\n"
              "    case $command in\n",
              shell_quoted(joined(names, " ") + " --help --version --no-pager"));
    for (const CommandView& command : line.commands()) {
        std::vector<std::string> options{"--help"};
        std::vector<std::string> words;
        for (const OptionView& option : command.options) {
            options.insert(options.end(), option.names.begin(), option.names.end());
            if (option.names.empty()) {
                words.insert(words.end(), option.choices.begin(), option.choices.end());
            }
        }
        out.print("        {}) options={} words={} ;;\n", command.name, shell_quoted(joined(options, " ")),
                  shell_quoted(joined(words, " ")));
    }
    out.print("    esac\n"
              "    if [[ $word == -* ]]; then\n"
              "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
              "    else\n"
              "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\"; compgen -f -- \"$word\")\n"
              "    fi\n"
              "}}\n"
              "complete -o filenames -F _remora remora\n");
}

void print_fish(Output& out, const CommandLine& line) {
    out.print("# fish completion for remora. Load it:  remora completion fish | source\n");
    for (const CommandView& command : line.commands()) {
        const std::string name = command.name;
        out.print("complete -c remora -n __fish_use_subcommand -a {} -d {}\n", name, shell_quoted(command.description));
        for (const OptionView& option : command.options) {
            if (option.names.empty() && option.choices.empty()) {
                continue;
            }
            out.print("complete -c remora -n '__fish_seen_subcommand_from {}'", name);
            for (const std::string& spelled : option.names) {
                const bool is_long = spelled.starts_with("--");
                out.print(" {} {}", is_long ? "-l" : "-s", spelled.substr(is_long ? 2 : 1));
            }
            if (!option.choices.empty()) {
                out.print("{} -f -a {}", option.names.empty() ? "" : " -x", shell_quoted(joined(option.choices, " ")));
            } else if (!option.argument.empty()) {
                out.print(" -r");
            }
            out.print(" -d {}\n", shell_quoted(option.description));
        }
    }
}

} // namespace

void add_completion(CommandLine& line, Context context) {
    Command command = line.command("completion", "print a script that completes commands in a shell");
    const auto shell = std::make_shared<std::string>();
    command.option("SHELL", *shell, "which shell").required().one_of({"bash", "zsh", "fish"});
    command.footer(examples({"remora completion bash", "remora completion fish"}) +
                   "Load it with: source <(remora completion bash)\n");
    command.run([shell, context, &line] {
        if (*shell == "fish") {
            print_fish(context.out, line);
        } else {
            context.out.print("{}", *shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "");
            print_bash(context.out, line);
        }
        return trace::ExitStatus::clean;
    });
}

namespace {

// Escapes text for groff: hyphens stay hyphens, and a leading dot or quote is text.
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

// Prints the lines of a footer unchanged; its first line without indentation is a heading.
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
