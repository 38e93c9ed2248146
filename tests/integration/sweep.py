# SPDX-License-Identifier: MIT
"""The search for worst cases (tests/sweep): its analysis against published examples and against every phase of small
sets; that a run is a function of its shifts; that a worst case which no plain run has is found; that a response beyond
its bound is reported."""
import contextlib
import io
import json
import random

from support.cases import case, expect, expect_equal
from support.context import REMORA, ROOT, TEST_KERNEL
from sweep.bounds import DEADLINE, FIXED, SERVER, Section, Task, Unbounded, blocking, deadline_response, fixed_response
from sweep.campaign import Campaign
from sweep.runs import Runs, Shifts
from sweep.simulation import worst_of_all_phases
from sweep.sweep import print_text

COLLIDE = "s_collide"
RUNS = 32
SETS = 25


def fixed_set(*parameters):
    """The bounds of tasks (C, T), the most urgent first; deadlines are periods."""
    tasks = [Task(f"t{i}", wcet, period, period) for i, (wcet, period) in enumerate(parameters)]
    return [fixed_response(task, tasks[:i]) for i, task in enumerate(tasks)]


@case
def sweep_bounds_of_fixed_priorities_are_the_published_ones(_):
    """Burns, Wellings, "Real-Time Systems and Programming Languages", process sets C and D of response-time analysis;
    Lehoczky (1990), a task whose longest response is that of its fifth job."""
    expect_equal(fixed_set((5, 20), (10, 40), (40, 80)), [5, 15, 80], "set C")
    expect_equal(fixed_set((3, 7), (3, 12), (5, 20)), [3, 6, 20], "set D")
    expect_equal(fixed_set((26, 70), (62, 100)), [26, 118], "Lehoczky's set")


def expect_exact(tasks, bound, index, key):
    found = worst_of_all_phases(tasks, index, key)
    expect(bound == found, f"{tasks[index]} of {tasks}: bound {bound}, the worst of all phases is {found}")


def expect_exact_by_deadlines(tasks):
    for i, task in enumerate(tasks):
        others = [other for other in tasks if other is not task]
        expect_exact(tasks, deadline_response(task, others).response, i, lambda k, release: release + tasks[k].deadline)


@case
def sweep_bounds_of_deadlines_hold_for_the_published_set(_):
    """Of Spuri (1996), with one deadline beyond its period, compared with all its phases."""
    expect_exact_by_deadlines([Task(f"t{i}", wcet, period, deadline, DEADLINE) for i, (wcet, period, deadline) in
                               enumerate(((1, 4, 4), (2, 6, 9), (2, 8, 6), (2, 16, 12)))])


def random_set(source, kinds):
    while True:
        tasks = []
        for i, kind in enumerate(kinds):
            period = source.choice((2, 3, 4, 5, 6, 8))
            wcet = source.randint(1, max(1, period // 2))
            tasks.append(Task(f"t{i}", wcet, period, source.randint(wcet, period), kind))
        if sum(task.utilisation for task in tasks) <= 1:
            return tasks


@case
def sweep_bounds_are_the_worst_of_all_phases(_):
    """Exactly, for small sets: fixed priorities, deadlines, and deadlines below a fixed priority."""
    source = random.Random(4711)
    for _ in range(SETS):
        tasks = random_set(source, [FIXED] * source.choice((2, 3)))
        for i, task in enumerate(tasks):
            above = [other for other in tasks if other is not task and other.deadline <= task.deadline]
            expect_exact(tasks, fixed_response(task, above), i, lambda k, _, tasks=tasks: tasks[k].deadline)
        expect_exact_by_deadlines(random_set(source, [DEADLINE] * source.choice((2, 3))))
        above, *tasks = every = random_set(source, [FIXED, DEADLINE, DEADLINE])
        for i, task in enumerate(tasks):
            others = [other for other in tasks if other is not task]
            expect_exact(every, deadline_response(task, others, [above]).response, i + 1,
                         lambda k, release, every=every: release + every[k].deadline if k else -1)


@case
def sweep_bounds_count_blocking_once_for_each_task_and_mutex(_):
    def sections(protocol, *lower):
        return [Section(task, mutex, length, protocol) for task, mutex, length in
                (("high", "m", 1), ("high", "n", 1), *lower)]

    urgent, lower = {"high"}, {"low", "lower"}
    one_task = (("low", "m", 3), ("low", "n", 4))
    one_mutex = (("low", "m", 3), ("lower", "m", 5))
    expect_equal(blocking(sections("inheritance", *one_task), urgent, lower), 4, "by one task, inheritance")
    expect_equal(blocking(sections("inheritance", *one_mutex), urgent, lower), 5, "by one mutex, inheritance")
    both = sections("inheritance", *one_task, *one_mutex)
    expect_equal(blocking(both, urgent, lower), 9, "by two tasks on two mutexes, inheritance")
    expect_equal(blocking(both, {"other"}, lower), 0, "of a task that shares nothing")
    ceilings = sections("ceiling", *one_task, *one_mutex)
    expect_equal(blocking(ceilings, urgent, lower), 5, "by two tasks on two mutexes, ceilings")
    try:
        blocking(sections("none", *one_task), urgent, lower)
    except Unbounded as reason:
        expect("no protocol" in str(reason), str(reason))
    else:
        expect(False, "a mutex without a protocol has a bound")


@case
def sweep_bounds_have_an_end_or_a_reason(_):
    """Too much work has no bound; a server counts with its share."""
    for tasks in ([(3, 4), (2, 4)], [(1, 2), (3, 5)]):
        try:
            expect(False, f"{tasks} has the bounds {fixed_set(*tasks)}")
        except Unbounded:
            pass
    task = Task("t", 2, 10, 10, DEADLINE)
    with_server = deadline_response(task, [], servers=[Task("s", 5, 10, 10, SERVER)]).response
    expect(7 <= with_server <= 10, f"2 of 10 beside a server of 5 of 10: {with_server}")


@case(timeout_s=180)
def sweep_runs_are_functions_of_their_shifts(_):
    """Two runs with the same words leave the same bytes of descriptor, tables and chunks; other words others."""
    with Runs(COLLIDE, kernel=TEST_KERNEL) as runs:
        shifts = Shifts.of({"urgent": 4_312_345})
        first = runs.trace_bytes(shifts)
        expect(first.count(b"urgent") and first == runs.trace_bytes(shifts), "two runs with the same shift differ")
        expect(first != runs.trace_bytes(Shifts.of({"urgent": 4_312_346})), "one instruction more changes nothing")


@case(timeout_s=240)
def sweep_finds_a_worst_case_that_no_plain_run_has(ctx):
    """`urgent` is blocked only if it is released within slow's critical section: not without shifts, and not at a
    simultaneous release. The worst that was found is that of the command that is printed with it."""
    with Runs(COLLIDE, kernel=TEST_KERNEL) as runs:
        plain = runs.observe(Shifts())
        campaign = Campaign(runs, RUNS, seed=1)
        campaign.run()
        targets = {target.task.label: target for target in campaign.targets}
        urgent = targets["urgent"]
        before = plain[("job", urgent.task.context, "urgent")][0]
        say = f"{urgent.worst} in run {urgent.found_in} of {campaign.count}; plain {before}; {urgent.bound}"
        expect(before < 320_000, f"a plain run has the collision: {say}")
        expect(urgent.worst.response > 0.95 * urgent.bound.value and not urgent.exceeded, say)
        expect(urgent.worst.response > before + 650_000, f"the collision was not found: {say}")
        expect_equal(campaign.objections, {}, "what `remora check` says of the worst runs")
        shift, = urgent.shifts.words()
        expect(f"SHIFT={shift.partition('=')[2]}" in runs.command(urgent.shifts), "the command")
    _, directory = ctx.traced(COLLIDE, kernel=TEST_KERNEL, nic="pci", shift=shift.partition("=")[2])
    question = "select max(response_ns) from jobs where task = 'urgent'"
    again = ctx.remora("sql", ctx.adopt(directory), question, "--csv").stdout
    expect_equal(int(again.split()[-1]), urgent.worst.response, "the response in a machine with a network card")


@case(timeout_s=240)
def sweep_reports_a_response_beyond_its_bound(ctx):
    """In the first phase of rm_vs_edf t2 declares 3 ms and runs 3.9: exit code 2, and the cause."""
    done = ctx.run(ROOT / "tests/sweep/sweep.py", "rm_vs_edf", "--runs", "4", "--json", codes=(2,),
                   env={"REMORA": REMORA})
    document = json.loads(done.stdout)
    tasks = {task["task"]: task for task in document["tasks"]}
    expect_equal(tasks["t2"]["state"], "EXCEEDED", f"{tasks}")
    expect_equal(tasks["t2"]["overran"], ["t2"], f"{tasks}")
    expect(all(task["state"] in ("met", "below") for name, task in tasks.items() if name != "t2"), f"{tasks}")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print_text(document)
    text = printed.getvalue()
    expect("EXCEEDED: t2 took" in text and "t2 ran longer than declared" in text and "make run BOOT=pvh" in text, text)
