# SPDX-License-Identifier: MIT
"""The stages with the host tools. `traces`: what guests traced, looked at by `remora verify`, `remora check` and the
second calculation of response times (tests/accounting). Then the area's viewer and integration cases."""
import hashlib
import json
import os
import re
import sys

from mutate.builds import BUILD, ROOT, make
from mutate.campaign import Endless
from mutate.processes import parallel
from mutate.guest import ACCOUNTS, KERNEL, REMORA, TEST_KERNEL, first_failure

sys.path.insert(0, str(ROOT / "tests"))
from integration.guest import DECIDED, applications  # noqa: E402
from support.cases import Failure  # noqa: E402
from support.guests import GuestContext  # noqa: E402

TRACE_LIMIT_S = 60
SUITE_LIMIT_S = 900


class Host:
    def __init__(self, plan, area):
        self.plan, self.area = plan, area
        make(f"-j{os.cpu_count()}", "all")
        kept = ROOT / BUILD / "mutate" / "traces.json"
        state = hashlib.sha256((ROOT / TEST_KERNEL).read_bytes()).hexdigest()
        found = json.loads(kept.read_text()) if kept.exists() else {}
        if found.get("state") != state:
            names = [name for name in applications(GuestContext("mutate/traces", "list", 30), TEST_KERNEL)
                     if name.startswith(DECIDED)]
            found = {"state": state, "traces": [path for path in parallel(os.cpu_count(), traced, names) if path]}
            kept.write_text(json.dumps(found))
        self.traces = found["traces"]

    def notice_traces(self, tree, mutation):
        """The command that finds a fault in a trace without one, or None."""
        remora, accounts = (tree.program(self.plan, program, mutation) for program in (REMORA, ACCOUNTS))
        commands = [[remora, *words, trace] for trace in self.traces
                    for words in (["verify"], ["check", "--must-decide"])]
        for command in (*commands, ["tests/accounting/compare.py", *self.traces]):
            code, _ = tree.run(command, TRACE_LIMIT_S, {"ACCOUNTS": accounts, "REMORA": remora})
            if code is None:
                raise Endless(" ".join(command[:2]))
            if code != 0:
                return " ".join([*command[:2], command[-1].split("/")[-2]])
        return None

    def notice_viewers(self, tree, mutation):
        return self.suite(tree, mutation, "viewers", self.area.viewers)

    def notice_integration(self, tree, mutation):
        names = []
        for module in self.area.integration:
            text = (ROOT / "tests" / "integration" / f"{module}.py").read_text(encoding="utf-8")
            names += re.findall(r"^@case.*\ndef (\w+)", text, re.M)
        return self.suite(tree, mutation, "integration", names)

    def suite(self, tree, mutation, name, cases):
        """The first case that fails, or None."""
        env = {variable: tree.program(self.plan, program, mutation)
               for variable, program in (("REMORA", REMORA), ("KERNEL", KERNEL), ("TEST_KERNEL", TEST_KERNEL))}
        code, output = tree.run(["tests/run.py", "-j", "1", name, *cases], SUITE_LIMIT_S, env)
        if code is None:
            raise Endless(f"{name} {output.split()[-1:]}")
        return first_failure(output) if code != 0 else None


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
