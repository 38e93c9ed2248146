# SPDX-License-Identifier: MIT
"""The page that `remora fleet report` writes of ClickHouse: the same as of a store in a directory, with commands in the
place of links unless the sessions are at hand."""
from fleet import clickhouse
from support import clickhouse_server, fleet_page
from support.cases import case, expect, expect_equal


@case
def a_page_of_clickhouse_is_that_of_a_directory(ctx):
    sessions = clickhouse.fleet_of(ctx, 3)
    ctx.remora("load", "--from", sessions, "--to", ctx.dir / "fleet")
    local = fleet_page.block_of(fleet_page.page_of(ctx, ctx.dir / "fleet", "--runs", "0", name="local.html"))
    with clickhouse_server.server(ctx) as server:
        url = server.url + "/fleet"
        clickhouse.load(ctx, sessions, url)
        remote = fleet_page.block_of(fleet_page.page_of(ctx, url))
        linked = fleet_page.block_of(fleet_page.page_of(ctx, url, "--sessions", sessions, "--runs", "2",
                                                            name="linked.html"))
    for table in ("names", "nodes", "accounts", "runs", "counts", "classes", "percentiles"):
        expect_equal(remote[table], local[table], table)
    expect(sum(local["counts"]["missed"]) > 0 and len(local["classes"]["task"]) > 10, f"{local['counts']}")
    single = lambda block: sorted(fleet_page.rows_of(block["node_percentiles"]), key=str)
    expect_equal(single(remote), single(local), "percentiles of nodes")
    cases = lambda block: [{key: value for key, value in row.items() if key not in ("page", "command")}
                           for row in fleet_page.rows_of(block["worst"])]
    expect_equal(cases(remote), cases(local), "worst cases")
    expect(len(cases(local)) > 5, "worst cases")
    expect(not any(remote["worst"]["page"]) and remote["preparation"].startswith("remora load "), remote["preparation"])
    expect(all(command.startswith("remora report runs/plant/") for command in remote["worst"]["command"]),
           remote["worst"]["command"][0])
    expect_equal((sum(map(bool, linked["worst"]["page"])), linked["preparation"]), (2, ""), "links to reports")
    for name in filter(None, linked["worst"]["page"]):
        expect((ctx.dir / "linked.html.runs" / name).stat().st_size > 100_000, name)
