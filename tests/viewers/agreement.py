# SPDX-License-Identifier: MIT
"""The quantities of docs/metrics.md in the formats of others: jobs from ready to end, interrupts from entry to exit,
and who ran how long are those of `remora sql`, to the nanosecond. What a format cannot hold is not compared."""
import collections
import re

from viewers import chrome_json, perfetto, sqlite, traces, vcd
from viewers.protobuf_text import one
from support.cases import case, expect, expect_equal
from support.context import ROOT

INVERSION = ROOT / "tests/viewers/data/inversion.dat"


def pairs_of(edges):
    """edges: (track, time, whether it begins). Sorted (track, begin, end); the latest begin ends first."""
    begun, pairs = collections.defaultdict(list), []
    for track, time, begins in edges:
        if begins:
            begun[track].append(time)
        else:
            pairs.append((track, begun[track].pop(), time))
    return sorted(pairs)


def chrome_slices(events, group):
    names = {event["tid"]: event["args"]["name"] for event in events
             if event["ph"] == "M" and event["pid"] == group and event["name"] == "thread_name"}
    key = "name" if group != chrome_json.JOBS else None
    return pairs_of((event[key] if key else names[event["tid"]], event["ns"], event["ph"] == "B") for event in events
                    if event["pid"] == group and event["ph"] in "BE")


def perfetto_jobs(view):
    def thread(track):
        parent = view.tracks[one(view.tracks[track], "parent_uuid")]
        return one(one(parent, "thread"), "thread_name")
    return pairs_of((thread(track), time, begins) for time, begins, track, _ in view.slices
                    if one(view.tracks[track], "name") == "jobs")


def vcd_pulses(dump, name_of):
    """Of each wire that name_of() names: begin and end of what it is 1."""
    edges = []
    for path, changes in dump.changes.items():
        if name_of(path) is not None:
            level = "0"
            for time, value in changes:
                if value in "01" and value != level:
                    edges.append((name_of(path), time, value == "1"))
                    level = value
    return pairs_of(edges)


def in_vcd(name):
    """Two tasks of one name have numbers there."""
    return re.sub(r"_\d+$", "", name.removesuffix("_job").replace("-", "_"))


def agree(ctx, trace):
    def rows(statement):
        return [tuple(row.values()) for row in sqlite.sql(ctx, trace, statement)]

    jobs = rows("select task, ready_ns, end_ns from jobs where end_ns is not null order by task, ready_ns, end_ns")
    interrupts = rows("select name, begin_ns, end_ns from interrupts order by name, begin_ns, end_ns")
    ran = dict(rows("select task, sum(duration_ns) from intervals where state = 'running' group by task"))
    last = rows("select max(time_ns) from events")[0][0]
    expect(len(jobs) > 5 and len(interrupts) > 5 and len(ran) > 3, f"{len(jobs)} jobs, {len(interrupts)} interrupts")

    def has_jobs(found, what, name=str):
        expected = sorted((name(task), begin, end) for task, begin, end in jobs)
        kept = [pair for pair in found if pair[2] != last or pair in expected]  # those that are open end with the trace
        expect_equal(kept, expected, f"jobs in {what}")

    events = chrome_json.load(ctx, trace)
    has_jobs(chrome_slices(events, chrome_json.JOBS), "chrome-json")
    expect_equal(chrome_slices(events, chrome_json.INTERRUPTS), interrupts, "interrupts in chrome-json")
    on = collections.Counter()
    for task, begin, end in chrome_slices(events, chrome_json.PROCESSORS):
        on[task] += end - begin
    expect_equal({task: on[task] for task in ran}, ran, "who ran, in chrome-json")

    view = perfetto.View(perfetto.decode(ctx, ctx.convert(trace, "perfetto")))
    has_jobs(perfetto_jobs(view), "perfetto")
    handlers = pairs_of((vector, time, kind == "entry") for _, time, kind, vector, _ in view.irqs)
    expect_equal(handlers, rows("select vector, begin_ns, end_ns from interrupts order by vector, begin_ns, end_ns"),
                 "interrupts in perfetto")
    on.clear()
    for (_, begin, *_, task), (_, end, *_) in zip(view.switches, [*view.switches[1:], (0, last)]):
        on[task] += end - begin
    expect_equal({task: on[task] for task in ran}, ran, "who ran, in perfetto")

    dump = vcd.Dump(ctx.convert(trace, "vcd").read_text(encoding="ascii"))
    wire = lambda path: in_vcd(path.split(".")[-1]) if path.endswith("_job") else None
    has_jobs(vcd_pulses(dump, wire), "vcd", in_vcd)


@case
def jobs_interrupts_and_runs_of_the_recorded_run(ctx):
    """Of a run of `control`, whose tasks miss, share mutexes and are interrupted."""
    agree(ctx, traces.control())


@case
def jobs_interrupts_and_runs_of_an_inversion(ctx):
    agree(ctx, INVERSION)
