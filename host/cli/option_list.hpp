// SPDX-License-Identifier: MIT
// The command line as data, for what is derived from it: shell completion and the manual page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace host::cli {

struct OptionView {
    std::vector<std::string> names; // with their dashes, short first; empty: a positional argument
    std::string argument;           // of a positional: its name; of an option: what it takes, or empty if nothing
    std::string description;
    std::vector<std::string> choices; // words that it takes; empty: any
    bool required = false;
};

// Without --help.
[[nodiscard]] std::vector<OptionView> options_of(const CLI::App& command);

[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& app);

} // namespace host::cli
