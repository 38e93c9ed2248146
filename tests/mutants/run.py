#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the kernel with one thing wrong at a time, in a copy of the tree, and demands that `remora check` names the
rule that is broken. The right kernel must pass first, strictly: else a rule would be named for another reason.

    tests/mutants/run.py [--list | --table]        CASES='pattern ...' selects mutants by name

One line per mutant; with --table also the table of docs/schedule-oracle.md. The copy lies in build/mutants/tree and is
built incrementally; a case is booted while the next mutant is built."""
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/integration"), str(ROOT / "tests/mutants")]
os.chdir(ROOT)

import harness  # noqa: E402
from mutants import MUTANTS  # noqa: E402

TREE = ROOT / harness.BUILD / "mutants" / "tree"
BUILD_TIMEOUT_S = 1800
BOOT_TIMEOUT_S = 90
TARGET = "build/kernel/kernel-test.elf"


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True, capture_output=True,
                            text=True)
    return [line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def make_tree():
    """A copy whose unchanged files keep their times, so that only what differs is compiled again."""
    for name in sources():
        target = TREE / name
        if not target.exists() or target.read_bytes() != (ROOT / name).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)


def build(name):
    """A kernel of the tree as it is; what is returned stays as it is."""
    done = subprocess.run(["make", f"-j{os.cpu_count()}", TARGET], cwd=TREE, capture_output=True, text=True,
                          timeout=BUILD_TIMEOUT_S, env=harness.INHERITED)
    harness.expect(done.returncode == 0, f"does not build:\n{done.stderr[-2000:]}")
    kernel = TREE.parent / f"{name}.elf"
    shutil.copy(TREE / TARGET, kernel)
    return kernel


def first_finding(name, app, kernel):
    """The rule that `remora check` names first over what this kernel traced, and its sentence; no rule if it finds
    nothing wrong."""
    ctx = harness.Context(f"mutant_{name}", BOOT_TIMEOUT_S)
    image = ctx.make_ramdisk()
    ctx.boot(app, kernel=kernel, nic="none", sink="disk", ramdisk=image, duration_ms=200)
    _, directory = ctx.disk_files(image)
    ctx.remora("adopt", directory)
    done = ctx.remora("check", directory, "--must-decide", check=False)
    lines = done.stdout.splitlines()
    found = re.match(r"([a-z-]+)  ", done.stdout)
    if done.returncode == 2 and found:
        return found.group(1), lines[0].split(": ", 1)[1]
    harness.expect(done.returncode == 0, f"remora check ended with {done.returncode}: {done.stdout}{done.stderr}")
    return None, lines[-1]


def build_mutant(mutant):
    path = TREE / mutant.file
    right = path.read_text(encoding="utf-8")
    text = right
    for old, new in mutant.edits:
        count = text.count(old)
        harness.expect(count == 1, f"{mutant.file} has {old!r} {count} times: bring tests/mutants up to date")
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    try:
        return build(mutant.name)
    finally:
        path.write_text(right, encoding="utf-8")


def main():
    patterns = os.environ.get("CASES", "").split()
    wanted = [mutant for mutant in MUTANTS
              if not patterns or any(fnmatch.fnmatch(mutant.name, pattern) for pattern in patterns)]
    if "--list" in sys.argv[1:]:
        print("\n".join(mutant.name for mutant in wanted))
        return
    make_tree()
    passed = failed = 0
    table = []

    def tell(name, fault, sentence=""):
        nonlocal passed, failed
        passed, failed = (passed + 1, failed) if fault is None else (passed, failed + 1)
        print(f"PASS {name}: {sentence}" if fault is None else f"FAIL {name}: {fault}", flush=True)

    def judge(mutant, kernel):
        try:
            rule, sentence = kernel.result()
            tell(mutant.name, None if rule == mutant.rule else f"not {mutant.rule}, but {rule}: {sentence}",
                 f"{rule}: {sentence}")
            if rule == mutant.rule:
                table.append(f"| {mutant.name} | {mutant.app} | {rule} | {sentence} |")
        except (harness.Failure, subprocess.TimeoutExpired) as failure:
            tell(mutant.name, str(failure))

    right = build("right")
    for app in sorted({mutant.app for mutant in wanted}):
        try:
            rule, sentence = first_finding(f"none_{app}", app, right)
            tell(f"right kernel, {app}", None if rule is None else f"{rule} without a mutant: {sentence}", sentence)
        except harness.Failure as failure:
            tell(f"right kernel, {app}", str(failure))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        booting = []
        for mutant in wanted:
            try:
                kernel = build_mutant(mutant)
                booting.append((mutant, pool.submit(first_finding, mutant.name, mutant.app, kernel)))
            except harness.Failure as failure:
                tell(mutant.name, str(failure))
            while booting and booting[0][1].done():
                judge(*booting.pop(0))
        for mutant, kernel in booting:
            judge(mutant, kernel)
    if "--table" in sys.argv[1:]:
        print("\n| mutant | case | rule | sentence |\n|---|---|---|---|\n" + "\n".join(table))
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{passed} {failed} mutants\n")
    print(f"mutants: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
