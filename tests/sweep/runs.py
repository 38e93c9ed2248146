# SPDX-License-Identifier: MIT
"""One run: a guest whose clock counts instructions, its phases moved by the words shift= and event_shift=, and what its
trace says of every task. The trace is read from the machine's memory, in a file without a disk below it: nothing is
exported. A run is a function of its words alone."""
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile

from support.context import KERNEL, REMORA, ROOT
from support.guests import APP_FAILED, OK, machine

RUN_MAX_S = 120
# The firmware waits for disks: without a controller a boot takes a fifth of the time, and the schedule is the same.
MACHINE = ["-machine", "sata=off"]
# The black box (docs/black-box.md): descriptor, tables and chunks begin there.
BLACK_BOX_ADDRESS = 32 << 20

# For each task its longest response and execution, interrupts left out; its longest critical sections, and the
# longest stretches of such sections that overlap; what it locked within a section, and for what it waited there (two
# names, with SEPARATOR of model.py between them); what it waited for; what it violated. Of a job that was ended
# before it was complete nothing is known.
QUESTION = """
with done as (select rowid as id, * from jobs where outcome = 'completed'),
ran as (select id, sum(min(r.end_ns, done.end_ns) - max(r.begin_ns, start_ns)) as ns from done
  join running r on r.context = done.context and r.begin_ns < done.end_ns and r.end_ns > start_ns group by id),
irq as (select id, sum(i.end_ns - i.begin_ns) as ns from done
  join interrupts i on i.task = done.task and i.depth = 1 and i.begin_ns < done.end_ns and i.begin_ns >= start_ns
  group by id),
every_hold as (select rowid as id, context, mutex, begin_ns, end_ns from holds),
held as (select h.context as context, h.mutex as mutex, sum(min(r.end_ns, h.end_ns) - max(r.begin_ns, h.begin_ns)) as ns
  from every_hold h join running r on r.context = h.context and r.begin_ns < h.end_ns and r.end_ns > h.begin_ns
  group by h.id),
-- A stretch begins with a hold before whose begin all others have ended.
begins as (select *, begin_ns >= coalesce(max(end_ns) over (partition by context order by begin_ns, end_ns desc
  rows between unbounded preceding and 1 preceding), -1) as first from every_hold where end_ns is not null),
numbered as (select *, sum(first) over (partition by context order by begin_ns, end_ns desc) as stretch from begins),
stretches as (select context, stretch, min(begin_ns) as begin_ns, max(end_ns) as end_ns from numbered
  group by context, stretch),
outermost as (select s.context as context, s.stretch as stretch,
  sum(min(r.end_ns, s.end_ns) - max(r.begin_ns, s.begin_ns)) as ns
  from stretches s join running r on r.context = s.context and r.begin_ns < s.end_ns and r.end_ns > s.begin_ns
  group by s.context, s.stretch)
select 'job' as kind, context, task as name, max(response_ns) as a, job as b, 0 as c from done group by context
union all select 'ran', done.context, task, max(ran.ns - coalesce(irq.ns, 0)), 0, 0 from done join ran using (id)
  left join irq using (id) group by done.context
union all select 'section', context, mutex, max(ns), 0, 0 from held group by context, mutex
union all select 'outermost', n.context, n.mutex, max(o.ns), 0, 0 from numbered n
  join outermost o on o.context = n.context and o.stretch = n.stretch group by n.context, n.mutex
union all select 'inner', o.context, o.mutex || char(31) || i.mutex, count(*), 0, 0 from every_hold o
  join every_hold i on i.context = o.context and i.id != o.id and i.begin_ns >= o.begin_ns
  and i.begin_ns < coalesce(o.end_ns, i.begin_ns + 1) group by o.context, o.mutex, i.mutex
union all select 'held_wait', h.context, h.mutex || char(31) || b.reason, count(*), 0, 0 from every_hold h
  join blocked b on b.context = h.context and b.begin_ns >= h.begin_ns and b.reason not like 'mutex%'
  and b.begin_ns < coalesce(h.end_ns, b.begin_ns + 1) group by h.context, h.mutex, b.reason
union all select 'wait', context, reason, max(duration_ns), 0, 0 from blocked group by context, reason
union all select 'violation', context, event, count(*), 0, 0 from events
  where event in ('task_wcet_violation', 'task_deadline_miss') group by context, event
"""
# Once: what was declared, and when each task existed.
DECLARED = """
select 'task' as kind, tasks.context as context, name, level, wcet_ns, period_ns, deadline_ns, budget_ns, offset_ns,
  (select min(release_ns) from jobs where jobs.context = tasks.context) as first_ns,
  (select min(time_ns) from events where event = 'task_create' and events.context = tasks.context) as begin_ns,
  (select max(time_ns) from events where event = 'task_end' and events.context = tasks.context) as end_ns,
  null as protocol from tasks
union all select 'mutex', 0, mutex, null, null, null, null, null, null, null, null, null, parameters from events
  where event = 'set_mutex_protocol'
"""


class RunFailed(Exception):
    pass


class Stopped(Exception):
    """stop() was called."""


@dataclasses.dataclass(frozen=True)
class Shifts:
    """Delays in ticks: of tasks by name, of periodic timer events."""
    tasks: tuple = ()  # of (name, ticks), sorted
    events: int = 0

    @staticmethod
    def of(tasks, events=0):
        return Shifts(tuple(sorted((name, ticks) for name, ticks in tasks.items() if ticks)), events)

    def words(self):
        """Of the kernel's command line."""
        tasks = ",".join(f"{name}:{ticks}" for name, ticks in self.tasks)
        return [*([f"shift={tasks}"] if tasks else []), *([f"event_shift={self.events}"] if self.events else [])]

    def variables(self):
        """The same for make."""
        return " ".join(f"{key.upper()}={value}" for key, _, value in (word.partition("=") for word in self.words()))


@dataclasses.dataclass(frozen=True)
class Worst:
    response: int
    job: int


class Runs:
    """Boots guests. Several threads may call observe(): each uses a directory of its own."""

    def __init__(self, app, kernel=KERNEL, seed=1, duration_ms=None):
        self.app = app
        self.kernel = kernel
        options = [f"SEED={seed}"] if seed != 1 else []
        options += [f"DURATION_MS={duration_ms}"] if duration_ms else []
        self._options = options
        self._words = ["exit=debug", f"app={app}", "sink=none", "clock=icount", "nic=none", f"seed={seed}"]
        self._words += [f"duration_ms={duration_ms}"] if duration_ms else []
        memory = pathlib.Path("/dev/shm")
        self._root = pathlib.Path(tempfile.mkdtemp(prefix=f"remora-sweep-{os.getpid()}-",
                                                   dir=memory if memory.is_dir() else None))
        self._free = []
        self._guests = set()
        self._stopped = False
        self._numbers = itertools.count(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self._root, ignore_errors=True)

    def stop(self):
        """Ends all guests; may be called by the handler of a signal. Runs that have not ended raise Stopped."""
        self._stopped = True
        for guest in list(self._guests):
            end_guest(guest)

    def command(self, shifts):
        """What repeats the run with make."""
        words = ["make run BOOT=pvh CLOCK=icount", f"APP={self.app}", *self._options, shifts.variables()]
        return " ".join(words).strip()

    def boot(self, shifts, use):
        """Boots once; returns use(file of the memory)."""
        work = self._free.pop() if self._free else self._root / f"guest{next(self._numbers)}"
        work.mkdir(exist_ok=True)
        ram = work / "ram"
        ram.unlink(missing_ok=True)
        words = " ".join([*self._words, *shifts.words()])
        with open(work / "qemu.log", "w+", encoding="utf-8") as log:
            code = self._wait_for(["qemu/boot.sh", words, *MACHINE], log, machine(work, kernel=self.kernel, ram=ram))
        if self._stopped:
            raise Stopped
        serial = (work / "serial.log").read_text(encoding="utf-8", errors="replace")
        # Counts that an application expects of its own releases need not hold for others.
        if code not in (OK, APP_FAILED):
            if f'"{self.app}" is not understood' in serial:
                raise RunFailed(f"no application {self.app}; there are: {', '.join(self.applications())}")
            raise RunFailed(f"exit code {code} of qemu/boot.sh '{words}': {serial[-600:]}")
        result = use(ram)
        self._free.append(work)
        return result

    def _wait_for(self, command, log, environment):
        """Returns the exit code. The guest has a session of its own: a terminal's Ctrl-C reaches this process only,
        which then ends the guests."""
        if self._stopped:
            raise Stopped
        guest = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 start_new_session=True)
        self._guests.add(guest)
        try:
            if self._stopped:  # by a signal since the first look
                end_guest(guest)
            return guest.wait(RUN_MAX_S)
        except subprocess.TimeoutExpired:
            raise RunFailed(f"{' '.join(command)}: no end after {RUN_MAX_S} s") from None
        finally:
            end_guest(guest)
            guest.wait()
            self._guests.discard(guest)

    def applications(self):
        """The names that the kernel knows."""
        work = self._root / "list"
        work.mkdir(exist_ok=True)
        with open(work / "qemu.log", "w", encoding="utf-8") as log:
            self._wait_for(["qemu/boot.sh", "exit=debug app=list sink=none clock=icount nic=none", *MACHINE], log,
                           machine(work, kernel=self.kernel))
        return re.findall(r"REMORA: app (\S+) - ", (work / "serial.log").read_text(encoding="utf-8", errors="replace"))

    def observe(self, shifts):
        """{(kind, context, name): (a, b)} of QUESTION."""
        rows = self.boot(shifts, lambda ram: self.ask(ram, QUESTION))
        return {(row["kind"], row["context"], row["name"]): (row["a"], row["b"]) for row in rows}

    def declared(self):
        """The rows of DECLARED of the run without shifts."""
        return self.boot(Shifts(), lambda ram: self.ask(ram, DECLARED))

    def _remora(self, command, ram, *arguments):
        """The kernel is named because a search for it would read the machine's whole memory."""
        return subprocess.run([REMORA, "--no-pager", command, ram, "--kernel", self.kernel, *arguments], cwd=ROOT,
                              capture_output=True, text=True, check=False)

    def ask(self, ram, question):
        """The rows of the answer."""
        done = self._remora("sql", ram, question, "--json")
        if done.returncode:
            raise RunFailed(f"remora sql ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)["rows"]

    def objections(self, shifts):
        """What `remora check` finds wrong with the kernel's decisions in this run; empty: nothing."""
        def check(ram):
            done = self._remora("check", ram, "--show", "3")
            return "" if done.returncode == 0 else done.stdout + done.stderr
        return self.boot(shifts, check)

    def trace_bytes(self, shifts):
        """What the run recorded: descriptor, tables and chunks as they are in memory."""
        def read(ram):
            with open(ram, "rb") as file:
                file.seek(BLACK_BOX_ADDRESS)
                return file.read()
        return self.boot(shifts, read)


def end_guest(guest):
    """Has no effect on one that has ended."""
    if guest.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(guest.pid, signal.SIGKILL)


def cpu_seconds():
    """Of this process and all that it has waited for."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)
