// SPDX-License-Identifier: MIT
// Tests remora sql as a command: its limits, and what its help promises.
#include "tests/support/host_command_line.hpp"

#include "host/sql/tables.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace host::cli {

namespace sql_command_test {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kEndless = "with recursive n(i) as (select 1 union all select i + 1 from n) ";

class SqlCommand : public support::CommandLine {};

TEST_F(SqlCommand, ATimeoutEndsWhatHasNoEndWithItsOwnStatus) {
    const std::string trace = write(sample().bytes());
    const std::string statement = std::string(kEndless) + "select i from n where i < 3";
    EXPECT_EQ(remora({"sql", trace, statement, "--json", "--timeout", "0.2"}), 5);
    EXPECT_THAT(m_err, HasSubstr("stopped after 0.2 s (--timeout): rows may be missing"));
    EXPECT_THAT(m_out, HasSubstr("{\"i\":1},\n{\"i\":2}"));
    EXPECT_THAT(m_out, EndsWith("}\n")) << "what was found until then is a whole document";
    EXPECT_EQ(remora({"sql", trace, "select count(*) as n from events", "--csv", "--timeout", "3600"}), 0);
    EXPECT_EQ(m_out, "n\n9\n");
}

TEST_F(SqlCommand, RefusesATimeoutThatIsNone) {
    for (const char* const seconds : {"0", "-1", "nan", "1s", "31536001"}) {
        EXPECT_EQ(remora({"sql", write(sample().bytes()), "select 1", std::string("--timeout=") + seconds}), 1);
        EXPECT_THAT(m_err, HasSubstr("above 0 and up to 31536000")) << seconds;
    }
}

TEST_F(SqlCommand, PrintsTheHeadOfAWideTableWithoutRows) {
    const std::string trace = write(sample().bytes());
    EXPECT_EQ(remora({"sql", trace, "select * from jobs where 0"}), 0);
    EXPECT_THAT(m_out, HasSubstr("context"));
    EXPECT_EQ(std::ranges::count(m_out, '\n'), 1) << m_out;
}

TEST_F(SqlCommand, HelpNamesEveryViewAndHowToFindColumns) {
    const std::string trace = write(sample().bytes());
    EXPECT_EQ(remora({"sql", "--help"}), 0);
    const std::string help = m_out;
    for (const sql::ViewRow& view : sql::kViewRows) {
        EXPECT_THAT(help, HasSubstr(std::string(" ").append(view.name)));
        EXPECT_EQ(remora({"sql", trace, std::string("select * from ").append(view.name)}), 0) << m_err;
    }
    EXPECT_THAT(help, HasSubstr("select name, type from pragma_table_info('events')"));
    EXPECT_EQ(remora({"sql", trace, "select name, type from pragma_table_info('events')"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("time_ns"));
}

} // namespace sql_command_test

} // namespace host::cli
