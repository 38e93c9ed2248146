# SPDX-License-Identifier: MIT
"""vcd, read by vcd2fst and written back by fst2vcd, and shown by GTKWave."""
import re

from viewers import traces
from support.cases import case, expect, expect_equal, sample

UNESCAPE = re.compile(r"\\([0-7]{3})")


class Dump:
    """Signals by path, and for each its changes: [(time, value)]."""

    def __init__(self, text):
        self.changes, self.comments, scope, paths, time = {}, [], [], {}, 0
        last, declared = -1, False
        for line in text.splitlines():
            words = line.split()
            if not words:
                continue
            if words[0] == "$scope":
                scope.append(words[2])
            elif words[0] == "$upscope":
                scope.pop()
            elif words[0] == "$var":
                path = ".".join([*scope, words[4]])
                expect(path not in self.changes, f"two signals are called {path}")
                paths[words[3]] = path
                self.changes[path] = []
            elif words[0] == "$comment":
                self.comments.append(line)
            elif words[0] == "$enddefinitions":
                declared = True
            elif not declared:
                continue
            elif words[0].startswith("#"):
                time = int(words[0][1:])
                expect(time >= last, f"time falls to {time}")
                last = time
            elif words[0][0] in "01x":
                self.changes[paths[words[0][1:]]].append((time, words[0][0]))
            elif words[0][0] in "bs":
                value = (words[0][1:].lstrip("0") or "0") if words[0][0] == "b" else words[0][1:]
                self.changes[paths[words[1]]].append((time, value))
        self.end = last


def texts(changes):
    return [(time, UNESCAPE.sub(lambda match: chr(int(match[1], 8)), value)) for time, value in changes]


def round_trip(ctx, path):
    """What GTKWave's own tools make of it."""
    fst = path.with_suffix(".fst")
    ctx.run("vcd2fst", path, fst)
    return Dump(ctx.run("fst2vcd", fst).stdout)


def compare(ctx, trace, codes=(0,)):
    path = ctx.convert(trace, "vcd", codes=codes)
    dump = Dump(path.read_text(encoding="ascii"))
    again = round_trip(ctx, path)
    # fst keeps one value per time and no unknown value at the start.
    for signal, changes in dump.changes.items():
        expect(signal in again.changes, f"{signal} is lost on the way")
        if not signal.endswith(("running", "state", "interrupt", "event")):
            expect_equal([change for change in again.changes[signal] if change[1] != "x"],
                         [change for change in changes if change[1] != "x"], f"changes of {signal}")
    return dump, ctx.events(trace, codes=codes)


def expected_runs(events, cpu=0):
    """(time, context) of each switch, the last one where several have one time."""
    runs = {}
    for event in events:
        if event["event"] == "context_switch" and event["cpu"] == cpu:
            runs[event["time_ns"]] = event["par1"]
    return runs


@case
def recorded(ctx):
    """The recorded run: one wire per task and interrupt, times of switches to the nanosecond."""
    dump, events = compare(ctx, traces.control())
    running = [change for change in texts(dump.changes["trace.cpu0.cpu0_running"]) if change[1] != "?"]
    switches = sorted(expected_runs(events))
    expect(set(time for time, _ in running) <= set(switches), "a switch at a time that has none")
    expect_equal(sample([time for time, _ in running]), sample(switches), "times of switches")
    names = {name for _, name in running}
    expect("idle" in names, "the idle task never runs")
    labels = {path.rsplit(".")[-1] for path in dump.changes}
    for name in names:
        expect({f"{name.replace('-', '_')}_{what}" for what in ("running", "state", "job")} <= labels,
               f"the waves of {name} do not name it: {labels}")
    starts = {event["time_ns"] for event in events if event["event"] == "interrupt_start"}
    irqs = {time for path, changes in dump.changes.items() if path.startswith("trace.irqs.")
            for time, value in changes if value == "1"}
    expect(irqs and irqs <= starts, "interrupts begin where the trace has none")
    expect_equal(dump.end, max(event["time_ns"] for event in events), "the end")


@case
def generated(ctx):
    """A generated trace of 20000 records."""
    dump, events = compare(ctx, traces.synthetic(ctx, 20000))
    wires = sum(value == "1" for path, changes in dump.changes.items() if path.startswith("trace.irqs.")
                for _, value in changes)
    expect_equal(wires, sum(event["event"] == "interrupt_start" for event in events), "interrupts")


@case
def losses(ctx):
    """A comment and a count at each gap."""
    dump, _ = compare(ctx, traces.lossy(ctx), codes=None)
    counted = [int(value, 2) for _, value in dump.changes["trace.cpu0.cpu0_lost"]]
    expect_equal(counted, [0, traces.LOST[0], sum(traces.LOST)], "records lost so far")
    expect_equal(sum("lost" in comment for comment in dump.comments), len(traces.LOST), "comments")


@case
def edges(ctx):
    """No event, one event, names that are alike or no names, two processors."""
    compare(ctx, traces.store(ctx, "none.dat", traces.chunk(b"", begin=5)), codes=None)
    compare(ctx, traces.store(ctx, "one.dat", traces.chunk(traces.record(traces.IPOINT, 77, 1, 2))))
    records = b"".join(traces.record(traces.CONTEXT_SWITCH, 1000 + i, 2 + i % 4) for i in range(20))
    dump, _ = compare(ctx, traces.store(ctx, "hostile.dat", traces.chunk(
        records, tasks={2: b"a $end\n#5", 3: b"a $end\n#5", 4: b"\xff\x00", 5: ""})))
    expect_equal(sum(path.endswith("_job") for path in dump.changes), 4, "tasks")
    both = traces.session(ctx, *(traces.chunk(b"".join(traces.record(traces.CONTEXT_SWITCH,
                                                                        1000 + 10 * i + cpu, 2 + i % 2)
                                                     for i in range(50)), cpu=cpu, number=cpu) for cpu in (0, 1)))
    dump, events = compare(ctx, both)
    for cpu in (0, 1):
        found = [time for time, value in dump.changes[f"trace.cpu{cpu}.cpu{cpu}_running"] if value != "?"]
        expect_equal(found, sorted(expected_runs(events, cpu)), f"switches of cpu {cpu}")


SCRIPT = """
set wanted [list]
set count [gtkwave::getNumFacs]
foreach pattern {{cpu0_(running|interrupt)$} {irqs\\.} {tasks\\..*_(running|state)$}} {
    for {set i 0} {$i < $count} {incr i} {
        set name [gtkwave::getFacName $i]
        if {[regexp $pattern $name]} { lappend wanted $name }
    }
}
gtkwave::addSignalsFromList $wanted
gtkwave::setZoomRangeTimes BEGIN END
"""


@case(timeout_s=180)
def shown(ctx):
    """GTKWave draws the recorded run: the picture has waves in it."""
    trace = traces.control()
    path = ctx.convert(trace, "vcd")
    releases = [event["time_ns"] for event in ctx.events(trace) if event["event"] == "job_release"]
    begin = releases[len(releases) // 2]
    script = ctx.dir / "show.tcl"
    script.write_text(SCRIPT.replace("BEGIN", str(begin - 1_000_000)).replace("END", str(begin + 24_000_000)))
    picture = ctx.dir / "gtkwave.png"
    ctx.run("tests/viewers/gtkwave_picture.sh", path, script, picture)
    ctx.picture(picture, "gtkwave_control")
    # Between the names of signals on the left and the edge, beneath the scale: what changes over time makes columns
    # differ.
    width, height = 1000, 600
    waves = ctx.run("convert", picture, "-crop", f"{width}x{height}+345+140", "+repage", "-depth", "8", "gray:-",
                    text=False).stdout
    expect_equal(len(waves), width * height, "points of the picture")
    columns = {waves[at::width] for at in range(width)}
    expect(len(columns) > 300, f"the picture has only {len(columns)} different columns: no waves")
