# SPDX-License-Identifier: MIT
"""ClickHouse as the store of a fleet: `remora load` from session directories into real servers."""
import json
import subprocess
import time

from support import clickhouse_server, context
from support.cases import case, expect, expect_equal
from viewers import traces

TABLES = ("nodes", "listed", "chunks", "events", "jobs", "intervals", "interrupts", "losses", "task_minutes",
          "response_classes", "worst_jobs")
TICKS_PER_US = traces.KHZ // 1000
PERIOD = 1000 * TICKS_PER_US
TASK_DISPATCH, JOB_DEADLINE = 0x22, 0x1D


def job(task, release, response_us):
    """Records of one job: a deadline of half a period."""
    end = release + response_us * TICKS_PER_US
    low = release & 0xFFFFFFFF
    return (traces.record(traces.JOB_RELEASE, release, task, low)
            + traces.record(JOB_DEADLINE, release, task, low + PERIOD // 2 & 0xFFFFFFFF)
            + traces.record(traces.CONTEXT_SWITCH, release + 10 * TICKS_PER_US, task)
            + traces.record(TASK_DISPATCH, release + 10 * TICKS_PER_US, task)
            + traces.record(traces.TASK_END_CYCLE, end, task)
            + traces.record(traces.CONTEXT_SWITCH, end, 1))


def run(ctx, site, node, boot, *, chunks=4, jobs=50, seed=1, task="control"):
    """SITE/NODE/SESSION of one run. Every seventh job is late."""
    names = {1: "idle", 2: task, 3: "other"}
    images, release = [], 10_000_000_000
    for number in range(chunks):
        records = traces.machine_start(release) if number == 0 else b""
        for index in range(jobs):
            late = (number * jobs + index + seed) % 7 == 0
            response = 700 if late else 40 + (number * jobs + index) * seed % 400
            records += job(2 + index % 2, release, response)
            release += PERIOD
        images.append(traces.chunk(records, number=number, tasks=names, boot_id=boot))
    return traces.session(ctx, *images, directory=make_parent(ctx, site, node) + f"/{boot:x}")


def make_parent(ctx, site, node):
    (ctx.dir / "sessions" / site / node).mkdir(parents=True, exist_ok=True)
    return f"sessions/{site}/{node}"


def fleet_of(ctx, nodes=4):
    for i in range(nodes):
        run(ctx, "plant", f"node{i}", 0x1000 + i, seed=i + 1)
    return ctx.dir / "sessions"


def load(ctx, sessions, url, *options, codes=(0,)):
    done = ctx.remora("load", "--from", sessions, "--to", url, "--json", *options, codes=codes)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def contents(server, database="fleet", tables=TABLES):
    """Every row of every view, in a fixed order."""
    return {table: sorted(server.ask(f"SELECT * FROM {database}.{table}")) for table in tables}


def schema(server, database="fleet"):
    return sorted(server.ask(f"SELECT table, name, type FROM system.columns WHERE database = '{database}'"))


def expect_same(found, expected, what):
    for table in expected:
        expect(found[table] == expected[table],
               f"{what}: {table} has {len(found[table])} rows, expected {len(expected[table])}; the first that is "
               f"another: {[pair for pair in zip(found[table], expected[table]) if pair[0] != pair[1]][:1]}")


@case
def clickhouse_holds_what_the_session_holds(ctx):
    """Every event with its values, and the jobs as `remora sql` has them."""
    session = run(ctx, "plant", "press", 0xB007)
    with clickhouse_server.server(ctx) as server:
        loaded = load(ctx, ctx.dir / "sessions", server.url + "/fleet")
        expect_equal((loaded["chunks"], loaded["events"], loaded["sessions"]), (4, 1201, 1), "loaded")
        stored = server.ask("SELECT ticks, event, par1, par2 FROM fleet.events ORDER BY ticks, turn")
        events = [[str(event[key]) for key in ("ticks", "event", "par1", "par2")] for event in ctx.events(session)]
        expect_equal(sorted(stored), sorted(events), "events")
        expect_equal(server.number("SELECT count() FROM fleet.events WHERE turn = 1") > 0, True, "equal stamps")
        question = "select task, job, release_ns, response_ns, missed from jobs order by release_ns, task"
        jobs = json.loads(ctx.remora("sql", session, question, "--json").stdout)["rows"]
        expected = [["\\N" if value is None else str(value) for value in row.values()] for row in jobs]
        expect_equal(server.ask(question, database="fleet"), expected, "jobs")
        expect_equal(server.ask("SELECT sum(jobs), sum(missed) FROM fleet.task_minutes"),
                     server.ask("SELECT count(), sum(missed) FROM fleet.jobs"), "minutes")
        expect_equal(server.number("SELECT sum(jobs) FROM fleet.response_classes"),
                     server.number("SELECT count() FROM fleet.jobs WHERE response_ns >= 0"), "classes")
        expect_equal(server.ask("SELECT task, count() FROM fleet.worst_jobs GROUP BY task ORDER BY task"),
                     [["control", "5"], ["other", "5"]], "worst jobs")


@case
def clickhouse_is_the_same_after_loading_twice(ctx):
    sessions = fleet_of(ctx, 2)
    with clickhouse_server.server(ctx) as server:
        load(ctx, sessions, server.url + "/fleet")
        once = contents(server)
        expect(all(once[table] for table in TABLES if table not in ("losses", "interrupts")), "a table is empty")
        # As if each had been lost before it was acknowledged: without nodes a session is loaded again.
        server.ask("DROP TABLE fleet.nodes_rows")
        server.ask("DROP TABLE fleet.nodes")
        run(ctx, "plant", "y-between", 0x2000, seed=5)
        load(ctx, sessions, server.url + "/fleet")
        expect(server.number("SELECT count() FROM fleet.jobs_rows") > len(once["jobs"]) * 2, "nothing came twice")
        again = {table: [row for row in rows if row[1] != "y-between"] for table, rows in contents(server).items()}
        expect_same(again, once, "loaded twice")
        for table in TABLES:
            server.ask(f"OPTIMIZE TABLE fleet.{table}_rows FINAL")
        expect_same({table: [row for row in rows if row[1] != "y-between"] for table, rows in contents(server).items()},
                    once, "merged")


@case
def clickhouse_keeps_every_byte_of_names(ctx):
    """As `remora sql` has them; in what is derived, too."""
    session = run(ctx, "plant", "press", 0xB007, task="a'b\\c\"d`e\tf\xff".encode("latin-1"))
    with clickhouse_server.server(ctx) as server:
        load(ctx, ctx.dir / "sessions", server.url + "/fleet")
        question = "select distinct task from jobs where task != 'other'"
        name = json.loads(ctx.remora("sql", session, question, "--json").stdout)["rows"][0]["task"]
        expect("'" in name and "\\" in name, name)
        quoted = name.replace("\\", "\\\\").replace("'", "\\'")
        expect_equal(server.number(f"SELECT count() FROM fleet.jobs WHERE task = '{quoted}'"), 100, "jobs of the name")
        expect_equal(server.number(f"SELECT sum(jobs) FROM fleet.task_minutes WHERE task = '{quoted}'"), 100, "derived")


@case
def clickhouse_gets_the_columns_that_an_old_schema_lacks(ctx):
    """Rows that are there stay; the views show the new columns."""
    sessions = fleet_of(ctx, 2)
    with clickhouse_server.server(ctx) as server:
        load(ctx, sessions, server.url + "/fleet")
        before, columns = contents(server), schema(server)
        server.ask("ALTER TABLE fleet.jobs_rows DROP COLUMN jitter_ns")
        server.ask("ALTER TABLE fleet.events_rows DROP COLUMN payload")
        server.ask("ALTER TABLE fleet.nodes_rows DROP COLUMN tsc_khz")
        for view in ("jobs", "events", "task_minutes_of_jobs"):
            server.ask(f"DROP TABLE fleet.{view}")
        server.ask("CREATE VIEW fleet.jobs AS SELECT site, node, task FROM fleet.jobs_rows FINAL")
        server.ask("INSERT INTO fleet.remora_schema (name, value) VALUES ('jobs', 'older'), ('version', '0')")
        run(ctx, "plant", "later", 0x3000, seed=3)
        load(ctx, sessions, server.url + "/fleet")
        expect_equal(schema(server), columns, "columns")
        expect_equal(server.number("SELECT count() FROM fleet.jobs WHERE node != 'later'"), len(before["jobs"]), "jobs")
        expect_equal(server.number("SELECT count() FROM fleet.jobs WHERE node != 'later' AND jitter_ns IS NULL"),
                     len(before["jobs"]), "jobs without the column")
        expect_equal(server.number("SELECT count() FROM fleet.events WHERE node != 'later'"), len(before["events"]),
                     "events")
        expect_equal(server.ask("SELECT sum(jobs) FROM fleet.task_minutes WHERE node = 'later'"), [["200"]], "derived")


@case
def clickhouse_is_left_alone_where_it_is_something_else(ctx):
    """A newer schema, a column of another type, a table of another program: refused, with what and where."""
    sessions = fleet_of(ctx, 1)
    with clickhouse_server.server(ctx) as server:
        load(ctx, sessions, server.url + "/newer")
        server.ask("INSERT INTO newer.remora_schema (name, value) VALUES ('version', '70')")
        text = load(ctx, sessions, server.url + "/newer", codes=(1, 2, 3, 4, 5))
        expect("version 70" in text and "newer remora" in text, text)

        load(ctx, sessions, server.url + "/other")
        server.ask("ALTER TABLE other.jobs_rows MODIFY COLUMN cpu Nullable(UInt64)")
        text = load(ctx, sessions, server.url + "/other", codes=(1, 2, 3, 4, 5))
        expect(all(word in text for word in ("'cpu'", "'jobs_rows'", "Nullable(UInt64)", "Nullable(UInt16)",
                                             "another database")), text)

        server.ask("CREATE DATABASE theirs")
        server.ask("CREATE TABLE theirs.jobs (salary UInt32) ENGINE = MergeTree ORDER BY salary")
        server.ask("INSERT INTO theirs.jobs VALUES (7)")
        text = load(ctx, sessions, server.url + "/theirs", codes=(1, 2, 3, 4, 5))
        expect("'jobs'" in text and "another database" in text, text)
        expect_equal(server.ask("SELECT * FROM theirs.jobs"), [["7"]], "the table of another program")


@case
def clickhouse_is_prepared_by_several_loaders_at_once(ctx):
    """What each of them adds is derived, too."""
    for i in range(4):
        run(ctx, "plant", f"node{i}", 0x1000 + i, seed=i + 1)
    with clickhouse_server.server(ctx) as server:
        loaders = [subprocess.Popen([context.REMORA, "load", "--from", ctx.dir / "sessions/plant" / f"node{i}",
                                     "--site", "plant", "--to", server.url + "/fleet"], cwd=context.ROOT,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for i in range(4)]
        for loader in loaders:
            output, _ = loader.communicate(timeout=ctx.left_s())
            expect_equal(loader.returncode, 0, output)
        expect_equal(server.ask("SELECT sum(jobs) FROM fleet.task_minutes"), [["800"]], "derived")
        expect_equal(server.ask("SELECT count() FROM fleet.jobs"), [["800"]], "jobs")


@case
def clickhouse_shards_answer_as_one_server(ctx):
    """Each run is on one of them, and every table has the same rows."""
    sessions = fleet_of(ctx, 6)
    with clickhouse_server.server(ctx) as server:
        load(ctx, sessions, server.url + "/fleet")
        expected, columns = contents(server), [row for row in schema(server) if row[0] in TABLES]
    with clickhouse_server.cluster(ctx) as servers:
        hosts = ",".join(f"127.0.0.1:{one.http}" for one in servers)
        url = f"clickhouse://{hosts}/fleet?cluster=fleet_shards"
        load(ctx, sessions, url)
        runs = [{row[0] for row in one.ask("SELECT boot FROM fleet.chunks_rows")} for one in servers]
        expect(all(runs) and not runs[0] & runs[1], f"runs of the shards: {runs}")
        for one in servers:
            expect_same(contents(one), expected, "through a shard")
            expect_equal([row for row in schema(one) if row[0] in TABLES], columns, "columns")
        # Again, and the same: rows that came twice are one in each shard, also in a sum that the shards make.
        for one in servers:
            one.ask("DROP TABLE fleet.nodes_rows")
            one.ask("DROP TABLE fleet.nodes_here")
        load(ctx, sessions, url)
        for one in servers:
            expect_same(contents(one), expected, "loaded twice")
            expect_equal(one.ask("SELECT sum(jobs), sum(missed) FROM fleet.task_minutes"),
                         one.ask("SELECT count(), sum(missed) FROM fleet.jobs"), "sums")


@case(timeout_s=240)
def clickhouse_loses_nothing_when_it_is_killed(ctx):
    """The loader waits for it; what was acknowledged is there, and nothing is there twice."""
    for i in range(8):
        run(ctx, "plant", f"node{i}", 0x1000 + i, chunks=20, jobs=100, seed=i + 1)
    sessions = ctx.dir / "sessions"
    with clickhouse_server.server(ctx) as server:
        load(ctx, sessions, server.url + "/once")
        expected = contents(server, "once")
        loader = subprocess.Popen([context.REMORA, "load", "--from", sessions, "--to", server.url + "/fleet",
                                   "--batch", "4", "--json"], cwd=context.ROOT, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        kills = 0
        for rows in (1, 40, 90):
            while loader.poll() is None and chunks_now(server) < rows:
                time.sleep(0.01)
            if loader.poll() is None:
                server.kill()
                kills += 1
                time.sleep(0.3)
                server.start()
        output, errors = loader.communicate(timeout=ctx.left_s())
        expect_equal(loader.returncode, 0, errors)
        expect(kills > 0, "it was never killed while it was loading")
        expect("127.0.0.1" in errors, f"nothing was said of the server: {errors}")
        expect_equal(json.loads(output)["sessions"], 8, "sessions")
        expect_same(contents(server), expected, "after kills")


def chunks_now(server):
    tables = server.ask("SELECT count() FROM system.tables WHERE database = 'fleet' AND name = 'chunks_rows'")
    return server.number("SELECT count() FROM fleet.chunks_rows") if tables == [["1"]] else 0


@case
def clickhouse_asks_for_the_password(ctx):
    sessions = fleet_of(ctx, 1)
    right, wrong = ctx.dir / "right", ctx.dir / "wrong"
    right.write_text("se'cret &%\n")
    wrong.write_text("open sesame\n")
    with clickhouse_server.server(ctx, user="loader", password="se'cret &%") as server:
        url = server.url.replace("//", "//loader@") + "/fleet"
        text = load(ctx, sessions, url, "--password-file", wrong, codes=(1, 2, 3, 4, 5))
        expect("'loader'" in text and "password" in text and "sesame" not in text, text)
        expect("'loader'" in load(ctx, sessions, url, codes=(1, 2, 3, 4, 5)), "without a password")
        expect_equal(load(ctx, sessions, url, "--password-file", right)["sessions"], 1, "sessions")


@case(timeout_s=180)
def clickhouse_takes_a_password_of_the_default_user(ctx):
    """Without a user in the address or an option the password is that of `default`."""
    sessions = fleet_of(ctx, 1)
    right = ctx.dir / "right"
    right.write_text("secret\n")
    with clickhouse_server.server(ctx, password="secret") as server:
        counts = load(ctx, sessions, f"clickhouse://127.0.0.1:{server.http}/remora", "--password-file", right)
        expect_equal(counts["sessions"], 1, "sessions")


@case
def clickhouse_divides_by_the_day_of_utc(ctx):
    """Whatever the time zone of the server is."""
    sessions = fleet_of(ctx, 1)
    with clickhouse_server.server(ctx, timezone="Pacific/Kiritimati") as server:
        load(ctx, sessions, server.url + "/fleet")
        started = server.number("SELECT started_s FROM fleet.nodes")
        day = time.strftime("%Y%m%d", time.gmtime(started))
        partitions = server.ask("SELECT DISTINCT partition FROM system.parts WHERE database = 'fleet' AND active "
                                "AND table = 'events_rows'")
        expect_equal(partitions, [[day]], "partitions")
