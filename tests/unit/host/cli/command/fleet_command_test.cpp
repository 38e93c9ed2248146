// SPDX-License-Identifier: MIT
// Tests remora fleet as a user sees it: tables, JSON, SQL, exit statuses, and what is refused.
#include "fleet/network/network.hpp"
#include "tests/support/fleet_run.hpp"
#include "tests/support/host_command_line.hpp"

#include <filesystem>

namespace host::cli {

namespace fleet_command_test {

class FleetCommand : public support::CommandLine {
  protected:
    FleetCommand() {
        const auto store = fleet::open_store(place(), {}, fleet::OpenMode::write);
        EXPECT_TRUE(store) << store.error().text;
        support::FleetRun one("lab", "pi-1", 0xA1, 1'795'514'400);
        one.chunk(0, 0, 0, 1'000).listed(0, 0, 0, 1'000).ended(totals(1'000));
        one.job("control", 1, 1'795'514'400, 1'500'000, 1'507'328).job("control", 2, 1'795'514'460, 900, 912, true);
        one.store(*store.value(), m_directory);
        support::FleetRun two("lab", "pi-2", 0xB1, 1'795'514'400);
        two.listed(0, 3, 1, 1'000).ended(totals(1'000)).job("control", 1, 1'795'514'400, 3'000'000, 3'014'656);
        two.store(*store.value(), m_directory);
    }

    static support::FleetRow totals(std::int64_t records) {
        return {{"listed_chunks", 1},    {"listed_records", records},
                {"announced_chunks", 1}, {"announced_records", records},
                {"committed", records},  {"tracer_made", 0},
                {"dropped", 0},          {"refused", 0},
                {"overwritten", 0}};
    }

    [[nodiscard]] std::string place() const { return m_directory / "fleet"; }
};

TEST_F(FleetCommand, PrintsATableWithItsUnits) {
    EXPECT_EQ(remora({"fleet", "misses", place()}), 0) << m_err;
    EXPECT_EQ(m_out, "site  node  task     jobs  missed     share  longest response\n"
                     "lab   pi-1  control     2       1  50.000 %           1.50 ms\n"
                     "lab   pi-2  control     1       0   0.000 %           3.00 ms\n");
    EXPECT_EQ(remora({"fleet", "misses", place(), "--by", "minute", "--limit", "1"}), 0) << m_err;
    EXPECT_EQ(m_out, "from                 jobs  missed      share  longest response\n"
                     "2026-11-24T10:01:00     1       1  100.000 %            900 ns\n"
                     "and more: see --limit\n");
    EXPECT_EQ(remora({"fleet", "misses", place(), "--task", "log"}), 0);
    EXPECT_EQ(m_out, "site  node  task  jobs  missed  share  longest response\nnone\n");
}

TEST_F(FleetCommand, ComparesInThreeLines) {
    EXPECT_EQ(remora({"fleet", "compare", place(), "node=pi-1", "node=pi-2"}), 0) << m_err;
    EXPECT_EQ(m_out, "task          jobs    missed       50 %     99 %   99.9 %  longest\n"
                     "control  A       2  50.000 %     912 ns  1.50 ms  1.50 ms  1.50 ms\n"
                     "         B       1   0.000 %    3.00 ms  3.00 ms  3.00 ms  3.00 ms\n"
                     "         B/A               -  3289.47 x   2.00 x   2.00 x   2.00 x\n");
}

TEST_F(FleetCommand, PrintsJson) {
    EXPECT_EQ(remora({"fleet", "misses", place(), "--node", "pi-1", "--json"}), 0) << m_err;
    EXPECT_EQ(m_out,
              "{\"version\":1,\"question\":\"misses\",\"misses\":[\n"
              "{\"site\":\"lab\",\"node\":\"pi-1\",\"task\":\"control\",\"jobs\":2,\"missed\":1,\"missed_share\":"
              "0.5,\"worst_ns\":1500000}\n"
              "],\"cut\":false,\"lines\":[]}\n");
}

TEST_F(FleetCommand, PrintsTheSqlInsteadOfAsking) {
    EXPECT_EQ(remora({"fleet", "misses", place(), "--node", "it's", "--sql", "--limit", "0"}), 0) << m_err;
    EXPECT_EQ(m_out, "SELECT site, node, task, sum(jobs) AS n_jobs, sum(missed) AS n_missed, max(worst_ns) AS longest "
                     "FROM task_minutes WHERE node = 'it''s' GROUP BY site, node, task ORDER BY n_missed DESC, longest "
                     "DESC, site, node, task;\n");
}

TEST_F(FleetCommand, TheExitStatusIsTheVerdict) {
    EXPECT_EQ(remora({"fleet", "verify", place()}), 2);
    EXPECT_NE(m_out.find("lab/pi-2/00000000000000b1: missing: 1 listed chunk is not stored; the first is 0trace.dat "
                         "(processor 0, chunk 3, generation 1)\n"
                         "2 runs: 1 closed, 1 with something missing, 0 open\n"),
              std::string::npos)
        << m_out;
    EXPECT_EQ(remora({"fleet", "verify", place(), "--node", "pi-1"}), 0);
    EXPECT_EQ(remora({"fleet", "losses", place()}), 0) << "losses reports, verify judges";
}

TEST_F(FleetCommand, RefusesWhatDoesNotFitTheQuestion) {
    const auto refused = [this](std::vector<std::string> arguments) {
        EXPECT_EQ(remora(std::move(arguments)), 1);
        return m_err;
    };
    EXPECT_EQ(refused({"fleet", "misses", place(), "--by", "lateness"}),
              "remora fleet: --by of misses is one of: node-task node task application minute hour day\n");
    EXPECT_EQ(refused({"fleet", "nodes", place(), "--by", "node"}), "remora fleet: nodes takes no --by\n");
    EXPECT_EQ(refused({"fleet", "nodes", place(), "node=pi-1"}),
              "remora fleet: nodes takes no selection after PLACE: use --site, --node and so on\n");
    EXPECT_EQ(refused({"fleet", "compare", place(), "node=pi-1"}),
              "remora fleet: compare needs two selections, such as node=pi-1 node=pi-2\n");
    EXPECT_EQ(
        refused({"fleet", "compare", place(), "pi-1", "node=pi-2"}),
        "remora fleet: pi-1: say which runs as in node=pi-1,since=7d; the keys are site, node, boot, application, "
        "task, since and until\n");
    EXPECT_EQ(refused({"fleet", "nodes", place(), "--events"}), "remora fleet: --events is of verify\n");
    EXPECT_NE(refused({"fleet", "verify", place(), "--events"}).find("needs a store with a table of events"),
              std::string::npos);
    EXPECT_NE(refused({"fleet", "nodes", place(), "--since", "soon"}).find("must be a time in UTC"), std::string::npos);
    for (const char* limit : {"-1", "18446744073709551615", "99999999999999999999", "x"}) {
        EXPECT_NE(refused({"fleet", "misses", place(), "--limit", limit}).find("--limit"), std::string::npos) << limit;
    }
    EXPECT_NE(refused({"fleet", "nodes", m_directory / "none"}).find("this is no store of a fleet"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(m_directory / "none"));
}

} // namespace fleet_command_test

} // namespace host::cli
