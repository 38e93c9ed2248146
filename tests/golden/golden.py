#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden schedules: under a clock that counts instructions an application's schedule is the same in every run, so its
text (`remora schedule`, times cut to 100 us) is kept in the tree, one file per application. A change of the text is a
change of the kernel's behaviour: if it is intended, the file changes in the same commit. A time that differs by one
step is not a change.

   golden.py diff     the first event that differs, with its context; exit code 1 if there is one
   golden.py update   rewrites the files

KERNEL and REMORA come from the environment."""
import concurrent.futures
import os
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(GOLDEN.parent))

from support.cases import Failure, expect  # noqa: E402
from support.guests import GuestContext  # noqa: E402

APPS = ("control", "inversion", "overload", "rm_vs_edf", "servers", "tour")
CONTEXT_LINES = 5
TIMEOUT_S = 120


def schedule(app):
    """The application's schedule as lines."""
    ctx = GuestContext("golden", app, TIMEOUT_S)
    # All words of the command line: reading one more would take instructions.
    words = f"exit=debug app={app} sink=disk clock=icount nic=none seed=1"
    _, directory = ctx.traced(app, nic="none", raw_words=words)
    ctx.remora("adopt", directory)
    ctx.remora("check", directory)
    lines = ctx.remora("schedule", directory).stdout.splitlines()
    expect(lines, f"remora schedule prints nothing for {app}")
    return lines


def same(old, new):
    """Equal except for one step of the cut times: a few more instructions may cross the edge of a step."""
    old_time, _, old_text = old.strip().partition(" ms ")
    new_time, _, new_text = new.strip().partition(" ms ")
    if old_text != new_text:
        return False
    return old_time == new_time or abs(round(float(old_time) * 10) - round(float(new_time) * 10)) <= 1


def show_difference(app, expected, found):
    """Whether there is a difference; prints the first, with context."""
    length = max(len(expected), len(found))
    for line in range(length):
        old = expected[line] if line < len(expected) else "(the end)"
        new = found[line] if line < len(found) else "(the end)"
        if line < min(len(expected), len(found)) and same(old, new):
            continue
        print(f"{app}: event {line + 1} differs from tests/golden/{app}.txt")
        for before in expected[max(0, line - CONTEXT_LINES):line]:
            print(f"    {before}")
        print(f"  - {old}")
        print(f"  + {new}")
        for later in found[line + 1:line + 1 + CONTEXT_LINES]:
            print(f"    {later}")
        print(f"  intended? make golden, and commit tests/golden/{app}.txt with the change")
        return True
    return False


def main():
    if sys.argv[1:] not in (["diff"], ["update"]):
        sys.exit("golden.py diff|update")
    update = sys.argv[1] == "update"
    differs = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # the clock counts instructions
        schedules = list(pool.map(schedule, APPS))
    for app, found in zip(APPS, schedules):
        file = GOLDEN / f"{app}.txt"
        if update:
            file.write_text("\n".join(found) + "\n", encoding="utf-8")
            print(f"wrote tests/golden/{app}.txt: {len(found)} events")
            continue
        if not file.exists():
            sys.exit(f"tests/golden/{app}.txt does not exist: make golden writes it")
        expected = file.read_text(encoding="utf-8").splitlines()
        if show_difference(app, expected, found):
            differs = True
        else:
            print(f"PASS golden_{app}: {len(found)} events")
    return 1 if differs else 0


try:
    sys.exit(main())
except Failure as failure:
    sys.exit(f"golden: {failure}")
