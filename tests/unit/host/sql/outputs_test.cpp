// SPDX-License-Identifier: MIT
// Tests every row of every table and view, of four small traces that have every kind of event, name, loss and damage in
// them: the same as in the database that `remora convert` makes, whose rows are in
// tests/unit/convert/outputs/sqlite.txt. Only what no database has is in the files of tests/unit/host/sql/outputs/.
// Runs in the root of the checkout, as `make test-unit` does.
#include "convert/convert.hpp"
#include "host/sql/tables.hpp"
#include "tests/support/example_traces.hpp"
#include "tests/support/expected_text.hpp"
#include "tests/support/sql_question.hpp"

#include <algorithm>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace host::sql {

namespace {

namespace example = support::example;

class SqlOutputs : public support::SqlQuestion {
  protected:
    SqlOutputs() { m_literals = true; }

    static std::vector<std::string> statements() {
        std::vector<std::string> all = {
            "select *, payload from events", // the database has it as a column like the others
            "select cpu, family, code, event, count(*) from events group by cpu, family, code, event"};
        for (const TableRow& table : kTableRows) {
            all.push_back("select * from " + std::string(table.name));
        }
        for (const ViewRow& view : kViewRows) {
            all.push_back("select * from " + std::string(view.name));
        }
        return all;
    }

    void convert_to(const std::string& output) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const std::vector<const convert::FormatRow*> formats = convert::all_formats();
        const auto format = std::ranges::find(formats, "sqlite", &convert::FormatRow::name);
        const convert::Request request{.input = m_path, .output = output, .format = *format};
        static_cast<void>(convert::convert(request, diagnostics, [](std::uint64_t, std::uint64_t) {}));
    }

    static std::string literal_of(sqlite3_stmt* statement, int column) {
        const int type = sqlite3_column_type(statement, column); // it is undefined after a conversion
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        switch (type) {
        case SQLITE_NULL:
            return "NULL";
        case SQLITE_TEXT:
            return '\'' + std::string(text) + '\'';
        case SQLITE_BLOB:
            return "blob of " + std::to_string(sqlite3_column_bytes(statement, column));
        default:
            return text;
        }
    }

    static support::SqlAnswer ask_database(const std::string& path, const std::string& text) {
        support::SqlAnswer answer;
        sqlite3* database = nullptr;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
        EXPECT_EQ(sqlite3_prepare_v2(database, text.c_str(), -1, &statement, nullptr), SQLITE_OK) << text;
        for (int column = 0; column < sqlite3_column_count(statement); ++column) {
            answer.names.emplace_back(sqlite3_column_name(statement, column));
        }
        while (sqlite3_step(statement) == SQLITE_ROW) {
            std::string& row = answer.rows.emplace_back();
            for (int column = 0; column < sqlite3_column_count(statement); ++column) {
                row += literal_of(statement, column) + ' ';
            }
        }
        sqlite3_finalize(statement);
        sqlite3_close(database);
        return answer;
    }

    void expect_outputs(const std::string& name, const support::Bytes& bytes) {
        m_path = m_directory.write(name, bytes);
        const std::string database = m_directory / "converted.sqlite";
        convert_to(database);
        for (const std::string& statement : statements()) {
            const support::SqlAnswer answer = ask(statement);
            const bool is_hidden = statement.starts_with("select *, payload");
            const support::SqlAnswer converted = ask_database(database, is_hidden ? "select * from events" : statement);
            EXPECT_EQ(answer.failure, "") << statement;
            EXPECT_EQ(answer.names, converted.names) << statement;
            EXPECT_EQ(answer.rows, converted.rows) << statement;
        }
        std::string text;
        for (const std::string& row : ask("select * from utilisation(1000000000)").rows) {
            text += row + '\n';
        }
        support::expect_text_of("tests/unit/host/sql/outputs/" + name + ".txt", text);
    }
};

TEST_F(SqlOutputs, OfAMachineWithTwoProcessors) {
    expect_outputs("machine.dat", example::machine());
}

TEST_F(SqlOutputs, OfRecordsWithoutAHead) {
    expect_outputs("records.dat", example::records());
}

TEST_F(SqlOutputs, OfAnotherSystemsEvents) {
    expect_outputs("qnx.kev", example::kev());
}

TEST_F(SqlOutputs, OfAProcesssLog) {
    expect_outputs("two.log", example::tlog());
}

} // namespace

} // namespace host::sql
