# SPDX-License-Identifier: MIT
"""The stages with a guest. Which lines a case executes: QEMU notes the blocks that it translates (-d in_asm), and the
kernel's line table says of which lines they are. A mutant boots the cases that execute its line, the shortest first,
then the applications of the golden schedules; `remora check` and `remora verify` look at what each of them traced."""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

from mutate import cases
from mutate.builds import BUILD, ROOT
from mutate.campaign import Endless
from mutate.processes import parallel

sys.path.insert(0, str(ROOT / "tests"))
from integration.guest import applications  # noqa: E402
from support.guests import GuestContext  # noqa: E402

KERNEL = f"{BUILD}/kernel/kernel.elf"
TEST_KERNEL = f"{BUILD}/kernel/kernel-test.elf"
REMORA = f"{BUILD}/host/remora"
ACCOUNTS = f"{BUILD}/host/accounts"
PROGRAMS = (KERNEL, TEST_KERNEL, REMORA, ACCOUNTS)  # what the stages after the unit programs run
COVERAGE_LIMIT_S = 120
CASES_MAX = 24  # that run a line: so many of them, those that execute the fewest lines besides
FIRST = 3
CASE_LIMIT_S = 60
RANDOM_SETS = "random_sets_1"  # eighty task sets, each decision of which `remora check` derives from the theory
GOLDEN_LIMIT_S = 120
CLEAN_LIMIT_S = 600


class Guest:
    def __init__(self, plan, sources):
        self.plan = plan
        kept = ROOT / BUILD / "mutate" / "guest.coverage.json"
        state = hashlib.sha256((ROOT / TEST_KERNEL).read_bytes()).hexdigest()
        found = json.loads(kept.read_text()) if kept.exists() else {}
        if found.get("state") != state:
            found = {"state": state, "cases": self.measure()}
            kept.write_text(json.dumps(found))
        measured = found["cases"]
        self.seconds = {case: of["seconds"] for case, of in measured.items()}
        self.cases = {}  # (file, line) -> cases, the special ones first
        for case in sorted(measured, key=lambda name: sum(map(len, measured[name]["lines"].values()))):
            for file in measured[case]["lines"].keys() & set(sources):
                for line in measured[case]["lines"][file]:
                    self.cases.setdefault((file, line), []).append(case)

    def measure(self):
        """{case: its seconds, and the lines that it executes}."""
        names = [name for name in applications(GuestContext("mutate/guest", "list", 30), TEST_KERNEL)
                 if name.startswith(("t_", "p_"))]
        runs = dict(zip(names, parallel(os.cpu_count(), translated, names)))
        lines = lines_of(sorted(set().union(*(blocks for _, blocks in runs.values()))))
        found = {}
        for name, (seconds, blocks) in runs.items():
            executed = {}
            for address in blocks:
                for file, line in lines.get(address, ()):
                    executed.setdefault(file, set()).add(line)
            found[name] = {"seconds": seconds, "lines": {file: sorted(of) for file, of in executed.items()}}
        return found

    def executes(self, site):
        return (site.mutation.file, site.mutation.line) in self.cases

    def notice(self, tree, mutation):
        """The case that fails, or None."""
        names = self.cases.get((mutation.file, mutation.line), [])[:CASES_MAX]
        if not names:
            return None
        kernel = tree.program(self.plan, TEST_KERNEL, mutation)
        names.sort(key=self.seconds.get)
        return (self.noticed(tree, kernel, names[:FIRST]) or names[FIRST:] and self.noticed(tree, kernel, names[FIRST:])
                or self.noticed(tree, kernel, [RANDOM_SETS]))

    def noticed(self, tree, kernel, names):
        """The case that fails, passes with the clean kernel, and fails again."""
        found = self.failed_case(tree, kernel, names)
        if not found:
            return None
        only = [name for name in names if found.split()[0] == name] or names[:1]
        if not self.failed_case(tree, TEST_KERNEL, only) and self.failed_case(tree, kernel, only):
            return found
        print(f"not used: {found}, which fails without a mutant, or not each time", flush=True)
        return None

    def failed_case(self, tree, kernel, names):
        limit_s = CASE_LIMIT_S + 3 * sum(self.seconds.get(case, CASE_LIMIT_S) for case in names)
        code, output = tree.run(["tests/run.py", "-j", "1", "guest", *names], limit_s,
                                {"TEST_KERNEL": kernel, "RANDOM_SETS": "80"})
        if code is None:
            raise Endless(f"guest {output.split()[-1:]}")
        return first_failure(output) if code != 0 else None

    def notice_golden(self, tree, mutation):
        """The application whose schedule differs from its golden file, or in which `remora check` finds a violation."""
        kernel = tree.program(self.plan, KERNEL, mutation)
        return self.golden(tree, kernel)

    @staticmethod
    def golden(tree, kernel):
        code, output = tree.run(["tests/golden/golden.py", "diff"], GOLDEN_LIMIT_S,
                                {"KERNEL": kernel, "REMORA": REMORA})
        if code is None:
            raise Endless("golden")
        return (output.strip().splitlines() or ["no schedule"])[-1][:80] if code != 0 else None

    def check_clean(self, tree):
        """What fails without a mutant says nothing of one."""
        shortest = sorted(self.seconds, key=self.seconds.get)[:FIRST]
        found = self.failed_case(tree, TEST_KERNEL, [*shortest, RANDOM_SETS]) or self.golden(tree, KERNEL)
        if found:
            raise SystemExit(f"error: {found} fails without a mutant; remedy: make test-kernel golden-diff")


class Integration:
    """The integration cases of an area of the kernel, as far as they pass without a mutant, the fastest first."""

    def __init__(self, plan, area, trees):
        self.plan, self.steps = plan, []
        for name, words in cases.steps("integration", area):
            begin = time.monotonic()
            code, _ = trees[0].run(words, CLEAN_LIMIT_S)
            if code == 0:
                self.steps.append((time.monotonic() - begin, name, words))
            else:
                print(f"not used: {name} fails without a mutant", flush=True)
        self.steps.sort()

    def notice(self, tree, mutation):
        env = {variable: tree.program(self.plan, program, mutation)
               for variable, program in (("REMORA", REMORA), ("KERNEL", KERNEL), ("TEST_KERNEL", TEST_KERNEL))}
        for seconds, name, words in self.steps:
            code, _ = tree.run(words, CASE_LIMIT_S + 3 * seconds, env)
            if code is None:
                raise Endless(name)
            limit_s = CASE_LIMIT_S + 3 * seconds
            if code != 0 and tree.run(words, limit_s)[0] == 0 and tree.run(words, limit_s, env)[0] != 0:
                return name
        return None


def first_failure(output):
    """The case that fails, and whether `remora check` saw it; the suite lists its cases by a boot of the kernel, which
    may fail as well."""
    found = re.findall(r"^FAIL (\S+)(.*)", output, re.M)
    if not found:
        return "no case runs"
    name, fault = found[0]
    return f"{name} by remora check" if re.search(r"remora check .*ended with", fault) else name


def translated(case):
    """(seconds, addresses of the instructions that QEMU translated) in a run of a case."""
    ctx = GuestContext("mutate/guest", case, COVERAGE_LIMIT_S)
    log = ctx.dir / "blocks"
    begin = time.monotonic()
    ctx.boot(case, kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=ctx.make_ramdisk(),
             devices=["-d", "in_asm", "-D", str(log)])
    seconds = time.monotonic() - begin
    with open(log, encoding="utf-8", errors="replace") as file:
        blocks = {line.split(":")[0] for line in file if line.startswith("0x")}
    log.unlink()
    return seconds, blocks


def lines_of(addresses):
    """{address: {(file, line), with those of the functions into which it was inlined}}."""
    command = ["llvm-symbolizer", f"--obj={TEST_KERNEL}", "--functions=none", "--inlines"]
    done = subprocess.run(command, cwd=ROOT, text=True, input="\n".join(addresses) + "\n", capture_output=True,
                          check=True).stdout
    found = {}
    for address, frames in zip(addresses, done.split("\n\n")):
        places = re.findall(r"^(?:\./|.*?/\./)?(\S+?):(\d+):\d+$", frames.strip(), re.M)
        found[address] = {(os.path.relpath(file, ROOT) if file.startswith("/") else file, int(line))
                          for file, line in places}
    return found
