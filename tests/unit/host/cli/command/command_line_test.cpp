// SPDX-License-Identifier: MIT
// Tests the command line as a whole: its examples, completion and manual page are derived from what is parsed.
#include "fleet/command/commands.hpp"

#include "host/cli/elsewhere.hpp"
#include "host/text/list.hpp"
#include "host/text/wrap.hpp"
#include "tests/support/host_command.hpp"
#include "tests/support/host_command_line.hpp"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <sstream>

namespace host::cli {

namespace command_line_test {

using testing::HasSubstr;

class CommandLines : public support::CommandLine {
  protected:
    CommandLines()
        : m_null(std::tmpfile())
        , m_sink(m_null)
        , m_context{m_sink, m_sink} {
        add_everything(m_line, m_context);
    }

    ~CommandLines() override {
        m_sink.finish();
        std::fclose(m_null);
    }

    std::FILE* m_null;
    Output m_sink;
    Context m_context;
    cli::CommandLine m_line{"remora", ""};
};

// The lines of a help text that start with the program's name.
std::vector<std::string> example_lines(const CommandView& command) {
    std::vector<std::string> found;
    std::istringstream lines(command.footer);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("  remora ")) {
            found.push_back(line.substr(std::string_view("  remora ").size()));
        }
    }
    return found;
}

TEST_F(CommandLines, ShowExamplesThatParse) {
    for (const CommandView& command : m_line.commands()) {
        const auto lines = example_lines(command);
        EXPECT_FALSE(lines.empty()) << command.name;
        for (const std::string& line : lines) {
            cli::CommandLine fresh("remora", "");
            add_everything(fresh, m_context);
            std::string error;
            EXPECT_TRUE(line.starts_with(command.name)) << line;
            EXPECT_TRUE(fresh.parses(line, error)) << line << ": " << error;
        }
    }
}

// The lines that are wider than a terminal.
std::string wide_lines(const std::string& text) {
    std::string wide;
    for (const std::string_view line : text::split(text, "\n")) {
        wide += line.size() > text::kColumns ? std::string(line) + '\n' : "";
    }
    return wide;
}

TEST_F(CommandLines, HelpFitsATerminal) {
    ASSERT_EQ(remora({"--help"}), 0);
    EXPECT_EQ(wide_lines(m_out), "");
    for (const CommandView& command : m_line.commands()) {
        ASSERT_EQ(remora({command.name, "--help"}), 0);
        EXPECT_EQ(wide_lines(m_out), "") << command.name;
    }
}

// Sentences may be longer: the verdict of a summary, and what relaxes a rule.
TEST_F(CommandLines, TablesFitATerminal) {
    const std::string trace = write(sample().bytes());
    const std::string other = m_directory.write("other.dat", sample().event(6200, "task_activate", 12).bytes());
    const std::vector<std::vector<std::string>> calls = {
        {"summary", trace},   {"count", trace},    {"diff", trace, other},
        {"check", "--rules"}, {"events"},          {"events", trace},
        {"verify", trace},    {"schedule", trace}, {"sql", trace, "select * from events"}};
    for (const std::vector<std::string>& call : calls) {
        remora(call);
        EXPECT_NE(m_out, "") << call.front() << m_err;
        std::string wide = wide_lines(m_out);
        if (wide.starts_with("  relaxed: ") || wide.starts_with("  verdict ")) {
            wide.erase(0, wide.find('\n') + 1);
        }
        EXPECT_EQ(wide, "") << call.front();
    }
}

TEST_F(CommandLines, DescribeEveryOption) {
    for (const CommandView& command : m_line.commands()) {
        EXPECT_FALSE(command.description.empty()) << command.name;
        for (const OptionView& option : command.options) {
            EXPECT_FALSE(option.description.empty())
                << command.name << ' ' << (option.names.empty() ? option.argument : option.names.front());
        }
    }
}

TEST_F(CommandLines, OfTheFirstProgramNameCommandsAndOptionsOfTheWholeOne) {
    const auto commands = m_line.commands();
    for (const Elsewhere& row : kElsewhere) {
        const auto command = std::ranges::find(commands, row.command, &CommandView::name);
        ASSERT_NE(command, commands.end()) << row.command;
        if (row.option.empty()) {
            EXPECT_EQ(row.description, command->description) << row.command;
            continue;
        }
        const auto has = [&row](const OptionView& option) {
            return std::ranges::find(option.names, row.option) != option.names.end();
        };
        EXPECT_TRUE(std::ranges::any_of(command->options, has)) << row.command << ' ' << row.option;
    }
}

TEST_F(CommandLines, ReadWhatTheLastRunLeftIfNoTraceIsNamed) {
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(m_directory.path());
    EXPECT_EQ(remora({"print"}), 1);
    EXPECT_EQ(m_err, "remora print: TRACE is required, such as out/udp; see: remora print --help\n");
    EXPECT_EQ(remora({"check"}), 1);
    EXPECT_EQ(remora({"goto", "1us"}), 1);
    EXPECT_EQ(m_err, "remora goto: 1us is no file; TRACE is required, such as out/udp; see: remora goto --help\n");
    std::filesystem::create_directories("out/disk");
    const std::string run = m_directory.write("out/disk/0trace.dat", sample().bytes());
    ASSERT_EQ(remora({"adopt", "out/disk"}), 0) << m_err;
    EXPECT_EQ(remora({"print", "--limit", "1"}), 0) << m_err;
    EXPECT_EQ(std::ranges::count(m_out, '\n'), 1) << m_out;
    EXPECT_EQ(remora({"check", "--must-decide"}), 2) << "it was read, and nothing was decided";
    EXPECT_EQ(remora({"attach"}), 1);
    EXPECT_EQ(m_err, "remora attach: TRACE is required, such as out/ram, which `make run` makes; see: remora attach "
                     "--help\n");
    EXPECT_EQ(remora({"goto", "--context", "0", "1us"}), 0) << m_err;
    EXPECT_EQ(remora({"sql", "--csv", "select count(*) from tasks"}), 0) << m_err;
    EXPECT_EQ(m_out, "count(*)\n1\n");
    for (const std::string given : {"out/disk", "-"}) {
        EXPECT_EQ(remora({"sql", given}), 1);
        EXPECT_EQ(m_err, "remora sql: STATEMENT is required; see: remora sql --help\n") << "it is the TRACE";
    }
    EXPECT_EQ(remora({"pack", "none"}), 1);
    EXPECT_EQ(m_err, "remora pack: --output is required; see: remora pack --help\n");
    EXPECT_EQ(remora({"print", "--task"}), 1) << "it is no value of an option";
    std::filesystem::rename("out/disk", "out/udp");
    EXPECT_EQ(remora({"summary"}), 0) << m_err;
    std::filesystem::current_path(before);
}

TEST_F(CommandLines, NameTheMisspeltWordAndTheNearestOne) {
    const auto error_of = [this](const std::vector<std::string>& words) {
        EXPECT_EQ(remora(words), 1);
        EXPECT_EQ(m_out, "");
        return m_err;
    };
    EXPECT_EQ(error_of({}), "remora: a command is required; see: remora --help\n");
    EXPECT_EQ(error_of({"prnt", "x"}), "remora: prnt is no command; did you mean print?; see: remora --help\n");
    EXPECT_EQ(error_of({"--verson"}), "remora: --verson is no option; did you mean --version?; see: remora --help\n");
    EXPECT_EQ(error_of({"print", "--tsk", "x", "y"}),
              "remora print: --tsk is no option; did you mean --task?; see: remora print --help\n");
    EXPECT_EQ(error_of({"print", "--tsk=x", "y"}),
              "remora print: --tsk is no option; did you mean --task?; see: remora print --help\n");
    EXPECT_EQ(error_of({"schedule", "--frobnicate", "x"}),
              "remora schedule: --frobnicate is no option; see: remora schedule --help\n");
    EXPECT_EQ(error_of({"print", "a", "b", "c"}),
              "remora print: b is one argument too many; see: remora print --help\n");
    EXPECT_EQ(error_of({"completion", "bsh"}), "remora completion: SHELL: bsh is none of bash, zsh, fish; did you mean "
                                               "bash?; see: remora completion --help\n");
    EXPECT_EQ(error_of({"--frobnicate", "x"}), "remora: --frobnicate is no option; see: remora --help\n");
    EXPECT_EQ(error_of({"--frobnicate=1", "print", "x"}), "remora: --frobnicate is no option; see: remora --help\n");
    EXPECT_EQ(error_of({"--no-pager"}), "remora: a command is required; see: remora --help\n");
    EXPECT_EQ(error_of({"--", "print", "x"}), "remora: -- is not expected before the command; see: remora --help\n");
    EXPECT_EQ(error_of({"print", "x", "--from", "kev", "--from", "1ms"}),
              "remora print: --from is given more than once; see: remora print --help\n");
    EXPECT_EQ(error_of({"print", "x", "--task"}), "remora print: --task requires a value; see: remora print --help\n");
    EXPECT_EQ(error_of({"convert", "a.dat", "b.dat", "--to", "csv", "-o", "c.csv"}),
              "remora convert: b.dat and --output c.csv both name the output: give one of them\n");
    EXPECT_EQ(error_of({"print", "--\x1b", "x"}), "remora print: --\\x1b is no option; see: remora print --help\n");
}

// What bash offers for a line of words, the last of which is being typed.
std::string offered(const std::filesystem::path& script, const std::string& words) {
    const auto outcome =
        test::run_command("bash -c 'source " + script.string() + "; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _remora; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    return outcome.output;
}

TEST_F(CommandLines, CompleteInBash) {
    ASSERT_EQ(remora({"completion", "bash"}), 0);
    const test::ScratchDirectory scratch;
    const auto script = scratch / "remora.bash";
    const auto bytes = std::as_bytes(std::span(m_out));
    test::write_file(script, {bytes.begin(), bytes.end()});
    EXPECT_EQ(offered(script, "remora sum"), "summary\n");
    EXPECT_EQ(offered(script, "remora print --fam"), "--family\n");
    EXPECT_THAT(offered(script, "remora convert --to cs"), HasSubstr("csv\n"));
    EXPECT_EQ(offered(script, "remora completion fi"), "fish\n");
}

TEST_F(CommandLines, CompleteInOtherShells) {
    ASSERT_EQ(remora({"completion", "fish"}), 0);
    EXPECT_THAT(m_out, HasSubstr("-n '__fish_seen_subcommand_from convert' -l to -x -f -a "));
    ASSERT_EQ(remora({"completion", "zsh"}), 0);
    EXPECT_THAT(m_out, HasSubstr("bashcompinit"));
    EXPECT_EQ(remora({"completion", "csh"}), 1);
}

TEST_F(CommandLines, HaveAManualThatGroffAccepts) {
    ASSERT_EQ(remora({"manual"}), 0);
    const test::ScratchDirectory scratch;
    const auto bytes = std::as_bytes(std::span(m_out));
    test::write_file(scratch / "remora.1", {bytes.begin(), bytes.end()});
    const auto outcome = test::run_command("groff -man -Tutf8 -ww -z " + (scratch / "remora.1").string());
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, "");
    for (const CommandView& command : m_line.commands()) {
        EXPECT_THAT(m_out, HasSubstr(".SS \"" + command.name + "\"")) << command.name;
    }
}

} // namespace command_line_test

} // namespace host::cli
