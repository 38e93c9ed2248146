# SPDX-License-Identifier: MIT
"""csv, read by Python's csv module."""
import csv
import json

from viewers import traces
from support.cases import case, counts, expect_equal


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def compare(ctx, trace):
    rows = rows_of(ctx.convert(trace, "csv"))
    events = ctx.events(trace)
    # print calls a typed event "typed_event" and keeps the name that the application gave it apart.
    expect_equal(counts(rows), counts([{"event": event.get("name", event["event"])} for event in events]),
                 "events by name")
    expect_equal([(int(row["ticks"]), row["time_ns"]) for row in rows],
                 [(event["ticks"], str(event.get("time_ns", ""))) for event in events], "ticks and times")


@case
def recorded(ctx):
    """Every event of the recorded run, by name, stamp and time."""
    compare(ctx, traces.control())


@case
def generated(ctx):
    """The same for a generated trace, and for one with gaps."""
    compare(ctx, traces.synthetic(ctx, 2000))
    compare(ctx, traces.lossy(ctx))


@case
def past_the_filters(ctx):
    """A record that FAST_TRACER_LOGEVENT wrote keeps its mark, as `remora print` has it: alone, and with damage."""
    fast = 0x8000
    records = (traces.record(fast | traces.USER_EVENT_0, 10, 1, 2) + traces.record(traces.USER_EVENT_0, 20, 3, 4)
               + traces.record(fast | traces.USER_EVENT_0, 15, 5, 6))
    trace = traces.store(ctx, "fast.dat", traces.chunk(records))
    found = [(row["event"], row["state"], int(row["code"], 16)) for row in rows_of(ctx.convert(trace, "csv"))]
    expect_equal(found, [(event["event"], event["state"], int(event["code"], 16)) for event in ctx.events(trace)],
                 "codes")
    expect_equal([code for _, _, code in found].count(fast | traces.USER_EVENT_0), 2, "records past the filters")


@case
def late_events(ctx):
    """A stamp that falls inside a long run of plain records, and those after it that are still too low, are late: for
    every reader alike."""
    offsets = [*range(1000, 1901, 10), 1500, 1510, 1520, 1600, 1899, 1900, *range(2000, 2400)]
    data = b"".join(traces.record(traces.USER_EVENT_0, 10**7 + offset, 0, 0) for offset in offsets)
    path = traces.store(ctx, "fall.dat", traces.chunk(data))
    greatest, expected = 0, []
    for offset in offsets:
        expected.append("late" if offset < greatest else "ok")
        greatest = max(greatest, offset)
    expect_equal([event["state"] for event in ctx.events(path)], expected, "print")
    with open(ctx.convert(path, "csv"), encoding="utf-8") as file:
        expect_equal([line["state"] for line in csv.DictReader(file)], expected, "csv")
    rows = json.loads(ctx.remora("sql", path, "select state from events", "--json").stdout)["rows"]
    expect_equal([row["state"] for row in rows], expected, "sql")
