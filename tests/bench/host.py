#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-host: the host tools compared with naive loops (host_speed) and with babeltrace2 on the same events.

Prints `FIGURE name value unit`, `NOTE text`, `GOAL id value wanted met|missed`. Times are processor times, best of
several rounds. docs/host-performance.md describes each.
Usage: host.py HOST_SPEED REMORA [EVENTS]
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
PEER_EVENTS = 300_000  # babeltrace2 takes seconds for a million


def processor_time(command, wanted_status=0, reads_output=False):
    """Seconds that the command and its children computed; None if it did not end as it should. Its output is read, or
    thrown away."""
    best = None
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)  # in microseconds, where os.times() has ticks
        with subprocess.Popen(command, stdout=subprocess.PIPE if reads_output else subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as done:
            while reads_output and done.stdout.read1(1 << 16):
                pass
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != wanted_status:
            return None
        spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best


def compare_file_with_pipe(remora, scratch):
    """csv into a file, which replaces the one of the round before, beside csv through a pipe."""
    command = [remora, "convert", os.path.join(scratch, "trace.dat"), "--to", "csv", "-o"]
    file = processor_time([*command, os.path.join(scratch, "trace.csv")])
    pipe = processor_time([*command, "-"], reads_output=True)
    if not file or not pipe:
        print("NOTE remora convert --to csv failed: csv.file is not measured")
        return
    print(f"FIGURE csv_to_file {EVENTS / file / 1e6:.2f} M_events/s")
    print(f"FIGURE csv_to_pipe {EVENTS / pipe / 1e6:.2f} M_events/s")
    goal("csv.file_beside_pipe", pipe / file, 1.0)


def goal(name, value, least):
    verdict = "met" if value >= least else "missed"
    print(f"GOAL {name} {value:.2f} >={least} {verdict}", flush=True)


def compare_with_babeltrace(remora, host_speed, scratch):
    if shutil.which("babeltrace2") is None:
        print("NOTE babeltrace2 is not installed: P9.babeltrace2 and P10.babeltrace2 are not measured")
        return
    trace, ctf = os.path.join(scratch, "peer.dat"), os.path.join(scratch, "ctf")
    subprocess.run([host_speed, "generate", trace, str(PEER_EVENTS)], check=True)
    made = subprocess.run([remora, "convert", trace, "--to", "ctf", "-o", ctf], check=False)
    if made.returncode != 0:
        print("NOTE remora convert --to ctf failed: babeltrace2 has nothing to read")
        return
    # Ours are so fast that starting the process would dominate: a longer trace, and time per event.
    ours, ours_events = os.path.join(scratch, "trace.dat"), EVENTS
    for name, wanted, mine, theirs in (
            ("P9", 100, [remora, "count", ours], ["babeltrace2", ctf, "-c", "sink.utils.counter"]),
            ("P10", 30, [remora, "print", ours], ["babeltrace2", ctf])):
        spent, peer = processor_time(mine), processor_time(theirs)
        if not spent or not peer:
            print(f"NOTE {' '.join(mine if not spent else theirs)} failed: {name}.babeltrace2 is not measured")
            continue
        print(f"FIGURE {name}_babeltrace2 {PEER_EVENTS / peer / 1e6:.2f} M_events/s")
        print(f"FIGURE {name}_remora {ours_events / spent / 1e6:.2f} M_events/s")
        goal(f"{name}.babeltrace2", (peer / PEER_EVENTS) / (spent / ours_events), wanted)


def measure_passes(remora, trace):
    """Commands that follow every event and print a page, as processes. Whether all records of a plain file are there is
    not known: verify says so by its status."""
    for command, status in (("count", 0), ("summary", 0), ("verify", 6), ("check", 0)):
        spent = processor_time([remora, command, trace], status)
        if not spent:
            print(f"NOTE remora {command} failed: P9.{command} is not measured")
            continue
        goal(f"P9.{command}_M_events_s", EVENTS / spent / 1e6, 45)


EVENTS = int(sys.argv[3]) if len(sys.argv) > 3 else 6_000_000


def main():
    host_speed, remora = sys.argv[1], sys.argv[2]
    begin = time.time()
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, "trace.dat")
        subprocess.run([host_speed, "generate", trace, str(EVENTS)], check=True)
        print(f"NOTE {EVENTS} events; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
        subprocess.run([host_speed, "measure", trace, scratch], check=True)
        measure_passes(remora, trace)
        compare_file_with_pipe(remora, scratch)
        compare_with_babeltrace(remora, host_speed, scratch)
    print(f"NOTE took {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
