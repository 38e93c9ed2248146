# SPDX-License-Identifier: MIT
"""The first stage: the unit programs that execute the changed line."""
import pathlib

from mutate.areas import matches
from mutate.builds import BUILD, ROOT, Plan
from mutate.campaign import Endless, failed_test
from mutate.coverage import Coverage
from mutate.processes import MEMORY_BYTES

PROFILE = "FAST=1"


def unit_programs():
    """One for each folder with tests, as in mk/tests.mk."""
    tests = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("*.cpp")}
    return [f"{BUILD}/test-fast/{'-'.join(folder.parts)}" for folder in sorted(folders)]


class Units:
    def __init__(self, name, area, trees, own_alone):
        programs = [program for program in unit_programs()
                    if not own_alone or matches(pathlib.Path(program).name, area.own)]
        self.plan = Plan(programs, [PROFILE])
        self.coverage = Coverage(name + (".own" if own_alone else ""), area, self.plan, trees)

    def executes(self, file, line):
        return line in self.coverage.lines.get(file, {})

    def objects(self, program, mutation):
        """Those to compile. What a header defines is in many objects, of which the linker takes the first."""
        affected = self.plan.affected(program, mutation.file)
        chosen = set()
        for symbol in self.coverage.functions(program, mutation.file, mutation.line):
            defining = [output for output in self.plan.defining(symbol) if output in affected]
            if defining and not chosen.intersection(defining):
                chosen.add(defining[0])
        return chosen or self.coverage.counted(program) & affected or affected

    def notice(self, tree, mutation):
        """The program and the test that fail, or None."""
        for program in self.coverage.lines.get(mutation.file, {}).get(mutation.line, ()):
            mutant = tree.build(self.plan, program, self.objects(program, mutation))
            limit_s = 10 + 5 * self.coverage.runs[program]
            code, output = tree.run([mutant, "--gtest_fail_fast"], limit_s, memory=MEMORY_BYTES)
            name = pathlib.Path(program).name
            if code is None:
                raise Endless(f"{name} {failed_test(output)}")
            if code != 0:
                return f"{name} {failed_test(output)}"
        return None
