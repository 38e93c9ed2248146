#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the kernel with one error at a time, in a copy of the tree, and requires that `remora check` reports the
violated rule. The correct kernel must pass first, strictly: otherwise a rule could be reported for another reason.

    tests/mutants/run.py [--slice | --list | --table]        CASES='PATTERN ...' selects mutants by name

One line per mutant; with --table also the table of docs/schedule-oracle.md. --slice: ten mutants, each of another
mechanism; the guest cases check the correct kernel. The copy is build/mutants/tree. It begins with the objects of the
project and gets them back after each mutant: a mutant costs its file, the rest of its folder and a link. A case is
booted while the next mutant is built."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
os.chdir(ROOT)

from mutants.mutants import MUTANTS, SLICE  # noqa: E402
from support import runner  # noqa: E402
from support.cases import Failure, expect  # noqa: E402
from support.context import BUILD, INHERITED, TEST_KERNEL  # noqa: E402
from support.guests import GuestContext  # noqa: E402

TREE = ROOT / BUILD / "mutants" / "tree"
OBJECTS = pathlib.Path(TEST_KERNEL).parent
# Without the checked assertions: one of them could end a mutant before `remora check` has anything to find.
CORRECT_KERNEL = str(OBJECTS / "kernel-test-released.elf")
BUILD_TIMEOUT_S = 1800
BOOT_TIMEOUT_S = 90


def files_of_the_tree():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True,
                            text=True)
    objects = (str(path) for path in OBJECTS.rglob("*"))
    return [name for name in (*listed.stdout.splitlines(), *objects) if pathlib.Path(name).is_file()]


def make_tree(names):
    """Copies what differs, with its times: make takes what the project has built for up to date."""
    for name in names:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.stat().st_mtime_ns != source.stat().st_mtime_ns:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def build_mutant(mutant):
    """A kernel with the mutant's edits; afterwards the tree is as it was."""
    path = TREE / mutant.file
    text = path.read_text(encoding="utf-8")
    for old, new in mutant.edits:
        count = text.count(old)
        expect(count == 1, f"{mutant.file} has {old!r} {count} times: bring tests/mutants up to date")
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    begin = path.stat().st_mtime_ns
    try:
        done = subprocess.run(["make", f"-j{os.cpu_count()}", CORRECT_KERNEL], cwd=TREE, capture_output=True, text=True,
                              timeout=BUILD_TIMEOUT_S, env=INHERITED)
        expect(done.returncode == 0, f"does not build:\n{done.stderr[-2000:]}")
        kernel = TREE.parent / f"{mutant.name}.elf"
        shutil.copy(TREE / CORRECT_KERNEL, kernel)
        return kernel
    finally:
        built = [path.relative_to(TREE) for path in (TREE / OBJECTS).rglob("*")
                 if path.stat().st_mtime_ns >= begin and path.is_file()]
        # The mutant has left its folder's unit (mk/units.sh): the project has no object of that file alone.
        for path in built:
            if not (ROOT / path).exists():
                (TREE / path).unlink()
        make_tree([mutant.file, *(path for path in built if (ROOT / path).exists())])


def first_finding(name, app, kernel):
    """The rule that `remora check` names first over what this kernel traced, and its sentence; no rule if it finds
    nothing wrong."""
    ctx = GuestContext("mutants/cases", name, BOOT_TIMEOUT_S)
    image = ctx.make_ramdisk()
    ctx.boot(app, kernel=kernel, nic="none", sink="disk", ramdisk=image, duration_ms=200)
    _, directory = ctx.disk_files(image)
    ctx.remora("adopt", directory)
    done = ctx.remora("check", directory, "--must-decide", codes=(0, 2, 8))
    found = re.search(r"^([a-z-]+)  .*?: (.*)", done.stdout, re.MULTILINE)  # after how the run ended
    if done.returncode == 2 and found:
        return found[1], found[2]
    expect(done.returncode in (0, 8), f"remora check names no rule: {done.stdout}{done.stderr}")
    return None, done.stdout.splitlines()[-1]


class Results:
    def __init__(self):
        self.passed = self.failed = 0
        self.table = []

    def add(self, name, fault, sentence=""):
        if fault is None:
            self.passed += 1
        else:
            self.failed += 1
        print(f"PASS {name}: {sentence}" if fault is None else f"FAIL {name}: {fault}", flush=True)

    def add_mutant(self, mutant, finding):
        """finding: a future of first_finding()."""
        try:
            rule, sentence = finding.result()
            self.add(mutant.name, None if rule == mutant.rule else f"not {mutant.rule}, but {rule}: {sentence}",
                     f"{rule}: {sentence}")
            if rule == mutant.rule:
                self.table.append(f"| {mutant.name} | {mutant.app} | {rule} | {sentence} |")
        except (Failure, subprocess.TimeoutExpired) as failure:
            self.add(mutant.name, str(failure))


def check_correct_kernel(apps, results):
    for app in apps:
        try:
            rule, sentence = first_finding(f"none_{app}", app, CORRECT_KERNEL)
            results.add(f"correct kernel, {app}", None if rule is None else f"{rule} without a mutant: {sentence}",
                        sentence)
        except Failure as failure:
            results.add(f"correct kernel, {app}", str(failure))


def check_mutants(mutants, results):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        booting = []
        for mutant in mutants:
            try:
                kernel = build_mutant(mutant)
                booting.append((mutant, pool.submit(first_finding, mutant.name, mutant.app, kernel)))
            except Failure as failure:
                results.add(mutant.name, str(failure))
            while booting and booting[0][1].done():
                results.add_mutant(*booting.pop(0))
        for mutant, finding in booting:
            results.add_mutant(mutant, finding)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--slice", "--list", "--table"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    patterns = SLICE if options.slice else os.environ.get("CASES", "").split()
    mutants = runner.selected(MUTANTS, patterns)
    if options.list:
        print("\n".join(mutant.name for mutant in mutants))
        return 0
    begin = time.monotonic()
    results = Results()
    make_tree(files_of_the_tree())
    if not options.slice:
        check_correct_kernel(sorted({mutant.app for mutant in mutants}), results)
    check_mutants(mutants, results)
    if options.table:
        print("\n| mutant | case | rule | sentence |\n|---|---|---|---|\n" + "\n".join(results.table))
    print(f"took {time.monotonic() - begin:.0f} s")
    return runner.report("mutants", results.passed, results.failed)


sys.exit(main())
