# SPDX-License-Identifier: MIT
"""`remora diff` of the recorded run: with itself, with parts of itself, and with texts of `remora schedule`."""
import json

from viewers import traces
from support.cases import case, expect, expect_equal

SAME, DIFFERENT = 0, 7


def golden(ctx, lines, *options, codes):
    file = ctx.dir / "golden.txt"
    file.write_text("".join(f"{line}\n" for line in lines))
    return ctx.remora("diff", traces.control(), "--golden", file, *options, codes=codes).stdout


def moved(line, steps):
    time, unit, rest = line.partition(" ms ")
    return f"{float(time) + steps / 10:12.3f}{unit}{rest}"


@case
def golden_text_is_the_schedule(ctx):
    """The same, also if a time is one step of 0.1 ms off. Two steps, another line, a missing one: it is shown."""
    lines = ctx.remora("schedule", traces.control()).stdout.splitlines()
    expect(f"{len(lines)} decisions, the same" in golden(ctx, lines, codes=(SAME,)), "the schedule differs from itself")
    at = next(i for i, line in enumerate(lines) if i > 50 and line.endswith(" runs"))
    for steps, status in ((1, SAME), (-1, SAME), (2, DIFFERENT), (-2, DIFFERENT)):
        shown = golden(ctx, lines[:at] + [moved(lines[at], steps)] + lines[at + 1:], codes=(status,))
        expect(status == SAME or f"decision {at + 1} differs: the same at another time" in shown, shown)
    another = lines[at][:-len("runs")] + "rests"
    shown = golden(ctx, lines[:at] + [another] + lines[at + 1:], "--context", "2", codes=(DIFFERENT,)).splitlines()
    expect(shown[2].startswith(f"decision {at + 1} differs: another decision"), shown[2])
    expect_equal(shown[3:], [f"    {line}" for line in lines[at - 2:at]] + [f"  - {another}"]
                 + [f"  - {line}" for line in lines[at + 1:at + 3]] + [f"  + {line}" for line in lines[at:at + 3]],
                 "what is shown")
    chosen = lines[at].split()[2]
    other = lines[at].replace(f" {chosen} ", " idle ")
    shown = golden(ctx, lines[:at] + [other] + lines[at + 1:], codes=(DIFFERENT,))
    expect("another task was chosen" in shown, shown)
    shown = golden(ctx, lines[:-1], codes=(DIFFERENT,))
    expect(f"decision {len(lines)} differs" in shown and "golden.txt ends before it" in shown, shown)
    shown = golden(ctx, [*lines, lines[-1]], codes=(DIFFERENT,))
    expect("control ends before it" in shown and "  + (the end)" in shown, shown)


@case
def run_does_not_differ_from_itself(ctx):
    """Nor does a part of it; every task has the same jobs."""
    for options in ((), ("--times",), ("--times", "--resolution", "1"), ("--task", "control"), ("--from", "10ms")):
        done = ctx.remora("diff", traces.control(), traces.control(), *options)
        expect("the same" in done.stdout and "changed most" not in done.stdout, done.stdout)
    found = json.loads(ctx.remora("diff", traces.control(), traces.control(), "--json").stdout)
    expect(found["same"] and found["first_difference"] is None, f"{found}")
    answer = ctx.remora("sql", traces.control(), "select * from responses", "--json").stdout
    rows = {row["task"]: row for row in json.loads(answer)["rows"]}
    for task in found["tasks"]:
        expect(task["most_changed"] is None and all(pair[0] == pair[1] for pair in task.values() if isinstance(
            pair, list)), f"{task}")
        row = rows.get(task["task"])
        if row and row["task"] != "late":
            expect_equal([task[key][0] for key in ("jobs", "missed")], [row["jobs"], row["missed"]], row["task"])
            expect(abs(task["mean_response_ns"][0] - row["mean_ns"]) <= 1
                   and abs(task["worst_response_ns"][0] - row["greatest_ns"]) <= 1, f"{task}: {row}")
    expect(set(rows) <= {task["task"] for task in found["tasks"]}, f"{rows}")


@case
def wrong_use_is_refused(ctx):
    """Exit status 1, with a remedy; a trace that is damaged is compared, with status 2."""
    trace = traces.control()
    for arguments, words in (((trace,), "name a second trace"), ((trace, trace, "--golden", trace), "not with both"),
                             ((trace, "--golden", ctx.dir / "absent.txt"), "is empty or cannot be read"),
                             ((trace, trace, "--task", "nothing"), "names no task"),
                             ((trace, ctx.dir / "absent.dat"), "absent.dat")):
        done = ctx.remora("diff", *arguments, codes=(1,))
        expect(words in done.stderr, done.stderr)
    file = ctx.dir / "text.txt"
    for line in ("no schedule", "   1.5 ms  x runs", "x.000 ms  a runs", "  12x.000 ms  a runs", "\x1b[2J"):
        file.write_text(f"   0.000 ms  idle         is created\n{line}\n")
        done = ctx.remora("diff", trace, "--golden", file, codes=(1,))
        expect("text.txt:2: no line of remora schedule: " in done.stderr and "\x1b" not in done.stderr, done.stderr)
    data = (trace / "0trace.dat").read_bytes()
    cut = traces.store(ctx, "cut.dat", data[:len(data) // 2 // 16 * 16])
    shown = ctx.remora("diff", trace, cut, codes=(2,)).stdout
    expect("cut.dat ends before it" in shown, shown)
