#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-host: the host tools compared with naive loops (host_speed) and with babeltrace2 on the same events.

Prints `FIGURE name value unit`, `NOTE text`, `GOAL id value wanted met|missed`. Times are processor times, best of
several rounds; where several processors are the point, elapsed times. docs/host-performance.md describes each.
Usage: host.py HOST_SPEED REMORA [EVENTS]
"""
import dataclasses
import functools
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS = 3
PEER_EVENTS = 300_000  # babeltrace2 takes seconds for a million
# Where all processors are measured: as many events as make the start of a process, which no thread shortens, a small
# part of it.
MANY_EVENTS = {"count": 30_000_000, "print": 10_000_000}


@dataclasses.dataclass
class Cost:
    """Of a command: seconds that it computed, seconds until it ended, and the most memory that it had."""
    processor_s: float
    elapsed_s: float
    megabytes: float


def cost_of(command, fine=(0,), reads_output=False):
    """The best of several rounds; None if the exit status is none of the fine ones. The output is read, or thrown
    away."""
    best = None
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE if reads_output else subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while reads_output and process.stdout.read1(1 << 16):
                pass
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        cost = Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begin, used.ru_maxrss / 1024)
        if process.returncode not in fine:
            return None
        best = cost if best is None else Cost(*map(min, dataclasses.astuple(best), dataclasses.astuple(cost)))
    return best


def goal(name, value, wanted, most=False):
    met = value <= wanted if most else value >= wanted
    print(f"GOAL {name} {value:.2f} {'<=' if most else '>='}{wanted} {'met' if met else 'missed'}", flush=True)


def compare_file_with_pipe(remora, scratch):
    """csv into a file, which replaces the one of the round before, beside csv through a pipe."""
    command = [remora, "convert", os.path.join(scratch, "trace.dat"), "--to", "csv", "-o"]
    file, pipe = cost_of([*command, os.path.join(scratch, "trace.csv")]), cost_of([*command, "-"], reads_output=True)
    if not file or not pipe:
        print("NOTE remora convert --to csv failed: csv.file is not measured")
        return
    print(f"FIGURE csv_to_file {EVENTS / file.processor_s / 1e6:.2f} M_events/s")
    print(f"FIGURE csv_to_pipe {EVENTS / pipe.processor_s / 1e6:.2f} M_events/s")
    goal("csv.file_beside_pipe", pipe.processor_s / file.processor_s, 1.0)


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
    # Both per event, of traces of different lengths: ours are so fast that starting the process would dominate.
    for name, wanted, command, sink in (("P9", 20, "count", ["-c", "sink.utils.counter"]), ("P10", 30, "print", [])):
        peer = cost_of(["babeltrace2", ctf, *sink])
        if not peer:
            print(f"NOTE babeltrace2 failed: {name}.babeltrace2 is not measured")
            continue
        each = both_costs(remora, command, host_speed, scratch)["2"].elapsed_s / MANY_EVENTS[command]
        print(f"FIGURE {name}_babeltrace2 {PEER_EVENTS / peer.elapsed_s / 1e6:.2f} M_events/s")
        print(f"FIGURE {name}_remora {1 / each / 1e6:.2f} M_events/s")
        goal(f"{name}.babeltrace2", (peer.elapsed_s / PEER_EVENTS) / each, wanted)


def measure_passes(remora, trace):
    """Commands that follow every event and print a page, as processes. Whether all records of a plain file are there is
    not known: verify says so by its status."""
    for name, *words in (("count", "-j1"), ("summary",), ("verify",), ("check",)):
        cost = cost_of([remora, name, trace, *words], fine=(6,) if name == "verify" else (0,))
        if not cost:
            print(f"NOTE remora {name} failed: P9.{name} is not measured")
            continue
        goal(f"P9.{name}_M_events_s", EVENTS / cost.processor_s / 1e6, 15)


def compare_many_files(remora, host_speed, scratch, name, files, events):
    """P15: a session of many files with one file of the same events. What it costs to open, read and close the files by
    themselves is beside the ratio: with it alone, the ratio would be that of `floor`."""
    many, one, output = (os.path.join(scratch, name) for name in ("many", "one", "output"))
    for session, chunks in ((many, files), (one, 1)):
        shutil.rmtree(session, ignore_errors=True)
        subprocess.run([host_speed, "session", session, str(events), str(chunks)], check=True)
    bare = [cost_of([host_speed, "files", session, str(chunks)]) for session, chunks in ((many, files), (one, 1))]
    least_s = bare[0].processor_s - bare[1].processor_s
    print(f"FIGURE {name}_open_read_close {1e6 * least_s / files:.2f} us a file")
    for command, arguments in (
            ("count", ["count", "-j1"]), ("print", ["print", "-j1"]), ("summary", ["summary"]), ("verify", ["verify"]),
            ("check", ["check"]), ("convert", ["convert", "--to", "dat", "-o", output]),
            ("sql", ["sql", "SELECT count(*) FROM events"]), ("report", ["report", "-o", output]),
            ("pack", ["pack", "-o", output])):
        # The generated session has no totals: verify says with 6 that its account stays open.
        costs = [cost_of([remora, arguments[0], session, *arguments[1:]], fine=(0, 6)) for session in (many, one)]
        if None in costs:
            print(f"NOTE remora {command} failed: {name}.{command} is not measured")
            continue
        goal(f"{name}.{command}_megabytes", costs[0].megabytes, 50, most=True)
        ratio, floor = (cost / costs[1].processor_s for cost in
                        (costs[0].processor_s, costs[1].processor_s + least_s))
        print(f"GOAL {name}.{command}_relative_to_one_file {ratio:.2f},_floor_{floor:.2f} <=1.3 "
              f"{'met' if ratio <= 1.3 else 'missed'}", flush=True)


@functools.cache
def both_costs(remora, command, host_speed, scratch):
    """{threads: cost} of a command on a trace that is long enough for it."""
    trace = os.path.join(scratch, "many.dat")
    subprocess.run([host_speed, "generate", trace, str(MANY_EVENTS[command])], check=True)
    costs = {jobs: cost_of([remora, command, trace, "-j", jobs]) for jobs in ("1", "2")}
    os.remove(trace)
    if None in costs.values():
        sys.exit(f"error: remora {command} -j failed")
    return costs


def compare_processors(remora, host_speed, scratch):
    """P16: two threads with one."""
    costs = both_costs(remora, "print", host_speed, scratch)
    goal("P16.print", costs["1"].elapsed_s / costs["2"].elapsed_s, 1.8)


FILES = 20_000
# A streamed run writes chunks of 65,536 bytes (kernel/root/streaming.cpp).
FULL_FILES = 2_000
FULL_RECORDS = 4_096
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
        compare_processors(remora, host_speed, scratch)
        compare_many_files(remora, host_speed, scratch, "P15", FILES, EVENTS)
        compare_many_files(remora, host_speed, scratch, "P15.full", FULL_FILES, FULL_FILES * FULL_RECORDS)
    print(f"NOTE took {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
