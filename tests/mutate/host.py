# SPDX-License-Identifier: MIT
"""The stages with the host tools, which contain all mutants of the area (switched.py). `traces`: what guests traced,
looked at by `remora verify`, `remora check` and the second calculation of response times (tests/accounting). `viewers`
and `integration`: the cases of the area. A clean run notes which mutants each of these steps executes; a mutant meets
those that execute it, the fastest first."""
import dataclasses
import hashlib
import json
import os
import sys
import time

from mutate import cases
from mutate.builds import BUILD, MUTANT, ROOT, Plan
from mutate.campaign import Endless
from mutate.guest import ACCOUNTS, REMORA, TEST_KERNEL
from mutate.processes import parallel
from mutate.switched import Switched

sys.path.insert(0, str(ROOT / "tests"))
from integration.guest import DECIDED, applications  # noqa: E402
from support.cases import Failure  # noqa: E402
from support.guests import GuestContext  # noqa: E402

TRACE_LIMIT_S = 60
CLEAN_LIMIT_S = 600
LIMIT_S = 20  # beside five times the clean run's
STAGE_S = 40  # of a mutant's steps in a stage, as long as they take without one; always the first
TRACES = 60  # evenly spread over those that the guest cases leave


@dataclasses.dataclass
class Step:
    name: str
    words: list
    seconds: float = 0
    executed: frozenset = frozenset()  # numbers of mutants


class Host:
    def __init__(self, name, area, sites, trees, chosen):
        self.switched = Switched(Plan((REMORA, ACCOUNTS)), f"{name}-host", sites, len(trees))
        paths = self.switched.programs
        self.env = {"REMORA": paths.get(REMORA, REMORA), "ACCOUNTS": paths.get(ACCOUNTS, ACCOUNTS)}
        self.steps = {}
        for stage in chosen:
            steps = self.trace_steps() if stage == "traces" else cases.steps(stage, area)
            if measured := self.measured(trees, [Step(*step) for step in steps]):
                self.steps[stage] = measured
            else:
                print(f"no step of {stage} executes a mutant: survivors have not met it", flush=True)

    def trace_steps(self):
        found = traces()
        for trace in [found[i * len(found) // TRACES] for i in range(min(TRACES, len(found)))]:
            case = trace.split("/")[-2]
            yield f"verify {case}", [self.env["REMORA"], "verify", trace]
            yield f"check {case}", [self.env["REMORA"], "check", "--must-decide", trace]
            yield f"accounts {case}", ["tests/accounting/compare.py", trace]

    def measured(self, trees, steps):
        """Those that pass without a mutant, the fastest first."""
        free = list(trees)  # one for each thread

        def measure(step):
            tree = free.pop()
            rows = tree.path / MUTANT / "executed"
            rows.unlink(missing_ok=True)
            for _ in range(2):  # a second time if the machine was too busy
                begin = time.monotonic()
                code, output = tree.run(step.words, CLEAN_LIMIT_S, {**self.env, "MUTANTS_EXECUTED": str(rows)})
                step.seconds = time.monotonic() - begin
                if code == 0:
                    break
            if code == 0 and rows.exists():
                step.executed = self.switched.rows(rows, 1)[0]
            elif code != 0:
                print(f"not used: {step.name} fails without a mutant: {output.strip()[-300:]}", flush=True)
            free.append(tree)

        parallel(len(trees), measure, steps)
        used = [step for step in steps if step.executed]
        print(f"  {len(used)} of {len(steps)} steps execute {len(set().union(*(step.executed for step in used)))} "
              f"mutants", flush=True)
        return sorted(used, key=lambda step: step.seconds)

    def executes(self, site):
        number = self.switched.number[site.key]
        return any(number in step.executed for steps in self.steps.values() for step in steps)

    def stage(self, name):
        """What notices a mutant."""
        def notice(tree, site):
            number, spent = self.switched.number[site.key], 0
            for step in self.steps[name]:
                if number in step.executed and (not spent or spent + step.seconds < STAGE_S):
                    spent += step.seconds
                    if self.fails(tree, step, number):
                        if self.passes(tree, step) and self.fails(tree, step, number):
                            return f"{name} {step.name}"
                        print(f"not used: {step.name}, which fails without a mutant, or not each time", flush=True)
            return None
        return notice

    def passes(self, tree, step):
        code, _ = tree.run(step.words, LIMIT_S + 5 * step.seconds, self.env)
        return code == 0

    def fails(self, tree, step, number):
        code, _ = tree.run(step.words, LIMIT_S + 5 * step.seconds, {**self.env, "MUTANT": str(number)})
        if code is None:
            raise Endless(step.name)
        return code != 0


def traces():
    """Of the guest's cases that are about scheduling; kept until the test kernel changes."""
    kept = ROOT / BUILD / "mutate" / "traces.json"
    state = hashlib.sha256((ROOT / TEST_KERNEL).read_bytes()).hexdigest()
    found = json.loads(kept.read_text()) if kept.exists() else {}
    if found.get("state") != state:
        names = [name for name in applications(GuestContext("mutate/traces", "list", 30), TEST_KERNEL)
                 if name.startswith(DECIDED)]
        found = {"state": state, "traces": [path for path in parallel(os.cpu_count(), traced, names) if path]}
        kept.write_text(json.dumps(found))
    return found["traces"]


def traced(case):
    """The trace of a case in which the clean tools find no fault, or None."""
    ctx = GuestContext("mutate/traces", case, TRACE_LIMIT_S)
    try:
        _, directory = ctx.traced(case, kernel=TEST_KERNEL, nic="none")
        ctx.adopt(directory)
        ctx.check(directory, "--must-decide")
    except Failure:
        return None
    (ctx.dir / "ramdisk.img").unlink()
    return str(directory)
