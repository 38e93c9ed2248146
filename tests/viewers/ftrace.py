# SPDX-License-Identifier: MIT
"""ftrace: the text, parsed back by the pattern that Trace Compass has for it."""
import re

from viewers import traces
from support.cases import case, counts, expect, expect_equal
from viewers.kernelshark import KERNEL, expect_all_events, report

# As in Trace Compass (IGenericFtraceConstants); greedy as there.
LINE = re.compile(r"^\s*(?P<comm>.*)-(?P<tid>\d+)(?:\s+\(.*\))?\s+\[(?P<cpu>\d+)\](?:\s+(?P<flags>....))?\s+"
                  r"(?P<seconds>\d+)\.(?P<fraction>\d+): (?P<event>[\w\-\\.\[\]]+): ?(?P<words>.*)$")


def read(ctx, trace, *, codes=(0,)):
    path = ctx.convert(trace, "ftrace", codes=codes)
    found, lost = [], []
    lines = path.read_text(encoding="utf-8").splitlines()
    expect_equal(lines[0], "# tracer: nop", "first line")
    for line in lines:
        if line.startswith("#"):
            continue
        if match := re.fullmatch(r"CPU:(\d+) \[LOST (\d+) EVENTS\]", line):
            lost.append((int(match.group(1)), int(match.group(2)), len(found)))
            continue
        match = LINE.match(line)
        expect(match, f"no line of this format: {line}")
        expect_equal(len(match["fraction"]), 9, f"digits in {line}")
        found.append({"event": match["event"], "task": match["comm"], "tid": int(match["tid"]),
                      "cpu": int(match["cpu"]), "flags": match["flags"], "words": match["words"],
                      "time_ns": int(match["seconds"]) * 10**9 + int(match["fraction"])})
    counted = re.fullmatch(r"# entries-in-buffer/entries-written: (\d+)/(\d+)   #P:(\d+) *", lines[2])
    expect(counted, f"the line of counts: {lines[2]}")
    expect_equal((int(counted[1]), int(counted[2])), (len(found), len(found) + sum(one[1] for one in lost)), "counts")
    return path, found, lost


def compare(ctx, trace):
    _, found, lost = read(ctx, trace)
    expect_all_events(ctx, trace, found)
    return found, lost


@case
def recorded(ctx):
    """Every event of the recorded run, with its time to the nanosecond and its words."""
    found, lost = compare(ctx, traces.control())
    expect_equal(lost, [], "losses")
    blocks = [one["words"] for one in found if one["event"] == "task_block"]
    expect("(semaphore samples)" in blocks[1], f"a block: {blocks[1]}")
    events = ctx.events(traces.control())
    for one, event in zip([one for one in found if one["event"] not in KERNEL], events):
        for name, value in event.get("parameters", {}).items():
            if isinstance(value, int):
                expect(re.search(rf"\b{name}=(0x)?[0-9a-f]+", one["words"]), f"no {name} in {one['words']}")
    handlers = [one for one in found if one["event"] == "timer_wakeup_start"]
    expect_equal({one["flags"][2] for one in handlers}, {"h"}, "flags inside of interrupts")
    woken = {re.search(r" pid=(\d+) ", one["words"])[1] for one in found if one["event"] == "sched_waking"}
    expect("3" in woken and "0" not in woken, f"threads that are woken, the idle task never: {woken}")


@case
def same_as_trace_dat(ctx):
    """The scheduler's events are those that trace-cmd finds in the trace.dat file of the same run."""
    _, found, _ = read(ctx, traces.control())
    other, _ = report(ctx, ctx.convert(traces.control(), "kernelshark", name="trace.dat"))

    def key(one):
        return one["event"], one["time_ns"], one["cpu"], one["tid"]
    expect_equal([key(one) for one in found], [key(one) for one in other], "lines")


@case
def gaps(ctx):
    """Each gap as the kernel prints it, before the first line that follows it."""
    found, lost = compare(ctx, traces.lossy(ctx))
    expect_equal([one[:2] for one in lost], [(0, number) for number in traces.LOST], "losses")
    expect_equal([found[place]["event"] for _, _, place in lost], ["blackout_end"] * 2, "what follows a gap")


@case
def edges(ctx):
    """Two processors; 48 hours between two events; names that could break a line; a pipe as output."""
    _, found, _ = read(ctx, traces.two_processors(ctx, 1000))
    expect_equal(counts(found, "cpu").keys(), {0, 1}, "processors")
    compare(ctx, traces.far(ctx))
    bad = 'a"b\\c */ \n\x00\x1b[31m {} %s: '
    records = traces.typed(1000, 9, b"\x07") + traces.record(traces.CONTEXT_SWITCH, 2000, 3)
    data = traces.chunk(records, tasks={1: bad, 3: bad}, declarations=[(9, bad, [(1, 0, bad, bad)])])
    path = ctx.convert(traces.store(ctx, "hostile.dat", data), "ftrace", codes=(0, 2))
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    expect(2 <= len(lines) <= 4 and all("[000]" in line for line in lines), f"lines with hostile names: {lines}")
    expect_equal([byte for byte in path.read_bytes() if byte < 32 and byte != 10], [], "control characters")
    piped = ctx.remora("convert", traces.control(), "--to", "ftrace").stdout
    expect(piped.startswith("# tracer: nop\n#\n#\n") and "sched_switch" in piped, f"what goes to a pipe: {piped[:200]}")
