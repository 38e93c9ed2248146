# SPDX-License-Identifier: MIT
"""From what tasks declared, and from what runs observed of their critical sections, to a bound for each task, or to the
reason why there is none. A task is named as in the trace; of several with one name, which a later phase of an
application starts again, the second is `name/2`."""
import dataclasses
import re

from sweep import bounds
from sweep.bounds import DEADLINE, FIXED, SERVER, Section, Unbounded

# Levels of the kernel whose tasks have parameters of which a bound follows.
KINDS = {"RM": FIXED, "EDF": DEADLINE, "CBS": SERVER}
WITHOUT = {
    "CBS": "its server has a budget, its jobs declare no execution time",
    "GRUB": "its server has a budget, its jobs declare no execution time",
    "SERVED": "requests share a server and declare no execution time",
    "RR": "NRT: declares nothing",
    "background": "background: declares nothing",
}
PROTOCOL = re.compile(r"protocol=\d+ \((\w+)\)")
SEPARATOR = "\x1f"  # between two names in one; see QUESTION in runs.py
OVERRUN, MISS = "task_wcet_violation", "task_deadline_miss"


@dataclasses.dataclass(frozen=True)
class Declared:
    context: int
    label: str
    name: str
    level: str
    wcet: int
    period: int | None
    deadline: int
    first: int         # its first release without shifts
    begin: int
    end: int | None    # None: it lives until the end of the run

    def beside(self, other):
        """Whether both existed at one time."""
        return (self.end is None or other.begin < self.end) and (other.end is None or self.begin < other.end)


@dataclasses.dataclass(frozen=True)
class Bound:
    value: int | None
    reason: str = ""  # why there is none
    release: int | None = None


def declared_tasks(rows):
    seen, tasks = {}, []
    # One that was created and never released asked for an admission, and no more.
    existed = [row for row in rows if row["kind"] == "task" and row["first_ns"] is not None]
    for row in sorted(existed, key=lambda row: (row["begin_ns"] or 0, row["context"])):
        name = row["name"]
        seen[name] = seen.get(name, 0) + 1
        budget = row["budget_ns"]
        tasks.append(Declared(
            context=row["context"], label=name if seen[name] == 1 else f"{name}/{seen[name]}", name=name,
            level=row["level"], wcet=row["wcet_ns"] or budget or 0, period=row["period_ns"],
            deadline=row["deadline_ns"] or row["period_ns"] or 0, first=row["first_ns"], begin=row["begin_ns"] or 0,
            end=row["end_ns"]))
    return tasks


class Model:
    def __init__(self, rows):
        self.tasks = declared_tasks(rows)
        self._protocols = {row["name"]: PROTOCOL.search(row["protocol"])[1] for row in rows if row["kind"] == "mutex"}

    def overruns(self, task, seen):
        """{label: by how much a job of it ran longer than declared}, of all from whose declarations the bound of `task`
        follows."""
        found = {}
        for one in [task, *self._above(task), *self._equal(task)]:
            ran = seen.get(("ran", one.context, one.name), 0)
            if one.level in ("RM", "EDF") and ran > one.wcet:
                found[one.label] = ran - one.wcet
        return found

    def _above(self, task):
        return [other for other in self.tasks if other is not task and other.beside(task) and other.level == "RM" and
                (task.level == "EDF" or other.deadline <= task.deadline)]

    def _equal(self, task):
        return [other for other in self.tasks if other is not task and other.beside(task) and
                task.level == other.level == "EDF"]

    def bound(self, task, seen, measured=False):
        """seen: {(kind, context, name): longest} over all runs. measured: with the longest execution times that were
        seen instead of the declared ones."""
        if task.level in ("RM", "EDF") and ("job", task.context, task.name) not in seen:
            return Bound(None, "no job was complete")
        if task.level not in ("RM", "EDF"):
            return Bound(None, WITHOUT.get(task.level, f"level {task.level}: no analysis"))
        group = [other for other in self.tasks if other.beside(task)]
        try:
            return self._bound(task, group, seen, measured)
        except Unbounded as reason:
            return Bound(None, str(reason))

    def _bound(self, task, group, seen, measured):
        def analysed(one):
            ran = seen.get(("ran", one.context, one.name)) if measured and one.level in ("RM", "EDF") else None
            wcet = one.wcet if ran is None else ran  # of a task without a complete job no other time is known
            return bounds.Task(one.label, wcet, one.period, one.deadline, KINDS[one.level])

        above, equal = self._above(task), self._equal(task)
        self._require_no_waiting([task, *above, *equal], seen)
        self._require_known_levels(task, group)
        sections = self._sections(group, seen)
        for one in (task, *above, *equal):
            self._blocking(one, group, sections, one.deadline)  # raises if some inversion is not bounded
        if task.level == "RM":
            blocked = self._blocking(task, group, sections, task.deadline)
            return Bound(bounds.fixed_response(analysed(task), [analysed(other) for other in above], blocked))
        servers = [analysed(other) for other in group if other.level == "CBS"]
        found = bounds.deadline_response(
            analysed(task), [analysed(other) for other in equal], [analysed(other) for other in above], servers,
            lambda due: self._blocking(task, group, sections, due))
        return Bound(found.response, release=found.release)

    @staticmethod
    def _require_no_waiting(tasks, seen):
        for task in tasks:
            for kind, context, reason in seen:
                if kind == "wait" and context == task.context and not reason.startswith("mutex"):
                    raise Unbounded(f"{task.label} waits within its job: {reason}")

    @staticmethod
    def _require_known_levels(task, group):
        for other in group:
            if other.level == "GRUB" and task.level == "EDF":
                raise Unbounded(f"{other.label} reclaims (GRUB): its demand is bounded with that of all, not alone")
            if other.level == "SERVED":
                raise Unbounded(f"{other.label} is served at a fixed priority: its demand is not in the analysis")

    def _sections(self, group, seen):
        """Of a hold, what was observed with it has its name in front: of what was locked within, or waited for."""
        labels = {task.context: task.label for task in group}
        within = {}  # {(kind, context, mutex): names}
        for kind, context, name in seen:
            if kind in ("inner", "held_wait"):
                mutex, _, other = name.partition(SEPARATOR)
                within.setdefault((kind, context, mutex), []).append(other)
        return [Section(labels[context], mutex, length, self._protocols.get(mutex, "inheritance"),
                        outermost=seen.get(("outermost", context, mutex), 0),
                        inner=frozenset(within.get(("inner", context, mutex), ())),
                        waits=", ".join(sorted(within.get(("held_wait", context, mutex), ()))))
                for (kind, context, mutex), length in seen.items() if kind == "section" and context in labels]

    @staticmethod
    def _blocking(task, group, sections, due):
        """By tasks that are less urgent than a job of `task` due at `due`."""
        def is_urgent(other):
            if other.level == "RM":
                return task.level == "EDF" or other.deadline <= task.deadline
            return task.level == "EDF" and other.level == "EDF" and other.deadline <= due

        urgent = {other.label for other in group if other is task or is_urgent(other)}
        lower = {other.label for other in group} - urgent
        return bounds.blocking(sections, urgent, lower)
