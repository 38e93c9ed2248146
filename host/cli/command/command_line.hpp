// SPDX-License-Identifier: MIT
// The command line as the commands see it: names, texts, where values are stored, what runs. CLI11 parses; only
// command_line.cpp includes it, because its headers cost more to compile than all commands together.
#pragma once

#include "host/trace/diagnostics.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the library spells it so
class App;
class Option;
} // namespace CLI

namespace host::cli {

// An option or positional argument, while it is being described.
class Option {
  public:
    explicit Option(CLI::Option* option)
        : m_option(option) {}

    Option& required(bool yes = true);
    // Accepts one of the words, or a text that `otherwise` accepts; the description of such a text continues the
    // sentence of the error.
    Option& one_of(
        const std::vector<std::string>& words,
        const std::function<bool(const std::string&)>& otherwise = [](const std::string&) { return false; },
        const std::string& what = {});
    Option& range(std::uint64_t least, std::uint64_t greatest);
    // Returns what is wrong with the text; empty if it is valid.
    Option& check(const std::function<std::string(const std::string&)>& rule);
    Option& show_default();
    // Refuses that both options are given together.
    Option& excludes(const Option& other);

  private:
    CLI::Option* m_option;
};

// What an option stores; command_line.cpp has an instance for each.
template <typename Value>
concept OptionValue = std::same_as<Value, std::string> || std::same_as<Value, std::uint32_t> ||
    std::same_as<Value, std::uint64_t> || std::same_as<Value, std::vector<std::string>> ||
    std::same_as<Value, double> || std::same_as<Value, std::optional<std::uint64_t>>;

// A command, while it is being described. Copies refer to the same command.
class Command {
  public:
    // The part that commands share: the outcome, and whether they run at all.
    struct State {
        trace::ExitStatus status = trace::ExitStatus::clean;
        bool parse_only = false;
    };

    Command(CLI::App* command, State* state)
        : m_command(command)
        , m_state(state) {}

    // names is "--long", "-s,--long", or NAME for a positional argument. `value` must outlive the parsing.
    template <OptionValue Value>
    Option option(const std::string& names, Value& value, const std::string& text);
    // Calls a function with the text instead of storing it.
    Option option(const std::string& names, const std::function<void(const std::string&)>& use,
                  const std::string& text);
    Option flag(const std::string& names, bool& value, const std::string& text);
    // Returns an option that was described before.
    Option described(const std::string& name);

    // Sets the text below the options, such as examples().
    void footer(const std::string& text);

    // Sets what the command does; it returns the program's exit status.
    void run(std::function<trace::ExitStatus()> action);

  private:
    CLI::App* m_command;
    State* m_state;
};

// Holds what derived texts (completion, manual page) need to know.
struct OptionView {
    std::vector<std::string> names; // with their dashes, short first; empty: a positional argument
    std::string argument;           // of a positional argument: its name; of an option: what it takes; empty: nothing
    std::string description;
    std::vector<std::string> choices; // words that it accepts; empty: any
    bool required = false;
};

struct CommandView {
    std::string name;
    std::string description;
    std::vector<OptionView> options; // without --help
    std::string footer;
};

// Returns the trace that a command reads if TRACE is left out: what the last `make run` left in this directory, for
// `attach` the machine's memory. Empty: nothing is there.
[[nodiscard]] std::string trace_of_last_run(std::string_view command = {});

class CommandLine {
  public:
    CommandLine(const std::string& name, const std::string& description);
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;
    ~CommandLine();

    [[nodiscard]] Command command(const std::string& name, const std::string& description);

    void version(const std::string& text);
    // Adds a flag that precedes the command.
    void flag(const std::string& names, const std::function<void()>& use, const std::string& text);
    void footer(const std::string& text);

    // Parses and runs the command. help and errors are texts to show.
    [[nodiscard]] trace::ExitStatus run(int argc, const char* const* argv, std::string& help, std::string& error);

    // Returns whether the text, without the program's name, can be parsed; nothing runs. Must be called only once.
    [[nodiscard]] bool parses(const std::string& text, std::string& error);

    [[nodiscard]] std::vector<CommandView> commands() const;

  private:
    std::unique_ptr<CLI::App> m_app;
    Command::State m_state;
};

// Returns the text below the options in a command's help: one line for each example, as a user would type it. A test
// parses all of them.
[[nodiscard]] std::string examples(std::initializer_list<std::string_view> lines);

} // namespace host::cli
