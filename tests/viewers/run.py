#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the viewer cases: what `remora convert` writes is read by the programs it is meant for, and compared with what
`remora print --json` says of the same trace.

    tests/viewers/run.py [pattern ...] [--list]      shell patterns over the names of cases; also CASES='pattern ...'

Each file here but run, harness and traces holds the cases of one format. One line PASS or FAIL per case; what a case
left lies in build/viewers/<case>. Counts go to the file $RESULTS."""
import concurrent.futures
import fnmatch
import importlib
import os
import pathlib
import sys
import time

import harness

WORKERS = 2
HELPERS = ("run", "harness", "traces")


def collect(patterns):
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.stem not in HELPERS:
            importlib.import_module(path.stem)
    return [case for case in harness.CASES
            if not patterns or any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]


def run(case):
    start = time.monotonic()
    try:
        case.function(harness.Context(case.name, case.timeout_s))
        fault = None
    except harness.Failure as failure:
        fault = str(failure)
    except Exception as error:  # a broken case is a failed case; the others go on
        fault = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - start
    print(f"PASS {case.name} ({seconds:.1f} s)" if fault is None else f"FAIL {case.name} ({seconds:.1f} s): {fault}",
          flush=True)
    return fault is None


def main():
    if "--help" in sys.argv[1:]:
        sys.exit(__doc__)
    patterns = [word for word in sys.argv[1:] if not word.startswith("--")] or os.environ.get("CASES", "").split()
    os.chdir(harness.ROOT)
    cases = collect(patterns)
    if "--list" in sys.argv[1:]:
        print("\n".join(case.name for case in cases))
        return
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(run, cases))
    passed, failed = results.count(True), results.count(False)
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results_file:
            results_file.write(f"{passed} {failed} viewers\n")
    print(f"viewers: {passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
