# SPDX-License-Identifier: MIT
"""Which lines the unit programs execute: clang's counters in the objects of an area and of its tests. And the clean
run: how long each program takes, and that it passes. Both are kept until a program or a file of the area changes."""
import hashlib
import json
import pathlib
import re
import time

from mutate.areas import matches
from mutate.builds import BUILD, MUTANT, ROOT, Unbuilt
from mutate.processes import parallel

# Counters are in the mapped file (%c): also those of a child that leaves by _exit(), as the fake machine does.
COUNTERS = "-fprofile-instr-generate -fcoverage-mapping -mllvm -runtime-counter-relocation"
CLEAN_LIMIT_S = 600
NESTED = 3  # functions that may begin between the line and the beginning of its own


class Coverage:
    """runs: {program: seconds}; lines: {file: {line: [programs, the area's own and fast ones first]}}."""

    def __init__(self, name, area, plan, trees):
        self.area, self.plan, self.sources = area, plan, area.sources()
        kept = ROOT / BUILD / "mutate" / f"{name}.coverage.json"
        state = self.state()
        found = json.loads(kept.read_text()) if kept.exists() else {}
        if found.get("state") != state:
            found = {"state": state, **self.measure(trees)}
            kept.write_text(json.dumps(found))
        self.runs, self.found = found["runs"], found["lines"]
        self.lines = {}
        for program in sorted(self.runs, key=lambda program: (not self.is_own(program), self.runs[program])):
            for name_of_file, executed in self.found[program].items():
                for line in executed["lines"]:
                    self.lines.setdefault(name_of_file, {}).setdefault(line, []).append(program)

    def state(self):
        tool = sorted(pathlib.Path(__file__).parent.glob("*.py"))
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in tool))
        for name in (*self.sources, *sorted(self.plan.links)):
            digest.update(f"{name} {(ROOT / name).stat().st_mtime_ns}".encode())
        return digest.hexdigest()

    def is_own(self, program):
        return matches(pathlib.Path(program).name, self.area.own)

    def measure(self, trees):
        """Programs are divided among the trees."""
        runs, lines = {}, {}
        programs = [program for program in self.plan.links if self.counted(program) or self.assembled(program)]
        shares = [programs[number::len(trees)] for number in range(len(trees))]
        for results in parallel(len(trees), lambda tree, share: [self.run(tree, program) for program in share], trees,
                                shares):
            for program, seconds, executed in results:
                runs[program], lines[program] = seconds, executed
        return {"runs": runs, "lines": lines}

    def counted(self, program):
        """The objects of a program that count: the area's sources, and the tests of its own programs, in which what
        headers define is compiled."""
        objects = self.plan.affected(program, *self.sources)
        return {output for output in objects if self.plan.compiles[output].startswith("clang++") and
                (any(output.endswith(f"/{name}.o") for name in self.sources) or
                 self.is_own(program) and "/tests/unit/" in output)}

    def assembled(self, program):
        """The area's assembler files in one of its own programs. Each of their instructions counts as executed."""
        return [name for name in self.sources if name.endswith(".S") and self.is_own(program)
                and self.plan.affected(program, name)]

    def run(self, tree, program):
        begin = time.monotonic()
        code, output = tree.run([str(ROOT / program), "--gtest_brief=1"], CLEAN_LIMIT_S)
        seconds = time.monotonic() - begin
        if code != 0:
            raise SystemExit(f"the clean run of {program} fails: {output}")
        lines = {name: {"lines": list(range(1, (ROOT / name).read_text().count("\n") + 1)), "functions": []}
                 for name in self.assembled(program)}
        if self.counted(program):
            lines |= self.count(tree, program, 10 * seconds + 60)
        print(f"  {program}: {seconds:.1f} s", flush=True)
        return program, seconds, lines

    def count(self, tree, program, limit_s):
        raw, profile, executed = (f"{MUTANT}/{name}" for name in ("counts.raw", "counts", "lines"))
        try:
            counting = tree.build(self.plan, program, self.counted(program), COUNTERS)
            # A test that counts instructions may fail with counters.
            tree.run([counting], limit_s, {"LLVM_PROFILE_FILE": f"%c{raw}"})
            tree.command(f"llvm-profdata merge {raw} -o {profile}")
            tree.command(f"bash -c 'llvm-cov export {counting} -instr-profile={profile} -format=lcov >{executed}'")
        except Unbuilt as error:
            raise SystemExit(f"{program} does not run with counters: {error}") from error
        return self.executed_lines(tree, tree.path / executed)

    def executed_lines(self, tree, path):
        found = {}
        for part in path.read_text().split("end_of_record"):
            name = re.search(r"^SF:(.*)$", part, re.M)
            name = name and name[1].removeprefix(f"{tree.path}/")
            if name in self.sources:
                called = set(re.findall(r"^FNDA:[1-9]\d*,(.*)$", part, re.M))
                found[name] = {
                    "lines": [int(line) for line, count in re.findall(r"^DA:(\d+),(\d+)", part, re.M) if int(count)],
                    "functions": [(int(line), symbol) for line, symbol in re.findall(r"^FN:(\d+),(.*)$", part, re.M)
                                  if symbol in called]}
        return found

    def functions(self, program, file, line):
        """The symbols of the functions around a line that the program executes: a function, or a lambda in it, each in
        as many forms as there are arguments of its template."""
        functions = [(begin, symbol) for begin, symbol in self.found[program][file]["functions"] if begin <= line]
        begins = sorted({begin for begin, _ in functions})[-NESTED:]
        return [symbol.split(":")[-1] for begin, symbol in functions if begin in begins]
