// SPDX-License-Identifier: MIT
// Tests every row of every table and view, of four small traces that have every kind of event, name, loss and damage in
// them, and the files in tests/unit/host/sql/outputs/ that hold them. Runs in the root of the checkout, as `make
// test-unit` does.
#include "host/sql/tables.hpp"
#include "tests/support/example_traces.hpp"
#include "tests/support/expected_text.hpp"
#include "tests/support/sql_question.hpp"

#include <string>
#include <vector>

namespace host::sql {

namespace {

namespace example = support::example;

class SqlOutputs : public support::SqlQuestion {
  protected:
    SqlOutputs() { m_literals = true; }

    static std::vector<std::string> statements() {
        std::vector<std::string> all = {"select *, payload from events"};
        for (const TableRow& table : kTableRows) {
            all.push_back("select * from " + std::string(table.name));
        }
        for (const ViewRow& view : kViewRows) {
            all.push_back("select * from " + std::string(view.name));
        }
        all.emplace_back("select * from utilisation(1000000000)");
        all.emplace_back("select cpu, family, code, event, count(*) from events group by cpu, family, code, event");
        return all;
    }

    void expect_outputs(const std::string& name, const support::Bytes& bytes) {
        m_path = m_directory.write(name, bytes);
        std::string text;
        for (const std::string& statement : statements()) {
            const support::SqlAnswer answer = ask(statement);
            EXPECT_EQ(answer.failure, "") << statement;
            text += "--- " + statement + '\n';
            for (const std::string& column : answer.names) {
                text += column + ' ';
            }
            text += '\n';
            for (const std::string& row : answer.rows) {
                text += row + '\n';
            }
        }
        for (std::size_t at = text.find(m_directory.path()); at != std::string::npos;
             at = text.find(m_directory.path(), at)) {
            text.erase(at, m_directory.path().size() + 1);
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
