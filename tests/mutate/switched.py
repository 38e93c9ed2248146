# SPDX-License-Identifier: MIT
"""Programs that contain all mutants of an area, of which an environment variable switches one on: they are compiled
once, and a mutant costs a run of the tests that execute it (mutant schemata). A mutant that cannot be switched, because
it does not compile, is left out; so is what the compiler calculates, because no test executes it."""
import collections
import re

from mutate import operators, processes
from mutate.builds import BUILD, MUTANT, ROOT, Tree, Unbuilt

TOOL = "tests/mutate"
# Mutants are in places where a value has to be known when it is narrowed.
OPTIONS = f"-include {TOOL}/switch.hpp -w "
OPTIONS_OF = {"clang++": "-ferror-limit=0 -fno-caret-diagnostics -Wno-c++11-narrowing",
              "g++": "-fmax-errors=0 -fno-diagnostics-show-caret -Wno-narrowing"}
MUTANTS_MAX, ROWS_MAX = 65536, 4096  # as in switch.hpp
ROUNDS = 12  # of leaving out what does not compile
CHECK_LIMIT_S = 900
PLACE = re.compile(r"^(?:\./)?([^:\s]+):(\d+):(\d+): (error|note|fatal error)(: .*)", re.M)


def rendered(text, mutations):
    """(the text with the switches of the mutations, {number: mutation}; [(begin, end, number)] of what was put in)."""
    puts = []  # (place, 0 after 1 before, order, text, number)
    for number, mutation in mutations:
        on = f"::mutant::on({number}u)"
        for begin, end, before, after in mutation.switch:
            # At one place, what ends comes before what begins; the outer begins first and ends last. A statement is
            # around an expression of the same extent.
            puts.append((begin, 1, -end if after else -end - 1, -number, before.replace(operators.SWITCH, on), number))
            if after:
                puts.append((end, 0, -begin, number, after, number))
    out, spans, at = bytearray(), [], 0
    for place, _, _, _, put, number in sorted(puts):
        out += text[at:place]
        at = place
        spans.append((len(out), len(out) + len(put.encode()), number))
        out += put.encode()
    return bytes(out + text[at:]), spans


class Source:
    """A file with its switched mutants."""

    def __init__(self, tree, name, numbered):
        self.tree, self.name, self.text = tree, name, (ROOT / name).read_bytes()
        self.mutations = dict(numbered)
        self.write()

    def write(self):
        """Only if it differs, so that its objects are not compiled again."""
        self.written, self.spans = rendered(self.text, sorted(self.mutations.items()))
        path = self.tree.path / self.name
        if not path.exists() or path.read_bytes() != self.written:
            beside = path.with_name(path.name + ".new")
            beside.write_bytes(self.written)
            beside.replace(path)  # at once, because others may include it

    def blamed(self, line, column, widely):
        """The mutants that an error at this place is due to: the one whose switch it is in; widely: or the innermost
        around it, or those of the function."""
        lines = self.written.split(b"\n")
        at = sum(len(text) + 1 for text in lines[:line - 1]) + column - 1
        ranges = {}
        for begin, end, number in self.spans:
            if begin <= at < end:
                return {number}
            ranges.setdefault(number, [begin, end])[1] = end
        if not widely:
            return set()
        around = [(end - begin, number) for number, (begin, end) in ranges.items() if begin <= at < end
                  and number in self.mutations and self.mutations[number].operator not in ("statement", "return")]
        if around:
            return {min(around)[1]}
        original = self.line_of_text(at)
        return {number for number, mutation in self.mutations.items()
                if mutation.function[0] <= original <= mutation.function[1]}

    def line_of_text(self, at):
        put = sum(self.written.count(b"\n", begin, end) for begin, end, _ in self.spans if end <= at)
        return self.written.count(b"\n", 0, at) + 1 - put


class Switched:
    """The programs of a plan; sites: all of the area, their numbers are their places in it from 1. support: what else
    is linked, beside switch.cpp."""

    def __init__(self, plan, area, sites, jobs, support=()):
        self.plan, self.jobs = plan, jobs
        if len(sites) >= MUTANTS_MAX:
            raise SystemExit(f"{area} has {len(sites)} mutants; remedy: a larger kMutantsMax in {TOOL}/switch.hpp")
        self.number = {site.key: number for number, site in enumerate(sites, 1)}
        self.keys = {number: key for key, number in self.number.items()}
        numbered = collections.defaultdict(list)
        for number, site in enumerate(sites, 1):
            numbered[site.mutation.file].append((number, site.mutation))
        self.tree = Tree(f"-{area}", keeps=set(numbered))
        self.tree.link()
        self.kept = self.tree.path / MUTANT / "left_out"  # the keys of mutants that do not compile
        self.left_out = set(self.kept.read_text().split()) if self.kept.exists() else set()
        self.sources = {name: Source(self.tree, name, [(number, mutation) for number, mutation in of
                                                       if self.keys[number] not in self.left_out])
                        for name, of in numbered.items()}
        self.programs = {}  # of the plan -> switched
        self.build(("switch", *support))

    def build(self, support):
        # Each file alone first: what an error is due to is seen there, and it costs less.
        processes.parallel(self.jobs, self.check, self.sources.values())
        self.kept.write_text("\n".join(sorted(self.left_out)))
        affected = {program: {output for output in self.plan.affected(program, *self.sources)
                              if not output.endswith(".S.o")} for program in self.plan.links}
        objects = set().union(*affected.values())
        for _ in range(ROUNDS):
            outputs = processes.parallel(self.jobs, self.compiled, sorted(objects))
            errors = [output for output in outputs if output is not None]
            if not errors:
                break
            if not any([self.leave_out(output) for output in errors]):
                raise SystemExit(f"what does not compile is no mutant's: {errors[0][-2000:]}")
        else:
            raise SystemExit(f"the switched mutants do not compile: {errors[0][-2000:]}")
        for name in support:
            self.tree.command(f"clang++ -std=c++20 -O1 -w -iquote . -c {TOOL}/{name}.cpp -o {MUTANT}/{name}.o")
        extra = " ".join(f"{MUTANT}/{name}.o" for name in support)
        self.tree.objects = {output: f"{MUTANT}/{output}" for output in objects}
        for program in self.plan.links:
            if affected[program]:
                path = self.tree.build(self.plan, program, affected[program], extra)
                self.programs[program] = str(self.tree.path / path)

    @staticmethod
    def rows(path, count):
        """The mutants that a program noted in so many rows of MUTANTS_EXECUTED: a set of numbers for each."""
        with open(path, "rb") as file:
            rows = [file.read(MUTANTS_MAX) for _ in range(count)]
        path.unlink()
        return [{found.start() for found in re.finditer(b"\1", row)} for row in rows]

    def check(self, source):
        words = ["clang++", "-fsyntax-only", *operators.flags_of(source.name),
                 *(OPTIONS + OPTIONS_OF["clang++"]).split(), source.name]
        log = self.log_of(source.name)
        for _ in range(ROUNDS):
            code, _ = processes.run(words, cwd=self.tree.path, limit_s=CHECK_LIMIT_S, log=log)
            if code == 0 or not self.leave_out(log.read_text(errors="replace"), source.name):
                return

    def log_of(self, name):
        return self.tree.path / MUTANT / (name.replace("/", "-") + ".log")

    def compiled(self, output):
        """None, or the compiler's errors. What is newer than its sources is kept."""
        target = self.tree.path / MUTANT / output
        newest = max((self.tree.path / name).stat().st_mtime_ns for name in self.plan.dependencies(output)
                     if (self.tree.path / name).exists())
        if target.exists() and target.stat().st_mtime_ns > newest:
            return None
        try:
            options = OPTIONS + OPTIONS_OF[self.plan.compiles[output].split()[0]]
            self.tree.compile(self.plan, output, options, self.log_of(output))
        except Unbuilt:
            target.unlink(missing_ok=True)
            # All of it: the first error may be far from the end.
            return self.log_of(output).read_text(errors="replace") or f"{output}: the compiler does not end"
        return None

    def leave_out(self, output, only=None):
        """Takes out the mutants (only: of this file) that the errors of a compiler's run are due to; if there are any.
        An error in a file without mutants is due to the first note that is in one. After the first error others may
        follow from it: they count only in the text of a mutant."""
        blamed, waits, first = collections.defaultdict(set), False, True
        for name, line, column, kind, _ in PLACE.findall(output):
            waits = waits or kind != "note"
            if waits and name in self.sources:
                found = self.sources[name].blamed(int(line), int(column), first) if only in (None, name) else set()
                waits, first = not found and only is None, False
                blamed[name] |= found
        for name, numbers in blamed.items():
            for number in numbers & self.sources[name].mutations.keys():
                self.sources[name].mutations.pop(number)
                self.left_out.add(self.keys[number])
            self.sources[name].write()
        return any(blamed.values())
