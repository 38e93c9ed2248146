# SPDX-License-Identifier: MIT
"""speedscope: the rules by which its reader refuses or takes a file, the calls that a task in steps made, and what its
page shows of them in Chromium."""
import collections
import html
import json
import re

from viewers import traces
from support import speedscope_page
from support.cases import case, expect, expect_equal

INSTRUCTION, BLOCK, STEPS_BEGIN, STEPS_END = 0x6E, 0x7E, 0x8E, 0x9E
NEXT, JUMP, CALL, RETURN, RESUMED = range(5)


def check(document):
    """As the program reads it: a leaving frame is the one on top, time does not fall, nothing is open at the end."""
    expect_equal(document["$schema"], "https://www.speedscope.app/file-format-schema.json", "schema")
    frames = document["shared"]["frames"]
    expect(all(frame["name"] for frame in frames), "a frame without a name")
    expect(document["profiles"], "no profile")
    for profile in document["profiles"]:
        expect_equal(profile["type"], "evented", "type")
        expect(profile["unit"] in ("none", "nanoseconds"), profile["unit"])
        now, stack = profile["startValue"], []
        for event in profile["events"]:
            expect(event["at"] >= now, f"time falls: {event}")
            now = event["at"]
            expect(0 <= event["frame"] < len(frames), f"a frame that is not there: {event}")
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                expect_equal(event["type"], "C", "type of an event")
                expect(stack and stack.pop() == event["frame"], f"a frame that is not on top: {event}")
        expect(not stack, f"open at the end: {stack}")
        expect(profile["endValue"] >= now, "the end is before the last event")


def load(ctx, trace, *options):
    path = ctx.convert(trace, "speedscope", *options, name="out.speedscope.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    check(document)
    return document


def lines_of(document, name):
    """`+name at` and `-name at` of the profile of this name."""
    names = [frame["name"] for frame in document["shared"]["frames"]]
    found = [profile for profile in document["profiles"] if profile["name"] == name]
    expect_equal(len(found), 1, f"profiles {name}")
    return [f"{'+' if event['type'] == 'O' else '-'}{names[event['frame']]} {event['at']}"
            for event in found[0]["events"]]


def two_tasks(ctx):
    """Two tasks in steps, of which one is interrupted once."""
    at = iter(range(1000, 100000, 240))  # 100 ns apart
    steps = [(traces.CONTEXT_SWITCH, 3, 0), (STEPS_BEGIN, 3, 1), (BLOCK, RESUMED << 12, 0x1000),
             (BLOCK, CALL << 12 | 7, 0x2000), (BLOCK, JUMP << 12 | 2, 0x2004),
             (traces.INTERRUPT_START, 0x20, 0), (traces.INTERRUPT_END, 0x20, 0), (BLOCK, RETURN << 12 | 9, 0x1005),
             (BLOCK, CALL << 12 | 7, 0x3000), (traces.CONTEXT_SWITCH, 4, 0), (INSTRUCTION, RESUMED, 0x5000),
             (INSTRUCTION, CALL, 0x6000), (traces.CONTEXT_SWITCH, 3, 0), (BLOCK, RESUMED << 12, 0x3003),
             (BLOCK, RETURN << 12 | 1, 0x100A), (STEPS_END, 3, 20)]
    data = b"".join(traces.record(code, next(at), par1, par2) for code, par1, par2 in steps)
    return traces.store(ctx, "steps.dat", traces.chunk(data, tasks={3: "one", 4: 'two "\\'}, vectors={0x20: "timer"}))


@case
def calls_and_switches(ctx):
    """Frames open with calls and close with returns, are closed while another task runs, and hold handlers."""
    document = load(ctx, two_tasks(ctx))
    expect_equal(lines_of(document, "one"),
                 ["+0x1000 200", "+0x2000 300", "+interrupt timer 500", "-interrupt timer 600", "-0x2000 700",
                  "+0x3000 800", "-0x3000 900", "-0x1000 900", "+0x1000 1300", "+0x3000 1300", "-0x3000 1400",
                  "-0x1000 1500"], "task one")
    expect_equal(lines_of(document, 'two "\\\\'), ["+0x5000 1000", "+0x6000 1100", "-0x6000 1200", "-0x5000 1200"],
                 "task two")


@case
def losses_close_frames(ctx):
    """What happened while records were dropped is not known: the stack begins anew."""
    steps = [(traces.CONTEXT_SWITCH, 3, 0), (BLOCK, RESUMED << 12, 0x1000), (BLOCK, CALL << 12, 0x2000),
             (traces.BLACKOUT_START, 0, 0), (traces.BLACKOUT_END, 0, 9), (BLOCK, JUMP << 12, 0x4000)]
    data = b"".join(traces.record(code, 1000 + 240 * i, *rest) for i, (code, *rest) in enumerate(steps))
    document = load(ctx, traces.store(ctx, "lossy.dat", traces.chunk(data, dropped=9, tasks={3: "one"})))
    names = [line.split()[0] for profile in document["profiles"] for line in lines_of(document, profile["name"])]
    expect_equal(collections.Counter(name[0] for name in names), collections.Counter({"+": 3, "-": 3}), "frames")
    expect_equal(lines_of(document, "one")[:4], ["+0x1000 100", "+0x2000 200", "-0x2000 300", "-0x1000 300"], "one")


@case
def without_a_rate(ctx):
    """Ticks replace nanoseconds, and the unit says so."""
    data = traces.record(BLOCK, 1000, RESUMED << 12, 0x1000) + traces.record(BLOCK, 1010, CALL << 12, 0x2000)
    path = traces.store(ctx, "plain.dat", data)
    document = load(ctx, path)
    expect_equal({profile["unit"] for profile in document["profiles"]}, {"none"}, "unit")
    expect_equal({profile["name"] for profile in document["profiles"]}, {"unknown"}, "no record says who runs")


@case
def refuses_what_has_no_steps(ctx):
    """A trace of tasks that ran freely holds no stacks: the message says how to get some."""
    done = ctx.remora("convert", traces.control(), "--to", "speedscope", "-o", ctx.dir / "no.json", codes=(1,))
    expect("FTrace_itrace_begin" in done.stderr, done.stderr)
    expect(not (ctx.dir / "no.json").exists(), "something was left")


@case
def any_bytes(ctx):
    """Records of any flow at any address, tasks that come and go: what is written can be read."""
    rng = __import__("random").Random(3)
    data, stamp = b"", 1000
    for _ in range(3000):
        stamp += rng.randrange(0, 300)
        code, par1, par2 = rng.choice([(BLOCK, rng.randrange(1 << 16), 0x1000 + 16 * rng.randrange(9)),
                                       (INSTRUCTION, rng.randrange(9), 0x1000 + 16 * rng.randrange(9)),
                                       (traces.CONTEXT_SWITCH, rng.randrange(4), 0),
                                       (traces.INTERRUPT_START, rng.randrange(3), 0),
                                       (traces.INTERRUPT_END, rng.randrange(3), 0), (STEPS_END, rng.randrange(4), 0)])
        data += traces.record(code, stamp, par1, par2)
    load(ctx, traces.store(ctx, "any.dat", traces.chunk(data, tasks={1: "a", 2: "b"})))


def rows_of_page(ctx, content):
    """Cells of each row of the tables that the page makes of a file: the profiles, and the first one's functions."""
    for seconds in (10, 100, 1000):  # on a busy machine it draws late
        page = speedscope_page.show(ctx, content, "sandwich", "--dump-dom", seconds=seconds)
        if "Symbol Name" in page and "ns (100%)" in page:
            break
    return [[html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?>(.*?)</td>", row)]
            for row in re.findall(r"<tr.*?>(.*?)</tr>", page) if "<td" in row]


@case
def shown_by_its_page(ctx):
    """The page, as npm has it, lists both tasks with their times, and the first one's functions: total time, and
    without the functions that they called."""
    rows = rows_of_page(ctx, ctx.convert(two_tasks(ctx), "speedscope").read_bytes())
    expect_equal(sorted(rows),
                 [["1", "one", "900.00ns"], ["100.00ns (11%)", "100.00ns (11%)", "interrupt timer"],
                  ["2", 'two "\\\\', "200.00ns"], ["200.00ns (22%)", "200.00ns (22%)", "0x3000"],
                  ["400.00ns (44%)", "300.00ns (33%)", "0x2000"], ["900.00ns (100%)", "300.00ns (33%)", "0x1000"]],
                 "rows of the page")


@case(timeout_s=240)
def draws_a_trace_of_events(ctx):
    """The page draws what `convert --to chrome-json` wrote: the tasks of 25 ms of the recorded run, by colour."""
    path = ctx.convert(traces.control(), "chrome-json", "--from-time", "50ms", "--to-time", "75ms")
    colours = speedscope_page.draw(ctx, path.read_bytes(), "chrome_json_control", 200)
    expect(colours >= 6, f"{colours} colours: tasks are missing")
