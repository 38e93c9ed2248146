# SPDX-License-Identifier: MIT
"""ctf-lttng, read by babeltrace2, and held against what Trace Compass wants of an LTTng kernel trace."""
import re

from viewers import traces
from viewers.ctf import native
from support.cases import case, counts, expect, expect_equal

LINE = re.compile(r"^\[(\d+)\.(\d{9})\] (?:(\S+) )?(?:remora:)?(\w+): \{ cpu_id = (\d+) \}(?:, \{ (?:(.*) )?\})?$")

# What Trace Compass reads by name; without one of them a view stays empty.
FIELDS = {
    "sched_switch": "prev_comm prev_tid prev_prio prev_state next_comm next_tid next_prio",
    "sched_waking": "comm tid prio target_cpu",
    "sched_wakeup": "comm tid prio target_cpu",
    "sched_wakeup_new": "comm tid prio target_cpu",
    "sched_process_fork": "parent_comm parent_tid parent_pid child_comm child_tid child_pid",
    "sched_process_exit": "comm tid prio",
    "sched_process_free": "comm tid prio",
    "sched_pi_setprio": "comm tid oldprio newprio",
    "irq_handler_entry": "irq name",
    "irq_handler_exit": "irq ret",
    "timer_hrtimer_start": "hrtimer function expires softexpires mode",
    "timer_hrtimer_cancel": "hrtimer",
    "timer_hrtimer_expire_entry": "hrtimer now function",
    "timer_hrtimer_expire_exit": "hrtimer",
    "lttng_statedump_start": "",
    "lttng_statedump_end": "",
    "lttng_statedump_process_state": "tid vtid pid vpid ppid vppid name type mode submode status cpu",
}


def parse(fields):
    """{name: value}, numbers as such; values with braces (enumerations) are left as text."""
    found = {}
    for name, quoted, number in re.findall(r'(\w+) = (?:"((?:[^"\\]|\\.)*)"|(-?\w+))', fields):
        whole = re.fullmatch(r"-?(0x)?[0-9a-fA-F]+", number)
        found[name] = quoted if number == "" else int(number, 0) if whole else number
    return found


def read(ctx, trace, *, codes=(0,)):
    directory = ctx.convert(trace, "ctf-lttng", codes=codes)
    found = []
    for line in ctx.run("babeltrace2", directory, "--clock-seconds", "--no-delta").stdout.splitlines():
        match = LINE.match(line)
        expect(match, f"babeltrace2 printed what is no event: {line}")
        seconds, nanoseconds, _, name, cpu, fields = match.groups()
        found.append({"event": name, "time_ns": int(seconds) * 10**9 + int(nanoseconds), "cpu": int(cpu),
                      "fields": fields or ""})
    return directory, found


def ours(found):
    return [one for one in found if one["event"] not in FIELDS]


def kernel(found, name):
    return [{**one, **parse(one["fields"])} for one in found if one["event"] == name]


@case
def environment_and_fields(ctx):
    """What the type of the trace is found by, and each field that the views read."""
    directory, _ = read(ctx, traces.control())
    metadata = (directory / "metadata").read_text(encoding="utf-8")
    for line in ('domain = "kernel";', 'tracer_name = "lttng-modules";', "tracer_major = 2;", "tracer_minor = 11;"):
        expect(line in metadata, f"no {line}")
    classes = dict(re.findall(r'event \{ name = "(\w+)"; id = \d+; stream_id = 0; fields := struct \{(.*?) \}; \};',
                              metadata))
    for name, fields in FIELDS.items():
        expect(name in classes, f"no event class {name}")
        expect_equal(re.findall(r"_(\w+);", classes[name].replace("_t _", " _")), fields.split(), f"fields of {name}")


@case
def recorded(ctx):
    """Our own events are all there, at their times to the nanosecond."""
    _, found = read(ctx, traces.control())
    events = native(ctx.events(traces.control()))
    expect_equal([(one["event"], one["time_ns"]) for one in ours(found)],
                 [(one["event"], one["time_ns"]) for one in events], "events in order")


@case
def schedule(ctx):
    """Switches make a chain on the processor; the idle task is thread 0; who waits is left so and wakes before it
    runs."""
    _, found = read(ctx, traces.control())
    events = ctx.events(traces.control())
    switches = kernel(found, "sched_switch")
    contexts = [event["par1"] for event in events if event["event"] == "context_switch"]
    expect_equal(len(switches), sum(a != b for a, b in zip([None] + contexts, contexts)), "switches")
    for before, after in zip(switches, switches[1:]):
        expect_equal((after["prev_tid"], after["prev_comm"]), (before["next_tid"], before["next_comm"]), "chain")
    expect_equal({one["next_tid"] for one in switches if one["next_comm"] == "idle"}, {0}, "threads called idle")
    expect_equal({one["prev_state"] for one in switches if one["prev_tid"] == 0}, {0}, "states of the idle task")
    woken = kernel(found, "sched_waking") + kernel(found, "sched_wakeup") + kernel(found, "sched_wakeup_new")
    expect_equal([one for one in woken if one["tid"] == 0], [], "wakeups of the idle task, which Linux never wakes")

    # A state machine of its own: after a switch with a state other than 0 a wakeup must come before the next run.
    waiting = set()
    for one in found:
        fields = parse(one["fields"])
        if one["event"] in ("sched_wakeup", "sched_wakeup_new"):
            waiting.discard(fields["tid"])
        elif one["event"] == "sched_switch":
            expect(fields["next_tid"] not in waiting, f"{fields['next_comm']} runs without having been woken: {one}")
            if fields["prev_state"] != 0:
                waiting.add(fields["prev_tid"])
    states = counts(switches, "prev_state")
    expect(states[0] > 20 and states[1] > 20 and states[2] > 0, f"states in which tasks are left: {states}")
    blocked = {event["par1"] for event in events if event["event"] == "set_mutex_block"}
    expect_equal({one["prev_tid"] for one in switches if one["prev_state"] == 2}, blocked, "who waits for a mutex")


@case
def interrupts_and_inheritance(ctx):
    """Each interrupt with its name; each inheritance, and its end."""
    _, found = read(ctx, traces.control())
    number = counts(ctx.events(traces.control()))
    entries = kernel(found, "irq_handler_entry")
    expect_equal(len(entries), number["interrupt_start"], "interrupts that began")
    expect_equal(len(kernel(found, "irq_handler_exit")), number["interrupt_end"], "interrupts that ended")
    expect_equal({(one["irq"], one["name"]) for one in entries}, {(240, "timer")}, "interrupts")
    priorities = kernel(found, "sched_pi_setprio")
    given = [one for one in priorities if one["newprio"] != one["oldprio"]]
    expect(priorities and len(given) <= number["inheritance"], f"inheritances: {priorities[:5]}")
    forks = kernel(found, "sched_process_fork")
    expect_equal(len(forks), number["task_create"] - 1, "tasks that were created beside the idle task")
    expect(all(one["child_tid"] != 0 for one in forks), f"the idle task is created: {forks}")


@case
def gaps(ctx):
    """Gaps show, and what runs after one is not guessed."""
    directory, _ = read(ctx, traces.lossy(ctx))
    warnings = ctx.run("babeltrace2", directory, "--no-delta").stderr
    expect_equal([int(number) for number in re.findall(r"Tracer discarded (\d+) events", warnings)],
                 list(traces.LOST), "discarded events")


@case
def two_processors(ctx):
    """Two idle tasks are both thread 0; switches chain on each processor."""
    _, found = read(ctx, traces.two_processors(ctx, 3000, seed=5))
    for cpu in (0, 1):
        switches = [one for one in kernel(found, "sched_switch") if one["cpu"] == cpu]
        expect(len(switches) > 100, f"switches of processor {cpu}: {len(switches)}")
        for before, after in zip(switches, switches[1:]):
            expect_equal(after["prev_tid"], before["next_tid"], f"chain of processor {cpu}")


@case
def few_events(ctx):
    """One event is a trace that opens."""
    one = traces.store(ctx, "one.dat", traces.chunk(traces.record(traces.USER_EVENT_0, 5, 1, 2), tasks=traces.TASKS))
    _, found = read(ctx, one)
    expect_equal(counts(found)["user_event_0"], 1, "events")
    expect_equal(counts(found)["lttng_statedump_process_state"], len(traces.TASKS), "tasks")
