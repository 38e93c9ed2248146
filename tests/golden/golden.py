#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden schedules: under a clock that counts instructions an application's schedule is the same in every run, so its
text (`remora schedule`, times cut to 100 us) is kept in the tree, one file per application. A change of the text is a
change of the kernel's behaviour: if it is intended, the file changes in the same commit. `remora diff --golden`
compares them: a time that differs by one step is not a change.

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
TIMEOUT_S = 120


class Run:
    """One application, traced."""

    def __init__(self, app):
        self.app, self.file = app, GOLDEN / f"{app}.txt"
        self.ctx = GuestContext("golden", app, TIMEOUT_S)
        # All words of the command line: reading one more would take instructions.
        words = f"exit=debug app={app} sink=disk clock=icount nic=none seed=1"
        _, self.directory = self.ctx.traced(app, nic="none", raw_words=words)
        self.ctx.remora("adopt", self.directory)
        self.ctx.remora("check", self.directory)

    def update(self):
        text = self.ctx.remora("schedule", self.directory).stdout
        expect(text, f"remora schedule prints nothing for {self.app}")
        self.file.write_text(text, encoding="utf-8")
        print(f"wrote tests/golden/{self.app}.txt: {text.count(chr(10))} events")

    def differs(self):
        """Whether there is a difference; prints the first, with context."""
        expect(self.file.exists(), f"tests/golden/{self.app}.txt does not exist: make golden writes it")
        done = self.ctx.remora("diff", self.directory, "--golden", self.file, codes=(0, 7))
        if done.returncode == 0:
            print(f"PASS golden_{self.app}: {done.stdout.splitlines()[-1]}")
        else:
            print(f"{self.app}: {done.stdout}"
                  f"  intended? make golden, and commit tests/golden/{self.app}.txt with the change")
        return done.returncode != 0


def main():
    if sys.argv[1:] not in (["diff"], ["update"]):
        sys.exit("golden.py diff|update")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:  # the clock counts instructions
        runs = list(pool.map(Run, APPS))
    if sys.argv[1] == "update":
        for run in runs:
            run.update()
        return 0
    return 1 if any([run.differs() for run in runs]) else 0


try:
    sys.exit(main())
except Failure as failure:
    sys.exit(f"golden: {failure}")
