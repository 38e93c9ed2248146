# SPDX-License-Identifier: MIT
"""Worst-case response times by analysis, from parameters alone; exact integers, in nanoseconds. Independent of the
kernel's admission (kernel/sched/admission/), which decides whether deadlines hold and computes no response times.

Fixed priorities: Joseph, Pandya, "Finding response times in a real-time system" (1986), with the jobs of a busy period
one by one (Lehoczky 1990, Tindell 1994). Deadlines: Spuri, "Analysis of deadline scheduled real-time systems" (1996),
under the interference of fixed priorities above. Blocking: Sha, Rajkumar, Lehoczky, "Priority inheritance protocols"
(1990), Baker, "Stack-based scheduling" (1991)."""
import dataclasses
import fractions

FIXED, DEADLINE, SERVER = "fixed", "deadline", "server"
# Of a server's period: its demand grows steadily, and is taken at the end of each part.
SERVER_PARTS = 32
# A busy period of so many steps is given up: the set uses all of the processor, or nearly so.
STEPS_MAX = 100_000


@dataclasses.dataclass(frozen=True)
class Task:
    """period None: one job. SERVER: wcet is the budget, the deadline is the period; it only interferes."""
    name: str
    wcet: int
    period: int | None
    deadline: int
    kind: str = FIXED

    def releases(self, time):
        """How many jobs are released in [0, time), the first at 0."""
        if self.period is None:
            return 1 if time > 0 else 0
        return -(-time // self.period)

    def jobs_due(self, time):
        """How many of these are due at `time` or before."""
        if time < self.deadline:
            return 0
        return 1 if self.period is None else (time - self.deadline) // self.period + 1

    @property
    def utilisation(self):
        return fractions.Fraction(0) if self.period is None else fractions.Fraction(self.wcet, self.period)


@dataclasses.dataclass(frozen=True)
class Section:
    """The longest critical section of a task (by name) on a mutex; protocol: inheritance, ceiling, stack or none.
    outermost: the longest stretch without a break in which the task holds this mutex or others; 0: `length`. inner:
    what it locks within. waits: for what it waits within, other than a mutex; empty: it does not."""
    task: str
    mutex: str
    length: int
    protocol: str
    outermost: int = 0
    inner: frozenset = frozenset()
    waits: str = ""

    @property
    def longest(self):
        return max(self.length, self.outermost)


class Unbounded(Exception):
    """No bound exists; the message is the reason."""


def fixpoint(demand, start):
    """The least t >= start with demand(t) <= t."""
    time = start
    for _ in range(STEPS_MAX):
        needed = demand(time)
        if needed <= time:
            return time
        time = needed
    raise Unbounded("the busy period has no end: the processor is used up")


def require_capacity(tasks):
    used = sum(task.utilisation for task in tasks)
    if used > 1:
        raise Unbounded(f"the declared utilisation is {float(used):.2f}")


# --- blocking ---------------------------------------------------------------------------------------------------------

def longest(sections, key, length):
    """{key: longest section}"""
    found = {}
    for section in sections:
        found[key(section)] = max(found.get(key(section), 0), length(section))
    return found


def contested_mutexes(sections, urgent):
    """What urgent tasks lock, and what others lock within a section on one of these: who holds it delays them in
    turn."""
    contested = {section.mutex for section in sections if section.task in urgent}
    while True:
        more = {mutex for section in sections if section.mutex in contested for mutex in section.inner} - contested
        if not more:
            return contested
        contested |= more


def blocking(sections, urgent, lower):
    """How long tasks `lower` may keep those at least as urgent as the one in question waiting, in a busy period. Each
    of them holds at most one outermost section when the period begins, and each mutex has one holder; a section that is
    begun later is within one for which an urgent task waits already. Under the protocols with ceilings it is one
    section in all."""
    contested = contested_mutexes(sections, urgent)
    harmful = [section for section in sections if section.task in lower and section.mutex in contested]
    for section in harmful:
        if section.protocol == "none":
            raise Unbounded(f"{section.task} may hold {section.mutex}, which has no protocol, for any time")
        if section.waits:
            raise Unbounded(f"{section.task} waits while it holds {section.mutex}: {section.waits}")
    inheriting = [section for section in harmful if section.protocol == "inheritance"]
    by_task = sum(longest(inheriting, lambda one: one.task, lambda one: one.longest).values())
    by_mutex = sum(longest(inheriting, lambda one: one.mutex, lambda one: one.length).values())
    one = max((section.longest for section in harmful if section.protocol != "inheritance"), default=0)
    return min(by_task, by_mutex) + one


# --- fixed priorities -------------------------------------------------------------------------------------------------

def fixed_response(task, above, blocked=0):
    """The bound of `task`, below those of `above` and blocked for so long."""
    require_capacity([task, *above])
    worst, job, finish = 0, 0, 0
    while True:
        work = blocked + (job + 1) * task.wcet
        finish = fixpoint(lambda t, work=work: work + sum(other.releases(t) * other.wcet for other in above),
                          max(finish, work))
        release = 0 if task.period is None else job * task.period
        worst = max(worst, finish - release)
        job += 1
        if task.period is None or finish <= job * task.period:
            return worst
        if job > STEPS_MAX:
            raise Unbounded("the busy period has no end: the processor is used up")


# --- deadlines --------------------------------------------------------------------------------------------------------

@dataclasses.dataclass(frozen=True)
class DeadlineBound:
    response: int
    release: int  # of the worst job, in a busy period that begins with a release of all others: the witness


def server_work(servers, length):
    """What servers may ask for by deadlines within such a length (Abeni, Buttazzo 1998), rounded up."""
    return sum(-(-server.wcet * length // server.period) for server in servers)


def last_release(task, others, above, servers, blocked):
    """No job of `task` that is released later in a busy period finds it still busy."""
    everything = [task, *others, *above]
    used = sum(one.utilisation for one in [*everything, *servers])
    limits = []
    if not servers:
        try:
            limits.append(fixpoint(lambda t: blocked + sum(one.releases(t) * one.wcet for one in everything), 1))
        except Unbounded:
            pass
    if used < 1:
        constant = blocked + sum(one.wcet for one in everything) + used * task.deadline
        limits.append(int(constant / (1 - used)) + 1)
    if not limits:
        raise Unbounded("deadlines and servers use up the processor")
    return min(limits)


def candidates(task, others, servers, last):
    """Releases of `task` at which the response may be the longest: its deadline is one of another job."""
    found = {0}
    for server in servers:
        found.update(range(0, last + 1, max(1, server.period // SERVER_PARTS)))
    for other in [task, *others]:
        period = other.period or last + 1
        first = other.deadline - task.deadline
        step = 0 if first >= 0 else -(first // period)
        found.update(range(first + step * period, last + 1, period))
    return sorted(time for time in found if time <= last)


def deadline_response(task, others, above=(), servers=(), blocked=lambda deadline: 0):
    """The bound of `task` among `others`, which compete by absolute deadlines, below the fixed priorities `above`.
    blocked(d): how long tasks with deadlines after d (relative to the busy period's begin) may block."""
    require_capacity([task, *others, *above, *servers])
    dues = [task.deadline, *(other.deadline for other in others if other.deadline > task.deadline)]
    last = last_release(task, others, above, servers, max(map(blocked, dues)))
    releases = candidates(task, others, servers, last)
    worst = DeadlineBound(task.wcet, 0)
    for release, following in zip(releases, [*releases[1:], last + 1]):
        due = release + task.deadline
        own = 1 if task.period is None else release // task.period + 1
        first = release if task.period is None else release % task.period
        # Between two candidates only the servers' demand grows: as of the next one.
        serving = server_work(servers, following + task.deadline) if servers else 0

        def demand(time, due=due, own=own, first=first, serving=serving):
            work = blocked(due) + serving + sum(other.releases(time) * other.wcet for other in above)
            work += sum(min(other.releases(time), other.jobs_due(due)) * other.wcet for other in others)
            return work + min(task.releases(max(time - first, 0)), own) * task.wcet

        finish = fixpoint(demand, 1)
        if finish > release and finish - release > worst.response:
            worst = DeadlineBound(finish - release, release)
    return worst
