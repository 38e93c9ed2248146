# SPDX-License-Identifier: MIT
"""What `remora fleet` answers: from a directory the same as SQL on each session, from ClickHouse, alone and as shards,
the same as from the directory."""
import json
import sqlite3

from fleet.clickhouse import fleet_of, run
from support import clickhouse_server
from support.cases import case, expect, expect_equal

# Every question with its options. The verdicts of verify differ by store only with --events.
ASKED = (
    ("nodes",), ("nodes", "--limit", "2"), ("nodes", "--site", "plant", "--node", "node1"),
    ("nodes", "--since", "1d"), ("nodes", "--until", "1d"),
    ("nodes", "--boot", "0000000000001002"), ("nodes", "--application", "none"),
    *(("misses", "--by", by) for by in ("node-task", "node", "task", "application", "minute", "hour", "day")),
    ("misses", "--task", "control", "--since", "1d", "--limit", "1"), ("misses", "--node", "node2"),
    ("misses", "--by", "application", "--application", "none"),
    ("worst",), ("worst", "--by", "lateness"), ("worst", "--limit", "0"), ("worst", "--task", "other", "--limit", "3"),
    ("worst", "--since", "1d", "--until", "1s", "--application", "none"),
    ("compare", "node=node0", "node=node3"), ("compare", "site=plant", "node=node1,task=control"),
    ("compare", "since=1d", "until=1d"), ("compare", "application=none", "node=node1", "--limit", "1"),
    ("losses",), ("losses", "--node", "node0"), ("losses", "--application", "none"),
    ("verify",), ("verify", "--limit", "1"), ("verify", "--site", "elsewhere"), ("verify", "--application", "none"),
)


def ask(ctx, question, place, *options, codes=(0,)):
    return json.loads(ctx.remora("fleet", question, place, *options, "--json", codes=codes).stdout)


def with_gaps(ctx):
    """Four runs; of one a chunk is gone."""
    sessions = fleet_of(ctx)
    (sessions / "plant" / "node2" / "1002" / "2trace.dat").unlink()
    return sessions


def load(ctx, sessions, place):
    return json.loads(ctx.remora("load", "--from", sessions, "--to", place, "--json", codes=(0, 2)).stdout)


def rows_of(path, statement):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute(statement)]


@case
def a_directory_has_the_rows_of_each_session(ctx):
    sessions = fleet_of(ctx, nodes=3)
    store = ctx.dir / "store"
    loaded = load(ctx, sessions, store)
    expect_equal((loaded["chunks"], loaded["sessions"], loaded["rejected"]), (12, 3, 0), "loaded")
    for i in range(3):
        session = sessions / "plant" / f"node{i}" / f"{0x1000 + i:x}"
        packed = store / "plant" / f"node{i}" / f"{0x1000 + i:016x}.rpk"
        for table in ("jobs", "intervals", "interrupts", "losses"):
            direct = json.loads(ctx.remora("sql", session, f"select * from {table}", "--json").stdout)["rows"]
            columns = ", ".join(direct[0]) if direct else "1"
            stored = rows_of(store / "fleet.sqlite", f"SELECT {columns} FROM {table} WHERE node = 'node{i}' ORDER BY "
                                                     "part, row")
            stored = [{key: None if value == "" else value for key, value in row.items()} for row in stored]
            expect_equal(stored, direct, f"{table} of node{i}")
        again = json.loads(ctx.remora("sql", packed, "select count(*) as n from events", "--json").stdout)["rows"]
        expect_equal(again, json.loads(ctx.remora("sql", session, "select count(*) as n from events",
                                                  "--json").stdout)["rows"], "events of the packed session")


@case
def loading_again_changes_nothing(ctx):
    sessions = fleet_of(ctx, nodes=2)
    store = ctx.dir / "store"
    load(ctx, sessions, store)
    tables = ("nodes", "listed", "chunks", "jobs", "intervals", "task_minutes", "response_classes", "worst_jobs")
    before = {table: rows_of(store / "fleet.sqlite", f"SELECT * FROM {table}") for table in tables}
    again = load(ctx, sessions, store)
    expect_equal((again["sessions"], again["rejected"]), (0, 0), "loaded again")
    expect_equal({table: rows_of(store / "fleet.sqlite", f"SELECT * FROM {table}") for table in tables}, before, "rows")
    expect_equal(rows_of(store / "fleet.sqlite", "SELECT count(*) AS n FROM images"), [{"n": 0}], "images")


@case
def misses_and_worst_are_those_of_the_sessions(ctx):
    sessions = fleet_of(ctx, nodes=3)
    store = ctx.dir / "store"
    load(ctx, sessions, store)
    counted, longest = {}, []
    for i in range(3):
        session = sessions / "plant" / f"node{i}" / f"{0x1000 + i:x}"
        statement = "select task, job, missed, outcome, response_ns from jobs"
        for row in json.loads(ctx.remora("sql", session, statement, "--json").stdout)["rows"]:
            jobs, missed, worst = counted.get((f"node{i}", row["task"]), (0, 0, -1))
            response = row["response_ns"] if row["outcome"] == "completed" else None
            counted[f"node{i}", row["task"]] = (jobs + 1, missed + (row["missed"] or 0),
                                                max(worst, -1 if response is None else response))
            if response is not None:
                longest.append((-response, f"node{i}", row["task"], row["job"]))
    found = {(row["node"], row["task"]): (row["jobs"], row["missed"],
                                          -1 if row["worst_ns"] is None else row["worst_ns"])
             for row in ask(ctx, "misses", store)["misses"]}
    expect_equal(found, counted, "misses")
    expect(sum(missed for _, missed, _ in counted.values()) > 0, f"no job missed: {counted}")
    worst = ask(ctx, "worst", store, "--limit", "1")
    expect_equal(-worst["worst"][0]["response_ns"], min(longest)[0], "the longest response")
    command = next(line for line in worst["lines"] if "remora why" in line).split()
    expect("response" in ctx.remora(*command[1:]).stdout, "the command that shows why")


@case
def verify_names_what_is_missing(ctx):
    store = ctx.dir / "store"
    load(ctx, with_gaps(ctx), store)
    found = ask(ctx, "verify", store, codes=(2,))
    expect_equal(found["verdict"], "missing", "verdict")
    first = found["runs"][0]
    expect_equal((first["node"], first["first_missing_file"], first["first_missing_chunk"], first["missing_chunks"]),
                 ("node2", "2trace.dat", 2, 1), "the first chunk that is missing")
    open_runs = ask(ctx, "verify", store, "--node", "node1", codes=(6,))
    expect_equal(open_runs["verdict"], "open", "a machine that did not count")
    expect("no store" in ctx.remora("fleet", "nodes", ctx.dir, codes=(1,)).stderr, "a directory that is no store")
    expect(not (ctx.dir / "fleet.sqlite").exists(), "asking makes nothing")


@case
def sql_is_printed_instead_of_asked(ctx):
    store = ctx.dir / "store"
    run(ctx, "plant", "node0", 0x1000)
    load(ctx, ctx.dir / "sessions", store)
    for question, *options in ASKED:
        text = ctx.remora("fleet", question, store, *options, "--sql").stdout
        for statement in filter(None, map(str.strip, text.split(";\n"))):
            rows_of(store / "fleet.sqlite", statement)


def compare_stores(ctx, store, url):
    for question, *options in ASKED:
        answers = []
        for place in (store, url):
            answer = ask(ctx, question, place, *options, codes=(0, 2, 6))
            answer["lines"] = [line for line in answer["lines"] if "remora " not in line]  # they name the place
            answers.append(answer)
        expect_equal(answers[1], answers[0], f"{question} {' '.join(options)}")


@case(timeout_s=240)
def clickhouse_answers_as_a_directory_does(ctx):
    sessions, store = with_gaps(ctx), ctx.dir / "store"
    load(ctx, sessions, store)
    with clickhouse_server.server(ctx) as server:
        load(ctx, sessions, server.url + "/fleet")
        compare_stores(ctx, store, server.url + "/fleet")
        ask(ctx, "verify", server.url + "/fleet", "--events", codes=(2,))
        whole = ask(ctx, "verify", server.url + "/fleet", "--events", "--node", "node1", codes=(6,))
        expect_equal(len(whole["runs"]), 1, "runs")
        server.ask("INSERT INTO fleet.chunks_rows SELECT site, node, boot, started_s, cpu, chunk, generation, "
                   "encoding, records, events + 1, bytes, crc32c, first_ticks, last_ticks, dropped, refused, "
                   "overwritten, sequence FROM fleet.chunks WHERE node = 'node1' AND chunk = 3")
        short = ask(ctx, "verify", server.url + "/fleet", "--events", "--node", "node1", codes=(2,))
        expect("the first is processor 0, chunk 3" in short["runs"][0]["why"], f"{short['runs'][0]}")


@case(timeout_s=240)
def shards_answer_as_a_directory_does(ctx):
    sessions, store = with_gaps(ctx), ctx.dir / "store"
    load(ctx, sessions, store)
    with clickhouse_server.cluster(ctx) as servers:
        url = f"clickhouse://{','.join(f'127.0.0.1:{one.http}' for one in servers)}/fleet?cluster=fleet_shards"
        load(ctx, sessions, url)
        compare_stores(ctx, store, url)
