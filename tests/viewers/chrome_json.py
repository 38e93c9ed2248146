# SPDX-License-Identifier: MIT
"""chrome-json, read by Python's json; slices also by the rules of speedscope."""
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
    """Each end names the slice that began last on its track, time never falls there, every slice ends, and a
    processor runs one task at a time. The same again as speedscope reads it."""
    open_slices, last = collections.defaultdict(list), collections.defaultdict(int)
    for event in events:
        track = event["pid"], event["tid"]
        if event["ph"] in "BE":
            expect(event["ns"] >= last[track], f"time falls: {event}")
            last[track] = event["ns"]
        if event["ph"] == "B":
            open_slices[track].append(event["name"])
            expect(event["pid"] != PROCESSORS or len(open_slices[track]) == 1, f"a processor runs two tasks: {event}")
        elif event["ph"] == "E":
            expect(open_slices[track], f"an end without a begin: {event}")
            expect_equal(event["name"], open_slices[track].pop(), f"name of the slice that {event} ends")
        else:
            expect(event["ph"] in "iMC", f"an event of kind {event['ph']}")
    expect_equal({track: names for track, names in open_slices.items() if names}, {}, "slices that never end")
    slices = [event for event in events if event["ph"] in "BE"]
    for track in open_slices:
        check_as_speedscope([event for event in slices if (event["pid"], event["tid"]) == track])


def check_as_speedscope(events):
    """speedscope 1.25 (import/trace-event.ts): times are doubles from the first one on, begins and ends two queues by
    time; at one time the end goes first, unless both are of one name; an end that is not of the slice on top is
    passed over. Of the ends at one time it takes the one that fits."""
    first = min(float(event["ts"]) for event in events)
    begins, ends = ([(float(event["ts"]) - first, event["name"]) for event in events if event["ph"] == phase]
                    for phase in "BE")
    begins.sort(key=lambda edge: edge[0])
    ends.sort(key=lambda edge: edge[0])
    stack, deepest = [], 1 if events[0]["pid"] == PROCESSORS else len(events)
    while begins or ends:
        if begins and (not ends or begins[0][0] < ends[0][0] or begins[0] == ends[0]):
            stack.append(begins.pop(0))
            continue
        fitting = [i for i, edge in enumerate(ends) if edge[0] == ends[0][0] and stack and edge[1] == stack[-1][1]]
        end = ends.pop(fitting[0] if fitting else 0)
        expect(fitting, f"speedscope passes over the end of {end} while it has open: {stack}")
        begin = stack.pop()
        expect(begin[0] == end[0] or len(stack) < deepest, f"speedscope draws {begin} within {stack}")
    expect_equal(stack, [], "what speedscope closes at the end of the file")


def compare(ctx, trace):
    shown = load(ctx, trace)
    check(shown)
    events = ctx.events(trace)
    by_name = counts([{"event": event.get("name", event["event"])} for event in events])
    found = collections.Counter(event["name"] for event in shown if event["ph"] == "i")
    irqs = collections.Counter(event["ph"] for event in shown if event["pid"] == INTERRUPTS)
    ran = [event for event in shown if event["pid"] == PROCESSORS and event["ph"] == "B"]
    found.update({"context_switch": len(ran),
                 "interrupt_start": irqs["B"], "interrupt_end": irqs["E"],
                 "server_budget": sum(event["ph"] == "C" for event in shown)})
    expect_equal({name: found[name] for name in by_name}, dict(by_name), "events by name")
    starts = [event["time_ns"] for event in events if event["event"] == "interrupt_start"]
    expect_equal(sample([event["ns"] for event in shown if event["pid"] == INTERRUPTS and event["ph"] == "B"]),
                 sample(starts), "times of interrupts")
    switches = [event["time_ns"] for event in events if event["event"] == "context_switch"]
    expect_equal(sorted(event["ns"] for event in ran), switches, "times of switches")
    return shown


@case
def recorded(ctx):
    """The recorded run, with names of tasks, jobs and waits."""
    shown = compare(ctx, traces.control())
    names = {event["args"]["name"] for event in shown if event["ph"] == "M"}
    expect({"processors", "jobs", "waits", "cpu 0"} <= names, f"tracks: {names}")
    expect("idle" in {event["name"] for event in shown if event["pid"] == PROCESSORS}, "the idle task never runs")


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
    expect_equal({event["tid"] for event in shown if event["ph"] == "B"}, {0, 1}, "processors")
