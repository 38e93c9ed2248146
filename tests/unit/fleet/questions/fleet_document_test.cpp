// SPDX-License-Identifier: MIT
// docs/fleet.md has the tables of a fleet and the SQL of each question: they must be those of the source.
// REMORA_UPDATE_DOCS=1 rewrites them. Runs in the root of the checkout, as `make test-unit` does.
#include "fleet/network/network.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/tables.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace host::fleet::questions {

namespace {

constexpr const char* kPath = "docs/fleet.md";
constexpr std::size_t kWidth = 100;

// In lines that end at blanks.
std::string wrapped(std::string_view text) {
    std::string lines;
    while (text.size() > kWidth) {
        const std::size_t blank = text.rfind(' ', kWidth);
        lines += fmt::format("{}\n", text.substr(0, blank));
        text.remove_prefix(blank + 1);
    }
    return lines + std::string(text);
}

std::string tables() {
    std::string text =
        "| table | columns after `site`, `node`, `boot`, `started_s` | key after `site`, `node`, `boot` |\n"
        "|---|---|---|\n";
    for (std::size_t i = 0; i < kTables; ++i) {
        const TableRow& row = row_of(static_cast<Table>(i));
        std::string columns;
        for (const Column& column : columns_of(static_cast<Table>(i))) {
            const bool of_run = kRunColumns.find(fmt::format("{} ", column.name)) != std::string_view::npos;
            columns += of_run ? "" : fmt::format("{}`{}`", columns.empty() ? "" : ", ", column.name);
        }
        text += fmt::format("| `{}` | {} | {} |\n", row.name, columns, row.key);
    }
    return text;
}

// As `--sql` prints them, of a question without options.
std::string statements(const Question& question) {
    const support::TemporaryDirectory scratch;
    const auto store = open_store(scratch / "fleet", {}, OpenMode::write);
    EXPECT_TRUE(store);
    Asked asked{.place = {}, .only = {}, .limit = question.limit, .by = {}, .a = {}, .b = {}};
    asked.a.node = "pi-1";
    asked.b.node = "pi-2";
    asked.events = &question == &kVerify;
    std::string text = "```sql\n";
    for (const std::string& statement : question.statements(asked, *store.value())) {
        text += wrapped(statement + ';') + '\n';
    }
    return text + "```\n";
}

void compare(const std::string& marker, const std::string& expected) {
    std::ifstream file(kPath);
    ASSERT_TRUE(file) << kPath << ": run this in the root of the checkout";
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    const std::size_t found = document.find(marker);
    ASSERT_NE(found, std::string::npos) << marker;
    const std::size_t begin = found + marker.size();
    const std::size_t end = document.find("<!-- end -->", begin);
    ASSERT_NE(end, std::string::npos);
    if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
        std::ofstream(kPath) << document.substr(0, begin) << expected << document.substr(end);
        return;
    }
    EXPECT_EQ(document.substr(begin, end - begin), expected) << "REMORA_UPDATE_DOCS=1 rewrites it";
}

TEST(FleetDocument, ListsTheTables) {
    compare("<!-- tables -->\n", tables());
}

TEST(FleetDocument, ShowsTheSqlOfEachQuestion) {
    for (const Question* const question : all_questions()) {
        compare(fmt::format("<!-- sql of {} -->\n", question->name), statements(*question));
    }
}

} // namespace

} // namespace host::fleet::questions
