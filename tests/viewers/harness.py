# SPDX-License-Identifier: MIT
"""What a viewer case works with: a directory of its own, the remora command, and foreign programs that are waited for
with a limit. A case is a function with the decorator @case; it gets a Context and fails by raising."""
import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("BUILD", "build")
REMORA = os.environ.get("REMORA", f"{BUILD}/host/remora")

# No variables of the make that runs the tests.
INHERITED = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS",
                                                                          "MAKEOVERRIDES")}


class Failure(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Failure(message)


def expect_equal(found, expected, what):
    expect(found == expected, f"{what}: {found!r}, expected {expected!r}")


@dataclasses.dataclass
class Case:
    name: str
    function: object
    timeout_s: int


CASES = []


def case(function=None, *, timeout_s=120):
    """Registers a case as <file>_<function>; its docstring says what must hold."""
    def register(body):
        CASES.append(Case(f"{body.__module__}_{body.__name__}", body, timeout_s))
        return body
    return register(function) if function else register


class Context:
    def __init__(self, name, timeout_s):
        self.dir = ROOT / BUILD / "viewers" / name
        subprocess.run(["rm", "-rf", str(self.dir)], check=True)
        self.dir.mkdir(parents=True)
        self.deadline = time.monotonic() + timeout_s

    def left_s(self):
        left = self.deadline - time.monotonic()
        expect(left > 0, "the case ran out of time")
        return left

    def run(self, *command, codes=(0,), env=None, text=True):
        """A program from the project's root. codes: the exit codes that are right; None: any."""
        done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=text,
                              timeout=self.left_s(), env={**INHERITED, **(env or {})}, stdin=subprocess.DEVNULL)
        expect(codes is None or done.returncode in codes,
               f"{' '.join(str(part) for part in command)} ended with {done.returncode}: "
               f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def remora(self, *arguments, codes=(0,)):
        return self.run(REMORA, *arguments, codes=codes)

    def convert(self, trace, form, *options, name=None, codes=(0,)):
        """The output of `remora convert --to form`, as a path in the case's directory."""
        output = self.dir / (name or f"{trace.stem}.{form}")
        self.remora("convert", trace, "--to", form, "-o", output, *options, codes=codes)
        return output

    def events(self, trace, *, codes=(0,)):
        """What `remora print --json` says, metadata left out: a list of objects in time order."""
        lines = self.remora("print", "--json", trace, codes=codes).stdout.splitlines()
        return [json.loads(line) for line in lines]


def counts(events, key="event"):
    """How many events of each name."""
    return collections.Counter(event[key] for event in events)


def sample(items, number=50):
    """So many of them, evenly spread, first and last among them."""
    if len(items) <= number:
        return list(items)
    return [items[i * (len(items) - 1) // (number - 1)] for i in range(number)]
