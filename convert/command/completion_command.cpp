// SPDX-License-Identifier: MIT
// remora completion: a script with which a shell completes commands, options and their words. Derived from the command
// line itself. bash: completion by function (bash manual, "Programmable Completion"); zsh reads the same through
// bashcompinit; fish has a line per option (fish manual, `complete`).
#include "host/cli/command/commands.hpp"

#include <memory>

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

// In single quotes for a shell.
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

} // namespace host::cli
