# SPDX-License-Identifier: MIT
"""tlog, read by Python's struct module: its own reader of the published format. It has the limits of the original
ones, too: whole blocks, 1024 processes, 262,144 events of each, 20,000 blocks."""
import csv
import os
import socket
import struct
import subprocess

from viewers import traces
from support.cases import case, expect, expect_equal
from support.context import BUILD, ROOT

# Of the kind that the description of the library shows.
RECORDS = r"""
#include "tlog.h"

main()
{
  int i;

  tlog_initialize();
  for (i = 0; i < 100; i++) {
    tlog_log(TLOG_EVENT_1_IN);
    tlog_log(TLOG_EVENT_3);
    tlog_log(TLOG_EVENT_1_OUT);
  }
  return tlog_finalize();
}
"""

PAIRS = range(10, 28)


def blocks(path):
    """Records by process; the promises of the format are asserted on the way."""
    data = path.read_bytes()
    expect_equal(len(data) % 1024, 0, "bytes after the last block")
    expect(len(data) <= 20_000 * 1024, "more blocks than a reader takes")
    processes = {}
    last = None
    for at in range(0, len(data), 16):
        process, kind, arg1, arg2, seconds = struct.unpack_from(">HBBId", data, at)
        if kind == 0:
            continue
        expect(process == last or process not in processes, f"process {process} has several runs")
        expect(process == last or at % 1024 == 0, f"process {process} begins inside a block")
        last = process
        processes.setdefault(process, []).append((kind, arg1, arg2, seconds))
    expect(max(processes) < 1024, f"process {max(processes)}")
    for process, records in processes.items():
        expect(len(records) <= 262_144, f"{len(records)} events of process {process}")
        expect_equal((records[0][0], records[-1][0]), (1, 2), f"first and last of process {process}")
        times = [record[3] for record in records]
        expect(times == sorted(times), f"time falls in process {process}")
        opened = []
        for kind, _, _, _ in records:
            if kind in PAIRS and kind % 2 == 0:
                opened.append(kind)
            elif kind in PAIRS:
                expect_equal(opened.pop() if opened else None, kind - 1, f"pair in process {process}")
        expect_equal(opened, [], f"open pairs of process {process}")
    return processes


def running(processes):
    """(context, processor, begin, end) of each pair 14, 15 on a node of a task."""
    found = []
    for records in processes.values():
        _, kind, context, _ = records[0]
        begin = None
        for number, cpu, _, seconds in records if kind == 0 else ():
            if number == 14:
                begin = round(seconds * 1e9)
            elif number == 15:
                found.append((context, cpu, begin, round(seconds * 1e9)))
    return sorted(found)


def switches(events):
    """The same, from the context switches and the gaps of the trace."""
    found, now, end = [], {}, max(event["time_ns"] for event in events)

    def stop(cpu, time):
        if cpu in now:
            context, begin = now.pop(cpu)
            found.append((context, cpu, begin, time))
    for event in events:
        cpu = event["cpu"]
        if event["event"] == "context_switch" and (cpu not in now or now[cpu][0] != event["par1"]):
            stop(cpu, event["time_ns"])
            now[cpu] = (event["par1"], event["time_ns"])
        elif event["event"] in ("blackout_start", "blackout_end"):
            stop(cpu, event["time_ns"])
    for cpu in list(now):
        stop(cpu, end)
    return sorted(found)


def compare(ctx, trace):
    events = ctx.events(trace)
    path = ctx.convert(trace, "tlog")
    processes = blocks(path)
    found = sum(len(records) for records in processes.values())
    expect(found >= len(events) + 2 * len(processes), f"{found} records of {len(events)} events")
    with open(ctx.convert(path, "csv"), encoding="utf-8", newline="") as file:
        ours = sorted((int(row["cpu"]), int(row["code"], 16), *(int(word, 16) for word in row["words"].split()),
                       int(row["ticks"])) for row in csv.DictReader(file))
    theirs = sorted((process, kind, arg1, arg2, round(seconds * 1e9))
                    for process, records in processes.items() for kind, arg1, arg2, seconds in records)
    expect_equal(ours, theirs, "records as csv and as Python reads them")
    expect_equal(running(processes), switches(events), "times at which tasks run")
    times = {time for *_, time in ours}
    expect(all(event["time_ns"] in times for event in events if "time_ns" in event), "a time is missing")


@case
def recorded(ctx):
    """The recorded run: order, nesting, count and times."""
    compare(ctx, traces.control())


@case
def generated(ctx):
    """A generated trace, and one with gaps."""
    compare(ctx, traces.synthetic(ctx, 2000))
    compare(ctx, traces.lossy(ctx))


@case
def recorded_by_programs(ctx):
    """Three processes that record one file: the published readers' rules, the checks of our own tools."""
    source = traces.store(ctx, "records.c", RECORDS.encode())
    program, log = ctx.dir / "records", ctx.dir / "trace.log"
    host = ROOT / BUILD / "host"
    ctx.run("gcc", "-std=gnu89", "-I", ROOT / "foreign/published", source, "-L", host, "-ltlog", "-o", program)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        root = f"127.0.0.1:{free.getsockname()[1]}"
    processes = [subprocess.Popen([program], env={**os.environ, "LD_LIBRARY_PATH": str(host), "TLOG_FILE": str(log),
                                                  "TLOG_NODES": "3", "TLOG_NODE": str(node), "TLOG_ROOT": root})
                 for node in (2, 1, 0)]
    expect_equal([process.wait(ctx.left_s()) for process in processes], [0, 0, 0], "exit codes")
    expect_equal({process: [kind for kind, *_ in records] for process, records in blocks(log).items()},
                 {process: [1] + [10, 33, 11] * 100 + [2] for process in range(3)}, "types by process")
    ctx.remora("verify", log, codes=(6,))
    ctx.run(host / "tlogdump", "--check", log)
