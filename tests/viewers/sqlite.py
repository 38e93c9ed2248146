# SPDX-License-Identifier: MIT
"""sqlite: the database that `remora convert --to sqlite` writes, opened by the sqlite3 shell, and `remora sql` beside
it."""
import csv
import itertools
import json
import struct

from viewers import foreign, traces
from support.cases import case, counts, expect, expect_equal

TABLES = ("tasks", "names", "chunks", "meta", "jobs", "intervals", "interrupts", "losses", "holds", "shares",
          "preemptions", "running", "blocked", "mutexes", "responses", "blocking", "misses", "utilisation")


def ask(ctx, database, statement):
    """Rows as objects."""
    text = ctx.run("sqlite3", "-readonly", "-json", database, statement).stdout
    return json.loads(text) if text else []


def in_order(rows):
    """Without `order by` the order is that of the index that answered. The shell shows more digits of a fraction."""
    rounded = [{key: round(value, 12) if isinstance(value, float) else value for key, value in row.items()}
               for row in rows]
    return sorted(rounded, key=json.dumps)


def sql(ctx, trace, statement, *options, codes=(0,)):
    return json.loads(ctx.remora("sql", trace, statement, "--json", *options, codes=codes).stdout)["rows"]


@case
def late_jobs_have_their_whole_response(ctx):
    """A record of a release has 32 bits of its time: it is past, by up to nearly 2^32 ticks. A job whose release comes
    after its record has no response time."""
    release, stamp, end = 0x1_0000_1000, 0x1_C000_0000, 0x1_D000_0000
    records = traces.machine_start(release) + traces.record(traces.CONTEXT_SWITCH, release, 1)
    for at, code, par2 in ((stamp, traces.JOB_RELEASE, release), (stamp, 0x1D, release + 1000),
                           (end, traces.TASK_END_CYCLE, 0), (end + 10, traces.JOB_RELEASE, end + 15),
                           (end + 20, traces.TASK_END_CYCLE, 0)):
        records += traces.record(code, at, 2, par2 & 0xFFFFFFFF)
    trace = traces.store(ctx, "late.dat", traces.chunk(records, tasks={1: "idle", 2: "late"}))
    rows = sql(ctx, trace, "select release_ticks, deadline_ticks, response_ticks, response_ns, late_ns, missed from "
                           "jobs left join (select job as number, late_ns from misses) on number = job order by job")
    expect_equal(rows, [{"release_ticks": release, "deadline_ticks": release + 1000, "response_ticks": end - release,
                         "response_ns": (end - release) * 10**6 // traces.KHZ,
                         "late_ns": rows[0]["late_ns"], "missed": 1},
                        {"release_ticks": end + 15, "deadline_ticks": None, "response_ticks": None,
                         "response_ns": None, "late_ns": None, "missed": 0}], "jobs")
    expect(rows[0]["late_ns"] > 10**9, f"{rows[0]}")


@case
def agrees_with_csv(ctx):
    """Every event, with its stamp and time, in the same order."""
    database = ctx.convert(traces.control(), "sqlite")
    with open(ctx.convert(traces.control(), "csv"), encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    expected = [(int(line["ticks"]), int(line["time_ns"]), line["event"], line["state"]) for line in lines]
    rows = ask(ctx, database, "select ticks, time_ns, event, state from events")
    expect_equal([tuple(row.values()) for row in rows], expected, "events")
    expect_equal(ask(ctx, database, "pragma integrity_check"), [{"integrity_check": "ok"}], "the database")


@case
def file_and_query_agree(ctx):
    """Every table and view holds the same rows in the file and in `remora sql`."""
    database = ctx.convert(traces.control(), "sqlite")
    for table in TABLES:
        statement = f"select * from {table}"
        expect_equal(in_order(sql(ctx, traces.control(), statement)), in_order(ask(ctx, database, statement)), table)
    long = "a name of more than forty bytes, which is kept nowhere"
    records = b"".join(traces.record(code, 1000 + 10 * i, 1 + i % 2, 99 - i << 16) for i, code in enumerate(
        20 * [traces.CONTEXT_SWITCH, traces.TASK_BLOCK, traces.USER_EVENT_0, 0xF7, traces.TASK_UNBLOCK]))
    records += traces.typed(3000, 9, b"\x07") + traces.record(traces.USER_EVENT_0, 2000, 1, 1)
    mixed = traces.store(ctx, "mixed.dat", traces.chunk(records, tasks={1: long, 2: "b"},
                                                        declarations=[(9, "level", [(1, 0, "water", "cm")])]))
    database = ctx.convert(mixed, "sqlite", codes=(0, 2))
    for table in ("events", *TABLES):
        hidden = ", payload" if table == "events" else ""
        pairs = itertools.zip_longest(in_order(sql(ctx, mixed, f"select *{hidden} from {table}", codes=(0, 2))),
                                      in_order(ask(ctx, database, f"select * from {table}")))
        for asked, kept in pairs:
            expect_equal(kept, asked, f"a row of {table} of unlike events")
    expect_equal(counts(sql(ctx, traces.control(), "select ticks, code from events"), "code"),
                 counts([{"code": int(event["code"], 16) & 0xFF} for event in ctx.events(traces.control())], "code"),
                 "events by code")


@case
def the_view_of_events_is_the_table_of_a_query(ctx):
    """The same columns; an index finds events, tasks and times, and without one rows come in time order."""
    database = ctx.convert(traces.control(), "sqlite")
    columns = "select name from pragma_table_info('events') where name != 'payload'"
    expect_equal(ask(ctx, database, columns), sql(ctx, traces.control(), columns), "columns")
    for condition, index in (("event = 'job_release'", "events_by_kind"), ("task = 'control'", "events_by_kind"),
                             ("time_ns between 5000000 and 5100000", "PRIMARY KEY")):
        statement = f"select time_ns, event, parameters from events where {condition}"
        expected = in_order(sql(ctx, traces.control(), statement))
        expect_equal(in_order(ask(ctx, database, statement)), expected, statement)
        plan = ctx.run("sqlite3", "-readonly", database, f"explain query plan {statement}").stdout
        expect(index in plan and "SCAN event_rows" not in plan, f"{statement}: {plan}")
    expect_equal(ask(ctx, database, "select time_ns, event from events limit 50"),
                 sql(ctx, traces.control(), "select time_ns, event from events limit 50"), "the first events")


@case
def an_event_takes_few_bytes_in_the_file(ctx):
    """Names and words are there once, however many events have them; more kinds than are remembered change no row."""
    database = ctx.convert(traces.synthetic(ctx, 20_000), "sqlite")
    expect(database.stat().st_size < 20_000 * 115, f"{database.stat().st_size} bytes for 20000 events")
    every = b"".join(traces.record(traces.MUTEX_LOCK, 1000 + i, i % 50_000, i % 7) for i in range(80_000))
    trace = traces.store(ctx, "kinds.dat", traces.chunk(every, tasks={1: "a", 2: "b"}))
    sums = ("select count(*) as n, count(distinct task) as tasks, sum(context) as contexts, sum(par2) as mutexes, "
            "sum(length(parameters) * (1 + ticks % 5)) as texts from events")
    expect_equal(ask(ctx, ctx.convert(trace, "sqlite"), sums), sql(ctx, trace, sums), "sums")


@case
def late_untimed_and_long_events_are_in_the_file(ctx):
    """Those that do not follow the others in time, those without a time, and one that no page holds."""
    rows = [traces.record(traces.USER_EVENT_0, 1_000_000 + 10 * (i if i % 7 else i // 2), i, i) for i in range(900)]
    late = traces.store(ctx, "late.dat", traces.chunk(b"".join(rows)))
    untimed = traces.store(ctx, "untimed.dat", b"".join(rows[1:7]))
    slots = b"".join(struct.pack("<4I", kind << 30 | 6 << 10 | 1, 9500, 1, 2) for kind in (1, *(2,) * 900, 3))
    long = traces.store(ctx, "long.kev", foreign.kev(ctx).read_bytes() + slots)
    for trace in (late, untimed, long):
        database = ctx.convert(trace, "sqlite", codes=(0, 2))
        statement = "select ticks, time_ns, record, event, state, parameters, payload from events"
        expect_equal(in_order(ask(ctx, database, statement)), in_order(sql(ctx, trace, statement, codes=(0, 2))),
                     f"events of {trace.name}")
        longest = ask(ctx, database, "select max(length(payload)) as n from events")
        expect((longest[0]["n"] or 0) > 15_000 or trace != long, f"{longest}")
        expect_equal(ask(ctx, database, "pragma integrity_check"), [{"integrity_check": "ok"}], trace.name)
        turns = ask(ctx, database, "select count(*) as n from event_rows where turn >= 1 << 40")
        expect((turns[0]["n"] > 100) == (trace == late), f"late events of {trace.name}: {turns}")


@case
def jobs_agree_with_the_summary(ctx):
    """Jobs, misses and interrupts of the control session as `remora summary` counts them."""
    summary = json.loads(ctx.remora("summary", "--json", traces.control()).stdout)
    jobs = {row["task"]: row for row in sql(ctx, traces.control(), "select * from responses")}
    tasks = [task for task in summary["tasks"] if task.get("jobs")]
    expect(len(tasks) >= 6, f"only {len(tasks)} tasks with jobs in the summary")
    for task in tasks:
        expect_equal(jobs[task["name"]]["jobs"], task["jobs"], f"jobs of {task['name']}")
    misses = sql(ctx, traces.control(), "select task, count(*) as n from jobs where missed group by task")
    expect_equal(misses, [{"task": "late", "n": 1}], "misses")


def known(ctx):
    """A trace of which the answers are known: one tick is a nanosecond. The second job ends at its deadline, the third
    a nanosecond after it; an interrupt is nested in the one that releases them."""
    steps = [(1000, traces.TRACE_START, 0, traces.KHZ), (1000, traces.CONTEXT_SWITCH, 1, 0),
             (2000, traces.INTERRUPT_START, 240, 0),
             (2100, traces.JOB_RELEASE, 2, 2050), (2110, 0x1D, 2, 6000), (2200, traces.INTERRUPT_END, 240, 0),
             (2300, 0x52, 2, 0), (2400, traces.CONTEXT_SWITCH, 2, 0), (3000, traces.TASK_BLOCK, 2, 1 << 16 | 7),
             (3100, traces.CONTEXT_SWITCH, 1, 0), (4000, traces.TASK_UNBLOCK, 2, 1 << 16 | 7),
             (4100, traces.CONTEXT_SWITCH, 2, 0), (5000, 0x62, 2, 0), (5100, traces.CONTEXT_SWITCH, 1, 0),
             (7000, traces.IPOINT, 1, 0)]
    for release, end in ((8000, 9000), (10_000, 11_001)):
        steps += [(release, traces.INTERRUPT_START, 240, 0), (release + 10, traces.JOB_RELEASE, 2, release),
                  (release + 20, 0x1D, 2, release + 1000), (release + 30, traces.INTERRUPT_START, 33, 0),
                  (release + 60, traces.INTERRUPT_END, 33, 0), (release + 100, traces.INTERRUPT_END, 240, 0),
                  (release + 200, traces.CONTEXT_SWITCH, 2, 0), (release + 210, 0x52, 2, 0), (end, 0x62, 2, 0),
                  (end + 100, traces.CONTEXT_SWITCH, 1, 0)]
    records = b"".join(traces.record(code, stamp, par1, par2) for stamp, code, par1, par2 in steps)
    return traces.store(ctx, "0trace.dat", traces.chunk(records, tasks={1: "idle", 2: "worker"}, khz=1_000_000))


@case
def gives_the_known_answers(ctx):
    """Jobs, intervals and interrupts of a schedule that was computed by hand."""
    database = ctx.convert(known(ctx), "sqlite")
    expect_equal([tuple(row.values()) for row in ask(
        ctx, database, "select task, release_ns, start_ns, end_ns, deadline_ns, response_ns, missed from jobs")],
                 [("worker", 1050, 1400, 4000, 5000, 2950, 0), ("worker", 7000, 7200, 8000, 8000, 1000, 0),
                  ("worker", 9000, 9200, 10_001, 10_000, 1001, 1)], "jobs")
    expect_equal([tuple(row.values()) for row in ask(
        ctx, database,
        "select state, begin_ns, end_ns, reason from intervals where task = 'worker' order by begin_ns limit 5")],
                 [("ready", 1100, 1400, "released"), ("running", 1400, 2100, "semaphore #7"),
                  ("blocked", 2100, 3000, "semaphore #7"), ("ready", 3000, 3100, "unblocked"),
                  ("running", 3100, 4100, "completed")], "intervals of worker")
    expect_equal([tuple(row.values()) for row in ask(
        ctx, database, "select vector, task, begin_ns, end_ns, duration_ns, depth from interrupts order by begin_ns")],
                 [(240, "idle", 1000, 1200, 200, 1), (240, "idle", 7000, 7100, 100, 1), (33, "idle", 7030, 7060, 30, 2),
                  (240, "idle", 9000, 9100, 100, 1), (33, "idle", 9030, 9060, 30, 2)], "interrupts")


@case
def a_range_holds_its_events(ctx):
    """Conditions on the time select among all events, and --explain says how many records were visited for that."""
    trace = traces.synthetic(ctx, 20_000)
    everything = sql(ctx, trace, "select * from events")
    last = max(row["time_ns"] for row in everything)
    for begin, end in ((0, 1000), (last // 2, last // 2 + 200_000), (last - 100_000, last + 1), (last // 3, last // 3)):
        done = ctx.remora("sql", trace, f"select * from events where time_ns between {begin} and {end}", "--json",
                          "--explain", "--whole")
        expect_equal(json.loads(done.stdout)["rows"], [row for row in everything if begin <= row["time_ns"] <= end],
                     f"{begin} to {end}")
        visited = int(done.stderr.split("visited ")[1].split()[0])
        expect(visited >= 20_000, f"visited {visited} of 20000 records")


@case
def refuses_what_is_no_question(ctx):
    """Writing, other files, settings, several statements; errors show the place."""
    for statement in ("create table t(x)", f"attach '{ctx.dir}/x' as y", "pragma journal_mode = off",
                      "delete from events", "select 1; select 2", "select load_extension('x')",
                      f"vacuum into '{ctx.dir}/x'"):
        expect(ctx.remora("sql", traces.control(), statement, codes=(1,)).stderr, f"{statement}: no reason")
    wrong = ctx.remora("sql", traces.control(), "select colour from events", codes=(1,)).stderr
    expect("no such column: colour" in wrong and "^ here" in wrong, f"the place is not shown: {wrong}")


@case(timeout_s=60)
def one_value_does_not_outlast_the_timeout(ctx):
    """The search for one long text in another takes hours, and SQLite does not ask the watch meanwhile."""
    question = "select instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')"
    done = ctx.remora("sql", traces.control(), question, "--timeout", "0.2", codes=(5,))
    expect("in the middle of a value" in done.stderr and "--timeout" in done.stderr, done.stderr)
