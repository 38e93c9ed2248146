# SPDX-License-Identifier: MIT
"""chrome-json, read by Python's json."""
import collections
import decimal
import json

from viewers import traces
from support.cases import case, counts, expect, expect_equal, sample

PROCESSORS, INTERRUPTS, TASKS, JOBS, WAITS, SERVERS = range(1, 7)


def load(ctx, trace, codes=(0,)):
    path = ctx.convert(trace, "chrome-json", codes=codes)
    document = json.loads(path.read_text(encoding="utf-8"), parse_float=decimal.Decimal)
    events = document["traceEvents"]
    for event in events:
        if event["ph"] != "M":
            event["ns"] = int(event["ts"] * 1000)
            expect_equal(event["ts"] * 1000, event["ns"], "a time that is whole nanoseconds")
    return events


def check(events):
    """Begin and end are balanced on every track and nest; time never falls there; slices of processors do
    not overlap."""
    nested, last, until = collections.Counter(), collections.defaultdict(int), collections.defaultdict(int)
    for event in events:
        if event["ph"] in "BE":
            track = event["pid"], event["tid"]
            nested[track] += 1 if event["ph"] == "B" else -1
            expect(nested[track] >= 0, f"an end without a begin: {event}")
            expect(event["ns"] >= last[track], f"time falls: {event}")
            last[track] = event["ns"]
        elif event["ph"] == "X":
            expect(event["ns"] >= until[event["tid"]], f"a processor runs two tasks: {event}")
            until[event["tid"]] = event["ns"] + int(event["dur"] * 1000)
        else:
            expect(event["ph"] in "iMC", f"an event of kind {event['ph']}")
    expect(not any(nested.values()), "slices that never end")


def compare(ctx, trace):
    shown = load(ctx, trace)
    check(shown)
    events = ctx.events(trace)
    by_name = counts([{"event": event.get("name", event["event"])} for event in events])
    found = collections.Counter(event["name"] for event in shown if event["ph"] == "i")
    irqs = collections.Counter(event["ph"] for event in shown if event["pid"] == INTERRUPTS)
    found.update({"context_switch": sum(event["ph"] == "X" for event in shown),
                 "interrupt_start": irqs["B"], "interrupt_end": irqs["E"],
                 "server_budget": sum(event["ph"] == "C" for event in shown)})
    expect_equal({name: found[name] for name in by_name}, dict(by_name), "events by name")
    starts = [event["time_ns"] for event in events if event["event"] == "interrupt_start"]
    expect_equal(sample([event["ns"] for event in shown if event["pid"] == INTERRUPTS and event["ph"] == "B"]),
                 sample(starts), "times of interrupts")
    switches = [event["time_ns"] for event in events if event["event"] == "context_switch"]
    expect_equal(sorted(event["ns"] for event in shown if event["ph"] == "X"), switches, "times of switches")
    return shown


@case
def recorded(ctx):
    """The recorded run, with names of tasks, jobs and waits."""
    shown = compare(ctx, traces.control())
    names = {event["args"]["name"] for event in shown if event["ph"] == "M"}
    expect({"processors", "jobs", "waits", "cpu 0"} <= names, f"tracks: {names}")
    expect("idle" in {event["name"] for event in shown if event["ph"] == "X"}, "the idle task never runs")


@case
def generated(ctx):
    """A generated trace, and the same without descriptions."""
    compare(ctx, traces.synthetic(ctx, 5000))


@case
def losses(ctx):
    """A gap is an instant for all tracks, with the number of records."""
    shown = load(ctx, traces.lossy(ctx), codes=None)
    check(shown)
    expect_equal([event["name"] for event in shown if event["ph"] == "i" and event["s"] == "g"],
                 [f"lost {number} records" for number in traces.LOST], "losses")


@case
def edges(ctx):
    """No event, one event, names that try to break out, two processors."""
    none = load(ctx, traces.store(ctx, "none.dat", traces.chunk(b"", begin=5)), codes=None)
    expect_equal({event["ph"] for event in none}, {"M"}, "kinds of events in an empty trace")
    one = load(ctx, traces.store(ctx, "one.dat", traces.chunk(traces.record(traces.IPOINT, 77, 1, 2))))
    expect_equal([event["name"] for event in one if event["ph"] == "i"], ["ipoint"], "one event")
    hostile = b'a"\\\n\x00\xff\xc3*/</script>'
    records = b"".join(traces.record(traces.CONTEXT_SWITCH, 1000 + i, 2 + i % 2) for i in range(10))
    check(load(ctx, traces.store(ctx, "hostile.dat", traces.chunk(records, tasks={2: hostile, 3: "ok"}))))
    both = traces.session(ctx, *(traces.chunk(b"".join(traces.record(traces.CONTEXT_SWITCH,
                                                                        1000 + 10 * i + cpu, 2 + i % 2)
                                                     for i in range(50)), cpu=cpu, number=cpu) for cpu in (0, 1)))
    shown = load(ctx, both)
    check(shown)
    expect_equal({event["tid"] for event in shown if event["ph"] == "X"}, {0, 1}, "processors")
