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


# --- critical sections ------------------------------------------------------------------------------------------------

RUN, LOCK, UNLOCK = "run", "lock", "unlock"


def locks_of(program):
    """[(mutex, length, the longest stretch of overlapping holds that it is in, what is locked within)] of a program: a
    list of (RUN, time), (LOCK, mutex), (UNLOCK, mutex)."""
    time, since, begin, inner, found, stretch = 0, {}, 0, {}, [], []
    for step, what in program:
        if step == RUN:
            time += what
        elif step == LOCK:
            begin = time if not since else begin
            for mutex in since:
                inner[mutex].add(what)
            since[what], inner[what] = time, set()
        else:
            stretch.append((what, time - since.pop(what), frozenset(inner[what])))
            if not since:
                found += [(mutex, length, time - begin, within) for mutex, length, within in stretch]
                stretch = []
    return found


class WithSections:
    """Fixed priorities, the most urgent task first, under priority inheritance: the first task with a job is served by
    running the owner at the end of the chain of mutexes that it waits for."""

    def __init__(self, periods, programs):
        self.periods = periods
        self.programs = programs

    def worst_responses(self, offsets, horizon):
        self.owners = {}
        self.left = [[] for _ in self.periods]      # of the job that runs: what it has to do
        self.releases = [list(range(offset, horizon, period)) for offset, period in zip(offsets, self.periods)]
        worst = [0] * len(self.periods)
        time = 0
        while any(self.releases):
            ready = [task for task, releases in enumerate(self.releases) if releases and releases[0] <= time]
            if not ready:
                time = min(releases[0] for releases in self.releases if releases)
                continue
            task = self._chain_end(ready[0])
            time += self._step(task)
            if not self.left[task]:
                worst[task] = max(worst[task], time - self.releases[task].pop(0))
        return worst

    def _chain_end(self, task):
        while True:
            self.left[task] = self.left[task] or list(self.programs[task])
            step, what = self.left[task][0]
            if step != LOCK or self.owners.get(what) is None:
                return task
            task = self.owners[what]

    def _step(self, task):
        """Returns the time that it takes. Unlocking takes none, so it is done at once."""
        step, what = self.left[task].pop(0)
        if step == LOCK:
            self.owners[what] = task
            return 0
        if what > 1:
            self.left[task].insert(0, (RUN, what - 1))
        while self.left[task] and self.left[task][0][0] == UNLOCK:
            self.owners[self.left[task].pop(0)[1]] = None
        return 1
