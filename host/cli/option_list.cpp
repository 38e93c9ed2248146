// SPDX-License-Identifier: MIT
// Read from CLI11's own description of the program, so it cannot differ from what is parsed.
#include "host/cli/option_list.hpp"

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

} // namespace

std::vector<OptionView> options_of(const CLI::App& command) {
    std::vector<OptionView> views;
    for (const CLI::Option* const option : command.get_options()) {
        if (option == command.get_help_ptr()) {
            continue;
        }
        OptionView view;
        for (const std::string& name : option->get_snames()) {
            view.names.push_back('-' + name);
        }
        for (const std::string& name : option->get_lnames()) {
            view.names.push_back("--" + name);
        }
        view.choices = choices_of(*option);
        view.description = option->get_description();
        view.required = option->get_required();
        if (view.names.empty()) {
            view.argument = option->get_name();
        } else if (option->get_items_expected_max() > 0) {
            const std::string type = option->get_type_name();
            view.argument = !view.choices.empty()                                 ? "WORD"
                            : type.starts_with("UINT") || type.starts_with("INT") ? "N"
                            : type.starts_with("FLOAT")                           ? "X"
                                                                                  : "TEXT";
        }
        views.push_back(std::move(view));
    }
    return views;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

} // namespace host::cli
