#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-python: how fast the Python module reads a long trace, beside `remora count` on the same file.

The trace repeats the recorded run (sql.py). Prints `FIGURE name value unit`, of processor times, best of several rounds
in which the programs alternate; writes the table of docs/python.md with --update.
Usage: python_speed.py REMORA PYTHON FOLDER_OF_MODULE [EVENTS] [--update]
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from sql import ROOT, long_trace

DOCUMENT = ROOT / "docs/python.md"
TABLE = re.compile(r"(?<=<!-- make bench-python -->\n).*?(?=<!-- end -->)", re.S)
ROUNDS = 3
EVENTS = 20_000_000
# Prints the processor time of opening alone: an interpreter takes the same for any trace.
OPEN = """
import sys, time
sys.path.insert(0, sys.argv[2])
import numpy, remora
begin = time.process_time()
trace = remora.open(sys.argv[1], schedule=sys.argv[3] == "schedule")
print(time.process_time() - begin, len(trace.events))
"""


def counted(remora, trace):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([remora, "count", "-j1", trace], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def opened(python, module, trace, what):
    done = subprocess.run([python, "-W", "ignore", "-c", OPEN, trace, module, what], capture_output=True, text=True,
                          check=True)
    return float(done.stdout.split()[0])


def main():
    words = [word for word in sys.argv[1:] if word != "--update"]
    remora, python, module = words[:3]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as scratch:
        trace = os.path.join(scratch, "long.dat")
        events = long_trace(remora, trace, int(float(words[3])) if len(words) > 3 else EVENTS)
        best = {}
        for _ in range(ROUNDS):
            for name, run in (("remora count -j1", lambda: counted(remora, trace)),
                              ("remora.open(path, schedule=False)", lambda: opened(python, module, trace, "events")),
                              ("remora.open(path)", lambda: opened(python, module, trace, "schedule"))):
                best[name] = min(run(), best.get(name, 1e9))
    rows = [f"| {events:,} records | seconds | million records a second | times `remora count` |", "|---|---|---|---|"]
    for name, took in best.items():
        ratio = took / best["remora count -j1"]
        rows.append(f"| `{name}` | {took:.2f} | {events / took / 1e6:.1f} | {ratio:.1f} |")
        word = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        print(f"FIGURE python.{word} {events / took / 1e6:.1f} Mrecords/s")
    if "--update" in sys.argv:
        text = DOCUMENT.read_text(encoding="utf-8")
        DOCUMENT.write_text(TABLE.sub(lambda _: "\n".join(rows) + "\n", text), encoding="utf-8")


main()
