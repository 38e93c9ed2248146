# SPDX-License-Identifier: MIT
"""A scheduler in whole units of time, for small sets only: what bounds.py says is compared with every phase."""
import itertools
import math


def worst_response(tasks, target, offsets, key, horizon):
    """The longest response of tasks[target]; key(index, release): the order of jobs, the least first; the target loses
    a tie."""
    jobs = [(release, index) for index, (task, offset) in enumerate(zip(tasks, offsets))
            for release in range(offset, horizon, task.period)]
    jobs.sort(key=lambda job: job[0])
    ready, worst, time, upcoming = [], 0, 0, 0
    while upcoming < len(jobs) or ready:
        while upcoming < len(jobs) and jobs[upcoming][0] <= time:
            release, index = jobs[upcoming]
            ready.append([(key(index, release), index == target, release), index, tasks[index].wcet])
            upcoming += 1
        if not ready:
            time = jobs[upcoming][0]
            continue
        job = min(ready)
        job[2] -= 1
        time += 1
        if job[2] == 0:
            ready.remove(job)
            if job[1] == target:
                worst = max(worst, time - job[0][2])
    return worst


def worst_of_all_phases(tasks, target, key):
    """The longest response of tasks[target] over all whole phases of all tasks."""
    horizon = 3 * math.lcm(*(task.period for task in tasks))
    phases = itertools.product(*(range(task.period) for task in tasks))
    return max(worst_response(tasks, target, offsets, key, horizon) for offsets in phases)
