// SPDX-License-Identifier: MIT
#include "host/cli/command/command_line.hpp"

#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>

namespace host::cli {

namespace {

// CLI11 describes a list of words as {one,two}.
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

} // namespace

Option& Option::required(bool yes) {
    m_option->required(yes);
    return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
    m_option->check(CLI::IsMember(words));
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

template <typename Value>
Option Command::option(const std::string& names, Value& value, const std::string& text) {
    return Option(m_command->add_option(names, value, text));
}

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, std::uint32_t&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
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

trace::ExitStatus CommandLine::run(int argc, const char* const* argv, std::string& help, std::string& error) {
    try {
        m_app->parse(argc, argv);
        return m_state.status;
    } catch (const CLI::ParseError& parse_error) {
        std::ostringstream text_out;
        std::ostringstream text_err;
        const bool asked = m_app->exit(parse_error, text_out, text_err) == 0; // --help, --version
        help = text_out.str();
        error = text_err.str();
        return asked ? trace::ExitStatus::clean : trace::ExitStatus::usage;
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
