// SPDX-License-Identifier: MIT
// Tests what each converter writes, byte for byte: four small traces that have every kind of event, name, loss and
// damage in them, and the outputs in tests/unit/convert/outputs/, one file per format. That other programs read these
// formats as they are meant is what tests/viewers/ shows; a change of an output is seen here. REMORA_UPDATE_DOCS=1
// rewrites the files. Runs in the root of the checkout, as `make test-unit` does.
#include "convert/convert.hpp"

#include "host/text/format.hpp"
#include "lib/crc32c.hpp"
#include "lib/version.hpp"
#include "tests/support/example_traces.hpp"
#include "tests/support/expected_text.hpp"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sqlite3.h>
#include <sstream>

namespace host::convert {

namespace {

namespace example = support::example;

constexpr std::string_view kFolder = "tests/unit/convert/outputs/";

// Printable characters and line ends as they are, others by their numbers, long rows of one byte once.
std::string shown(std::string_view bytes) {
    constexpr std::size_t kRowMin = 12;
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t end = std::min(bytes.find_first_not_of(bytes[at], at), bytes.size());
        const bool is_row = end - at >= kRowMin && bytes[at] != ' ';
        const std::size_t count = is_row ? end - at : 1;
        const bool is_plain = bytes[at] == '\n' || (bytes[at] >= ' ' && bytes[at] <= '~' && bytes[at] != '\\');
        text += is_plain && !is_row ? std::string(1, bytes[at])
                                    : fmt::format("\\{:02x}", static_cast<unsigned char>(bytes[at]));
        text += is_row ? fmt::format("{{{}}}", count) : "";
        at += count;
    }
    return text;
}

// The changes of one time of a VCD file as one line.
std::string by_time(const std::string& vcd) {
    std::string text;
    bool is_header = true;
    std::istringstream in(vcd);
    for (std::string line; std::getline(in, line);) {
        const bool is_change = !is_header && !line.empty() && line.front() != '#' && line.front() != '$';
        if (is_change) {
            text.pop_back();
        }
        text += (is_change ? "  " : "") + line + '\n';
        is_header = is_header && !line.starts_with('#');
    }
    return text;
}

// The name of an event of trace.dat and its number as one line.
std::string by_event(std::string text) {
    for (std::size_t at = 0; (at = text.find("\nID: ", at)) != std::string::npos;) {
        text[at] = ' ';
    }
    return text;
}

// Rows of lines that are known as one mark at the end of the line before: most of what describes a format is the same
// in each of its files. A row of which lines are known from this text alone has a checksum: parts of one description
// differ in their order. `met` are lines of which a row has one as well.
std::string without_known(const std::string& text, std::set<std::string>& known, std::set<std::string> met) {
    std::string shorter;
    std::vector<std::string> row;
    const auto end_row = [&] {
        constexpr std::size_t kRowMin = 4;
        std::string lines;
        for (const std::string& line : row) {
            lines += line + '\n';
        }
        if (row.size() < kRowMin) {
            shorter += lines;
        } else {
            const bool is_known =
                std::ranges::all_of(row, [&](const std::string& line) { return known.contains(line); });
            const std::string sum =
                is_known ? "" : fmt::format(", {:08x}", lib::crc32c(std::as_bytes(std::span(lines))));
            if (!shorter.empty()) {
                shorter.back() = ' ';
            }
            shorter += fmt::format("[{} lines as above{}]\n", row.size(), sum);
        }
        row.clear();
    };
    std::istringstream in(text);
    for (std::string line; std::getline(in, line); met.insert(line)) {
        if (known.contains(line) || met.contains(line)) {
            row.push_back(line);
            continue;
        }
        end_row();
        shorter += line + '\n';
    }
    end_row();
    known.merge(met);
    return shorter;
}

// All rows of all tables and views, and how these were made.
std::string rows_of(const std::string& path) {
    std::string text;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const auto each = [&](const std::string& query, const std::function<void(sqlite3_stmt*)>& row) {
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK) << query;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            row(statement);
        }
        sqlite3_finalize(statement);
    };
    const auto cell = [](sqlite3_stmt* statement, int column) {
        const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        return value == nullptr ? std::string("-") : shown(value);
    };
    std::vector<std::string> tables;
    each("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name",
         [&](sqlite3_stmt* statement) {
             text += cell(statement, 2) + '\n';
             if (cell(statement, 0) != "index") {
                 tables.push_back(cell(statement, 1));
             }
         });
    for (const std::string& table : tables) {
        text += "--- " + table + '\n';
        each("SELECT * FROM " + table, [&](sqlite3_stmt* statement) {
            for (int column = 0; column < sqlite3_column_count(statement); ++column) {
                text += (column == 0 ? "" : "|") + cell(statement, column);
            }
            text += '\n';
        });
    }
    sqlite3_close(database);
    return text;
}

class Outputs : public testing::TestWithParam<const FormatRow*> {
  protected:
    [[nodiscard]] std::string converted(const std::string& input, const FormatRow& format) const {
        std::string text;
        trace::Diagnostics diagnostics([&text](std::string_view line) { text += std::string(line) + '\n'; });
        const Request request{.input = input, .output = m_directory / "out", .format = &format};
        const Outcome outcome = convert(request, diagnostics, [](std::uint64_t, std::uint64_t) {});
        text += fmt::format("exit {}, {} events {}\n", static_cast<unsigned>(outcome.status), outcome.events,
                            outcome.error);
        for (const std::string& path : files_of(request.output)) {
            text += path == request.output ? "" : "--- " + path.substr(request.output.size() + 1) + '\n';
            text += format.name == "sqlite"        ? rows_of(path)
                    : format.name == "vcd"         ? by_time(shown(support::read_text(path)))
                    : format.name == "kernelshark" ? by_event(shown(support::read_text(path)))
                                                   : shown(support::read_text(path));
            text += text.ends_with('\n') ? "" : "\n";
        }
        std::filesystem::remove_all(request.output);
        return text;
    }

    // The file, or those of the directory.
    static std::vector<std::string> files_of(const std::string& path) {
        std::vector<std::string> files;
        if (std::filesystem::is_directory(path)) {
            for (const auto& entry : std::filesystem::directory_iterator(path)) {
                files.push_back(entry.path());
            }
        } else if (std::filesystem::exists(path)) {
            files.push_back(path);
        }
        std::ranges::sort(files);
        return files;
    }

    // Neither the directory of the test nor the version of the program belongs to what is compared.
    [[nodiscard]] std::string without_chance(std::string text) const {
        for (const auto& [chance, instead] : {std::pair<std::string, std::string>{m_directory.path() + '/', ""},
                                              {fmt::format("remora {}", lib::kVersion), "remora VERSION"}}) {
            for (std::size_t at = text.find(chance); at != std::string::npos; at = text.find(chance, at)) {
                text.replace(at, chance.size(), instead);
            }
        }
        return text;
    }

    support::TemporaryDirectory m_directory;
};

TEST_P(Outputs, AreThoseOfTheirFile) {
    const FormatRow& format = *GetParam();
    const std::string functions = R"({"format":"remora-formats","version":1,"image":"123456789abcdef0","formats":
        [{"id":6,"text":"six %u"}],"functions":[{"address":4096,"size":256,"name":"main"},
        {"address":4352,"size":16,"name":"work<\"x\">"}]})";
    m_directory.write("formats.json", std::as_bytes(std::span(functions)));
    std::string text;
    std::set<std::string> known;
    const bool is_lttng = format.name == "ctf-lttng"; // most of it is as in ctf.txt
    const auto formats = all_formats();
    for (const auto& [name, bytes] : {std::pair<std::string, support::Bytes>{"machine.dat", example::machine()},
                                      {"records.dat", example::records()},
                                      {"qnx.kev", example::kev()},
                                      {"two.log", example::tlog()}}) {
        const std::string input = m_directory.write(name, bytes);
        std::set<std::string> met;
        if (is_lttng) {
            const auto ctf = std::ranges::find(formats, "ctf", &FormatRow::name);
            static_cast<void>(without_known(without_chance(converted(input, **ctf)), met, {}));
        }
        text += "=== " + name + '\n' + without_known(without_chance(converted(input, format)), known, met);
    }
    support::expect_text_of(std::string(kFolder) + std::string(format.name) + ".txt", text);
}

INSTANTIATE_TEST_SUITE_P(Formats, Outputs, testing::ValuesIn(all_formats()), [](const auto& row) {
    std::string name(row.param->name);
    std::ranges::replace(name, '-', '_');
    return name;
});

} // namespace

} // namespace host::convert
