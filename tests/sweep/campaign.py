# SPDX-License-Identifier: MIT
"""A whole search: runs an application with shifted phases until every task's bound is met or the budget of runs is
spent, and keeps the longest response of each task with the shifts that repeat it."""
import concurrent.futures
import dataclasses
import os

from sweep.model import MISS, Bound, Model
from sweep.runs import Shifts, Worst
from sweep.search import Dimension, Search

EVENT_PROBES = 2
# Of a bound with measured times: the kernel's own time, which that bound leaves out, is far below.
KERNEL_SHARE = 0.01
LEADS = 8  # parts of a job


@dataclasses.dataclass
class Target:
    task: object
    search: Search
    batches: object
    worst: Worst | None = None
    shifts: Shifts = Shifts()
    runs: int = 0            # in which a job was completed
    found_in: int = 0        # the number of the run with the worst
    bound: Bound = Bound(None)
    measured: Bound = Bound(None)
    overruns: dict = dataclasses.field(default_factory=dict)  # {label: by how much a job ran longer than declared}
    done: bool = False

    @property
    def judged(self):
        """The bound that a response is compared with: that of the declared times, unless some task ran longer than it
        declares, for nothing follows from what is not true."""
        return self.measured if self.overruns else self.bound

    @property
    def ratio(self):
        return self.worst.response / self.judged.value if self.worst and self.judged.value else None

    @property
    def met(self):
        """The longest response is what the analysis says for the execution times that were seen: no phase is worse. The
        kernel's own time, which the analysis does not know, is in the response and not in that bound."""
        return self.measured.value is not None and self.worst is not None and self.worst.response >= self.measured.value

    @property
    def exceeded(self):
        if self.judged.value is None or self.worst is None:
            return False
        return self.worst.response > self.judged.value * (1 + (KERNEL_SHARE if self.overruns else 0))


class Campaign:
    def __init__(self, runs, budget, seed):
        self.runs = runs
        self.budget = budget
        self.seed = seed
        self.model = Model(runs.declared())
        self.count = 0
        self.objections = {}  # {shifts of a worst run: what `remora check` says of it}
        self.tried = set()
        first = runs.observe(Shifts())
        self.seen = {key: longest for key, (longest, _) in first.items()}  # over all runs
        self.targets = self._targets(first)
        self._record(Shifts(), first)
        self.tried.add(Shifts())
        self._judge()

    def run(self, progress=lambda campaign: None):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self._probe_events(pool)
            while self.count < self.budget:
                active = [target for target in self.targets if not target.done]
                if not active:
                    break
                self._evaluate(pool, [shifts for target in active for shifts in next(target.batches)])
                progress(self)
            worst = list(dict.fromkeys(target.shifts for target in self.targets))
            found = pool.map(self.runs.objections, worst)
            self.objections = {shifts: text for shifts, text in zip(worst, found) if text}

    # --- beginning ----------------------------------------------------------------------------------------------------

    def _targets(self, first):
        tasks = [task for task in self.model.tasks if task.level in ("RM", "EDF", "CBS", "GRUB", "SERVED")]
        dimensions = {}
        for task in tasks:
            response = first.get(("job", task.context, task.name), (0, 0))[0]
            room = (task.end - task.first - response) if task.end is not None else task.period
            if task.period and room > 0:
                span = min(task.period - 1, room)
                known = dimensions.get(task.name)
                dimensions[task.name] = Dimension(task.name, min(span, known.span) if known else span, task.first)
        self.dimensions = list(dimensions.values())
        return [self._target(task) for task in tasks]

    def _target(self, task):
        beside = {one.name for one in self.model.tasks if one.beside(task)}
        dimensions = [dimension for dimension in self.dimensions if dimension.name in beside]
        search = Search(dimensions, self._starts(task, dimensions), f"{self.seed} {task.label}")
        return Target(task, search, search.propose())

    def _starts(self, task, dimensions):
        """All released at one instant; the phase at which the analysis has the longest response; and all at one instant
        but a task with a critical section, which is then somewhere in its job."""
        beside = [one for one in self.model.tasks if one.beside(task)]
        first = {one.name: one.first for one in beside}
        latest = max(first.values())
        together = {dimension.name: latest - first[dimension.name] for dimension in dimensions}
        starts = [Shifts.of(together)]
        for one in beside:
            if one is not task and any(key[:2] == ("section", one.context) for key in self.seen):
                ran = self.seen.get(("ran", one.context, one.name), 0)
                starts += [Shifts.of({name: ticks + (ran * i // LEADS if name != one.name else 0)
                                      for name, ticks in together.items()}) for i in range(1, LEADS)]
        bound = self.model.bound(task, self.seen)
        if bound.release and task.name in together:
            starts.append(Shifts.of({**together, task.name: together[task.name] + bound.release % task.period}))
        return starts

    def _probe_events(self, pool):
        """Events are a dimension only where delaying them changes something."""
        if not self.dimensions:
            return
        span = max(dimension.span for dimension in self.dimensions)
        before = {key: value for key, value in self.seen.items() if key[0] in ("job", "ran")}
        self._evaluate(pool, [Shifts((), span * (i + 1) // (EVENT_PROBES + 1)) for i in range(EVENT_PROBES)])
        if any(self.seen.get(key) != value for key, value in before.items()):
            dimension = Dimension(None, span, 0)
            for target in self.targets:
                target.search.dimensions.append(dimension)

    # --- one step -----------------------------------------------------------------------------------------------------

    def _evaluate(self, pool, asked):
        fresh = [shifts for shifts in dict.fromkeys(asked) if shifts not in self.tried][:self.budget - self.count]
        self.tried.update(fresh)
        for shifts, observed in zip(fresh, pool.map(self.runs.observe, fresh)):
            self._record(shifts, observed)
        self._judge()

    def _record(self, shifts, observed):
        self.count += 1
        for key, (longest, job) in observed.items():
            self.seen[key] = max(self.seen.get(key, 0), longest)
        for target in self.targets:
            found = observed.get(("job", target.task.context, target.task.name))
            if found is None:
                continue
            target.runs += 1
            if target.worst is None or found[0] > target.worst.response:
                target.worst = Worst(*found)
                target.shifts = target.search.best = shifts
                target.found_in = self.count

    def _judge(self):
        for target in self.targets:
            target.bound = self.model.bound(target.task, self.seen)
            target.overruns = self.model.overruns(target.task, self.seen)
            target.measured = self.model.bound(target.task, self.seen, measured=True)
            endless = target.worst is None and target.task.level not in ("RM", "EDF")
            target.done = target.met or endless or (target.measured.value is None and target.search.exhausted)

    def misses(self, target):
        return ("violation", target.task.context, MISS) in self.seen
