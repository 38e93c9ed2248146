# SPDX-License-Identifier: MIT
"""The first stage: the unit programs of the area, as switched programs (switched.py) or, for assembler, built for each
mutant; of the page its tests under node."""
import collections
import json
import os
import pathlib
import re
import xml.etree.ElementTree

from mutate import builds, switched
from mutate.areas import matches
from mutate.builds import BUILD, MUTANT, ROOT, Plan
from mutate.campaign import Endless, failed_test
from mutate.processes import MEMORY_BYTES

FAST, SANITIZED = ("test-fast", "FAST=1"), ("test", "FAST=")  # the folders of two profiles, and make's option
LIMIT_S = 3  # of processor time, beside the clean run's
FILTER_CHARS = 100000  # Linux takes 131071 in one argument
CLEAN_LIMIT_S = 900
ASAN_LIMIT = "hard_rss_limit_mb=4096"
QUICK_S = 0.02  # of a test: most mutants are noticed by one of these


def plan_of(area, profile=FAST):
    folder, option = profile
    return Plan([f"{BUILD}/{folder}/{name}" for name in programs_of(area)], [option])


def programs_of(area):
    """One for each folder with tests, as in mk/tests.mk, of those that the area names."""
    tests = ROOT / "tests" / "unit"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("*.cpp")}
    names = ["-".join(folder.parts) for folder in sorted(folders)]
    return [name for name in names if matches(name, area.own)]


def outcome(tree, program, tests, clean_s, env, memory=MEMORY_BYTES):
    """The program and the test that fail, or None. clean_s: what these tests take without a mutant."""
    only = ":".join(tests)
    words = [program, "--gtest_fail_fast", *([f"--gtest_filter={only}"] if tests and len(only) < FILTER_CHARS else [])]
    cpu_s = int(LIMIT_S + 5 * clean_s)
    code, output = tree.run(words, 5 * cpu_s, env, memory, cpu_s)
    found = f"{pathlib.Path(program).name} {failed_test(output)}"
    if code is None:
        raise Endless(found)
    return found if code != 0 else None


class SwitchedUnits:
    """sanitized: with the programs of CI, which it has built; AddressSanitizer needs all addresses."""

    def __init__(self, name, area, sites, jobs, sanitized):
        plan = plan_of(area, SANITIZED if sanitized else FAST)
        self.switched = switched.Switched(plan, name + ("-sanitized" if sanitized else ""), sites, jobs,
                                          ("switch_rows",))
        self.memory = None if sanitized else MEMORY_BYTES
        self.fails = set()  # (program, tests) that fail without a mutant, too
        self.env = {"ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{ASAN_LIMIT}"} if sanitized else {}
        self.tests = {}  # number -> [(program, [tests], seconds)], the fastest first: those of QUICK_S at once
        ended = [self.measure(program) for program in self.switched.programs.values()]
        if ended and not any(ended):
            raise SystemExit(f"error: no unit program of {name} ends without a mutant; remedy: make test-unit")
        for of in self.tests.values():
            of.sort(key=lambda found: found[2])

    def measure(self, program):
        """A clean run, which notes what each test executes. A test that fails is not used: it counts instructions."""
        name, tree = pathlib.Path(program).name, self.switched.tree
        rows, times = (tree.path / MUTANT / f"{name}.{suffix}" for suffix in ("executed", "xml"))
        for path in (rows, times):
            path.unlink(missing_ok=True)
        tree.run([program, f"--gtest_output=xml:{times}"], CLEAN_LIMIT_S, {"MUTANTS_EXECUTED": str(rows)})
        if not times.exists():
            print(f"not used: {name} does not end without a mutant", flush=True)
            return False
        tests = [(f"{test.get('classname')}.{test.get('name')}", float(test.get("time")), test.find("failure") is None)
                 for test in xml.etree.ElementTree.parse(times).iter("testcase") if test.get("status") == "run"]
        if len(tests) >= switched.ROWS_MAX:
            raise SystemExit(f"{name} has {len(tests)} tests; remedy: a larger kRowsMax in tests/mutate/switch.hpp")
        before, *of_tests = self.switched.rows(rows, len(tests) + 1)
        executed = collections.defaultdict(list)
        for (test, seconds, passes), row in zip(tests, of_tests):
            for number in row | before:
                if passes:
                    executed[number].append((seconds, test))
        for number, of in executed.items():
            quick = [found for found in of if found[0] < QUICK_S]
            for part in (quick, *([found] for found in of if found[0] >= QUICK_S)):
                if part:
                    self.tests.setdefault(number, []).append((program, [test for _, test in part],
                                                              sum(seconds for seconds, _ in part)))
        failed = [test for test, _, passes in tests if not passes]
        print(f"  {name}: {len(tests)} tests execute {len(executed)} mutants"
              + (f"; not used: {', '.join(failed)}" if failed else ""), flush=True)
        return True

    def executes(self, site):
        return self.switched.number[site.key] in self.tests

    def notice(self, tree, site):
        number = self.switched.number[site.key]
        for program, tests, seconds in self.tests.get(number, ()):
            found = self.outcome(tree, program, tests, seconds, number)
            if found:
                only = [test for test in found.split()[1:] if test in tests] or tests
                if self.is_due_to(tree, program, only, seconds, number):
                    return found
                print(f"not used: {found}, which fails without a mutant, or not each time", flush=True)
        return None

    def outcome(self, tree, program, tests, seconds, number):
        return outcome(tree, program, tests, seconds, {"MUTANT": str(number), **self.env}, self.memory)

    def is_due_to(self, tree, program, tests, seconds, number):
        """What has noticed a mutant passes without one and fails with it once more: else it was its own fault, or that
        of the machine."""
        if (program, *tests) in self.fails:
            return False
        try:
            found = self.outcome(tree, program, tests, seconds, 0)
        except Endless:
            found = "no end"
        if found:
            self.fails.add((program, *tests))
        return not found and self.outcome(tree, program, tests, seconds, number)


def processor_s():
    """What the programs have taken that have ended."""
    times = os.times()
    return times.children_user + times.children_system


class ScriptUnits:
    """The tests of the page's scripts, all in one process. It notes which parts of the scripts it executes."""

    def __init__(self, area, trees):
        builds.make(f"{BUILD}/d3.min.js")
        trees[0].link()
        tests = sorted(str(path.relative_to(ROOT)) for path in (ROOT / area.own[0]).glob("*_test.js"))
        self.words = ["node", "--test-reporter=tap", "tests/support/page.js", *tests]
        begin, counts = processor_s(), trees[0].path / MUTANT / "counts"
        code, output = trees[0].run(self.words, CLEAN_LIMIT_S, {"NODE_V8_COVERAGE": str(counts)})
        if code != 0:
            raise SystemExit(f"the clean run of the page's tests fails: {output}")
        self.cpu_s = int(LIMIT_S + 5 * (processor_s() - begin))
        self.ranges = {}  # file -> [(begin, end, count)], outer ones first
        for script in json.loads(next(counts.glob("*.json")).read_text())["result"]:
            name = script["url"].removeprefix(f"file://{trees[0].path}/")
            self.ranges[name] = [(part["startOffset"], part["endOffset"], part["count"])
                                 for function in script["functions"] for part in function["ranges"]]

    def executes(self, site):
        """The innermost of the ranges around a place, which are nested, has its count."""
        around = [(end - begin, count) for begin, end, count in self.ranges.get(site.mutation.file, ())
                  if begin <= site.mutation.begin < end]
        return bool(around) and min(around)[1] > 0

    def notice(self, tree, site):
        tree.link()
        with tree.mutant(site.mutation):
            code, output = tree.run(self.words, 5 * self.cpu_s, cpu_s=self.cpu_s)
        if code is None:
            raise Endless("the page's tests")
        found = re.search(r"^not ok \d+ - (.*)", output, re.M)
        return None if code == 0 else found[1] if found else "no test"


class BuiltUnits:
    """Each instruction counts as executed by each program that has it."""

    def __init__(self, area, trees):
        self.plan = plan_of(area)
        self.seconds = {}
        for program in self.plan.links:
            if self.plan.affected(program, *area.sources()):
                self.seconds[program] = self.clean(trees[0], program)

    def clean(self, tree, program):
        """Seconds of a processor, however loaded the machine is."""
        begin = processor_s()
        code, output = tree.run([str(ROOT / program), "--gtest_brief=1"], CLEAN_LIMIT_S)
        if code != 0:
            raise SystemExit(f"the clean run of {program} fails: {output}")
        return processor_s() - begin

    def executes(self, site):
        return True

    def notice(self, tree, site):
        with tree.mutant(site.mutation):
            for program in sorted(self.seconds, key=self.seconds.get):
                mutant = tree.build(self.plan, program, self.plan.affected(program, site.mutation.file))
                found = outcome(tree, mutant, (), self.seconds[program], {})
                if found:
                    return found
        return None
