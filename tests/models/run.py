#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Checks the model of the record path with Spin. Every variant and every mutant is one test: a variant passes if the
# whole state space contains no error, a mutant if it contains one. Counts go to the file $RESULTS, if there is one.
#
#   run.py ci              the variants and the mutants of CI size
#   run.py verify          these, and the large variants
#   run.py replay NAME [MUTANT]   the shortest counter-example of a variant, step by step
#
# Each model is compiled once; the options of variants and mutants are passed through the environment (state.pml).
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import variants

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "models"
MEMORY_MB = 4000
DEPTH = 20000
FLAGS = ("-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOFAIR", f"-DMEMLIM={MEMORY_MB}")
LABEL = re.compile(r"^#define ([PC]_\w+) (\d+)\b", re.MULTILINE)
LEVELS = ("task", "control", "irq", "nmi")


def build():
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "mutants.pml").write_text("".join(f"#define {name} {i + 1}\n" for i, name in enumerate(variants.MUTANTS)))
    for source in HERE.glob("*.pml"):
        shutil.copy(source, BUILD)
    for model in ("record_path", "migration"):
        place = BUILD / model
        place.mkdir(exist_ok=True)
        run = dict(cwd=place, check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["spin", "-a", f"../{model}.pml"], **run)
        subprocess.run(["gcc", *FLAGS, "-o", "pan", "pan.c"], **run)
        if "replay" in sys.argv:
            subprocess.run(["gcc", *FLAGS, "-DREACH", "-o", "pan-shortest", "pan.c"], **run)


def program(options, name="pan"):
    return BUILD / options.get("MODEL", "record_path") / name


def environment(options, mutant=None):
    number = list(variants.MUTANTS).index(mutant) + 1 if mutant else 0
    return os.environ | {key: str(value) for key, value in options.items()} | {"MUTANT": str(number)}


class Outcome:
    """The output of a run of the verifier."""

    def __init__(self, text, seconds):
        def number(pattern):
            found = re.search(pattern, text)
            return float(found[1]) if found else 0

        self.broken = re.search(r"^BROKEN (.*)", text, re.MULTILINE)
        self.broken = self.broken[1] if self.broken else None
        self.errors = int(number(r"errors: (\d+)"))
        self.states = int(number(r"(\S+) states, stored"))
        self.depth = int(number(r"depth reached (\d+)"))
        self.memory_mb = number(r"([\d.]+)\s+total actual memory usage")
        # Complete: the search was not cut off, and memory sufficed.
        cut_off = re.search(r"Search not completed|max search depth|out of memory", text)
        self.complete = "errors:" in text and not cut_off
        self.seconds = seconds


def check(options, mutant=None):
    before = time.monotonic()
    with tempfile.TemporaryDirectory(dir=BUILD) as place:
        done = subprocess.run([program(options), f"-m{DEPTH}", "-w22"], cwd=place, env=environment(options, mutant),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return Outcome(done.stdout, time.monotonic() - before)


def checked(jobs):
    """The outcomes of jobs (options, mutant), in their order; as many run at once as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda job: check(*job), jobs)


def variants_hold(chosen):
    failed = 0
    print(f"{'':4} {'variant':16} {'states':>10} {'depth':>6} {'s':>6} {'MB':>6}")
    for name, found in zip(chosen, checked([(options, None) for options in chosen.values()])):
        good = found.complete and found.errors == 0 and found.states > 1000
        failed += not good
        print(f"{'PASS' if good else 'FAIL'} {name:16} {found.states:10} {found.depth:6} {found.seconds:6.1f} "
              f"{found.memory_mb:6.0f}  {found.broken or ''}", flush=True)
    return len(chosen) - failed, failed


def mutants_die():
    failed = 0
    print(f"{'':4} {'mutant':16} {'variant':16} {'s':>5}  found by the check")
    jobs = [(variants.CI[variant], name) for name, (_, variant) in variants.MUTANTS.items()]
    for (name, (broken, variant)), found in zip(variants.MUTANTS.items(), checked(jobs)):
        good = found.broken is not None
        failed += not good
        print(f"{'PASS' if good else 'FAIL'} {name:16} {variant:16} {found.seconds:5.1f}  "
              f"{found.broken or 'SURVIVED'}: {broken}", flush=True)
    return len(variants.MUTANTS) - failed, failed


def replay(name, mutant=None):
    options = (variants.CI | variants.LARGE)[name]
    place = BUILD / "replay"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    run = dict(cwd=place, env=environment(options, mutant), capture_output=True, text=True, check=False)
    text = subprocess.run([program(options, "pan-shortest"), f"-m{DEPTH}", "-w22", "-i"], **run).stdout
    print(Outcome(text, 0).broken or "no error")
    text = "".join(source.read_text() for source in HERE.glob("*.pml") if source.stem != "migration")
    labels = {int(number): label for label, number in LABEL.findall(text)}
    steps = subprocess.run([program(options, "pan-shortest"), "-r", "record_path.pml.trail"], **run).stdout
    for level, label, rest in re.findall(r"STEP (\d) (\d+) (.*)", steps):
        print(f"{'    ' * int(level)}{LEVELS[int(level)]} {labels[int(label)]:20} {rest}")


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what not in ("ci", "verify", "replay") or (what == "replay" and len(sys.argv) < 3):
        print("usage: run.py ci | verify | replay VARIANT [MUTANT] (of the record path)", file=sys.stderr)
        return 2
    build()
    if what == "replay":
        replay(*sys.argv[2:])
        return 0
    passed, failed = variants_hold(variants.CI | (variants.LARGE if what == "verify" else {}))
    killed, survived = mutants_die()
    passed, failed = passed + killed, failed + survived
    if "RESULTS" in os.environ:
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{passed} {failed} model\n")
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"model: {passed} passed, {failed} failed; {children.ru_utime + children.ru_stime:.0f} s of processor time")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
