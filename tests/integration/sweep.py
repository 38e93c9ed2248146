# SPDX-License-Identifier: MIT
"""The search for worst cases (tests/sweep): its analysis against published examples and against every phase of small
sets; that a run is a function of its shifts; that a worst case which no plain run has is found; that a response beyond
its bound is reported."""
import contextlib
import io
import json
import os
import pathlib
import random
import signal
import subprocess
import time

from support.cases import case, expect, expect_equal
from support.context import REMORA, ROOT, TEST_KERNEL
from sweep.bounds import DEADLINE, FIXED, SERVER, Section, Task, Unbounded, blocking, deadline_response, fixed_response
from sweep.campaign import Campaign
from sweep.runs import Runs, Shifts
from sweep.simulation import LOCK, RUN, UNLOCK, WithSections, locks_of, worst_of_all_phases
from sweep.sweep import print_text, report

COLLIDE = "s_collide"
SHARED_MEMORY = pathlib.Path("/dev/shm")
RUNS = 32
SETS = 25
NESTED_SETS = 100
PHASES = 60


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


def bounds_with_sections(periods, programs):
    """Of tasks at fixed priorities, the most urgent first, with the sections of their programs under inheritance."""
    tasks = [Task(f"t{i}", sum(time for step, time in program if step == RUN), period, period)
             for i, (period, program) in enumerate(zip(periods, programs))]
    sections = [Section(task.name, mutex, length, "inheritance", outermost, inner)
                for task, program in zip(tasks, programs) for mutex, length, outermost, inner in locks_of(program)]
    names = [task.name for task in tasks]
    return [fixed_response(task, tasks[:i], blocking(sections, set(names[:i + 1]), set(names[i + 1:])))
            for i, task in enumerate(tasks)]


def expect_within_bounds(source, periods, programs, tries):
    bounds = bounds_with_sections(periods, programs)
    scheduler = WithSections(periods, programs)
    worst = [0] * len(periods)
    for _ in range(tries):
        offsets = [source.randrange(period) for period in periods]
        worst = list(map(max, worst, scheduler.worst_responses(offsets, 4 * max(periods))))
    expect(all(found <= bound for found, bound in zip(worst, bounds)),
           f"responses {worst} beyond the bounds {bounds}: periods {periods}, {programs}")
    return worst, bounds


@case
def sweep_bounds_hold_for_nested_sections(_):
    """`high` shares a mutex with `mid` only; mid has locked it and waits for another, which `low` holds: the time of
    low is in the bound of high (Sha, Rajkumar, Lehoczky 1990)."""
    high = [(RUN, 1), (LOCK, "a"), (RUN, 1), (UNLOCK, "a")]
    mid = [(LOCK, "a"), (RUN, 1), (LOCK, "b"), (RUN, 1), (UNLOCK, "b"), (UNLOCK, "a")]
    low = [(LOCK, "b"), (RUN, 6), (UNLOCK, "b")]
    worst, bounds = expect_within_bounds(random.Random(4711), (40, 60, 90), (high, mid, low), 2000)
    expect(worst[0] > 4 and bounds[0] == 10, f"of high: {worst[0]}, bound {bounds[0]}")


def random_program(source, mutexes):
    """Locks in one order, so that there is no deadlock; unlocks in any."""
    program, held, first = [(RUN, 1)], [], 0
    for _ in range(source.randint(0, 6)):
        if held and source.random() < 0.5:
            program.append((UNLOCK, held.pop(source.randrange(len(held)))))
            first = 0 if not held else first
        elif first < len(mutexes):
            first = source.randrange(first, len(mutexes))
            held.append(mutexes[first])
            program.append((LOCK, mutexes[first]))
            first += 1
        program.append((RUN, source.randint(1, 3)))
    return program + [(UNLOCK, mutex) for mutex in reversed(held)]


@case
def sweep_bounds_hold_for_random_sets_with_nested_sections(_):
    source = random.Random(1990)
    longest, blocked = 0, 0
    for _ in range(NESTED_SETS):
        count = source.choice((3, 4))
        programs = [random_program(source, "abc") for _ in range(count)]
        periods = [20 * (i + 1) + source.randrange(60) for i in range(count)]
        used = sum(sum(time for step, time in program if step == RUN) / period
                   for period, program in zip(periods, programs))
        if used > 0.9:
            continue
        worst, bounds = expect_within_bounds(source, periods, programs, PHASES)
        longest += sum(found == bound for found, bound in zip(worst, bounds))
        blocked += bounds[0] > sum(time for step, time in programs[0] if step == RUN)
    expect(longest > NESTED_SETS // 4 and blocked > NESTED_SETS // 4, f"{longest} bounds were met, {blocked} blocked")


@case
def sweep_bounds_need_sections_that_do_not_wait(_):
    high = Section("high", "m", 1, "inheritance")
    for waiting in ([Section("low", "m", 3, "inheritance", waits="delay")],
                    [Section("low", "m", 3, "inheritance", inner=frozenset("n")),
                     Section("lower", "n", 1, "inheritance", waits="delay")]):
        try:
            found = blocking([high, *waiting], {"high"}, {"low", "lower"})
        except Unbounded as reason:
            expect_equal(str(reason), f"{waiting[-1].task} waits while it holds {waiting[-1].mutex}: delay", "reason")
        else:
            expect(False, f"{waiting} may block for {found} only")
    expect_equal(blocking([high, Section("low", "n", 3, "inheritance", waits="delay")], {"high"}, {"low"}), 0,
                 "a wait that concerns no other")


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
def sweep_reports_an_execution_longer_than_declared(ctx):
    """In the first phase of rm_vs_edf t2 declares 3 ms and runs 3.9: its state, and no error of the analysis."""
    done = ctx.run(ROOT / "tests/sweep/sweep.py", "rm_vs_edf", "--runs", "4", "--json", env={"REMORA": REMORA})
    document = json.loads(done.stdout)
    tasks = {task["task"]: task for task in document["tasks"]}
    expect("declared C exceeded (t2 by 0.899" in tasks["t2"]["state"], f"{tasks}")
    expect(tasks["t2"]["worst_ns"] > 1.5 * tasks["t2"]["bound_ns"] and 1 < tasks["t2"]["ratio"] < 1.01, f"{tasks}")
    others = [task["state"] for name, task in tasks.items() if name != "t2"]
    expect(all(state in ("met", "below") for state in others), f"{tasks}")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print_text(document)
    expect(" runs a second, " in printed.getvalue(), printed.getvalue())


class FixedRuns:
    """Of one application with one task, whose job takes longer than its bound."""
    app = "fixed"

    def declared(self):
        task = {"kind": "task", "context": 3, "name": "t", "level": "RM", "wcet_ns": 100, "period_ns": 1000,
                "deadline_ns": 1000, "budget_ns": None, "first_ns": 0, "begin_ns": 0, "end_ns": None}
        return [task]

    def observe(self, _):
        return {("job", 3, "t"): (150, 7), ("ran", 3, "t"): (90, 0)}

    def objections(self, _):
        return ""

    def command(self, shifts):
        return f"make run BOOT=pvh {shifts.variables()}"


@case
def sweep_reports_a_response_beyond_its_bound(_):
    campaign = Campaign(FixedRuns(), 3, 1)
    campaign.run()
    document = report(campaign, {"seconds": 1, "runs_a_second": 3, "cpu_seconds_a_run": 1})
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print_text(document)
    text = printed.getvalue()
    expect_equal(document["tasks"][0]["state"], "EXCEEDED", text)
    expect("EXCEEDED: t took 0.000150 ms in job 7" in text and "an error of the analysis or of the kernel" in text and
           "make run BOOT=pvh" in text, text)


@case
def sweep_refuses_what_it_cannot_do_before_it_begins(ctx):
    for arguments, code, reason in ((["inversion", "--runs", "0"], 2, "0 is less than 1"),
                                    (["inversion", "--runs", "-5"], 2, "-5 is less than 1"),
                                    (["inversion", "--document", "/nowhere/sweep.md"], 1, "cannot be read"),
                                    (["inversion", "--document", ROOT / "README.md"], 1, "has no line <!-- make sweep"),
                                    (["nonsense"], 1, "no application nonsense; there are: control, inversion,")):
        done = ctx.run(ROOT / "tests/sweep/sweep.py", *arguments, codes=(code,), env={"REMORA": REMORA})
        expect(reason in done.stderr and "Traceback" not in done.stderr, f"{arguments}: {done.stderr}")


@case(timeout_s=240)
def sweep_needs_no_bound_where_a_holder_waits(_):
    """In `lesson` the logger keeps the mutex of control locked while it waits for a disk."""
    with Runs("lesson") as runs:
        campaign = Campaign(runs, 1, seed=1)
    bounds = {target.task.label: target.bound for target in campaign.targets}
    expect(bounds["control"].value is None and bounds["control"].reason == "logger waits while it holds plan: delay",
           f"{bounds}")


def guests_in(directory):
    """Command lines of processes that use it."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found += [line] if directory in line else []
    return found


@case(timeout_s=240)
def sweep_shows_what_it_found_when_it_is_interrupted(ctx):
    """Ctrl-C, which a terminal sends to all processes of the group, and SIGTERM to one: the results so far, no guest
    and no directory left, and the exit code of a shell."""
    for number, code, to_group in ((signal.SIGINT, 130, True), (signal.SIGTERM, 143, False)):
        with open(ctx.dir / "sweep.out", "w+", encoding="utf-8") as out:
            sweep = subprocess.Popen([ROOT / "tests/sweep/sweep.py", "inversion"], cwd=ROOT, stdout=out, stderr=out,
                                     env={**os.environ, "REMORA": REMORA}, start_new_session=True)
            prefix = f"remora-sweep-{sweep.pid}-"
            while sweep.poll() is None and not any(SHARED_MEMORY.glob(f"{prefix}*/guest2/ram")):
                time.sleep(0.05)
            (os.killpg if to_group else os.kill)(sweep.pid, number)
            found = sweep.wait(60)
            out.seek(0)
            text = out.read()
        expect_equal(found, code, f"the exit code: {text}")
        expect("weather/2" in text and " runs a second" in text and "sweep: interrupted after" in text and
               "Traceback" not in text, text)
        expect_equal(list(SHARED_MEMORY.glob(f"{prefix}*")), [], "directories")
        expect_equal(guests_in(prefix), [], "guests")
