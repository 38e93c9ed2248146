# SPDX-License-Identifier: MIT
"""Runs whose chunks are written compactly from the start: what is in them, in every kind of layout, is what a run with
plain chunks records; what a compact chunk cannot do is refused."""
import collections
import json

from support.cases import CASES, Case, case, expect
from support.context import TEST_KERNEL
from support.guests import BAD_COMMAND_LINE, OK

# With a select bit, without one, with most bits of the stamps cut, and the two that have large headers only.
LAYOUTS = ("A", "D2", "plan12", "large64", "large96")

# What these records say is a time.
TIMES = ("job_release", "job_deadline", "set_priority")

# Two timer events share an interrupt or have one each, as the cost of a record between them decides.
PER_INTERRUPT = ("interrupt_start", "interrupt_end", "timer_wakeup_start", "timer_wakeup_end", "task_schedule")

# So it does where the slices of these end, and with them which timers of the kernel's own are set.
IN_SLICES = ("load-a", "load-b")
OWN_TIMER_MIN = 256


def depends_on_cost(event):
    words = event.get("parameters", {})
    return (event["event"] in PER_INTERRUPT or words.get("context_name") in IN_SLICES
            or words.get("timer", 0) >= OWN_TIMER_MIN)


def contents(ctx, session):
    """What the records say, times left out: for each event a list in their order. Records of different events may
    change places where two interrupts become one."""
    found = collections.defaultdict(list)
    for event in ctx.events(session):
        if not depends_on_cost(event):
            par2 = None if event["event"] in TIMES else event["par2"]
            found[event["event"]].append((event["par1"], par2, event.get("text"), event.get("fields")))
    return found


def run(ctx, app="control", **words):
    """The outcome, and the session, in a directory named like the layout."""
    outcome, directory = ctx.traced(app, nic="none", seed=1, **words)
    ctx.run("rm", "-f", ctx.dir / "ramdisk.img")
    return outcome, ctx.adopt(directory.rename(ctx.dir / words.get("compact", "OFF")))


def stated(ctx, session):
    """What the summary says of the layout, and the encodings of the chunks."""
    manifest = json.loads((session / "manifest.json").read_text())
    summary = json.loads(ctx.remora("summary", session, "--json").stdout)
    return summary["compact"], [chunk["encoding"] for chunk in manifest["chunks"]]


def size(session):
    return sum(path.stat().st_size for path in session.glob("*trace.dat"))


def same_records_in(layout):
    def body(ctx):
        _, plain = run(ctx)
        expect(stated(ctx, plain) == (None, ["records"]), f"{stated(ctx, plain)}")
        outcome, session = run(ctx, compact=layout)
        expect(f"layout {layout} as asked" in outcome.serial, f"{outcome}")
        summary, encodings = stated(ctx, session)
        expect(encodings == [f"compact {layout}"] and summary["layout"] == layout, f"{summary} {encodings}")
        expect(not summary["by_auto"], f"{summary}")
        expected, found = contents(ctx, plain), contents(ctx, session)
        expect(sum(map(len, expected.values())) > 2000, "hardly a record is compared")
        wrong = [event for event in expected.keys() | found.keys() if expected[event] != found[event]]
        expect(not wrong, f"these records differ: {wrong}")
        times = [next(iter(ctx.events(one)))["time_ns"] for one in (plain, session)]
        expect(times == [0, 0], f"the first events are at {times} ns")
        ticks = [event["ticks"] for event in ctx.events(session)]
        expect(ticks == sorted(ticks), "stamps decrease")
        expect(layout.startswith("large") or size(session) < 0.7 * size(plain), f"{size(session)}, {size(plain)} bytes")
    return body


def register_layouts():
    for layout in LAYOUTS:
        CASES.append(Case(f"compact_run_{layout.lower()}", same_records_in(layout)))


@case
def compact_run_chosen_by_auto(ctx):
    """A record of some twenty instructions leaves no bit of a stamp to be cut: A is exact.
    The preamble of the chunk, the summary and the console state the same."""
    outcome, session = run(ctx, compact="AUTO")
    summary, encodings = stated(ctx, session)
    expect(encodings == ["compact A"] and summary["layout"] == "A" and summary["by_auto"], f"{summary} {encodings}")
    expect(summary["plain_ticks"] < 64 and 0 < summary["timer_ticks"] < 2 ** 26, f"{summary}")
    plain, timer = summary["plain_ticks"], summary["timer_ticks"]
    printed = ctx.remora("print", session, "--all", "--event", "trace_cost").stdout
    expect(f"layout=A by AUTO plain={plain:.2f} timer={timer}\n" in printed, f"{summary}: {printed}")
    expect(f"layout A by AUTO (a plain record takes {int(plain)} ticks, setting the timer {timer})" in outcome.serial,
           f"{summary}: {outcome}")
    cost = json.loads(ctx.remora("summary", session, "--json").stdout)["tracing"]["enabled_ticks"]
    expect(cost > plain, f"a record takes {cost} ticks, a plain one {plain}")


@case(timeout_s=240)
def compact_run_of_several_chunks(ctx):
    """Tasks in steps fill more than one: they follow each other without a gap."""
    _, session = run(ctx, "stepped", itrace="instructions", compact="D2")
    _, encodings = stated(ctx, session)
    expect(len(encodings) > 1 and set(encodings) == {"compact D2"}, f"{encodings}")


@case
def compact_run_refuses_what_compact_chunks_cannot_do(ctx):
    """The reason is at the call; what the application makes itself is its own decision."""
    run(ctx, "s_compact_run", kernel=TEST_KERNEL, compact="A2")


@case
def compact_is_refused_where_the_application_makes_its_chunks(ctx):
    outcome = ctx.boot("manual_example", nic="none", compact="A").expect_code(BAD_COMMAND_LINE)
    expect("compact=OFF, for this application makes its chunks itself" in outcome.serial, f"{outcome}")
    ctx.boot("manual_example", compact="OFF").expect_code(OK)


@case
def compact_run_is_judged_alike_after_a_conversion(ctx):
    """The stamps of a layout that cuts bits are too early by them, also where the records are plain again."""
    _, session = run(ctx, "servers", compact="plan12")
    for trace in (session, *(ctx.convert(session, form) for form in ("kev", "dat"))):
        done = ctx.remora("check", trace, "--json")
        found = json.loads(done.stdout)
        expect(found["violations"] == [], f"{trace}: {done.stdout}")
