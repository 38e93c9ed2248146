# SPDX-License-Identifier: MIT
"""Traces of other systems: what threads and interrupts of a .kev file and pairs of a tlog file do is a schedule, so
every view has it. The files are written here, from the published layouts; the schedule was computed by hand."""
import csv
import io
import json
import re
import struct

from viewers import traces
from viewers.ftrace import read as read_ftrace
from support.cases import case, expect, expect_equal

RUNNING, READY, RECEIVE, NANOSLEEP, MUTEX, CREATE, DESTROY = 1, 2, 5, 12, 13, 24, 25
THREAD, INTERRUPT, PROCESS_NAME = 4, 3, 192
TIMER = 0x80000000  # an interrupt whose number has more than 16 bits

FORMATS = ("csv", "chrome-json", "ftrace", "kernelshark", "perfetto", "vcd", "dat", "compact", "kev", "tlog", "sqlite",
           "ctf", "ctf-lttng")


def kev(ctx):
    """Two processors, one tick per nanosecond. On the first: idle, an interrupt makes app's thread 2 ready, it runs, is
    preempted, runs, waits for a mutex, runs and ends. On the second thread 1 runs, sleeps, runs."""
    out = [b"TRACE_HEADER_BEGIN::"]
    out += [f"TRACE_{key}::{value}".encode() for key, value in (
        ("FILE_NAME", "x"), ("DATE", "x"), ("VER_MAJOR", "1"), ("VER_MINOR", "01"), ("LITTLE_ENDIAN", "TRUE"),
        ("ENCODING", "16 byte events"), ("BOOT_DATE", "x"), ("CYCLES_PER_SEC", "1000000000"), ("CPU_NUM", "2"),
        ("SYSNAME", "QNX"), ("SYSPAGE_LEN", "0"))]
    out.append(b"TRACE_HEADER_END::")

    def slot(time, cpu, group, event, first, second, kind=0):
        out.append(struct.pack("<4I", kind << 30 | cpu << 24 | group << 10 | event, time, first, second))
    slot(1, 0, 1, 1, 0, 1)
    slot(2, 1, 1, 1, 0, 2)
    name = struct.unpack("<4I", b"proc/app\0\0\0\0\0\0\0\0")
    slot(3, 0, THREAD, PROCESS_NAME, 1, 9, kind=1)
    slot(3, 0, THREAD, PROCESS_NAME, *name[:2], kind=2)
    slot(3, 0, THREAD, PROCESS_NAME, *name[2:], kind=3)
    for time, cpu, event, pid, tid in (
            (10, 0, RUNNING, 1, 1), (20, 1, CREATE, 9, 1), (30, 1, RUNNING, 9, 1), (1100, 0, READY, 9, 2),
            (1300, 0, RUNNING, 9, 2), (2000, 1, NANOSLEEP, 9, 1), (2010, 1, RUNNING, 1, 2), (3000, 0, READY, 9, 2),
            (3010, 0, RUNNING, 9, 3), (4000, 0, RECEIVE, 9, 3), (4010, 0, RUNNING, 9, 2), (5000, 0, MUTEX, 9, 2),
            (5010, 0, RUNNING, 1, 1), (6000, 1, READY, 9, 1), (6010, 1, RUNNING, 9, 1), (7000, 0, READY, 9, 2),
            (7010, 0, RUNNING, 9, 2), (8000, 0, DESTROY, 9, 2), (8010, 0, RUNNING, 1, 1), (9000, 1, READY, 9, 1)):
        if time == 1100:
            slot(1000, 0, INTERRUPT, 1, TIMER, 0)
        slot(time, cpu, THREAD, event, pid, tid)
        if time == 1100:
            slot(1200, 0, INTERRUPT, 2, TIMER, 0)
    return traces.store(ctx, "foreign.kev", b"".join(out))


# (time, processor, task that leaves, its state as Linux has it, task that follows)
KEV_SWITCHES = [
    (10, 0, "unknown", "R", "idle"), (30, 1, "unknown", "R", "proc/app:1"), (1300, 0, "idle", "R", "proc/app:2"),
    (2010, 1, "proc/app:1", "S", "idle"), (3010, 0, "proc/app:2", "R", "proc/app:3"),
    (4010, 0, "proc/app:3", "S", "proc/app:2"), (5010, 0, "proc/app:2", "D", "idle"),
    (6010, 1, "idle", "R", "proc/app:1"), (7010, 0, "idle", "R", "proc/app:2"), (8010, 0, "proc/app:2", "X", "idle")]


def tlog(ctx):
    """Two processes; in the first EVENT_2 is inside EVENT_1. Times in microseconds."""
    records = {0: [(0, 1), (1, 10), (2, 12), (4, 33), (5, 13), (7, 11), (9, 10), (10, 11), (12, 2)],
               1: [(0, 1), (3, 14), (6, 15), (8, 2)]}
    blocks = [b"".join(struct.pack(">HBBId", process, kind, 0, 0, time * 1e-6) for time, kind in rows)
              for process, rows in records.items()]
    return traces.store(ctx, "foreign.log", b"".join(block.ljust(1024, b"\0") for block in blocks))


TLOG_SWITCHES = [
    (0, 0, "unknown", "R", "node 0"), (0, 1, "unknown", "R", "node 1"),
    (1000, 0, "node 0", "R", "0 EVENT_1"), (2000, 0, "0 EVENT_1", "R", "0 EVENT_2"),
    (3000, 1, "node 1", "R", "1 EVENT_3"), (5000, 0, "0 EVENT_2", "S", "0 EVENT_1"),
    (6000, 1, "1 EVENT_3", "S", "node 1"), (7000, 0, "0 EVENT_1", "S", "node 0"),
    (8000, 1, "node 1", "S", "idle"), (9000, 0, "node 0", "R", "0 EVENT_1"),
    (10000, 0, "0 EVENT_1", "S", "node 0"), (12000, 0, "node 0", "S", "idle")]


def switches_of(lines, first):
    """Those of an ftrace file. first: the time in the file at which it begins to count."""
    found = []
    for line in lines:
        if line["event"] == "sched_switch":
            words = re.fullmatch(r"prev_comm=(.*) prev_pid=\d+ prev_prio=\d+ prev_state=(\S+) ==> next_comm=(.*) "
                                 r"next_pid=\d+ next_prio=\d+", line["words"])
            expect(words, f"no sched_switch: {line['words']}")
            found.append((line["time_ns"] + first, line["cpu"], *words.groups()))
    return found


def run_times(switches, end):
    """How long each task ran. end: the time of the last event of each processor."""
    times, now = {}, {}
    for time, cpu, task in [*((time, cpu, after) for time, cpu, _, _, after in switches),
                            *((time, cpu, None) for cpu, time in end.items())]:
        if cpu in now:
            before, begin = now[cpu]
            times[before] = times.get(before, 0) + time - begin
        now[cpu] = (task, time)
    return {task: time for task, time in times.items() if time}


def expect_everywhere(ctx, trace, switches, end, first, handlers=0):
    """The switches in each kind of view, and that each format takes the trace. end: the time of the last event of each
    processor; handlers: the time in handlers, all while idle."""
    _, lines, _ = read_ftrace(ctx, trace)
    expect_equal(switches_of(lines, first), switches, "sched_switch")
    summary = json.loads(ctx.remora("summary", "--json", trace).stdout)
    expect_equal(summary["cpus"], 2, "processors of the summary")
    found = {}
    for task in summary["tasks"]:
        found[task["name"]] = found.get(task["name"], 0) + task["cpu_time_ns"]
    expected = run_times(switches, end)
    if handlers:
        expected["idle"] -= handlers
    expect_equal({name: time for name, time in found.items() if time}, expected, "times of the summary")
    # To the end of the trace instead of the processor's.
    rows = ctx.remora("sql", trace, "select task, sum(duration_ns) as time from intervals where state = 'running' "
                                    "group by task", "--csv").stdout
    expect_equal({row["task"]: int(row["time"]) for row in csv.DictReader(io.StringIO(rows)) if int(row["time"])},
                 run_times(switches, dict.fromkeys(end, max(end.values()))), "running intervals of sql")
    said = re.findall(r" ms  (.*?) +runs$", ctx.remora("schedule", trace).stdout, re.M)
    expect_equal(said, [after for *_, after in switches], "what remora schedule says")
    for form in FORMATS:
        ctx.convert(trace, form, name=f"out.{form}")
    ctx.remora("verify", trace, codes=(6,))


@case
def kev_threads(ctx):
    """Threads and interrupts of a .kev file that another system wrote."""
    path = kev(ctx)
    expect_everywhere(ctx, path, KEV_SWITCHES, {0: 8010, 1: 9000}, 3, 200)
    again = [[(row["class"], row["number"], row["words"]) for row in ctx.events(trace)]
             for trace in (path, ctx.dir / "out.kev")]
    expect_equal(again[1], again[0], "events written and read again")
    _, lines, _ = read_ftrace(ctx, path)
    handlers = [(line["time_ns"] + 3, line["words"]) for line in lines if line["event"].startswith("irq_handler")]
    expect_equal(handlers, [(1000, "irq=65535 name=interrupt 0x80000000"), (1200, "irq=65535 ret=handled")], "handlers")


@case
def tlog_pairs(ctx):
    """Pairs of a tlog file."""
    expect_everywhere(ctx, tlog(ctx), TLOG_SWITCHES, {0: 12000, 1: 8000}, 0)
    _, lines, _ = read_ftrace(ctx, ctx.dir / "out.kev")
    # A .kev file has no equal stamps: those of the processors are apart.
    again = sorted(switches_of(lines, 0), key=lambda switch: switch[1])
    expected = sorted(TLOG_SWITCHES, key=lambda switch: switch[1])
    expect_equal([switch[1:] for switch in again], [switch[1:] for switch in expected], "switches as a .kev file")
    late = [time - switch[0] for (time, *_), switch in zip(again, expected)]
    expect(max(late) - min(late) < 16, f"as a .kev file they are late by {late} ns")
