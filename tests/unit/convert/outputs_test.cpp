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
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <span>
#include <sqlite3.h>
#include <sstream>

namespace host::convert {

namespace {

namespace example = support::example;

constexpr std::string_view kFolder = "tests/unit/convert/outputs/";

// Returns printable characters and line ends as they are, others by their numbers, and long rows of one byte once.
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

// Joins the changes of one time of a VCD file to one line.
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

// Joins the name of an event of trace.dat and its number to one line.
std::string by_event(std::string text) {
    for (std::size_t at = 0; (at = text.find("\nID: ", at)) != std::string::npos;) {
        text[at] = ' ';
    }
    return text;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

// Replaces rows of lines that are known by a mark: most of what describes a format is the same in each of its files.
class Shortener {
  public:
    // Lines that `other` has one after the other are a mark that states where it has them. Other lines are known from
    // the texts before, or from this one: then the mark has a checksum of the row, because parts of one description
    // differ in their order.
    std::string shorten(const std::string& text, const std::vector<std::string>& other) {
        const std::vector<std::string> lines = lines_of(text);
        std::set<std::string> met;
        m_shorter.clear();
        for (std::size_t at = 0; at < lines.size();) {
            if (const auto [begin, count] = longest(std::span(lines).subspan(at), other); count >= kRowMin) {
                end_row();
                add_mark(fmt::format("[{} lines as ctf has them from its line {} on]", count, begin + 1));
                at += count;
                continue;
            }
            const std::string& line = lines[at++];
            if (m_known.contains(line) || met.contains(line)) {
                m_row.push_back(line);
            } else {
                end_row();
                m_shorter += line + '\n';
            }
            met.insert(line);
        }
        end_row();
        m_known.merge(met);
        return m_shorter;
    }

    // Returns the rows with a checksum of which this text has no mark.
    [[nodiscard]] std::string rows_without_mark(const std::string& text) const {
        std::string rows;
        for (const auto& [mark, lines] : m_rows) {
            rows += text.find(mark) == std::string::npos ? mark + " are\n" + lines : "";
        }
        return rows;
    }

  private:
    static constexpr std::size_t kRowMin = 4;

    // Returns where `other` has most of the first lines, and how many.
    static std::pair<std::size_t, std::size_t> longest(std::span<const std::string> lines,
                                                       const std::vector<std::string>& other) {
        std::pair<std::size_t, std::size_t> best{};
        for (std::size_t at = 0; at < other.size(); ++at) {
            const auto end = std::ranges::mismatch(lines, std::span(other).subspan(at)).in1;
            const auto count = static_cast<std::size_t>(end - lines.begin());
            best = count > best.second ? std::pair(at, count) : best;
        }
        return best;
    }

    void add_mark(const std::string& mark) {
        if (!m_shorter.empty()) {
            m_shorter.back() = ' ';
        }
        m_shorter += mark + '\n';
    }

    void end_row() {
        std::string lines;
        for (const std::string& line : m_row) {
            lines += line + '\n';
        }
        if (m_row.size() < kRowMin) {
            m_shorter += lines;
        } else if (std::ranges::all_of(m_row, [&](const std::string& line) { return m_known.contains(line); })) {
            add_mark(fmt::format("[{} lines as above]", m_row.size()));
        } else {
            const std::string mark =
                fmt::format("[{} lines as above, {:08x}]", m_row.size(), lib::crc32c(std::as_bytes(std::span(lines))));
            m_rows[mark] = lines;
            add_mark(mark);
        }
        m_row.clear();
    }

    std::set<std::string> m_known;
    std::map<std::string, std::string> m_rows; // by mark
    std::vector<std::string> m_row;
    std::string m_shorter;
};

// Returns all rows of all tables and views, with the types of their values as SQL writes them, and how these were made.
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
    const auto text_of = [](sqlite3_stmt* statement, int column) {
        const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        return value == nullptr ? std::string("NULL") : shown(value);
    };
    const auto cell = [&text_of](sqlite3_stmt* statement, int column) {
        const int type = sqlite3_column_type(statement, column);
        const std::string value = text_of(statement, column);
        return type == SQLITE_TEXT ? '\'' + value + '\'' : type == SQLITE_BLOB ? "blob " + value : value;
    };
    std::vector<std::string> tables;
    each("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name",
         [&](sqlite3_stmt* statement) {
             text += text_of(statement, 2) + '\n';
             if (text_of(statement, 0) != "index") {
                 tables.push_back(text_of(statement, 1));
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

    // Returns the file, or those of the directory.
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

    // Leaves out the directory of the test and the version of the program, which are not compared.
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
    Shortener shortener;
    const bool is_lttng = format.name == "ctf-lttng"; // most of it is what ctf has
    const auto formats = all_formats();
    for (const auto& [name, bytes] : {std::pair<std::string, support::Bytes>{"machine.dat", example::machine()},
                                      {"records.dat", example::records()},
                                      {"qnx.kev", example::kev()},
                                      {"two.log", example::tlog()}}) {
        const std::string input = m_directory.write(name, bytes);
        std::vector<std::string> other;
        if (is_lttng) {
            const auto ctf = std::ranges::find(formats, "ctf", &FormatRow::name);
            other = lines_of(without_chance(converted(input, **ctf)));
        }
        text += "=== " + name + '\n' + shortener.shorten(without_chance(converted(input, format)), other);
    }
    const std::string path = std::string(kFolder) + std::string(format.name) + ".txt";
    SCOPED_TRACE(shortener.rows_without_mark(support::read_text(path)));
    support::expect_text_of(path, text);
}

INSTANTIATE_TEST_SUITE_P(Formats, Outputs, testing::ValuesIn(all_formats()), [](const auto& row) {
    std::string name(row.param->name);
    std::ranges::replace(name, '-', '_');
    return name;
});

} // namespace

} // namespace host::convert
