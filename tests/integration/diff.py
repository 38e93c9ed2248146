# SPDX-License-Identifier: MIT
"""`remora diff` of two runs of the application inversion that differ in one thing: in the second, the task in the
middle is released 14 ms later, when the most urgent one does not wait for the mutex any more."""
import json

from support.cases import case, expect, expect_equal

WORDS = "exit=debug app=inversion sink=disk clock=icount nic=none seed=1"
DIFFERENT = 7
ENDED_BADLY = 8


def traced(ctx, name, words, code):
    """A session of this run."""
    directory = ctx.dir / name
    outcome, files = ctx.traced("inversion", nic="none", raw_words=words, code=code)
    files.rename(directory)
    ctx.remora("adopt", directory)
    return outcome, directory


def first_difference(ctx, sessions):
    """By comparing what `remora schedule` prints, times left out: (number, the two lines)."""
    texts = [[line.partition(" ms  ")[2] for line in ctx.remora("schedule", session).stdout.splitlines()]
             for session in sessions]
    return next((i + 1, list(lines)) for i, lines in enumerate(zip(*texts)) if lines[0] != lines[1])


@case
def diff_explains_a_priority_inversion(ctx):
    """The first decision that differs, the miss that is gone, and who took the time: `comm`, unbounded. Two equal runs
    do not differ, to the nanosecond."""
    # The application reports a failure without its miss.
    _, plain = traced(ctx, "plain", WORDS, 33)
    _, again = traced(ctx, "again", WORDS, 33)
    _, later = traced(ctx, "later", f"{WORDS} shift=comm:14000000", 35)
    expect("the same at the same times" in ctx.remora("diff", plain, again, "--times", "--resolution", "1").stdout,
           "two equal runs differ")
    found = json.loads(ctx.remora("diff", plain, later, "--json", codes=(ENDED_BADLY,)).stdout)
    number, lines = first_difference(ctx, (plain, later))
    shown = found["first_difference"]["decisions"]
    expect_equal([(row["decision"], row["text"]) for row in shown], [(number, line) for line in lines], "decision")
    task = next(task for task in found["tasks"] if task["task"] == "bus_dist")
    expect_equal((task["jobs"], task["missed"]), ([4, 4], [1, 0]), "bus_dist")
    most = task["most_changed"]
    expect_equal(most["job"], 1, "the job that changed most")
    share = most["shares"][0]
    expect_equal(share["share"], "blocking by comm (bus, held by weather, unbounded)", "culprit")
    expect(14_900_000 < share["ns"][0] <= 15_100_000 and share["ns"][1] == 0, f"{share}")
    change = most["response_ns"][0] - most["response_ns"][1]
    expect(abs(change - sum(row["ns"][0] - row["ns"][1] for row in most["shares"])) < 100,
           f"the shares of {most} do not add up to {change} ns")
    text = ctx.remora("diff", plain, later, codes=(ENDED_BADLY,)).stdout
    expect(f"decision {number} differs: another decision\n" in text and share["share"] in text, text)
