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


class Guest:
    def __init__(self, plan, sources):
        self.plan = plan
        kept = ROOT / BUILD / "mutate" / "guest.coverage.json"
        state = hashlib.sha256((ROOT / TEST_KERNEL).read_bytes()).hexdigest()
        found = json.loads(kept.read_text()) if kept.exists() else {}
        if found.get("state") != state:
            found = {"state": state, "cases": self.measure()}
            kept.write_text(json.dumps(found))
        cases = found["cases"]
        self.seconds = {case: of["seconds"] for case, of in cases.items()}
        self.cases = {}  # (file, line) -> cases, the special ones first
        for case in sorted(cases, key=lambda name: sum(map(len, cases[name]["lines"].values()))):
            for file in cases[case]["lines"].keys() & set(sources):
                for line in cases[case]["lines"][file]:
                    self.cases.setdefault((file, line), []).append(case)

    def measure(self):
        """{case: its seconds, and the lines that it executes}."""
        names = [name for name in applications(GuestContext("mutate/guest", "list", 30), TEST_KERNEL)
                 if name.startswith(("t_", "p_"))]
        runs = dict(zip(names, parallel(os.cpu_count(), translated, names)))
        lines = lines_of(sorted(set().union(*(blocks for _, blocks in runs.values()))))
        cases = {}
        for name, (seconds, blocks) in runs.items():
            executed = {}
            for address in blocks:
                for file, line in lines.get(address, ()):
                    executed.setdefault(file, set()).add(line)
            cases[name] = {"seconds": seconds, "lines": {file: sorted(of) for file, of in executed.items()}}
        return cases

    def executes(self, site):
        return (site.mutation.file, site.mutation.line) in self.cases

    def notice(self, tree, mutation):
        """The case that fails, or None."""
        cases = self.cases.get((mutation.file, mutation.line), [])[:CASES_MAX]
        if not cases:
            return None
        kernel = tree.program(self.plan, TEST_KERNEL, mutation)
        cases.sort(key=self.seconds.get)
        return self.failed_case(tree, kernel, cases[:FIRST]) or self.failed_case(tree, kernel,
                                                                                 [*cases[FIRST:], RANDOM_SETS])

    def failed_case(self, tree, kernel, cases):
        limit_s = CASE_LIMIT_S + 3 * sum(self.seconds.get(case, CASE_LIMIT_S) for case in cases)
        code, output = tree.run(["tests/run.py", "-j", "1", "guest", *cases], limit_s,
                                {"TEST_KERNEL": kernel, "RANDOM_SETS": "80"})
        if code is None:
            raise Endless(f"guest {output.split()[-1:]}")
        return first_failure(output) if code != 0 else None

    def notice_golden(self, tree, mutation):
        """The application whose schedule differs from its golden file, or in which `remora check` finds a violation."""
        kernel = tree.program(self.plan, KERNEL, mutation)
        code, output = tree.run(["tests/golden/golden.py", "diff"], GOLDEN_LIMIT_S,
                                {"KERNEL": kernel, "REMORA": REMORA})
        if code is None:
            raise Endless("golden")
        return output.strip().splitlines()[-1][:80] if code != 0 else None


def first_failure(output):
    """The case that fails. A suite that ends badly without one shows nothing about the mutant."""
    found = re.findall(r"^FAIL (\S+)", output, re.M)
    if not found:
        raise SystemExit(f"a suite does not run: {output[-2000:]}")
    return found[0]


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
