// SPDX-License-Identifier: MIT
// docs/ci.md has the table of exit statuses and that of the figures of expectations: they must equal those in the
// source. REMORA_UPDATE_DOCS=1 rewrites them. Runs in the root of the checkout, as `make test-unit` does.
#include "host/cli/command/exit_table.hpp"
#include "host/cli/expect/expectation.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace host::cli {

namespace ci_document_test {

constexpr const char* kPath = "docs/ci.md";

std::string exit_table() {
    std::string text = "| status | meaning |\n|---|---|\n";
    for (std::size_t i = 0; i < kExitTexts.size(); ++i) {
        text += fmt::format("| {} | {} |\n", i, kExitTexts[i]);
    }
    return text;
}

std::string figure_table() {
    constexpr std::array<std::string_view, 4> kValues = {"", "number", "time", "percentage"};
    std::string text = "| statement | compared with | meaning |\n|---|---|---|\n";
    for (const FigureRow& row : kFigures) {
        text +=
            fmt::format("| `{}` | {} | {} |\n", row.words, kValues[static_cast<std::size_t>(row.unit)], row.meaning);
    }
    return text;
}

void compare(const std::string& marker, const std::string& table) {
    std::ifstream file(kPath);
    ASSERT_TRUE(file) << kPath << ": run this in the root of the checkout";
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    const std::size_t found = document.find(marker);
    ASSERT_NE(found, std::string::npos);
    const std::size_t begin = found + marker.size();
    const std::size_t end = document.find("<!-- end -->", begin);
    ASSERT_NE(end, std::string::npos);
    if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
        std::ofstream(kPath) << document.substr(0, begin) << table << document.substr(end);
        return;
    }
    EXPECT_EQ(document.substr(begin, end - begin), table) << "REMORA_UPDATE_DOCS=1 rewrites the tables";
}

TEST(CiDocument, ListsTheExitStatuses) {
    compare("<!-- exit status -->\n", exit_table());
}

TEST(CiDocument, ListsTheFiguresOfExpectations) {
    compare("<!-- figures -->\n", figure_table());
}

} // namespace ci_document_test

} // namespace host::cli
