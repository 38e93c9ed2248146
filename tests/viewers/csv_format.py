# SPDX-License-Identifier: MIT
"""csv, read by Python's csv module."""
import csv

import traces
from harness import case, counts, expect_equal


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
