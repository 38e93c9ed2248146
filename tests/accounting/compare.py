#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the accounts of jobs that the host library makes (build/host/accounts) with a calculation of its own, job by
job, share by share, to the tick and the record.

    compare.py TRACE ...       session directories; exit code 1 if there is a difference"""
import collections
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from accounting import definitions, records  # noqa: E402
from support.context import BUILD, REMORA, ROOT  # noqa: E402

PROGRAM = ROOT / os.environ.get("ACCOUNTS", f"{BUILD}/host/accounts")
TIMER = 0x10000  # the vector of a handler without one
PARTS = ("jitter", "execution", "interference", "blocking", "suspension")
WAIT_NUMBERS = {word: number for number, word in definitions.WAITS.items()}


@dataclasses.dataclass
class Result:
    traces: int = 0
    unsuitable: int = 0
    jobs: int = 0
    shares: int = 0
    differences: list = dataclasses.field(default_factory=list)

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    def __str__(self):
        return (f"{self.traces} traces, {self.jobs} jobs, {self.shares} shares, {len(self.differences)} differences; "
                f"{self.unsuitable} traces not calculated")


def wait_word(kind, number):
    return WAIT_NUMBERS.get(kind, kind) << 16 | number


def executor_key(executor):
    """As the library names it."""
    if executor.kind == "timer":
        return "interrupt", TIMER
    return executor.kind, executor.who


def calculated_key(share):
    """(part, by, who, object, holder, chain end, what that waits for, inversion), as the library has them."""
    if share.part == "execution":
        return share.part, "self", None, 0, None, None, 0, "none"
    if share.part == "suspension":
        return share.part, "self", None, wait_word(share.by, share.who), None, None, 0, "none"
    by, who = executor_key(definitions.Executor(share.by, share.who))
    if share.part != "blocking":
        return share.part, by, None if by == "backlog" else who, 0, None, None, 0, "none"
    return (share.part, by, who, share.mutex or 0, share.holder, share.chain_end,
            wait_word(*share.end_waits) if share.end_waits else 0, share.inversion)


def calculated(job):
    """A job as a dictionary that is compared member by member."""
    shares, waits = collections.Counter(), collections.Counter()
    written = collections.Counter()
    for share, (ticks, count) in job.shares.items():
        key = calculated_key(share)
        shares[key] += ticks
        written[key] += count
        if share.part == "suspension":
            waits[(key[3], *(executor_key(share.ended_by) if share.ended_by else ("unknown", None)))] += ticks
    parts = [sum(ticks for key, ticks in shares.items() if key[0] == part) for part in PARTS]
    return {"r": job.r, "a": job.a, "s": job.s, "f": job.f, "d": job.d, "missed": job.missed, "residue": 0,
            "parts": parts, "shares": {key: (ticks, written[key]) for key, ticks in shares.items() if ticks},
            "waits": {key: ticks for key, ticks in waits.items() if ticks}}


def found(line):
    """The same of what the library says."""
    shares, written = collections.Counter(), collections.Counter()
    for *key, ticks, count in line["shares"]:
        key[2] = None if key[1] in ("self", "backlog") else key[2]
        shares[tuple(key)] += ticks
        written[tuple(key)] += count
    job = {name: line[name] for name in ("r", "a", "s", "f", "d", "missed", "residue", "parts")}
    job["shares"] = {key: (ticks, written[key]) for key, ticks in shares.items() if ticks}
    job["waits"] = {tuple(key): ticks for *key, ticks in line["waits"] if ticks}
    return job


def differences(name, expected, actual):
    """Lines about what differs between two dictionaries of jobs, by (context, ready)."""
    for key in sorted(expected.keys() | actual.keys()):
        if key not in expected or key not in actual:
            whose = "the library" if key in expected else "the calculation"
            yield f"{name}: job of context {key[0]} ready at {key[1]}: {whose} has no account of it"
            continue
        for member, right in expected[key].items():
            value = actual[key][member]
            if value == right:
                continue
            if isinstance(right, dict):
                right, value = ({k: v for k, v in one.items() if other.get(k) != v}
                                for one, other in ((right, value), (value, right)))
            yield (f"{name}: job of context {key[0]} ready at {key[1]}: {member}: the calculation has {right}, "
                   f"the library {value}")


def accounts(directories):
    """What the library says of each trace: a list of lists of lines."""
    done = subprocess.run([str(PROGRAM), *map(str, directories)], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or lines.count(None) != len(directories):
        raise RuntimeError(f"{PROGRAM.name} ended with {done.returncode}: {done.stderr[-2000:]}")
    traces = [[]]
    for line in lines:
        if line is None:
            traces.append([])
        else:
            traces[-1].append(line)
    return traces[:-1]


def read(directory):
    """Its records, the chunks unpacked if they are compact."""
    try:
        return records.read(directory)
    except records.Compact:
        with tempfile.TemporaryDirectory() as unpacked:
            output = f"{unpacked}/0trace.dat"
            subprocess.run([str(ROOT / REMORA), "convert", str(directory), "--to", "dat", "-o", output], check=True,
                           capture_output=True)
            return dataclasses.replace(records.read(unpacked), coarse=True)


def compare(directory, lines=None):
    """The Result of one trace."""
    try:
        trace = read(directory)
    except records.Unsuitable:
        return Result(unsuitable=1)
    actual = {(line["context"], line["a"]): found(line) for line in lines or accounts([directory])[0] if line["known"]}
    # After a gap the library may know less than the records that follow seem to say.
    expected = {(job.context, job.a): calculated(job) for job in definitions.jobs(trace)
                if job.sure or (job.context, job.a) in actual}
    if trace.coarse:
        for job in [*expected.values(), *actual.values()]:
            job["shares"] = {key: ticks for key, (ticks, _) in job["shares"].items()}
    return Result(1, 0, len(expected), sum(len(job["shares"]) for job in expected.values()),
                  list(differences(pathlib.Path(directory).name, expected, actual)))


def main():
    total = Result()
    for directory in sys.argv[1:]:
        total.add(compare(directory))
    print("\n".join(total.differences[:40]))
    print(total)
    return 1 if total.differences or not total.jobs else 0


if __name__ == "__main__":
    sys.exit(main())
