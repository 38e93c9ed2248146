# SPDX-License-Identifier: MIT
"""ctf-lttng, read by lttng-analyses, which reads with babeltrace 1: times of tasks, interrupts and wake-ups are those
of our records."""
import json
import re
import struct

from viewers import traces
from viewers.ftrace import read as read_ftrace
from support.cases import case, counts, expect, expect_equal


def rows(ctx, trace, command, table):
    """Rows of a table of the machine interface: {column: cell}, where a cell is an object with a class."""
    # The version of the tracer is looked for in a directory of this name.
    directory = ctx.dir / "lttng" / "kernel"
    if not directory.exists():
        directory.parent.mkdir()
        ctx.convert(trace, "ctf-lttng", name="lttng/kernel")
    columns = json.loads(ctx.run(f"lttng-{command}-mi", "--metadata").stdout)["table-classes"][table]
    names = [column["title"] for column in columns["column-descriptions"]]
    document = json.loads(ctx.run(f"lttng-{command}-mi", directory.parent).stdout)
    found = [result for result in document["results"] if result["class"] == table]
    expect_equal(len(found), 1, f"tables {table} of {command}")
    return [dict(zip(names, row)) for row in found[0]["data"]]


def run_times(events):
    """How long each context had the processor, its interrupts included, to the last event."""
    switches = [(event["time_ns"], event["par1"]) for event in events if event["event"] == "context_switch"]
    times = {}
    for (begin, context), (end, _) in zip(switches, [*switches[1:], (events[-1]["time_ns"], None)]):
        times[context] = times.get(context, 0) + end - begin
    return times


@case
def processor_times(ctx):
    """lttng-cputop: the share of the run of each task but the idle one, which Linux has not."""
    events = ctx.events(traces.control())
    length = events[-1]["time_ns"] - events[0]["time_ns"]
    times = {context: time / length for context, time in run_times(events).items()}
    found = {row["Process"]["tid"]: row for row in rows(ctx, traces.control(), "cputop", "per-process")}
    for tid, row in found.items():
        if row["Process"]["name"] not in ("idle", "unknown"):
            expect(abs(row["CPU usage"]["value"] - times[tid]) < 1e-9, f"the share of {row}: {times[tid]}")
    expect(len(set(times) & set(found)) >= 8, f"tasks of lttng-cputop: {found}")


@case
def interrupts(ctx):
    """lttng-irqstats: how many there were of each, the shortest and the longest."""
    events = ctx.events(traces.control())
    times = {name: [event["time_ns"] for event in events if event["event"] == name]
             for name in ("interrupt_start", "interrupt_end")}
    lengths = [end - begin for begin, end in zip(times["interrupt_start"], times["interrupt_end"])]
    found = rows(ctx, traces.control(), "irqstats", "hard-stats")
    expect_equal([(row["Interrupt"]["nr"], row["Interrupt"]["name"], row["Interrupt count"]["value"],
                   row["Minimum duration"]["value"], row["Maximum duration"]["value"]) for row in found],
                 [(240, "timer", counts(events)["interrupt_start"], min(lengths), max(lengths))], "interrupts")


@case
def wake_ups(ctx):
    """lttng-schedlog: every switch to a task that was woken, and when that was, as in the text for ftrace."""
    _, lines, _ = read_ftrace(ctx, traces.control())
    woken, expected = {}, []
    for line in lines:
        if line["event"] == "sched_waking":
            words = re.fullmatch(r"comm=(.*) pid=(\d+) prio=\d+ target_cpu=000", line["words"])
            woken.setdefault(int(words[2]), (words[1], line["time_ns"]))
        elif line["event"] == "sched_switch":
            tid = int(re.search(r"next_pid=(\d+)", line["words"])[1])
            if tid in woken:
                expected.append((tid, *woken.pop(tid), line["time_ns"]))
    found = [(row["Wakee process"]["tid"], row["Wakee process"]["name"], row["Wakeup timestamp"]["value"],
              row["Switch timestamp"]["value"]) for row in rows(ctx, traces.control(), "schedlog", "log")]
    expect_equal(found, expected, "wake-ups")
    expect(len(found) > 100, f"wake-ups: {len(found)}")


@case
def names_of_linux(ctx):
    """Typed events that an application has named as events of Linux are not taken for these, whatever fields they
    have."""
    names = ["sched_switch", "sched_wakeup", "sched_process_fork", "irq_handler_entry", "irq_handler_exit",
             "softirq_entry", "lttng_statedump_process_state", "syscall_entry_read", "syscall_exit_read",
             "exit_syscall", "timer_hrtimer_start", "block_rq_issue", "net_dev_xmit", "kmem_mm_page_alloc"]
    declarations = [(i, name, [(3, 0, "next_tid", "")]) for i, name in enumerate(names)]
    records = b"".join(traces.record(traces.CONTEXT_SWITCH, 10_000 * i + 1, 1 + i % 2)
                       + traces.typed(10_000 * i + 2, i % len(names), struct.pack("<I", i)) for i in range(60))
    data = traces.chunk(records, tasks={1: "one", 2: "two"}, declarations=declarations)
    trace = traces.store(ctx, "names.dat", data)
    for command, table in (("cputop", "per-process"), ("schedtop", "top"), ("schedlog", "log")):
        found = rows(ctx, trace, command, table)
        if command == "cputop":
            expect({"one", "two"} <= {row["Process"]["name"] for row in found}, f"tasks of {command}: {found}")
