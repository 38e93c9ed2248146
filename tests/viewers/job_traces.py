# SPDX-License-Identifier: MIT
"""Traces of a few jobs, written here from docs/trace-format.md alone: for cases that need runs which differ in exactly
one thing. Times are whole microseconds since the start of the trace."""
import dataclasses

from viewers import traces

IDLE = 1
JOB_DEADLINE, TASK_END_CYCLE = 0x1D, 0x62
BASE_US = 1000  # of the first stamp
LOW = 0xFFFFFFFF


@dataclasses.dataclass
class Job:
    task: int
    release: int
    start: int
    end: int
    deadline: int


def records_of(jobs, khz=traces.KHZ, marks=()):
    """jobs do not run at the same time. marks: (time, number): user_event_0 with this number."""
    ticks = lambda us: (BASE_US + us) * khz // 1000
    starts = {job.start for job in jobs}
    rows = [(0, -2, traces.TRACE_START, 0, khz), (0, 9, traces.CONTEXT_SWITCH, IDLE, 0)]
    for job in jobs:
        rows += [(job.release, 0, traces.JOB_RELEASE, job.task, ticks(job.release) & LOW),
                 (job.release, 1, JOB_DEADLINE, job.task, ticks(job.deadline) & LOW),
                 (job.start, 4, traces.CONTEXT_SWITCH, job.task, 0), (job.end, 2, TASK_END_CYCLE, job.task, 0)]
        if job.end not in starts:
            rows.append((job.end, 3, traces.CONTEXT_SWITCH, IDLE, 0))
    rows += [(at, -1, traces.USER_EVENT_0, number, 0) for at, number in marks]
    return b"".join(traces.record(code, ticks(at), par1, par2) for at, _, code, par1, par2 in sorted(rows))


def store(ctx, file, jobs, tasks, *, khz=traces.KHZ, marks=(), **chunk):
    """tasks: {context: name}, without idle."""
    return traces.store(ctx, file, traces.chunk(records_of(jobs, khz, marks), tasks={IDLE: "idle", **tasks}, khz=khz,
                                                **chunk))


def periodic(task, period, runs, *, count, offset=0, late=(), late_by=500):
    """count jobs that run at once; those of these numbers, from 1, end so long after their deadlines."""
    jobs = []
    for i in range(count):
        release = offset + i * period
        deadline = release + period // 2
        end = deadline + late_by if i + 1 in late else release + runs
        jobs.append(Job(task, release, release, end, deadline))
    return jobs
