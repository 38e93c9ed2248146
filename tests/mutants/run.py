#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the kernel with one thing wrong at a time, in a copy of the tree, and demands that `remora check` names the
rule that is broken. The right kernel must pass first: else a rule would be named for another reason.

    tests/mutants/run.py [--list]        CASES='pattern ...' selects mutants by name

One line per mutant. The copy lies in build/mutants/tree and is built incrementally."""
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
TARGETS = {"test": "build/kernel/kernel-test.elf", "apps": "build/kernel/kernel.elf"}


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


def build(kernel):
    done = subprocess.run(["make", f"-j{os.cpu_count()}", TARGETS[kernel]], cwd=TREE, capture_output=True, text=True,
                          timeout=BUILD_TIMEOUT_S, env=harness.INHERITED)
    if done.returncode != 0:
        raise harness.Failure(f"does not build:\n{done.stderr[-2000:]}")


def first_rule(name, app, kernel):
    """The rule that `remora check` names first over what this kernel traced; none if it finds nothing wrong."""
    ctx = harness.Context(f"mutant_{name}", BOOT_TIMEOUT_S)
    image = ctx.make_ramdisk()
    ctx.boot(app, kernel=TREE / TARGETS[kernel], nic="none", sink="disk", ramdisk=image, duration_ms=200)
    _, directory = ctx.disk_files(image)
    ctx.remora("adopt", directory)
    done = ctx.remora("check", directory, check=False)
    found = re.match(r"([a-z-]+)  ", done.stdout)
    if done.returncode == 2 and found:
        return found.group(1), done.stdout.splitlines()[0]
    harness.expect(done.returncode == 0, f"remora check ended with {done.returncode}: {done.stdout}{done.stderr}")
    return None, done.stdout.splitlines()[-1]


def judge(mutant):
    path = TREE / mutant.file
    right = path.read_text(encoding="utf-8")
    count = right.count(mutant.old)
    harness.expect(count == 1, f"{mutant.file} has the words to replace {count} times: bring tests/mutants up to date")
    path.write_text(right.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        build(mutant.kernel)
        return first_rule(mutant.name, mutant.app, mutant.kernel)
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

    def tell(name, fault, sentence):
        nonlocal passed, failed
        passed, failed = (passed + 1, failed) if fault is None else (passed, failed + 1)
        print(f"PASS {name}: {sentence}" if fault is None else f"FAIL {name}: {fault}", flush=True)

    try:
        for kernel, app in sorted({(mutant.kernel, mutant.app) for mutant in wanted}):
            build(kernel)
            rule, sentence = first_rule(f"none_{app}", app, kernel)
            fault = None if rule is None else f"a violation without a mutant: {sentence}"
            tell(f"right kernel, {app}", fault, sentence)
    except harness.Failure as failure:
        tell("right kernel", str(failure), "")
    for mutant in wanted:
        try:
            rule, sentence = judge(mutant)
            tell(mutant.name, None if rule in mutant.rules else f"not {' or '.join(mutant.rules)}, but {rule}: "
                 f"{sentence}", sentence)
        except harness.Failure as failure:
            tell(mutant.name, str(failure), "")
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{passed} {failed} mutants\n")
    print(f"mutants: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
