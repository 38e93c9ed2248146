// SPDX-License-Identifier: MIT
#include "host/cli/command/command_line.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/nearest.hpp"
#include "host/text/wrap.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <span>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace host::cli {

namespace {

// In a description CLI11 writes a list of words as {one,two}.
std::vector<std::string> choices_of(const CLI::Option& option) {
    std::vector<std::string> choices;
    const std::string type = option.get_type_name();
    const auto begin = type.find('{');
    const auto end = type.find('}', begin);
    if (begin == std::string::npos || end == std::string::npos) {
        return choices;
    }
    std::istringstream words(type.substr(begin + 1, end - begin - 1));
    for (std::string word; std::getline(words, word, ',');) {
        choices.push_back(word);
    }
    return choices;
}

std::string argument_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (type.starts_with("{") || type.find(":{") != std::string::npos) {
        return "WORD";
    }
    return type.starts_with("UINT") || type.starts_with("INT") ? "N" : type.starts_with("FLOAT") ? "X" : "TEXT";
}

OptionView view_of(const CLI::Option& option) {
    OptionView view;
    for (const std::string& name : option.get_snames()) {
        view.names.push_back('-' + name);
    }
    for (const std::string& name : option.get_lnames()) {
        view.names.push_back("--" + name);
    }
    view.choices = choices_of(option);
    view.description = option.get_description();
    view.required = option.get_required();
    if (view.names.empty()) {
        view.argument = option.get_name();
    } else if (option.get_items_expected_max() > 0) {
        view.argument = argument_of(option);
    }
    return view;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* const option : command.get_options()) {
        const std::vector<std::string> own = view_of(*option).names;
        names.insert(names.end(), own.begin(), own.end());
    }
    return names;
}

// Returns the first word that nothing takes. Options are examined before arguments, because an argument may only be the
// value of an unknown option.
std::string unexpected(const CLI::App& command, std::span<const char* const> words) {
    const std::vector<std::string> extras = command.remaining();
    const auto is_extra = [&](std::string_view word) { return std::ranges::find(extras, word) != extras.end(); };
    const auto is_option = [&](std::string_view word) { return word.starts_with("-") && is_extra(word); };
    const auto option = std::ranges::find_if(words, is_option);
    if (option == words.end()) {
        const auto argument = std::ranges::find_if(words, is_extra);
        return fmt::format("{} is one argument too many",
                           text::escaped(argument == words.end() ? std::string_view(extras.front()) : *argument));
    }
    const std::string_view word = *option;
    const std::string_view name = word.substr(0, word.find('='));
    return fmt::format("{} is no option{}", text::escaped(name), text::did_you_mean(name, option_names(command)));
}

// Returns what is wrong with the words before the command; empty if nothing is.
std::string wrong_before_command(const CLI::App& app, std::span<const char* const> words) {
    const std::vector<std::string> known = option_names(app);
    for (const std::string_view word : words) {
        const std::string_view name = word.substr(0, word.find('='));
        if (word == "--") {
            return "-- is not expected before the command";
        }
        if (!word.starts_with("-")) {
            break;
        }
        if (std::ranges::find(known, name) == known.end()) {
            return fmt::format("{} is no option{}", text::escaped(name), text::did_you_mean(name, known));
        }
    }
    return {};
}

// Returns whether the words lack TRACE: nothing is in its place, or what should follow it, which is no file, as in
// `remora sql 'select 1'`. missing: what CLI11 says.
bool lacks_trace(const CLI::App& command, std::string_view missing) {
    const auto is_missing = [missing](const CLI::Option* option) {
        return option->get_positional() && missing == option->get_name() + " is required";
    };
    const CLI::Option* const trace = command.get_option_no_throw("TRACE");
    if (trace == nullptr || trace->count() == 0) {
        return trace != nullptr && is_missing(trace);
    }
    const std::string& given = trace->results().front();
    return given != "-" && ::access(given.c_str(), F_OK) != 0 && std::ranges::any_of(command.get_options(), is_missing);
}

// CLI11 counts what an option requires and receives.
std::string mismatch(const CLI::App& command, const CLI::ParseError& error) {
    const bool counted = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
    for (const CLI::Option* const option : command.get_options()) {
        if (counted && std::string_view(error.what()).starts_with(option->get_name() + ":")) {
            return fmt::format("{} {}", option->get_name(),
                               option->count() > 1 ? "is given more than once" : "requires a value");
        }
    }
    if (!lacks_trace(command, error.what())) {
        return error.what();
    }
    const std::vector<std::string>& given = command.get_option("TRACE")->results();
    return fmt::format("{}TRACE is required, such as {}",
                       given.empty() ? "" : fmt::format("{} is no file; ", text::escaped(given.front())),
                       command.get_name() == "attach" ? "out/ram, which `make run` makes" : "out/udp");
}

// Returns what is wrong with the words, and where the valid ones are listed.
std::string refusal(const CLI::App& app, const CLI::ParseError& error, std::span<const char* const> words) {
    if (const std::string wrong = wrong_before_command(app, words); !wrong.empty()) {
        return fmt::format("{0}: {1}; see: {0} --help\n", app.get_name(), wrong);
    }
    const auto given = app.get_subcommands();
    if (!given.empty()) {
        const CLI::App& command = *given.front();
        const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && command.remaining_size() != 0;
        return fmt::format("{0} {1}: {2}; see: {0} {1} --help\n", app.get_name(), command.get_name(),
                           extras ? unexpected(command, words) : mismatch(command, error));
    }
    const auto word =
        std::ranges::find_if_not(words, [](std::string_view candidate) { return candidate.starts_with("-"); });
    if (word == words.end()) {
        return fmt::format("{0}: a command is required; see: {0} --help\n", app.get_name());
    }
    std::vector<std::string> commands;
    for (const CLI::App* const command : app.get_subcommands({})) {
        commands.push_back(command->get_name());
    }
    return fmt::format("{0}: {1} is no command{2}; see: {0} --help\n", app.get_name(), text::escaped(*word),
                       text::did_you_mean(*word, commands));
}

} // namespace

Option& Option::required(bool yes) {
    m_option->required(yes);
    return *this;
}

Option& Option::one_of(const std::vector<std::string>& words, const std::function<bool(const std::string&)>& otherwise,
                       const std::string& what) {
    // This replaces CLI11's own check of a list, which names the words without a remedy. view_of() finds the words in
    // the description of the check.
    m_option->check(CLI::Validator(
        [words, otherwise, what](const std::string& word) {
            return std::ranges::find(words, word) != words.end() || otherwise(word)
                       ? std::string()
                       : fmt::format("{} is none of {}{}{}", text::escaped(word), fmt::join(words, ", "), what,
                                     text::did_you_mean(word, words));
        },
        fmt::format("{{{}}}", fmt::join(words, ","))));
    return *this;
}

Option& Option::range(std::uint64_t least, std::uint64_t greatest) {
    m_option->check(CLI::Range(least, greatest));
    return *this;
}

Option& Option::check(const std::function<std::string(const std::string&)>& rule) {
    m_option->check(rule);
    return *this;
}

Option& Option::show_default() {
    m_option->capture_default_str();
    return *this;
}

Option& Option::excludes(const Option& other) {
    m_option->excludes(other.m_option);
    return *this;
}

template <OptionValue Value>
Option Command::option(const std::string& names, Value& value, const std::string& text) {
    return Option(m_command->add_option(names, value, text));
}

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, std::uint32_t&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::uint64_t>&, const std::string&);

Option Command::option(const std::string& names, const std::function<void(const std::string&)>& use,
                       const std::string& text) {
    return Option(m_command->add_option_function<std::string>(names, use, text));
}

Option Command::flag(const std::string& names, bool& value, const std::string& text) {
    return Option(m_command->add_flag(names, value, text));
}

Option Command::described(const std::string& name) {
    return Option(m_command->get_option(name));
}

void Command::footer(const std::string& text) {
    m_command->footer(text);
}

void Command::run(std::function<trace::ExitStatus()> action) {
    m_command->callback([state = m_state, action = std::move(action)] {
        if (!state->parse_only) {
            state->status = action();
        }
    });
}

CommandLine::CommandLine(const std::string& name, const std::string& description)
    : m_app(std::make_unique<CLI::App>(description, name)) {
    m_app->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command CommandLine::command(const std::string& name, const std::string& description) {
    return {m_app->add_subcommand(name, description), &m_state};
}

void CommandLine::version(const std::string& text) {
    m_app->set_version_flag("--version", text);
}

void CommandLine::flag(const std::string& names, const std::function<void()>& use, const std::string& text) {
    m_app->add_flag_callback(names, use, text);
}

void CommandLine::footer(const std::string& text) {
    m_app->footer(text);
}

std::string trace_of_last_run(std::string_view command) {
    if (command == "attach") {
        return ::access("out/ram", F_OK) == 0 ? "out/ram" : "";
    }
    for (const char* const session : {"out/udp", "out/disk"}) {
        if (::access((std::string(session) + "/manifest.json").c_str(), F_OK) == 0) {
            return session;
        }
    }
    return "";
}

trace::ExitStatus CommandLine::run(int argc, const char* const* argv, std::string& help, std::string& error) {
    try {
        m_app->parse(argc, argv);
        return m_state.status;
    } catch (const CLI::ParseError& parse_error) {
        const auto commands = m_app->get_subcommands();
        if (!commands.empty() && lacks_trace(*commands.front(), parse_error.what())) {
            const std::string& command = commands.front()->get_name();
            if (const std::string trace = trace_of_last_run(command); !trace.empty()) {
                std::vector<const char*> words(argv, argv + argc);
                words.insert(std::ranges::find(words, std::string_view(command)) + 1, trace.c_str());
                return run(argc + 1, words.data(), help, error);
            }
        }
        std::ostringstream text_out;
        std::ostringstream text_err;
        if (m_app->exit(parse_error, text_out, text_err) == 0) { // --help, --version
            help = text::wrapped(text_out.str());
            if (dynamic_cast<const CLI::CallForHelp*>(&parse_error) != nullptr && !m_app->get_subcommands().empty()) {
                help += fmt::format("Exit status: see {} --help\n", m_app->get_name());
            }
            return trace::ExitStatus::clean;
        }
        error = refusal(*m_app, parse_error, {argv + 1, argv + argc});
        return trace::ExitStatus::usage;
    }
}

bool CommandLine::parses(const std::string& text, std::string& error) {
    m_state.parse_only = true;
    try {
        m_app->parse(text);
        return true;
    } catch (const CLI::ParseError& parse_error) {
        error = parse_error.what();
        return false;
    }
}

std::vector<CommandView> CommandLine::commands() const {
    std::vector<CommandView> views;
    for (const CLI::App* const command : std::as_const(*m_app).get_subcommands({})) {
        CommandView view{.name = command->get_name(),
                         .description = command->get_description(),
                         .options = {},
                         .footer = command->get_footer()};
        for (const CLI::Option* const option : command->get_options()) {
            if (option != command->get_help_ptr()) {
                view.options.push_back(view_of(*option));
            }
        }
        views.push_back(std::move(view));
    }
    return views;
}

std::string examples(std::initializer_list<std::string_view> lines) {
    std::string text = "Examples:\n";
    for (const std::string_view line : lines) {
        text += "  ";
        text += line;
        text += '\n';
    }
    return text;
}

} // namespace host::cli
