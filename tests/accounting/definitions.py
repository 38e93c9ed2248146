# SPDX-License-Identifier: MIT
"""The accounting of the response time, from docs/metrics.md alone: an independent calculation of what
host/schedule/accounting.cpp calculates. Written to be compared with the page, not to be fast: at each moment between
two stamps of records that a rule names, the table of rules is asked for each job in progress.

    for job in jobs(trace):  job.context, job.number, job.r, job.a, job.s, job.f, job.d, job.shares

Shares: {Share: [ticks, records]}."""
import bisect
import collections
import dataclasses
import typing

from accounting import records as raw

# Codes of docs/trace-format.md, section 6.
TASK_DISPATCH, TASK_EPILOGUE, TASK_END, TASK_BEGIN_CYCLE, TASK_END_CYCLE = 0x22, 0x32, 0x42, 0x52, 0x62
TASK_SCHEDULE, TASK_DISABLE, TASK_DEADLINE_MISS, TASK_BLOCK, TASK_UNBLOCK = 0x82, 0xA2, 0xB2, 0xD2, 0xE2
INTERRUPT_START, INTERRUPT_END, TIMER_START, TIMER_END, CLI, STI = 0x03, 0x13, 0x2B, 0x3B, 0x24, 0x34
CONTEXT_SWITCH, JOB_RELEASE, JOB_DEADLINE, JOB_ABORT, DEADLINE_CHANGE = 0x15, 0x0D, 0x1D, 0x2D, 0xDD
UNLOCK, ACQUIRE, DEADLOCK, LOCK_TIMEOUT, OWNER_DIED, MUTEX_BLOCK = 0x36, 0x86, 0x96, 0xA6, 0xB6, 0xC6
SERVER_BUDGET, SERVER_ATTACH, SERVER_KIND, SERVER_PERIOD = 0x78, 0x98, 0xA8, 0xC8
RULED = {TASK_DISPATCH, TASK_EPILOGUE, TASK_END, TASK_BEGIN_CYCLE, TASK_END_CYCLE, TASK_SCHEDULE, TASK_DISABLE,
         TASK_DEADLINE_MISS, TASK_BLOCK, TASK_UNBLOCK, INTERRUPT_START, INTERRUPT_END, TIMER_START, TIMER_END, CLI, STI,
         CONTEXT_SWITCH, JOB_RELEASE, JOB_DEADLINE, JOB_ABORT, DEADLINE_CHANGE, UNLOCK, ACQUIRE, DEADLOCK, LOCK_TIMEOUT,
         OWNER_DIED, MUTEX_BLOCK, SERVER_BUDGET, SERVER_ATTACH, SERVER_KIND, SERVER_PERIOD}
JITTER_RECORDS = 4096  # so far back they are counted
# Filters of the families that metrics.md names: general, task, interrupt, cpu, attribute, mutex, server, timer, job.
FILTERS = (0xF0, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF8, 0xFB, 0xFD)
TRACE_START = 0x20
GAPS = (raw.LOST, TRACE_START, 0x30, 0x40, 0x50, *FILTERS)  # trace_stop, blackout_start, blackout_end

WAITS = {1: "semaphore", 2: "delay", 3: "condition", 4: "receive", 5: "send", 6: "suspended", 7: "signal", 8: "mutex"}
WAIT_MUTEX = 8
DEADLINE_SERVERS = (1, 2)  # CBS, GRUB: a job begins with the server's deadline, which may have passed
SHARED_SERVERS = (3, 4)  # polling, deferrable

Executor = collections.namedtuple("Executor", "kind who")  # interrupt, timer, kernel, section, task, unknown
UNKNOWN = Executor("unknown", None)


class Share(typing.NamedTuple):
    """Part and culprit of some moments."""
    part: str
    by: str
    who: object = None  # vector, task, server, or what it waits for
    mutex: object = None
    holder: object = None
    chain_end: object = None
    end_waits: object = None  # for what the end of the chain waits, other than a mutex
    inversion: object = None  # of blocking: bounded, unbounded, unknown
    ended_by: object = None  # of suspension: the executor that ended the wait


@dataclasses.dataclass(eq=False)
class Wait:
    kind: str
    number: int
    ended_by: object = None


@dataclasses.dataclass
class Job:
    context: int
    number: int
    r: int
    a: int
    s: object = None
    f: object = None
    d: object = None
    missed: bool = False
    sure: bool = False  # no record is missing before it; else what its shares follow from may be missing, too
    shares: dict = dataclasses.field(default_factory=dict)

    def add(self, share, ticks, count):
        entry = self.shares.setdefault(share, [0, 0])
        entry[0] += ticks
        entry[1] += count


def nearest(low, stamp):
    """Of all times with this low half the nearest to the stamp. None is negative."""
    base = stamp - stamp % 2**32 + low
    return min((time for time in (base - 2**32, base, base + 2**32) if time >= 0), key=lambda time: abs(time - stamp))


def release(low, stamp):
    """Of all times with this low half the latest that is at most 2^24 after the stamp. None is negative."""
    times = range(low, stamp + 2**24 + 1, 2**32)
    return times[-1] if times else low


def deadline(low, stamp, r, lengths):
    """r: of the job; without lengths, only if this is its first deadline. lengths: what D may be, in ticks."""
    if r is None:
        return nearest(low, stamp)
    if not lengths:
        return r + (low - r) % 2**32
    return min((abs(nearest(low, r + length) - r - length), nearest(low, r + length)) for length in lengths)[1]


class Known:
    """What is known of the processor, its tasks, mutexes and servers after a record. A gap makes a new one."""

    def __init__(self, trace, former=None):
        self.trace = trace
        self.handlers = []  # vectors of open interrupts
        self.timer = self.kernel = self.section = False
        self.current = None
        self.schedule = (None, None)
        self.place = {}  # task: the task in whose place it runs
        self.mutex_wait, self.try_again = {}, {}  # task: mutex
        self.wait = {}  # task: Wait
        self.holds = []  # (mutex, task), the latest last
        self.unlocked = {}  # task: the mutex that it has unlocked, until it leaves the processor
        self.unlocked_for_place = set()  # those who unlocked what the task of their place waited for; until a decision
        # Whoever runs may hold what the gap has hidden. Nothing is hidden where the trace begins with the machine.
        self.lost = former is None or former.lost or former.current is not None
        self.deadline = {}
        self.released, self.undated = {}, set()  # task: r of its job; tasks whose jobs have no deadline yet
        self.budget = {}
        # What a record declares once remains true after a gap.
        self.server = former.server if former else {}  # task: server
        self.server_kind = former.server_kind if former else {}
        self.server_period = former.server_period if former else {}
        self.relative, self.relative_next = (former.relative, former.relative_next) if former else ({}, {})

    # --- what the processor executes ---------------------------------------------------------------------------------

    def executor(self):
        if self.handlers:
            return Executor("interrupt", self.handlers[-1])
        if self.timer:
            return Executor("timer", None)
        if self.kernel:
            return Executor("kernel", self.current)
        if self.section:
            return Executor("section", self.current)
        return UNKNOWN if self.current is None else Executor("task", self.current)

    def in_place_of(self, task):
        return self.place.get(task, task)

    # --- base priority -----------------------------------------------------------------------------------------------

    def level(self, task):
        """(number, policy) of the level in which a task competes; none: its parameters are not known."""
        parameters = self.trace.parameters.get(task)
        name = self.trace.levels.get(parameters.level) if parameters else None
        if name is None:
            return None
        policy = {"CBS": "EDF", "GRUB": "EDF", "SERVED": "RM"}.get(name, name)
        numbers = [number for number, other in self.trace.levels.items() if other == policy]
        return (numbers[0], policy) if numbers else None

    def is_idle(self, task):
        parameters = self.trace.parameters.get(task)
        return (parameters is not None and self.trace.levels.get(parameters.level) == "background" and
                self.trace.names.get(task) == "idle")

    def relative_deadline(self, task):
        if task in self.server and self.server_kind.get(self.server[task]) in SHARED_SERVERS:
            return self.server_period.get(self.server[task])
        parameters = self.trace.parameters[task]
        return self.relative.get(task, parameters.deadline_ns or parameters.period_ns)

    def lengths(self, task):
        """What D of the task may be, in ticks, as declared and as changed."""
        declared = task in self.trace.parameters and self.trace.parameters[task].deadline_ns
        of_task = (declared, self.relative.get(task), self.relative_next.get(task)) if declared else ()
        return [ns * self.trace.khz // 10**6 for ns in of_task if ns]

    def precedes(self, one, other):
        """None: unknown."""
        mine, others = self.level(one), self.level(other)
        if mine is None or others is None:
            return None
        if self.is_idle(one) or self.is_idle(other):
            return not self.is_idle(one)
        if mine[0] != others[0]:
            return mine[0] < others[0]
        if mine[1] not in ("EDF", "RM"):
            return False
        key = self.deadline.get if mine[1] == "EDF" else self.relative_deadline
        if key(one) is None or key(other) is None:
            return None
        return key(one) < key(other)

    # --- mutexes -----------------------------------------------------------------------------------------------------

    def holder(self, mutex):
        return next((task for held, task in reversed(self.holds) if held == mutex), None)

    def suspended(self, task):
        return task in self.wait and self.wait[task].kind == "suspended"

    def awaited_mutex(self, task):
        return None if self.suspended(task) else self.mutex_wait.get(task)

    def acquired_last(self, task):
        return next((mutex for mutex, holder in reversed(self.holds) if holder == task), None)

    def lent_for(self, runs):
        """The mutex for which a task runs in another place: just unlocked for that one, else acquired last."""
        last = self.acquired_last(runs)
        is_known = runs in self.unlocked_for_place or (last is None and not self.lost)
        return self.unlocked.get(runs) if is_known else last

    def chain(self, mutex):
        found = []
        holder = self.holder(mutex)
        while holder is not None and holder not in found:
            found.append(holder)
            holder = self.holder(self.awaited_mutex(holder))
        return found

    def link_to(self, runs, task):
        """The mutex of `runs` that the task waits for, directly or through a chain; a holder may be unknown."""
        for _ in range(64):
            mutex = self.awaited_mutex(task)
            task = self.holder(mutex)
            if mutex is None or task in (runs, None):
                return mutex
        return None

    def inversion(self, task, chain):
        executor = self.executor()
        if executor.kind in ("interrupt", "timer", "kernel"):
            return "bounded"
        if executor.kind == "unknown":
            return "unknown"
        runs = executor.who
        place = self.in_place_of(runs)
        if runs in chain or place in chain or place == task:
            return "bounded"
        if not chain or (self.awaited_mutex(chain[-1]) is not None
                         and self.holder(self.awaited_mutex(chain[-1])) is None):
            return "unknown"  # the executor may be of the chain
        before = self.precedes(task, place)
        return "unknown" if before is None else "unbounded" if before else "bounded"

    # --- the table of parts ------------------------------------------------------------------------------------------

    def blocked(self, task, mutex, executor):
        chain = self.chain(mutex)
        end = chain[-1] if chain else None
        waits = self.wait.get(end)
        by = "task" if executor.kind == "section" else executor.kind
        return Share("blocking", by, executor.who, mutex, chain[0] if chain else None, end,
                     (waits.kind, waits.number) if waits else None, self.inversion(task, chain))

    def ready(self, task, executor):
        server = self.server.get(task)
        if self.server_kind.get(server) in SHARED_SERVERS and self.budget.get(server) == 0:
            return Share("interference", "throttling", server)  # 6
        if executor.kind not in ("task", "section"):
            return Share("interference", executor.kind, executor.who)  # 7
        runs = executor.who
        place = self.in_place_of(runs)
        if place == runs and self.precedes(task, runs):
            return Share("interference", "section" if executor.kind == "section" else "kernel", runs)  # 8
        if place == task:
            return Share("blocking", "task", runs, self.lent_for(runs), runs, runs, None, "bounded")  # 9
        if place != runs and self.precedes(task, runs):
            mutex = self.link_to(runs, place) or self.lent_for(runs)
            return Share("blocking", "task", runs, mutex, runs, runs, None, "bounded")  # 10
        return Share("interference", "task", runs)  # 11

    def share(self, task):
        """Part and culprit of this moment for a job of the task; from its `a` on."""
        executor = self.executor()
        if self.current == task:
            if executor.kind in ("interrupt", "timer"):
                return Share("interference", executor.kind, executor.who)  # 2
            return Share("execution", "task", task)  # 3
        if self.awaited_mutex(task) is not None:
            return self.blocked(task, self.awaited_mutex(task), executor)  # 4
        if task in self.wait:
            return self.wait[task]  # 5; who ends it is not known yet
        return self.ready(task, executor)

    # --- records -----------------------------------------------------------------------------------------------------

    def take(self, stamp, code, par1, par2):
        if code in (INTERRUPT_START, INTERRUPT_END, TIMER_START, TIMER_END, CLI, STI):
            self.take_processor(code, par1)
        elif code in (TASK_SCHEDULE, TASK_DISPATCH, TASK_EPILOGUE, CONTEXT_SWITCH):
            self.take_decision(code, par1, par2)
        elif code in (TASK_BLOCK, TASK_UNBLOCK, MUTEX_BLOCK, LOCK_TIMEOUT, DEADLOCK):
            self.take_wait(code, par1, par2)
        elif code in (ACQUIRE, UNLOCK, OWNER_DIED):
            self.take_mutex(code, par1, par2)
        elif code in (SERVER_ATTACH, SERVER_KIND, SERVER_PERIOD, SERVER_BUDGET):
            self.take_server(code, par1, par2)
        else:
            self.take_job(stamp, code, par1, par2)

    def take_processor(self, code, vector):
        if code == INTERRUPT_START:
            self.handlers.append(vector)
        elif code == INTERRUPT_END and vector in self.handlers:
            while self.handlers.pop() != vector:
                pass
        elif code in (TIMER_START, TIMER_END):
            self.timer = code == TIMER_START
        elif code in (CLI, STI):
            self.section = code == CLI

    def take_decision(self, code, task, exec_):
        if code == TASK_SCHEDULE:
            self.schedule = (task, exec_)
            self.unlocked_for_place.discard(task)
        elif code == TASK_EPILOGUE:
            self.kernel = True
            self.unlocked.pop(task, None)
            self.unlocked_for_place.discard(task)
            if self.current is None:
                self.current = task
        elif code == TASK_DISPATCH:
            self.place[task] = self.schedule[1] if self.schedule[0] == task else task
            if task == self.current:
                self.kernel = False
        else:
            self.current = task
            self.kernel = False
            self.end_wait(task)

    def end_wait(self, task):
        wait = self.wait.pop(task, None)
        if wait:
            wait.ended_by = self.executor()

    def no_mutex_wait(self, task):
        self.mutex_wait.pop(task, None)
        self.try_again.pop(task, None)

    def take_wait(self, code, task, par2):
        if code == MUTEX_BLOCK or (code == TASK_BLOCK and par2 >> 16 == WAIT_MUTEX):
            self.mutex_wait[task] = par2 & 0xFFFF
            self.try_again.pop(task, None)
        elif code == TASK_BLOCK:
            self.end_wait(task)
            self.wait[task] = Wait(WAITS.get(par2 >> 16, par2 >> 16), par2 & 0xFFFF)
        else:
            if code != TASK_UNBLOCK or WAITS.get(par2 >> 16) != "suspended":
                self.no_mutex_wait(task)
            if code == TASK_UNBLOCK:
                self.end_wait(task)

    def take_mutex(self, code, task, mutex):
        self.holds = [hold for hold in self.holds if hold[0] != mutex]
        if code == ACQUIRE:
            self.no_mutex_wait(task)
            self.holds.append((mutex, task))
            again = [waiter for waiter, wanted in self.try_again.items() if wanted == mutex]
            for waiter in again:
                self.mutex_wait[waiter] = self.try_again.pop(waiter)
        else:
            self.unlocked[task] = mutex
            self.unlocked_for_place.discard(task)
            if self.link_to(task, self.in_place_of(self.current)) == mutex:
                self.unlocked_for_place.add(task)
            for waiter in [waiter for waiter, wanted in self.mutex_wait.items() if wanted == mutex]:
                self.try_again[waiter] = self.mutex_wait.pop(waiter)

    def take_server(self, code, par1, par2):
        if code == SERVER_ATTACH:
            self.server[par2] = par1
        elif code == SERVER_KIND:
            self.server_kind[par2] = par1
        elif code == SERVER_PERIOD:
            self.server_period[par1] = par2
        else:
            self.budget[par1] = par2

    def take_job(self, stamp, code, task, par2):
        if code == JOB_RELEASE:
            self.end_wait(task)
            self.released[task] = release(par2, stamp)
            self.undated.add(task)
            if task in self.relative_next:
                self.relative[task] = self.relative_next.pop(task)
        elif code == JOB_DEADLINE:
            is_first = task in self.undated and self.server_kind.get(self.server.get(task)) not in DEADLINE_SERVERS
            r = self.released.get(task) if self.lengths(task) or is_first else None
            self.deadline[task] = deadline(par2, stamp, r, self.lengths(task))
            self.undated.discard(task)
        elif code == DEADLINE_CHANGE:
            self.relative_next[task] = par2 * 1000
            if task in self.trace.parameters and self.relative_next[task] > self.relative_deadline(task):
                self.relative[task] = self.relative_next[task]
        elif code in (TASK_END_CYCLE, TASK_DISABLE, JOB_ABORT, TASK_END):
            self.no_mutex_wait(task)
            self.end_wait(task)


class Calculation:
    def __init__(self, trace):
        self.known = Known(trace)
        self.trace = trace
        self.open = {}  # task: its job in progress
        self.whole = False  # the trace began with the machine, and has had no gap
        self.filters = set()  # codes of those that are set
        self.numbers = collections.Counter()
        self.last_end = {}  # task: the end of its job before
        self.begins, self.executors = [], []  # elementary intervals: begin, executor
        self.stamps = [record[0] for record in trace.records]
        self.complete = []

    def run(self):
        moment = []
        ruled = [record for record in self.trace.records if record[1] in RULED or record[1] in GAPS]
        for record in [*ruled, (None,)]:
            if moment and record[0] != moment[0][0]:
                self.take_moment(moment[0][0], moment)
                moment = []
            moment.append(record)
        return self.complete

    def take_moment(self, stamp, moment):
        """All records with this stamp: the interval before ends here."""
        if self.begins:
            written = self.written(self.begins[-1], stamp)
            for job in self.open.values():
                job.add(self.known.share(job.context), stamp - self.begins[-1], written)
        self.begins.append(stamp)
        for _, code, par1, par2 in moment:
            if code in GAPS:
                self.whole = code == TRACE_START and par1 == 0
                if code in FILTERS:
                    (self.filters.add if par1 else self.filters.discard)(code)
                begins = self.whole and self.known.current is None
                self.known = Known(self.trace, self.known)
                self.known.lost = self.known.lost and not begins
                self.open = {}
                self.last_end = {}
            self.take_job(stamp, code, par1, par2)
            self.known.take(stamp, code, par1, par2)
        self.executors.append(self.known.executor())

    def take_job(self, stamp, code, task, par2):
        job = self.open.get(task)
        if code == JOB_RELEASE:
            if job:
                self.end(job, stamp)
            self.numbers[task] += 1
            self.open[task] = job = Job(task, self.numbers[task], release(par2, stamp), stamp,
                                              sure=self.whole)
            self.jitter(job)
        elif job is None:
            return
        elif code == JOB_DEADLINE:
            job.d = self.of_server(job) if task in self.known.server else \
                deadline(par2, stamp, job.r if self.known.lengths(task) or job.d is None else None,
                         self.known.lengths(task))
        elif code == TASK_DEADLINE_MISS:
            job.missed = True
        elif code == CONTEXT_SWITCH or (code == TASK_BEGIN_CYCLE and self.known.current == task):
            job.s = stamp if job.s is None else job.s
        elif code in (TASK_END_CYCLE, TASK_DISABLE, JOB_ABORT, TASK_END):
            if code == TASK_END and task in self.known.server:
                job.d = None
            self.end(job, stamp)

    def of_server(self, job):
        """r and the period of the task's server; None: it is not known."""
        period_ns = self.known.server_period.get(self.known.server[job.context], 0)
        return job.r + period_ns * self.trace.khz // 10**6 if 0 < period_ns < 2**32 - 1 and self.trace.khz else None

    def end(self, job, stamp):
        job.f = stamp
        self.last_end[job.context] = stamp
        del self.open[job.context]
        if job.r <= job.a and not self.filters:
            self.complete.append(job)

    def jitter(self, job):
        """From r to a: who kept the job from being released. The moments are past: they are looked up."""
        backlog = min(max(job.r, self.last_end.get(job.context, job.r)), job.a)
        if backlog > job.r:
            job.add(Share("jitter", "backlog"), backlog - job.r, self.written(job.r, backlog, job.a))
        cuts = sorted({backlog, job.a} | set(self.begins[bisect.bisect_left(self.begins, backlog):
                                                         bisect.bisect_left(self.begins, job.a)]))
        for begin, end in zip(cuts, cuts[1:]):
            index = bisect.bisect_right(self.begins, begin) - 1
            executor = self.executors[index] if index >= 0 else UNKNOWN
            job.add(Share("jitter", executor.kind, executor.who), end - begin, self.written(begin, end, job.a))

    def written(self, begin, end, ready=None):
        """Records with stamps after begin, up to end; of jitter, only the latest ones before the job was ready."""
        first = bisect.bisect_right(self.stamps, begin)
        last = bisect.bisect_right(self.stamps, end)
        if ready is not None:
            first = max(first, bisect.bisect_right(self.stamps, ready) - JITTER_RECORDS)
        return max(0, last - first)


def jobs(trace):
    """The complete jobs of a trace, in the order of their ends."""
    complete = Calculation(trace).run()
    for job in complete:
        resolved = {}
        for share, (ticks, count) in job.shares.items():
            if isinstance(share, Wait):
                share = Share("suspension", share.kind, share.number, ended_by=share.ended_by)
            entry = resolved.setdefault(share, [0, 0])
            entry[0] += ticks
            entry[1] += count
        job.shares = resolved
    return complete
