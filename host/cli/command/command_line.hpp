// SPDX-License-Identifier: MIT
// The command line as the commands see it: names, texts, where values go, what runs. CLI11 does the parsing; only
// command_line.cpp includes it, because its headers cost more to compile than all commands together.
#pragma once

#include "host/trace/diagnostics.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the library spells it so
class App;
class Option;
} // namespace CLI

namespace host::cli {

// One option or positional argument, while it is being described.
class Option {
  public:
    explicit Option(CLI::Option* option)
        : m_option(option) {}

    Option& required(bool yes = true);
    // One of the words, or a text that `otherwise` accepts; what that is continues the sentence of the error.
    Option& one_of(
        const std::vector<std::string>& words,
        const std::function<bool(const std::string&)>& otherwise = [](const std::string&) { return false; },
        const std::string& what = {});
    Option& range(std::uint64_t least, std::uint64_t greatest);
    // Returns what is wrong with the text; empty if it is valid.
    Option& check(const std::function<std::string(const std::string&)>& rule);
    Option& show_default();
    // The two cannot be given together.
    Option& excludes(const Option& other);

  private:
    CLI::Option* m_option;
};

// One command, while it is being described. Copies are the same command.
class Command {
  public:
    // What commands share: the outcome, and whether they run at all.
    struct State {
        trace::ExitStatus status = trace::ExitStatus::clean;
        bool parse_only = false;
    };

    Command(CLI::App* command, State* state)
        : m_command(command)
        , m_state(state) {}

    // names: "--long", "-s,--long", or NAME for a positional argument. `value` outlives the parsing.
    template <typename Value> // text or number; command_line.cpp has the list
    Option option(const std::string& names, Value& value, const std::string& text);
    // Given the text, instead of a place to put it.
    Option option(const std::string& names, const std::function<void(const std::string&)>& use,
                  const std::string& text);
    Option flag(const std::string& names, bool& value, const std::string& text);
    // One that was described before.
    Option described(const std::string& name);

    // Below the options: examples() and the like.
    void footer(const std::string& text);

    // What the command does; it returns the program's exit status.
    void run(std::function<trace::ExitStatus()> action);

  private:
    CLI::App* m_command;
    State* m_state;
};

// What derived texts need to know (completion, manual page).
struct OptionView {
    std::vector<std::string> names; // with their dashes, short first; empty: a positional argument
    std::string argument;           // of a positional: its name; of an option: what it takes, or empty if nothing
    std::string description;
    std::vector<std::string> choices; // words that it takes; empty: any
    bool required = false;
};

struct CommandView {
    std::string name;
    std::string description;
    std::vector<OptionView> options; // without --help
    std::string footer;
};

class CommandLine {
  public:
    CommandLine(const std::string& name, const std::string& description);
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;
    ~CommandLine();

    [[nodiscard]] Command command(const std::string& name, const std::string& description);

    void version(const std::string& text);
    // A flag before the command.
    void flag(const std::string& names, const std::function<void()>& use, const std::string& text);
    void footer(const std::string& text);

    // Parses and runs the command. help and errors are texts to be shown.
    [[nodiscard]] trace::ExitStatus run(int argc, const char* const* argv, std::string& help, std::string& error);

    // Whether the text, without the program's name, parses; nothing runs. Once only.
    [[nodiscard]] bool parses(const std::string& text, std::string& error);

    [[nodiscard]] std::vector<CommandView> commands() const;

  private:
    std::unique_ptr<CLI::App> m_app;
    Command::State m_state;
};

// What is below the options of a command's help: one line each, as one would type them. A test parses them all.
[[nodiscard]] std::string examples(std::initializer_list<std::string_view> lines);

} // namespace host::cli
