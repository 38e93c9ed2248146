#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How time and memory of the host tools grow with the length of a trace: from 10^5 events on, ten times as many each
step. Prints `SCALE command.events n value unit`: processor time of an event, and the largest resident memory, the best
of a few processes. `make bench-scale` adds the kernel's (scale.py) and writes docs/scale.md (scale_page.py).

   host_scale.py HOST_SPEED REMORA EVENTS_MAX"""
import os
import subprocess
import sys
import tempfile

COMMANDS = (("count", ["count"]), ("print", ["print"]), ("print --json", ["print", "--json"]),
            ("summary", ["summary"]), ("verify", ["verify"]), ("check", ["check"]))
EVENTS_MIN = 100_000
# A long trace is long enough for one run, and a short one is over before the clock has moved.
ROUNDS = ((1_000_000, 5), (10_000_000, 3))
RECORD_BYTES = 16
ACCOUNT_OPEN = 6  # verify: a file alone has no totals of the machine to close the account with


def rounds(events):
    return next((times for limit, times in ROUNDS if events <= limit), 1)


def measured(command):
    """(seconds of processor time, peak bytes) of one process."""
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere, stderr=subprocess.PIPE)
        text = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, ACCOUNT_OPEN):
        sys.exit(f"error: {' '.join(command)}: status {process.returncode}: {text[-300:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def best(command, times):
    runs = [measured(command) for _ in range(times)]
    return min(run[0] for run in runs), min(run[1] for run in runs)


def starts(host_speed, remora, folder):
    """{command: processor time of a process that reads ten events}: subtracted from the others."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        trace = os.path.join(scratch, "trace.dat")
        subprocess.run([host_speed, "generate", trace, "10"], check=True)
        return {name: best([remora, *words, trace], 10)[0] for name, words in COMMANDS}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    host_speed, remora, most = sys.argv[1], sys.argv[2], int(float(sys.argv[3]))
    # In the folder of the build: a trace of 10^9 events is 16 GB, which /tmp may not hold.
    folder = os.path.dirname(os.path.abspath(host_speed))
    start = starts(host_speed, remora, folder)
    print(f"NOTE a process starts in {max(start.values()) * 1e3:.1f} ms of processor time, which is subtracted")
    events = EVENTS_MIN
    while events <= most:
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            free = os.statvfs(scratch)
            if free.f_bavail * free.f_frsize < events * RECORD_BYTES * 1.1:
                print(f"NOTE {events} events were not measured: not enough space on the disk")
                break
            trace = os.path.join(scratch, "trace.dat")
            subprocess.run([host_speed, "generate", trace, str(events)], check=True)
            for name, words in COMMANDS:
                spent, peak = best([remora, *words, trace], rounds(events))
                label = name.replace(" ", "_")
                print(f"SCALE {label}.events {events} {(spent - start[name]) * 1e9 / events:.2f} ns/event")
                print(f"SCALE {label}.events {events} {peak / 1e6:.1f} MB", flush=True)
        events *= 10


if __name__ == "__main__":
    main()
